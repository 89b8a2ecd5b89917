// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "cli/epoch_tables.hpp"
#include "cli/finetune_flags.hpp"

namespace udv::cli {

/// One run of udv finetune, with the tables that it writes after every epoch.
struct FinetuneSession {
  const FinetuneFlags& flags;
  const deep::FinetuneOptions& options;
  const deep::ImageData& data;
  deep::Finetuner& tuner;
  std::filesystem::path folder;
  std::string settings;
  EpochTable spectra, curves, blocks;

  std::filesystem::path checkpoint() const { return folder / "checkpoint.bin"; }
  void record_epoch(const net::EpochRecord& record, const net::Network<float>& head,
                    const net::Dataset<float>& test);

  /// All layers, or the head alone where the backbone is frozen. Nothing where Ctrl-C was pressed
  /// before the first step.
  std::optional<deep::FinetuneResult> train();
};

}  // namespace udv::cli
