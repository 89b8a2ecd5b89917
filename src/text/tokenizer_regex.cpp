// SPDX-License-Identifier: MIT
#include "text/tokenizer_regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/require.hpp"
#include "io/text.hpp"

namespace udv::text {
namespace {

using io::detail::in_quotes;
using MatchData = std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)>;

std::string error_text(int code) {
  PCRE2_UCHAR text[256] = {};
  pcre2_get_error_message(code, text, sizeof text);
  return reinterpret_cast<const char*>(text);
}

[[noreturn]] void refuse(const std::string& file, const std::string& pattern,
                         std::string_view part) {
  throw IoError(message(file, ": ", in_quotes(part), " found in the pattern ", in_quotes(pattern),
                        ", which is not supported"));
}

bool is_letter_or_digit(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9');
}

// PCRE2's \s has one more character (U+180E) than Unicode's white space, which Oniguruma takes.
// Letters that are not listed here and {1,3}+ mean something else there, or could.
std::string translate(const std::string& file, const std::string& pattern) {
  constexpr std::string_view kLetters = "sSpPrntdD";
  std::string result;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern.compare(i, 2, "}+") == 0) refuse(file, pattern, "}+");
    result += pattern[i];
    if (pattern[i] != '\\' || i + 1 == pattern.size()) continue;
    const char letter = pattern[++i];
    if (is_letter_or_digit(letter) && kLetters.find(letter) == kLetters.npos)
      refuse(file, pattern, pattern.substr(i - 1, 2));
    const bool blank = letter == 's' || letter == 'S';
    result += letter == 's' ? 'p' : letter == 'S' ? 'P' : letter;
    if (blank) result += "{White_Space}";
    const bool named = (letter == 'p' || letter == 'P') && pattern.compare(i + 1, 1, "{") == 0;
    for (const std::size_t name = named ? pattern.find('}', i) : i;
         i < name && i + 1 < pattern.size();)
      result += pattern[++i];
  }
  return result;
}

// The bytes from `at` on that are UTF-8.
std::string_view valid_run(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size()) {
    const std::size_t length = io::detail::utf8_length(text.substr(end));
    if (length == 0) break;
    end += length;
  }
  return text.substr(at, end - at);
}

}  // namespace

Regex::Regex(const std::string& file, const std::string& pattern) : file_(file), pattern_(pattern) {
  const std::string translated = translate(file, pattern);
  int error = 0;
  PCRE2_SIZE offset = 0;
  pcre2_code* const code =
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                    PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE, &error, &offset, nullptr);
  require<IoError>(code != nullptr, file, ": pattern ", in_quotes(pattern),
                   " found: ", error_text(error));
  code_ = std::shared_ptr<const void>(code, [code](const void*) { pcre2_code_free(code); });
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);  // only faster: it may be missing
}

std::vector<Match> Regex::matches(std::string_view text) const {
  const auto* const code = static_cast<const pcre2_code*>(code_.get());
  const MatchData data(pcre2_match_data_create_from_pattern(code, nullptr), &pcre2_match_data_free);
  const PCRE2_SIZE* const found = pcre2_get_ovector_pointer(data.get());
  std::vector<Match> all;
  for (std::size_t start = 0; start < text.size(); ++start) {
    const std::string_view run = valid_run(text, start);
    for (std::size_t at = 0; at < run.size();) {
      const int result = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(run.data()), run.size(), at,
                                     PCRE2_NO_UTF_CHECK, data.get(), nullptr);
      if (result == PCRE2_ERROR_NOMATCH) break;
      require<IoError>(result >= 0, file_, ": pattern ", in_quotes(pattern_),
                       " fails on a text: ", error_text(result));
      if (found[1] > found[0]) all.push_back({start + found[0], start + found[1]});
      at = found[1] > at ? found[1] : at + io::detail::utf8_length(run.substr(at));
    }
    start += run.size();
  }
  return all;
}

}  // namespace udv::text
