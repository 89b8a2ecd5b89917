// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "core/require.hpp"
#include "io/text.hpp"
#include "text/json_value.hpp"
#include "text/tokenizer_added.hpp"
#include "text/tokenizer_bpe.hpp"
#include "text/tokenizer_files.hpp"
#include "text/tokenizer_steps.hpp"

// https://github.com/huggingface/tokenizers has no description of the file but its source.
namespace udv::text {
namespace {

using io::detail::in_quotes;

constexpr Token kMostTokens = 1 << 22;  // a larger number would only ask for memory

// The JSON parser silently keeps the last of two equal names in an object; in model.vocab they are
// an error.
class DuplicatePieceCheck {
 public:
  explicit DuplicatePieceCheck(const std::string& name) : name_(name) {}

  bool operator()(int depth, JsonValue::Json::parse_event_t event, const JsonValue::Json& value) {
    if (event != JsonValue::Json::parse_event_t::key || depth > 3) return true;
    if (depth == 1) in_model_ = value == "model";
    if (depth == 2) in_vocabulary_ = in_model_ && value == "vocab";
    if (depth == 3 && in_model_ && in_vocabulary_)
      require<IoError>(seen_.insert(value.get<std::string>()).second, name_, ": piece ",
                       in_quotes(value.get<std::string>()), " found twice in the vocabulary");
    return true;
  }

 private:
  const std::string& name_;
  std::unordered_set<std::string> seen_;
  bool in_model_ = false, in_vocabulary_ = false;
};

JsonValue::Json parse_json(const std::string& name, const std::string& bytes) {
  try {
    DuplicatePieceCheck check(name);
    JsonValue::Json json = JsonValue::Json::parse(bytes, std::ref(check));
    require<IoError>(json.is_object(), name, ": ", json.type_name(),
                     " found, a JSON object expected");
    return json;
  } catch (const JsonValue::Json::parse_error& error) {
    throw IoError(message(name, ": no JSON at byte ", error.byte));
  } catch (const JsonValue::Json::out_of_range&) {
    throw IoError(message(name, ": a number beyond double precision found"));
  }
}

// All pieces by their tokens; a gap is an empty piece.
class Pieces {
 public:
  explicit Pieces(const std::string& file) : file_(file) {}

  void add(const std::string& piece, Token token) {
    const auto at = static_cast<size_t>(token);
    if (at >= pieces_.size()) pieces_.resize(at + 1);
    require<IoError>(pieces_[at].empty(), file_, ": token ", token, " found for ",
                     in_quotes(pieces_[at]), " and ", in_quotes(piece), ", one piece expected");
    pieces_[at] = piece;
  }
  std::vector<std::string> take() { return std::move(pieces_); }

