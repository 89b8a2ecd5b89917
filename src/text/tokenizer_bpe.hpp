// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "udv/text/tokenizer.hpp"

namespace udv::text {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using Vocabulary = std::unordered_map<std::string, Token, TextHash, std::equal_to<>>;

/// <0x0A> for the byte 10.
std::string byte_piece(unsigned char byte);

/// Two neighbours that become one token.
struct Merge {
  Token left, right, joined;
};

struct BpeOptions {
  bool byte_fallback = false;  ///< an unknown character becomes the byte_piece of each byte
  bool whole_words = false;    ///< a word that is a piece is this token, whatever the merges say
  bool fuse_unknown = false;   ///< unknown characters in a row are one token
  Token unknown = -1;          ///< for other unknown characters; -1: they are left out
};

/// Byte-pair encoding: a word's characters, then time after time the merge that stands first in
/// the list, the leftmost of equal ones. O(n log n) for a word of n characters.
class Bpe {
 public:
  Bpe(Vocabulary vocabulary, const std::vector<Merge>& merges, const BpeOptions& options);

  /// -1 where there is no such piece.
  Token find(std::string_view piece) const;
  /// Appends the tokens of one word.
  void encode(std::string_view word, std::vector<Token>& tokens) const;

 private:
  struct Ranked {
    std::int32_t rank;
    Token joined;
  };
  struct Symbol;
  struct Candidate;
  class Chain;

  std::vector<Token> characters(std::string_view word) const;
  const Ranked* merge_of(Token left, Token right) const;

  Vocabulary vocabulary_;
  std::unordered_map<std::uint64_t, Ranked> merges_;
  BpeOptions options_;
  std::vector<Token> bytes_;  // all 256, or none
};

}  // namespace udv::text
