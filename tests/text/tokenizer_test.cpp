// SPDX-License-Identifier: MIT
#include "udv/text/tokenizer.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "io/damaged_files.hpp"
#include "io/protobuf.hpp"
#include "io/text.hpp"
#include "text/tokenizer_steps.hpp"
#include "udv/io/file.hpp"

namespace udv::text {
namespace tokenizer_test {

using Json = nlohmann::json;
using Tokens = std::vector<Token>;
using io::TemporaryFolder;

// Empty where it is not there.
std::filesystem::path data_file(const std::string& name) {
  const char* const folder = std::getenv("UDV_DATA");
  const auto path = std::filesystem::path(folder ? folder : "none") / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

#define UDV_NEEDS(path, name) \
  if (path.empty()) GTEST_SKIP() << "skipped: needs " name " in $UDV_DATA"

struct Scored {
  std::string text;
  float score;
};

template <typename Number>
std::string bytes_of(Number value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// Special pieces and bytes, then some letters and what they make; the best score comes first.
std::vector<Scored> small_pieces() {
  std::vector<Scored> pieces = {{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(byte));
    pieces.push_back({text, 0});
  }
  float score = 0;
  for (const char* text :
       {"ab", " ab", "bc", "abc", "aa", "aaa", " ", "a", "b", "c", "\u00e9", "<", ">"})
    pieces.push_back({text, score--});
  return pieces;
}

std::string llama2c_file(const std::vector<Scored>& pieces, std::int32_t longest = 8) {
  std::string file = bytes_of(longest);
  for (const Scored& piece : pieces)
    file +=
        bytes_of(piece.score) + bytes_of(static_cast<std::int32_t>(piece.text.size())) + piece.text;
  return file;
}

std::vector<Scored> read_llama2c(const std::filesystem::path& path) {
  const std::string file = io::read_bytes(path);
  std::vector<Scored> pieces;
  for (std::size_t at = 4; at < file.size();) {
    Scored piece;
    std::int32_t length;
    std::memcpy(&piece.score, &file[at], 4);
    std::memcpy(&length, &file[at + 4], 4);
    piece.text = file.substr(at + 8, static_cast<std::size_t>(length));
    at += 8 + piece.text.size();
    pieces.push_back(piece);
  }
  return pieces;
}

// As run.c of llama2.c does it: the best of all neighbours, again and again.
Tokens slow_encode(const std::vector<Scored>& pieces, std::string_view text) {
  std::map<std::string, Token> numbers;
  for (std::size_t i = 0; i < pieces.size(); ++i) numbers[pieces[i].text] = static_cast<Token>(i);
  Tokens tokens = {numbers.at(" ")};
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, io::detail::utf8_length(text));
    const auto known = numbers.find(std::string(text.substr(0, length)));
    if (known != numbers.end()) tokens.push_back(known->second);
    for (std::size_t i = 0; known == numbers.end() && i < length; ++i)
      tokens.push_back(3 + static_cast<unsigned char>(text[i]));
    text.remove_prefix(length);
  }
  const auto piece = [&](Token token) { return pieces[static_cast<std::size_t>(token)]; };
  while (true) {
    Token best = -1;
    std::size_t place = 0;
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto joined = numbers.find(piece(tokens[i]).text + piece(tokens[i + 1]).text);
      if (joined == numbers.end()) continue;
      if (best >= 0 && piece(joined->second).score <= piece(best).score) continue;
      best = joined->second;
      place = i;
    }
    if (best < 0) return tokens;
    tokens[place] = best;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  }
}

// A model of sentencepiece (sentencepiece_model.proto) with the pieces of llama2.c.
std::string sentencepiece_file(const std::vector<Scored>& pieces) {
  using Proto = io::detail::ProtoMessage;
  Proto model;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::uint64_t type = i == 0 ? 2 : i < 3 ? 3 : i < 259 ? 6 : 1;
    const std::string text = i == 1 ? "<s>" : i == 2 ? "</s>" : pieces[i].text;
    model.text(1, Proto().text(1, replaced(text, " ", "\u2581")).bytes() + "\x15" +
                      bytes_of(pieces[i].score) + Proto().whole(3, type).bytes());
  }
  model.message(2, Proto().whole(3, 2).whole(4, pieces.size()).whole(35, 1));
  model.message(3, Proto().text(1, "identity").whole(3, 1).whole(4, 0).whole(5, 1));
  return model.bytes();
}

