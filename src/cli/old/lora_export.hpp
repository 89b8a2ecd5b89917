// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "cli/text_model.hpp"

namespace udv::cli {

/// Where an adapter goes besides the folder of its run.
struct LoraExport {
  std::string to;  ///< "", peft or merged
  bool compact = false;
  double energy = 0.99;  ///< that every block keeps

  /// The folder it goes to, made before time is spent. Nothing where `to` is empty.
  void prepare(const std::filesystem::path& folder) const;
  /// `folder`/peft, or the model with the adapter inside in `folder`/merged.
  void write(const std::filesystem::path& folder, const net::Adapter& adapter,
             const std::string& model, const deep::Tokenizer& tokenizer) const;
};

}  // namespace udv::cli
