// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::text {

using Token = std::int32_t;

/// Text to numbers and back. One tokenizer may serve many threads.
class UDV_EXPORT Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  /// Of the vocabulary with its special tokens: all tokens are below it.
  virtual Index size() const = 0;
  /// Without marks of begin and end. Bytes that are no UTF-8 are encoded one by one.
  virtual std::vector<Token> encode(std::string_view text) const = 0;
  /// Special tokens are left out. Throws InvalidArgument where a token is not below size().
  virtual std::string decode(const std::vector<Token>& tokens) const = 0;
  /// As the vocabulary spells it: blanks may look otherwise. Throws as decode.
  virtual std::string piece(Token token) const = 0;

  virtual Token begin() const = 0;  ///< mark of a text's begin, -1 where there is none
  virtual Token end() const = 0;    ///< mark of a text's end, -1 where there is none

  /// Name and bytes of each file of the Hugging Face layout.
  virtual std::map<std::string, std::string> files() const = 0;
};

/// Reads
///   tokenizer.json of Hugging Face: BPE with byte fallback (LLaMA 2) or byte level (LLaMA 3). Its
///   neighbours tokenizer_config.json and config.json name the marks. Special tokens in a text are
///   found, as Hugging Face does, unless split_special_tokens is set there
///   tokenizer.model of sentencepiece
///   .bin of llama2.c
///   a folder: the first of these that is in it
/// Throws IoError naming the file: damaged, or of an unknown kind.
UDV_EXPORT std::unique_ptr<Tokenizer> read_tokenizer(const std::filesystem::path& path);

/// Writes files() into a folder, which is made where it is missing: what was read from Hugging Face
/// or sentencepiece as it was, what was read from llama2.c as tokenizer.json with the same tokens.
/// Throws IoError.
UDV_EXPORT void write_tokenizer(const std::filesystem::path& folder, const Tokenizer& tokenizer);

}  // namespace udv::text