// The bytes of the byte-level alphabet, then what the merges make of them.
Json byte_level_json(const Json& merges, const std::string& pattern) {
  Json vocabulary = Json::object();
  for (const std::string& character : byte_characters()) vocabulary[character] = vocabulary.size();
  for (const Json& merge : merges)
    vocabulary[merge[0].get<std::string>() + merge[1].get<std::string>()] = vocabulary.size();
  const Json split = {{"type", "Split"},
                      {"pattern", {{"Regex", pattern}}},
                      {"behavior", "Isolated"},
                      {"invert", false}},
             bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}},
             start = {{"id", vocabulary.size()},
                      {"content", "<|begin_of_text|>"},
                      {"special", true},
                      {"normalized", false}};
  return {{"added_tokens", Json::array({start})},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", Json::array({split, bytes})}}},
          {"decoder", {{"type", "ByteLevel"}}},
          {"model",
           {{"type", "BPE"}, {"ignore_merges", true}, {"vocab", vocabulary}, {"merges", merges}}}};
}

const char* const kLlama3Pattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
    R"(\s*[\r\n]+|\s+(?!\S)|\s+)";

Json merges_of_the() {
  return Json::array({{"t", "h"}, {"th", "e"}, {"\u0120", "the"}});
}

// False, and the test is skipped, where the program was built without a library.
bool is_built_in(const std::function<void()>& use) {
  try {
    use();
  } catch (const IoError& error) {
    if (std::string(error.what()).find("built without") != std::string::npos) return false;
  }
  return true;
}

#define UDV_NEEDS_PCRE2 \
  if (!is_built_in([] { split("a", kLlama3Pattern); })) GTEST_SKIP() << "built without PCRE2"

Words split(const std::string& text, const std::string& pattern) {
  const Json json = {
      {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}};
  const std::string name = "tokenizer.json";
  return read_splitter(JsonValue(name, json)).split({text}, true);
}

std::string error_of(const std::string& name, const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.write(name, bytes);
  return folder.error_of([&] { read_tokenizer(path); });
}

std::string all_bytes() {
  std::string text;
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  return text;
}

TEST(Llama2cTokenizer, MergesTheBestScoreFirst) {
  const TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(folder.write("tok.bin", llama2c_file(small_pieces())));
  EXPECT_EQ(tokenizer->size(), 272);
  EXPECT_EQ(tokenizer->begin(), 1);
  EXPECT_EQ(tokenizer->end(), 2);
  EXPECT_EQ(tokenizer->piece(1), "<s>");
  EXPECT_EQ(tokenizer->encode(""), Tokens());
  EXPECT_EQ(tokenizer->encode("ab"), Tokens({260}));
  EXPECT_EQ(tokenizer->encode("abc"), Tokens({260, 268}));  // ab is better than bc, then abc is not
  EXPECT_EQ(tokenizer->encode("cabc"), Tokens({265, 268, 262}));
  EXPECT_EQ(tokenizer->encode("aaaaa"), Tokens({265, 263, 264}));  // from the left
  EXPECT_EQ(tokenizer->encode("\u00e9\u00e8"), Tokens({265, 269, 3 + 0xc3, 3 + 0xa8}));
  EXPECT_EQ(tokenizer->encode("\xc3"), Tokens({265, 3 + 0xc3}));
}

