// SPDX-License-Identifier: MIT
#pragma once

#include "cli/common.hpp"
#include "cli/training_flags.hpp"
#include "udv/deep/finetune.hpp"

namespace udv::cli {

/// Flags of udv finetune.
struct FinetuneFlags {
  std::string data, cache = "udv-runs/features", curves = "every", load, augment = "flip,crop";
  Index limit_train = 0, limit_test = 0;
  bool evaluate = false;
  deep::FinetuneOptions options;
  deep::ImageOptions images;
  TrainFlags training;
  CommonFlags common;

  void add_to(CLI::App& command);
  /// A backbone that does not learn.
  bool frozen() const { return !options.backbone.empty() && !options.trainable; }
  /// Throws CLI::ValidationError naming a flag, InvalidArgument naming a value.
  deep::FinetuneOptions read() const;
  /// Every setting as used.
  std::map<std::string, io::Setting> describe(const deep::FinetuneOptions& used) const;
};

}  // namespace udv::cli