 private:
  const std::string& file_;
  std::vector<std::string> pieces_;
};

Vocabulary read_vocabulary(const JsonValue& value, Pieces& pieces) {
  value.expect(value.json().is_object(), "pieces and their tokens");
  if (value.json().empty()) value.fail("no piece", "at least one");
  Vocabulary vocabulary;
  vocabulary.reserve(value.json().size());
  for (const auto& [piece, number] : value.json().items()) {
    if (piece.empty()) value.fail("an empty piece", "characters");
    const bool fits =
        number.is_number_unsigned() && number.get<std::uint64_t>() < std::uint64_t{kMostTokens};
    if (!fits)
      value.fail(message("token ", number.dump(), " of ", in_quotes(piece)),
                 message("0 to ", kMostTokens - 1));
    pieces.add(piece, number.get<Token>());
    vocabulary.emplace(piece, number.get<Token>());
  }
  return vocabulary;
}

// "a b" or ["a", "b"].
std::pair<std::string, std::string> two_pieces(const JsonValue& value) {
  if (value.json().is_array() && value.json().size() == 2)
    return {value.items()[0].text(), value.items()[1].text()};
  const std::string both = value.text();
  const std::size_t blank = both.find(' ');
  if (blank == both.npos || both.find(' ', blank + 1) != both.npos)
    value.fail(in_quotes(both), "two pieces");
  return {both.substr(0, blank), both.substr(blank + 1)};
}

std::vector<Merge> read_merges(const JsonValue& value, const Vocabulary& vocabulary) {
  std::vector<Merge> merges;
  for (const JsonValue& item : value.items()) {
    const auto [left, right] = two_pieces(item);
    const auto token = [&](const std::string& piece) {
      const auto found = vocabulary.find(piece);
      if (found == vocabulary.end()) item.fail(in_quotes(piece), "a piece of the vocabulary");
      return found->second;
    };
    merges.push_back({token(left), token(right), token(left + right)});
  }
  return merges;
}

bool has_all(const Vocabulary& vocabulary, const Words& pieces) {
  return std::all_of(pieces.begin(), pieces.end(),
                     [&](const std::string& piece) { return vocabulary.contains(piece); });
}

Words byte_pieces() {
  Words pieces;
  for (int byte = 0; byte < 256; ++byte)
    pieces.push_back(byte_piece(static_cast<unsigned char>(byte)));
  return pieces;
}

// Every text must have its tokens: by the byte, or by a token for what is unknown.
BpeOptions read_options(const JsonValue& model, const Vocabulary& vocabulary, bool byte_level) {
  for (const char* name : {"continuing_subword_prefix", "end_of_word_suffix"})
    if (!model[name].is_null() && !model[name].text().empty())
      model[name].fail(in_quotes(model[name].text()), "null");
  const JsonValue::Json& dropout = model["dropout"].json();
  if (!dropout.is_null() && dropout != 0) model["dropout"].fail(dropout.dump(), "null");
  BpeOptions options;
  options.byte_fallback = model["byte_fallback"].flag() && has_all(vocabulary, byte_pieces());
  options.whole_words = model["ignore_merges"].flag();
  options.fuse_unknown = model["fuse_unk"].flag();
  if (const JsonValue unknown = model["unk_token"]; !unknown.is_null()) {
    const auto found = vocabulary.find(unknown.text());
    if (found == vocabulary.end())
      unknown.fail(in_quotes(unknown.text()), "a piece of the vocabulary");
    options.unknown = found->second;
  }
  if (!options.byte_fallback && options.unknown < 0 &&
      !(byte_level && has_all(vocabulary, byte_characters())))
    model["vocab"].fail("neither unk_token nor all 256 bytes", "tokens for every text");
  return options;
}

Bpe read_bpe(const JsonValue& model, bool byte_level, Pieces& pieces) {
  model.expect(model.json().is_object(), "a model");
  const std::string type = model["type"].is_null() ? "BPE" : model["type"].text();
  if (type != "BPE") model["type"].fail(in_quotes(type), "BPE");
  Vocabulary vocabulary = read_vocabulary(model["vocab"], pieces);
  const std::vector<Merge> merges = read_merges(model["merges"], vocabulary);
  const BpeOptions options = read_options(model, vocabulary, byte_level);
  return {std::move(vocabulary), merges, options};
}

std::vector<AddedToken> read_added(const JsonValue& value, const Bpe& bpe, Pieces& pieces) {
  std::vector<AddedToken> added;
  if (value.is_null()) return added;
  for (const JsonValue& item : value.items()) {
    AddedToken token;
    token.content = item["content"].text();
    token.token = item["id"].whole(kMostTokens - 1);
    token.special = item["special"].flag();
    token.normalized = item["normalized"].flag(!token.special);
    token.with_blanks_left = item["lstrip"].flag();
    token.with_blanks_right = item["rstrip"].flag();
    if (token.content.empty()) item["content"].fail("an empty text", "characters");
    if (item["single_word"].flag()) item["single_word"].fail("true", "false");
    const Token known = bpe.find(token.content);
    if (known >= 0 && known != token.token)
      item["id"].fail(message(token.token), message(known, " of the vocabulary"));
    if (known < 0) pieces.add(token.content, token.token);
    added.push_back(std::move(token));
  }
  return added;
}

class JsonTokenizer final : public Tokenizer {
 public:
  JsonTokenizer(const JsonValue& root, const JsonValue& tokenizer_config, TokenizerFiles files)
      : JsonTokenizer(root, Pieces(root.file())) {
    files_ = std::move(files);
    split_special_ = tokenizer_config["split_special_tokens"].flag();
    for (const AddedToken& token : added_) look_for(token);
  }

  Index size() const override { return static_cast<Index>(pieces_.size()); }
  Token begin() const override { return begin_; }
  Token end() const override { return end_; }
  TokenizerFiles files() const override { return files_; }

  std::string piece(Token token) const override {
    require(token >= 0 && token < size(), "token ", token, " found, 0 to ", size() - 1,
            " expected");
    return pieces_[static_cast<size_t>(token)];
  }

  std::vector<Token> encode(std::string_view text) const override {
    std::vector<Token> tokens;
    for (const Segment& segment : plain_.split(text)) {
      if (segment.token >= 0) {
        tokens.push_back(segment.token);
        continue;
      }
      const std::string normal = normalize_(std::string(segment.text));
      bool at_start = segment.text.data() == text.data();
      for (const Segment& part : normalized_.split(normal)) {
        if (part.token >= 0)
          tokens.push_back(part.token);
        else
          encode_words(splitting_.split({std::string(part.text)}, at_start), tokens);
        at_start = false;
      }
    }
    return tokens;
  }