TEST(Llama2cTokenizer, LeavesSpecialTokensOutOfATextAndDoesNotLookForThem) {
  const TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(folder.write("tok.bin", llama2c_file(small_pieces())));
  EXPECT_EQ(tokenizer->decode({1, 260, 0, 265, 268, 2}), "ab c");
  EXPECT_EQ(tokenizer->decode({}), "");
  const Tokens tokens = tokenizer->encode("<s>");
  EXPECT_EQ(tokens, Tokens({265, 270, 3 + 's', 271}));
  EXPECT_EQ(tokenizer->decode(tokens), "<s>");
  EXPECT_THROW(tokenizer->decode({272}), InvalidArgument);
  EXPECT_THROW(tokenizer->piece(-1), InvalidArgument);
}

TEST(Llama2cTokenizer, GivesEveryTextBack) {
  const TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(folder.write("tok.bin", llama2c_file(small_pieces())));
  for (const std::string& text :
       {std::string("abc  aa"), std::string(" ab"), std::string("na\u00efve \u65e5\u672c"),
        std::string("\U0001F600\U0001F468\u200D\U0001F469"), all_bytes(), io::random_bytes(5000)})
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text) << text;
}

TEST(Llama2cTokenizer, WritesFilesWithTheSameTokens) {
  const TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(folder.write("tok.bin", llama2c_file(small_pieces())));
  write_tokenizer(folder / "out", *tokenizer);
  const auto written = read_tokenizer(folder / "out");
  EXPECT_EQ(written->size(), tokenizer->size());
  EXPECT_EQ(written->end(), tokenizer->end());
  for (const std::string& text : {std::string("abc <s> aaaaa cab"), io::random_bytes(5000)})
    EXPECT_EQ(written->encode(text), tokenizer->encode(text));
  // Without its neighbour the file says that special tokens are found in a text.
  std::filesystem::remove(folder / "out/tokenizer_config.json");
  const auto alone = read_tokenizer(folder / "out/tokenizer.json");
  EXPECT_EQ(alone->encode("ab<s>ab"), Tokens({260, 1, 260}));
  EXPECT_EQ(alone->begin(), 1);
}

TEST(Llama2cTokenizer, RefusesDamagedFiles) {
  const std::string good = llama2c_file(small_pieces());
  EXPECT_EQ(error_of("t.bin", ""),
            "t.bin: 0 bytes left at byte 0, 4 of the longest length expected");
  EXPECT_EQ(error_of("t.bin", good.substr(0, 4)),
            "t.bin: 0 pieces found, 3 special ones, 256 bytes and more expected");
  EXPECT_EQ(error_of("t.bin", good.substr(0, good.size() - 1)),
            "t.bin: 0 bytes left at byte 3754, 1 of a piece expected");
  const auto with = [](const Scored& last, std::int32_t longest = 8) {
    std::vector<Scored> pieces = small_pieces();
    pieces.push_back(last);
    return error_of("t.bin", llama2c_file(pieces, longest));
  };
  EXPECT_EQ(with({"", -99}), "t.bin: piece 272 of 0 bytes found, 1 to 8 expected");
  EXPECT_EQ(with({"a", -99}, 2000000000), "t.bin: piece 'a' found twice, as 266 and 272");
  EXPECT_EQ(with({"\xff", -99}), "t.bin: piece 272 '\\xff' found, UTF-8 expected");
  EXPECT_EQ(with({"d", NAN}), "t.bin: score nan of piece 272 found, a finite number expected");
  EXPECT_EQ(with({"ca", 0}),
            "t.bin: score 0 found for the pieces 259 and 272, different ones expected");
  std::vector<Scored> pieces = small_pieces();
  pieces[4].text = "x";
  EXPECT_EQ(error_of("t.bin", llama2c_file(pieces)), "t.bin: piece 4 'x' found, <0x01> expected");
  io::expect_survives_flipped_bytes("t.bin", good, [](const auto& path) { read_tokenizer(path); });
}

