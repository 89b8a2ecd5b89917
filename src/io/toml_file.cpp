// SPDX-License-Identifier: MIT
#include "io/toml_file.hpp"

#include <algorithm>

#include "core/require.hpp"

namespace udv::io::detail {
namespace {

constexpr int kMostParts = 100;

/// TOML has none but tabs and line ends; the parser trips over others between keys.
void refuse_controls(const std::string& path, std::string_view text) {
  long line = 1;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '\n') ++line;
    require<IoError>((code >= 0x20 && code != 0x7f) || c == '\t' || c == '\n' || c == '\r', path,
                     ":", line, ": a control character (code ", int{code},
                     ") found, text expected");
  }
}

/// Goes through a text and looks at what the parser does not: how many dots each key has, and how
/// headers start. Strings and comments are skipped.
class KeyCheck {
 public:
  KeyCheck(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  void check() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'')
        skip_string(c);
      else if (c == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else
        take(c);
    }
  }

 private:
  void take(char c) {
    ++at_;
    require<IoError>(static_cast<unsigned char>(c) < 0x80, path_, ":", line_,
                     ": a letter beyond ASCII found outside of quotes");
    if (c == '[' && nesting_ == 0 && last_ == '\n') check_header();
    if (c == '[' || c == '{') ++nesting_;
    if (c == ']' || c == '}') nesting_ = std::max(0, nesting_ - 1);
    if (c != ' ' && c != '\t' && c != '\r') last_ = c;
    if (c == '\n') ++line_;
    if (c == '\n' || c == '=' || c == ',' || c == '{' || c == '[') dots_ = 0;
    if (c != '.') return;
    require<IoError>(++dots_ < kMostParts, path_, ":", line_, ": a key of more than ", kMostParts,
                     " parts found, fewer expected");
  }

  // The parser takes it for granted that "[" and "[[" are followed by the start of a key.
  void check_header() const {
    const std::size_t next = text_.find_first_not_of(" \t[", at_);
    const char c = next < text_.size() ? text_[next] : '\n';
    const bool is_key = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                        (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '"' || c == '\'';
    require<IoError>(is_key, path_, ":", line_, ": a table without a name found");
  }

  // To the end of "...", '...', """...""" or '''...'''; one that does not end is the parser's.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_, 3) == three;
    require<IoError>(std::string_view("\n=,[{.").find(last_) != std::string_view::npos, path_, ":",
                     line_, ": a quote found where no text can start");
    last_ = quote;
    at_ += is_long ? 3 : 1;
    while (at_ < text_.size()) {
      if (text_[at_] == '\n') {
        ++line_;
        if (!is_long) return;
      }
      if (quote == '"' && text_[at_] == '\\') {
        at_ += 2;
      } else if (is_long ? text_.substr(at_, 3) == three : text_[at_] == quote) {
        at_ += is_long ? 3 : 1;
        return;
      } else {
        ++at_;
      }
    }
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
  long line_ = 1;
  int dots_ = 0, nesting_ = 0;
  char last_ = '\n';  // but for blanks
};

}  // namespace

toml::table parse_toml(const std::string& path, std::string_view text) {
  refuse_controls(path, text);
  KeyCheck(path, text).check();
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    std::string problem(error.description());  // shows what it saw, also where that is a line end
    for (char& c : problem)
      if (c == '\n' || c == '\r') c = ' ';
    throw IoError(message(path, ":", error.source().begin.line, ": ", problem));
  }
}

}  // namespace udv::io::detail
