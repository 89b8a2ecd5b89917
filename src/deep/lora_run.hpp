// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "udv/deep/lora_job.hpp"

namespace udv::jobs {

/// What all trainings of one call have in common.
struct LoraSetup {
  Session& session;
  deep::TextModel& model;
  const std::vector<text::Token>&train, &eval;
  const LoraJobOptions& options;
  std::map<std::string, Setting> config;
  std::string fingerprint;  ///< of settings, texts and weights
};

/// Trains, prunes and writes all files of one training into this folder of the session; empty: its
/// own. Nothing where it is interrupted. A finished training is read again where the session
/// resumes.
std::optional<LoraTraining> run_lora_training(const LoraSetup& setup, const std::string& method,
                                              Index rank, const std::string& subfolder);

}  // namespace udv::jobs