TEST(Llama2cTokenizer, AgreesWithTheSlowWayOnWikiText) {
  const auto path = data_file("llama_stories260k/tok512.bin"),
             text_path = data_file("wikitext2/wiki.valid.tokens");
  UDV_NEEDS(path, "llama_stories260k");
  UDV_NEEDS(text_path, "wikitext2");
  const auto tokenizer = read_tokenizer(path.parent_path());
  EXPECT_EQ(tokenizer->size(), 512);
  EXPECT_EQ(tokenizer->encode("Once upon a time"), Tokens({403, 407, 261, 378}));
  const std::vector<Scored> pieces = read_llama2c(path);
  const std::string text = io::read_bytes(text_path);
  for (std::size_t at = 0; at < text.size(); at += text.size() / 100) {
    const std::string part = text.substr(at, 400);  // cuts characters, too
    EXPECT_EQ(tokenizer->encode(part), slow_encode(pieces, part)) << part;
  }
}

TEST(Llama2cTokenizer, WritesFilesWithTheSameTokensForWikiText) {
  const auto path = data_file("llama_stories260k/tok512.bin"),
             text_path = data_file("wikitext2/wiki.test.tokens");
  UDV_NEEDS(path, "llama_stories260k");
  UDV_NEEDS(text_path, "wikitext2");
  const TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(path);
  write_tokenizer(folder / "out", *tokenizer);
  const std::string text = io::read_bytes(text_path);
  const Tokens tokens = tokenizer->encode(text);
  EXPECT_EQ(tokens.size(), 792799u);
  EXPECT_EQ(read_tokenizer(folder / "out")->encode(text), tokens);
  EXPECT_EQ(tokenizer->decode(tokens), text);
}

TEST(SentencepieceTokenizer, AgreesWithLlama2cAndIsCopied) {
  const TemporaryFolder folder;
  const auto path = folder.write("tokenizer.model", sentencepiece_file(small_pieces()));
  const auto tokenizer = read_tokenizer(folder / "");
  const auto other = read_tokenizer(folder.write("tok.bin", llama2c_file(small_pieces())));
  EXPECT_EQ(tokenizer->size(), 272);
  EXPECT_EQ(tokenizer->begin(), 1);
  EXPECT_EQ(tokenizer->end(), 2);
  for (const char* text : {"", "abc", " ab  ab", "aaaaa cab", "<s> \U0001F600 \u00e9\n"}) {
    EXPECT_EQ(tokenizer->encode(text), other->encode(text)) << text;
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  }
  EXPECT_NO_THROW(tokenizer->encode(io::random_bytes(1000)));
  EXPECT_THROW(tokenizer->decode({-1}), InvalidArgument);
  write_tokenizer(folder / "out", *tokenizer);
  EXPECT_EQ(io::read_bytes(folder / "out/tokenizer.model"), io::read_bytes(path));
  EXPECT_EQ(read_tokenizer(folder / "out")->encode("abc ab"), other->encode("abc ab"));
}

TEST(SentencepieceTokenizer, AgreesWithLlama2cOnWikiText) {
  const auto path = data_file("llama_stories260k/tok512.bin"),
             text_path = data_file("wikitext2/wiki.valid.tokens");
  UDV_NEEDS(path, "llama_stories260k");
  UDV_NEEDS(text_path, "wikitext2");
  const TemporaryFolder folder;
  const auto model = folder.write("tokenizer.model", sentencepiece_file(read_llama2c(path)));
  const std::string text = io::read_bytes(text_path);
  EXPECT_EQ(read_tokenizer(model)->encode(text), read_tokenizer(path)->encode(text));
}

TEST(SentencepieceTokenizer, RefusesDamagedFiles) {
  const TemporaryFolder folder;
  const std::string good = sentencepiece_file(small_pieces());
  const auto path = folder.write("tokenizer.model", good);
  for (const std::string& bad :
       {std::string(), good.substr(0, 1000), std::string("IQ== 0\nIg== 1\n")})
    EXPECT_TRUE(error_of("t.model", bad).starts_with("t.model: ")) << error_of("t.model", bad);
  io::expect_survives_flipped_bytes("t.model", good, [](const auto& at) { read_tokenizer(at); });
}

