// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/json_value.hpp"

// The steps of a tokenizer.json around its model, by the names that the file gives them. Their
// readers throw IoError on a step that is not known: a text is never encoded in a wrong way.
namespace udv::text {

using Words = std::vector<std::string>;

/// Text to text. For null: no change.
using Normalizer = std::function<std::string(std::string)>;
Normalizer read_normalizer(const JsonValue& value);

/// Words to more and shorter ones; the flag says whether the first of them starts the text.
using Splitter = std::function<Words(Words, bool at_start)>;
struct Splitting {
  Splitter split;
  bool byte_level = false;  ///< the words are made of the characters of byte_characters()
};
Splitting read_splitter(const JsonValue& value);

/// Pieces to pieces that make a text when they are put together.
using Decoder = std::function<Words(Words)>;
Decoder read_decoder(const JsonValue& value);

/// The printable character, in UTF-8, that stands for each byte: GPT-2's byte-level alphabet.
const std::vector<std::string>& byte_characters();

/// Every `from` replaced by `to`.
std::string replaced(std::string_view text, std::string_view from, std::string_view to);

/// The character of white space (Unicode) at the front: its length in bytes, 0 where there is none.
std::size_t blank_length(std::string_view text);

}  // namespace udv::text
