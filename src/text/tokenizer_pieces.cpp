// SPDX-License-Identifier: MIT
#include "text/tokenizer_pieces.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/require.hpp"
#include "io/text.hpp"
#include "text/tokenizer_bpe.hpp"
#include "text/tokenizer_steps.hpp"

namespace udv::text {
namespace {

using io::detail::in_quotes;
using Json = nlohmann::ordered_json;

constexpr std::size_t kSpecial = 3, kFirstPlain = kSpecial + 256;  // unknown, begin, end; bytes

void check_special(const std::string& name, const std::vector<ScoredPiece>& pieces) {
  const auto expect = [&](std::size_t token, const std::string& expected) {
    require<IoError>(pieces[token].text == expected, name, ": piece ", token, " ",
                     in_quotes(pieces[token].text), " found, ", expected, " expected");
  };
  require<IoError>(pieces.size() > kFirstPlain, name, ": ", pieces.size(),
                   " pieces found, 3 special ones, 256 bytes and more expected");
  expect(0, "<unk>");
  expect(1, "<s>");
  expect(2, "</s>");
  for (std::size_t byte = 0; byte < 256; ++byte)
    expect(kSpecial + byte, byte_piece(static_cast<unsigned char>(byte)));
}

std::unordered_map<std::string_view, std::size_t> number_pieces(
    const std::string& name, const std::vector<ScoredPiece>& pieces) {
  std::unordered_map<std::string_view, std::size_t> tokens;
  for (std::size_t token = 0; token < pieces.size(); ++token) {
    const auto [old, is_new] = tokens.insert({pieces[token].text, token});
    require<IoError>(is_new, name, ": piece ", in_quotes(pieces[token].text), " found twice, as ",
                     old->second, " and ", token);
  }
  return tokens;
}

// Pieces from the best score to the worst. The order of merges must not depend on their places in
// a text, which tokenizer.json cannot say: no two scores are the same.
std::vector<std::size_t> by_score(const std::string& name, const std::vector<ScoredPiece>& pieces,
                                  std::vector<std::size_t> tokens) {
  std::stable_sort(tokens.begin(), tokens.end(),
                   [&](std::size_t a, std::size_t b) { return pieces[a].score > pieces[b].score; });
  for (std::size_t i = 1; i < tokens.size(); ++i)
    require<IoError>(pieces[tokens[i]].score < pieces[tokens[i - 1]].score, name, ": score ",
                     pieces[tokens[i]].score, " found for the pieces ", tokens[i - 1], " and ",
                     tokens[i], ", different ones expected");
  return tokens;
}

// All ways to make each piece of two others, the better pieces first: whichever way a text offers,
// it is joined when its turn comes.
Json merges_of(const std::string& name, const std::vector<ScoredPiece>& pieces) {
  const auto tokens = number_pieces(name, pieces);
  std::vector<std::vector<Json>> ways(pieces.size());
  std::vector<std::size_t> joined;
  const auto is_plain = [&](std::string_view text) {
    const auto found = tokens.find(text);
    return found != tokens.end() && found->second >= kFirstPlain;
  };
  for (std::size_t token = kFirstPlain; token < pieces.size(); ++token) {
    const std::string_view text = pieces[token].text;
    for (std::size_t at = io::detail::utf8_length(text); at < text.size();
         at += io::detail::utf8_length(text.substr(at)))
      if (is_plain(text.substr(0, at)) && is_plain(text.substr(at)))
        ways[token].push_back(Json::array({text.substr(0, at), text.substr(at)}));
    if (!ways[token].empty()) joined.push_back(token);
  }
  Json merges = Json::array();
  for (const std::size_t token : by_score(name, pieces, joined))
    for (const Json& way : ways[token]) merges.push_back(way);
  return merges;
}

Json model_json(const std::string& name, const std::vector<ScoredPiece>& pieces) {
  Json::object_t vocabulary;  // by emplace_back: other ways look at all pieces before
  for (std::size_t token = 0; token < pieces.size(); ++token)
    vocabulary.emplace_back(pieces[token].text, token);
  Json model = {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", "<unk>"},
                {"continuing_subword_prefix", nullptr},
                {"end_of_word_suffix", nullptr},
                {"fuse_unk", true},
                {"byte_fallback", true},
                {"ignore_merges", false}};
  model["vocab"] = std::move(vocabulary);
  model["merges"] = merges_of(name, pieces);
  return model;
}

Json added_json(int token, const char* content) {
  return {{"id", token},     {"content", content},  {"single_word", false}, {"lstrip", false},
          {"rstrip", false}, {"normalized", false}, {"special", true}};
}

// Puts the mark of begin before a text, where special tokens are asked for.
Json post_processor_json() {
  const auto mark = [](int type) {
    return Json{{"SpecialToken", {{"id", "<s>"}, {"type_id", type}}}};
  };
  const auto text = [](const char* id, int type) {
    return Json{{"Sequence", {{"id", id}, {"type_id", type}}}};
  };
  return {
      {"type", "TemplateProcessing"},
      {"single", Json::array({mark(0), text("A", 0)})},
      {"pair", Json::array({mark(0), text("A", 0), mark(1), text("B", 1)})},
      {"special_tokens",
       {{"<s>", {{"id", "<s>"}, {"ids", Json::array({1})}, {"tokens", Json::array({"<s>"})}}}}}};
}

Json replace_json(const char* from, const char* to) {
  return {{"type", "Replace"}, {"pattern", {{"String", from}}}, {"content", to}};
}

Json tokenizer_json(const std::string& name, const std::vector<ScoredPiece>& pieces) {
  const Json prepend = {{"type", "Prepend"}, {"prepend", kBlankMark}},
             strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  return {{"version", "1.0"},
          {"truncation", nullptr},
          {"padding", nullptr},
          {"added_tokens",
           Json::array({added_json(0, "<unk>"), added_json(1, "<s>"), added_json(2, "</s>")})},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers", Json::array({prepend, replace_json(" ", kBlankMark)})}}},
          {"pre_tokenizer", nullptr},
          {"post_processor", post_processor_json()},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders", Json::array({replace_json(kBlankMark, " "),
                                      {{"type", "ByteFallback"}},
                                      {{"type", "Fuse"}},
                                      strip})}}},
          {"model", model_json(name, pieces)}};
}

// llama2.c and sentencepiece do not look for special tokens in a text.
Json config_json() {
  return {{"tokenizer_class", "PreTrainedTokenizerFast"},
          {"bos_token", "<s>"},
          {"eos_token", "</s>"},
          {"unk_token", "<unk>"},
          {"split_special_tokens", true},
          {"clean_up_tokenization_spaces", false}};
}

}  // namespace

TokenizerFiles convert_pieces(const std::string& name, const std::vector<ScoredPiece>& pieces) {
  check_special(name, pieces);
  return {{"tokenizer.json", tokenizer_json(name, pieces).dump(1) + "\n"},
          {"tokenizer_config.json", config_json().dump(1) + "\n"}};
}

}  // namespace udv::text
