// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "udv/text/tokenizer.hpp"

namespace udv::text {

/// A token that is looked for in a text before anything else is done with it.
struct AddedToken {
  std::string content;
  Token token = -1;
  bool special = false;                                      ///< left out when decoding
  bool normalized = false;                                   ///< looked for after the normalizer
  bool with_blanks_left = false, with_blanks_right = false;  ///< takes the white space beside it
};

/// A part of a text: an added token, or text between them with token -1.
struct Segment {
  std::string_view text;
  Token token = -1;
};

/// Finds the leftmost of some tokens in a text, the longest where several start at one place.
class AddedTokens {
 public:
  void add(AddedToken token);
  std::vector<Segment> split(std::string_view text) const;

 private:
  const AddedToken* at_front(std::string_view text) const;

  std::array<std::vector<AddedToken>, 256> by_first_byte_;  // longest first
};

}  // namespace udv::text