TEST(JsonTokenizer, SplitsAsLlama3Does) {
  UDV_NEEDS_PCRE2;
  const auto words = [](const std::string& text) { return split(text, kLlama3Pattern); };
  EXPECT_EQ(words("Hello world, I'm 12345!"),
            Words({"Hello", " world", ",", " I", "'m", " ", "123", "45", "!"}));
  EXPECT_EQ(words("we'LL they'Ve don'tx"), Words({"we", "'LL", " they", "'Ve", " don", "'t", "x"}));
  EXPECT_EQ(words("a   b"), Words({"a", "  ", " b"}));
  EXPECT_EQ(words("a \n\n  b  "), Words({"a", " \n\n", " ", " b", "  "}));
  EXPECT_EQ(words("$x (y) ...\n\nz"), Words({"$x", " (", "y", ")", " ...\n\n", "z"}));
  EXPECT_EQ(words("\tf(\u00e9\u65e5\u672c\u0663\u0664)"),
            Words({"\tf", "(\u00e9\u65e5\u672c", "\u0663\u0664", ")"}));
  EXPECT_EQ(words("\u00a0\u00a0x"), Words({"\u00a0", "\u00a0x"}));
  EXPECT_EQ(words("1\u180e\u180e\u20012"), Words({"1", "\u180e\u180e", "\u2001", "2"}));
  EXPECT_EQ(words("ab\xff\xfe cd"), Words({"ab", "\xff\xfe", " cd"}));
}

TEST(JsonTokenizer, ReadsTheByteLevel) {
  UDV_NEEDS_PCRE2;
  const TemporaryFolder folder;
  const Json json = byte_level_json(merges_of_the(), kLlama3Pattern);
  const auto tokenizer = read_tokenizer(folder.write("tokenizer.json", json.dump()));
  EXPECT_EQ(tokenizer->size(), 260);
  EXPECT_EQ(tokenizer->begin(), 259);
  EXPECT_EQ(tokenizer->end(), -1);
  EXPECT_EQ(tokenizer->piece(258), "\u0120the");
  EXPECT_EQ(tokenizer->encode("the the"), Tokens({257, 258}));
  EXPECT_EQ(tokenizer->encode("th<|begin_of_text|>the\n"), Tokens({256, 259, 257, 10}));
  EXPECT_EQ(tokenizer->decode({259, 257, 258}), "the the");
  for (const std::string& text :
       {all_bytes(), std::string("the \U0001F600 \u65e5"), io::random_bytes(5000)})
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text)), text);
  write_tokenizer(folder / "out", *tokenizer);
  EXPECT_EQ(io::read_bytes(folder / "out/tokenizer.json"), json.dump());
}

TEST(JsonTokenizer, TakesMergesAsTextToo) {
  UDV_NEEDS_PCRE2;
  const TemporaryFolder folder;
  Json json = byte_level_json(merges_of_the(), kLlama3Pattern);
  json["model"]["merges"] = {"t h", "th e", "\u0120 the"};
  json["model"]["ignore_merges"] = false;
  EXPECT_EQ(read_tokenizer(folder.write("tokenizer.json", json.dump()))->encode("the the"),
            Tokens({257, 258}));
  json["model"]["merges"] = {"t h", "\u0120 the"};
  EXPECT_EQ(read_tokenizer(folder.write("tokenizer.json", json.dump()))->encode("the"),
            Tokens({256, 'e'}));
  json["model"]["ignore_merges"] = true;
  EXPECT_EQ(read_tokenizer(folder.write("tokenizer.json", json.dump()))->encode("the"),
            Tokens({257}));
}

TEST(JsonTokenizer, SplitsWithMetaspace) {
  const std::string name = "tokenizer.json";
  const auto words = [&](const Json& settings, bool at_start) {
    Json json = {{"type", "Metaspace"}, {"replacement", "_"}};
    json.update(settings);
    return read_splitter(JsonValue(name, json)).split({"ab  c"}, at_start);
  };
  EXPECT_EQ(words({{"add_prefix_space", true}}, false), Words({"_ab", "_", "_c"}));
  EXPECT_EQ(words({{"prepend_scheme", "first"}}, false), Words({"ab", "_", "_c"}));
  EXPECT_EQ(words({{"prepend_scheme", "first"}, {"split", false}}, true), Words({"_ab__c"}));
  EXPECT_EQ(words({{"prepend_scheme", "never"}, {"split", false}}, true), Words({"ab__c"}));
}

