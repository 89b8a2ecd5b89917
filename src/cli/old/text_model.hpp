// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "udv/deep/language_model.hpp"
#include "udv/io/run_info.hpp"

namespace udv::cli {

/// Flags that say which language model, and where it runs.
struct ModelFlags {
  std::string model, tokenizer, adapter;
  deep::LanguageModel::Place place;

  void add_to(CLI::App& command);
  void describe(std::map<std::string, io::Setting>& config) const;
};

/// A model, with its adapter where one is given, and the tokenizer that belongs to it.
struct TextModel {
  deep::LanguageModel model;
  std::unique_ptr<deep::Tokenizer> tokenizer;

  /// With the mark of begin before it.
  std::vector<deep::Token> encode(const std::string& text) const;
};

/// Throws IoError where files cannot be read, or do not belong together.
TextModel read_text_model(const ModelFlags& flags);

/// The first `limit` tokens of a text file; 0: all. Throws IoError naming it where it is empty.
std::vector<deep::Token> read_text(const TextModel& model, const std::filesystem::path& path,
                                   Index limit);

}  // namespace udv::cli
