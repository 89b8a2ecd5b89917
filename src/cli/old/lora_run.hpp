// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/common.hpp"
#include "cli/exit_code.hpp"
#include "cli/lora_export.hpp"
#include "cli/text_model.hpp"

namespace udv::cli {

/// What every training of one call has in common.
struct LoraSetup {
  const CommonFlags& common;
  TextModel& text_model;
  const std::vector<deep::Token>&text, &evaluation;
  deep::LoraOptions options;  ///< method and rank are those of the run
  std::map<std::string, io::Setting> config;
  std::string model_name;
  std::string weights;  ///< LanguageModel::fingerprint before any training
  LoraExport exported;  ///< its energy is that of ranks.csv, too
};

/// What a finished training has to say, in words and numbers of its run.json.
struct LoraFigures {
  std::string method;
  Index rank = 0, parameters = 0;
  double before = 0, after = 0;            ///< perplexity
  std::map<std::string, double> at_ratio;  ///< perplexity, by compression ratio
  double tokens_per_second = 0, seconds = 0, memory = 0;
  net::TrainStop stop = net::TrainStop::kDone;
};

/// Trains, prunes, writes all files of the run. Nothing where it was interrupted. With --resume a
/// run that is finished is read again.
std::optional<LoraFigures> run_lora_training(const LoraSetup& setup,
                                             const std::filesystem::path& folder);

}  // namespace udv::cli