TEST(JsonTokenizer, TakesTheMarksOfItsNeighbours) {
  UDV_NEEDS_PCRE2;
  const TemporaryFolder folder;
  const auto path =
      folder.write("tokenizer.json", byte_level_json(merges_of_the(), kLlama3Pattern).dump());
  folder.write("config.json", R"({"bos_token_id": 3, "eos_token_id": [5, 6]})");
  EXPECT_EQ(read_tokenizer(path)->begin(), 3);
  EXPECT_EQ(read_tokenizer(path)->end(), 5);
  folder.write("tokenizer_config.json", R"({"bos_token": null, "eos_token": {"content": "the"}})");
  EXPECT_EQ(read_tokenizer(path)->begin(), -1);
  EXPECT_EQ(read_tokenizer(path)->end(), 257);
  folder.write("tokenizer_config.json", R"({"bos_token": "he"})");
  EXPECT_EQ(folder.error_of([&] { read_tokenizer(path); }),
            "tokenizer_config.json: bos_token: 'he' found, a token of the vocabulary expected");
  folder.write("tokenizer_config.json", "{}");
  folder.write("config.json", R"({"bos_token_id": 260})");
  EXPECT_EQ(folder.error_of([&] { read_tokenizer(path); }),
            "config.json: bos_token_id: 260 found, 0 to 259 expected");
}

TEST(JsonTokenizer, FindsTheLongestAddedTokenAndTheBlanksBesideIt) {
  UDV_NEEDS_PCRE2;
  const TemporaryFolder folder;
  Json json = byte_level_json(Json::array(), kLlama3Pattern);
  json["added_tokens"] = {{{"id", 256}, {"content", "<a>"}, {"special", true}},
                          {{"id", 257}, {"content", "<a><a>"}, {"normalized", false}},
                          {{"id", 258}, {"content", "<m>"}, {"lstrip", true}, {"rstrip", true}}};
  const auto tokenizer = read_tokenizer(folder.write("tokenizer.json", json.dump()));
  EXPECT_EQ(tokenizer->encode("<a><a><a>x<a"), Tokens({257, 256, 'x', '<', 'a'}));
  EXPECT_EQ(tokenizer->encode("x \u3000<m>\n\ny"), Tokens({'x', 258, 'y'}));
  EXPECT_EQ(tokenizer->decode({256, 257, 'x'}), "<a><a>x");
}

TEST(JsonTokenizer, RefusesWhatItWouldReadInAnotherWay) {
  UDV_NEEDS_PCRE2;
  const Json good = byte_level_json(merges_of_the(), kLlama3Pattern);
  const auto with = [&](const std::string& place, const Json& value) {
    Json json = good;
    json[Json::json_pointer(place)] = value;
    return error_of("t.json", json.dump());
  };
  EXPECT_EQ(with("/normalizer", {{"type", "NFKC"}}),
            "t.json: normalizer: 'NFKC' found, Prepend, Replace or a Sequence of them expected");
  EXPECT_EQ(with("/pre_tokenizer", {{"type", "Digits"}}),
            "t.json: pre_tokenizer: 'Digits' found, Split, ByteLevel, Metaspace or a Sequence of "
            "them expected");
  EXPECT_EQ(with("/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\w+"),
            "t.json: '\\w' found in the pattern '\\w+', which is not supported");
  EXPECT_EQ(with("/pre_tokenizer/pretokenizers/0/pattern/Regex", "\\p{N}{1,3}+"),
            "t.json: '}+' found in the pattern '\\p{N}{1,3}+', which is not supported");
  EXPECT_EQ(with("/pre_tokenizer/pretokenizers/0/pattern/Regex", "(a"),
            "t.json: pattern '(a' found: missing closing parenthesis");
  EXPECT_EQ(with("/pre_tokenizer/pretokenizers/0/behavior", "Contiguous"),
            "t.json: pre_tokenizer.pretokenizers[0].behavior: 'Contiguous' found, Isolated, "
            "Removed, MergedWithPrevious or MergedWithNext expected");
  EXPECT_EQ(with("/decoder", nullptr), "t.json: decoder: nothing found, a decoder expected");
  EXPECT_EQ(with("/model/type", "Unigram"), "t.json: model.type: 'Unigram' found, BPE expected");
  EXPECT_EQ(with("/model/dropout", 0.1), "t.json: model.dropout: 0.1 found, null expected");
  EXPECT_EQ(with("/model/end_of_word_suffix", "</w>"),
            "t.json: model.end_of_word_suffix: '</w>' found, null expected");
  EXPECT_EQ(with("/model/vocab", {{"a", 0}, {"\u0120the", 1}, {"t", 2}}).substr(0, 25),
            "t.json: model.merges[0]: ");
  EXPECT_EQ(with("/added_tokens/0/single_word", true),
            "t.json: added_tokens[0].single_word: true found, false expected");
}

