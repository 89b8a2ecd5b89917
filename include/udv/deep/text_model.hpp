// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "udv/deep/language_model.hpp"
#include "udv/text/tokenizer.hpp"

namespace udv::deep {

/// The files of a language model, and where it runs.
struct TextModelFiles {
  std::string model;      ///< folder in Hugging Face's layout, or file of llama2.c
  std::string tokenizer;  ///< empty: the one beside the model
  std::string adapter;    ///< folder of an adapter; empty: none
  Placement placement;
};
void describe(OptionTable& table, TextModelFiles& files);

/// A model, with its adapter where one is given, and its tokenizer.
struct TextModel {
  LanguageModel model;
  std::unique_ptr<text::Tokenizer> tokenizer;
  std::string path;  ///< of the model without adapter

  /// The tokens of a text after the mark of its begin.
  std::vector<text::Token> encode(const std::string& text) const;
};

/// Throws IoError where files cannot be read, or do not belong together.
TextModel read_text_model(const TextModelFiles& files);

/// The first `limit` tokens of a text file; 0: all. Throws IoError naming it where it is empty.
std::vector<text::Token> read_tokens(const TextModel& model, const std::filesystem::path& path,
                                     Index limit);

}  // namespace udv::deep