  std::string decode(const std::vector<Token>& tokens) const override {
    Words words;
    for (const Token token : tokens) {
      std::string text = piece(token);
      if (!special_[static_cast<size_t>(token)]) words.push_back(std::move(text));
    }
    std::string text;
    for (const std::string& word : decode_(std::move(words))) text += word;
    return text;
  }

  void set_marks(Token begin, Token end) {
    begin_ = begin;
    end_ = end;
  }
  // -1 where there is no such piece.
  Token find(const std::string& content) const {
    const auto found = std::find(pieces_.begin(), pieces_.end(), content);
    return found == pieces_.end() || content.empty() ? -1
                                                     : static_cast<Token>(found - pieces_.begin());
  }

 private:
  JsonTokenizer(const JsonValue& root, Pieces pieces)
      : normalize_(read_normalizer(root["normalizer"])),
        splitting_(read_splitter(root["pre_tokenizer"])),
        decode_(read_decoder(root["decoder"])),
        bpe_(read_bpe(root["model"], splitting_.byte_level, pieces)),
        added_(read_added(root["added_tokens"], bpe_, pieces)),
        pieces_(pieces.take()),
        special_(pieces_.size(), false) {}

  void look_for(AddedToken token) {
    if (token.special) special_[static_cast<size_t>(token.token)] = true;
    if (token.special && split_special_) return;
    if (token.normalized) token.content = normalize_(token.content);
    if (!token.content.empty()) (token.normalized ? normalized_ : plain_).add(token);
  }

  void encode_words(const Words& words, std::vector<Token>& tokens) const {
    for (const std::string& word : words) bpe_.encode(word, tokens);
  }

  Normalizer normalize_;
  Splitting splitting_;
  Decoder decode_;
  Bpe bpe_;
  std::vector<AddedToken> added_;
  std::vector<std::string> pieces_;
  std::vector<bool> special_;
  AddedTokens plain_, normalized_;
  bool split_special_ = false;
  Token begin_ = -1, end_ = -1;
  TokenizerFiles files_;
};

// A token's text, or an object that has it as its content.
std::string token_text(const JsonValue& value) {
  return value.json().is_object() ? value["content"].text() : value.text();
}

// One of bos and eos: as tokenizer_config.json says, null for none; as config.json says; or by the
// usual names.
Token read_mark(const JsonTokenizer& tokenizer, const JsonValue& tokenizer_config,
                const JsonValue& config, const std::string& mark,
                const std::vector<std::string>& names) {
  if (const JsonValue text = tokenizer_config[mark + "_token"]; !text.is_null()) {
    const Token token = tokenizer.find(token_text(text));
    if (token < 0) text.fail(in_quotes(token_text(text)), "a token of the vocabulary");
    return token;
  }
  if (tokenizer_config.json().contains(mark + "_token")) return -1;
  if (const JsonValue number = config[mark + "_token_id"]; !number.is_null()) {
    const bool several = number.json().is_array() && !number.json().empty();
    return (several ? number.items()[0] : number).whole(static_cast<Token>(tokenizer.size() - 1));
  }
  for (const std::string& name : names)
    if (const Token token = tokenizer.find(name); token >= 0) return token;
  return -1;
}

}  // namespace

std::unique_ptr<Tokenizer> parse_tokenizer(const std::string& name, TokenizerFiles files,
                                           const std::string& config) {
  const std::filesystem::path folder = std::filesystem::path(name).parent_path();
  const std::string config_name = (folder / "config.json").string(),
                    second_name = (folder / "tokenizer_config.json").string();
  const auto second = files.find("tokenizer_config.json");
  const JsonValue::Json json = parse_json(name, files.at("tokenizer.json")),
                        second_json = second == files.end()
                                          ? JsonValue::Json::object()
                                          : parse_json(second_name, second->second),
                        config_json = config.empty() ? JsonValue::Json::object()
                                                     : parse_json(config_name, config);
  const JsonValue settings(second_name, second_json), model(config_name, config_json);
  auto tokenizer =
      std::make_unique<JsonTokenizer>(JsonValue(name, json), settings, std::move(files));
  const Token begin = read_mark(*tokenizer, settings, model, "bos",
                                {"<s>", "<|begin_of_text|>", "<|endoftext|>"}),
              end = read_mark(*tokenizer, settings, model, "eos",
                              {"</s>", "<|end_of_text|>", "<|endoftext|>"});
  tokenizer->set_marks(begin, end);
  return tokenizer;
}

}  // namespace udv::text
