// SPDX-License-Identifier: MIT
#include "io/toml_file.hpp"

#include "core/require.hpp"

namespace udv::io::detail {
namespace {

constexpr int kMostParts = 100;

/// Goes through a text and counts the dots of each key, outside of strings and comments.
class KeyDepth {
 public:
  KeyDepth(const std::string& path, std::string_view text) : path_(path), text_(text) {}

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
    if (c == '\n') ++line_;
    if (c == '\n' || c == '=' || c == ',' || c == '{' || c == '[') dots_ = 0;
    if (c != '.') return;
    require<IoError>(++dots_ < kMostParts, path_, ":", line_, ": a key of more than ", kMostParts,
                     " parts found, fewer expected");
  }

  // To the end of "...", '...', """...""" or '''...'''; one that does not end is the parser's.
  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool is_long = text_.substr(at_, 3) == three;
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
  int dots_ = 0;
};

}  // namespace

toml::table parse_toml(const std::string& path, std::string_view text) {
  KeyDepth(path, text).check();
  try {
    return toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    throw IoError(message(path, ":", error.source().begin.line, ": ", error.description()));
  }
}

}  // namespace udv::io::detail