TEST(JsonTokenizer, RefusesDamagedFiles) {
  UDV_NEEDS_PCRE2;
  const Json good = byte_level_json(merges_of_the(), kLlama3Pattern);
  const auto with = [&](const std::string& place, const Json& value) {
    Json json = good;
    json[Json::json_pointer(place)] = value;
    return error_of("t.json", json.dump());
  };
  EXPECT_EQ(error_of("t.json", ""), "t.json: no JSON at byte 1");
  EXPECT_EQ(error_of("t.json", "[]"), "t.json: array found, a JSON object expected");
  EXPECT_EQ(error_of("t.json", good.dump().substr(0, 300)), "t.json: no JSON at byte 301");
  EXPECT_EQ(error_of("t.json", "{\"a\": 33e333}"),
            "t.json: a number beyond double precision found");
  EXPECT_EQ(error_of("t.json", R"({"model":{"vocab":{"a":0,"a":1}}})"),
            "t.json: piece 'a' found twice in the vocabulary");
  EXPECT_EQ(with("/model/vocab", Json::object()),
            "t.json: model.vocab: no piece found, at least one expected");
  EXPECT_EQ(with("/model/vocab/a", 5000000000),
            "t.json: model.vocab: token 5000000000 of 'a' found, 0 to 4194303 expected");
  EXPECT_EQ(with("/model/vocab/a", "x").substr(0, 30), "t.json: model.vocab: token \"x\"");
  EXPECT_EQ(with("/model/vocab/a", 98),
            "t.json: token 98 found for 'a' and 'b', one piece expected");
  EXPECT_EQ(with("/model/merges", {"t h e"}),
            "t.json: model.merges[0]: 't h e' found, two pieces expected");
  EXPECT_EQ(with("/added_tokens/0/content", "the"),
            "t.json: added_tokens[0].id: 259 found, 257 of the vocabulary expected");
  EXPECT_EQ(with("/added_tokens/0/id", 7),
            "t.json: token 7 found for '\u0107' and '<|begin_of_text|>', one piece expected");
  EXPECT_EQ(with("/model", 7), "t.json: model: number found, a model expected");
  io::expect_survives_flipped_bytes("t.json", good.dump(),
                                    [](const auto& path) { read_tokenizer(path); });
}

TEST(Tokenizer, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "empty");
  EXPECT_EQ(folder.error_of([&] { read_tokenizer(folder / "empty"); }),
            "empty: no tokenizer found, tokenizer.json, tokenizer.model or tok*.bin expected");
  EXPECT_EQ(folder.error_of([&] { read_tokenizer(folder / "t.json"); }),
            "t.json: no such file, a file to read expected");
  EXPECT_EQ(error_of("t.txt", "a"),
            "t.txt: ending '.txt' found, .json, .model, .bin or a folder expected");
  folder.write("tok1.bin", "");
  folder.write("tok2.bin", "");
  EXPECT_THROW(read_tokenizer(folder / ""), IoError);
}

}  // namespace tokenizer_test
}  // namespace udv::text
