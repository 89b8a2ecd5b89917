// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "udv/deep/text_model.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// A language model, a text to learn from and one to test on.
struct LoraInput {
  deep::TextModelFiles model;
  std::string train;  ///< empty: nothing is trained
  std::string eval;
};
void describe(OptionTable& table, LoraInput& input);

/// Settings of `lora`; the seed of the session is that of adapters and batches.
struct LoraJobOptions {
  deep::LoraOptions training;                       ///< without method and rank
  std::vector<std::string> methods = {"lora-udv"};  ///< or lora, adalora; each with every rank
  std::vector<Index> ranks = {16};
  Index limit_train = 0, limit_eval = 0;  ///< the first so many tokens; 0: all
  Index calibrate = 64;     ///< sequences that tell what pruning does to the loss; 0: none
  double energy = 0.99;     ///< share that every exported block keeps
  std::string export_to;    ///< peft: adapter folder; merged: the model with the adapter inside
  bool compact = false;     ///< PEFT with the own rank of every block instead of zeros
  std::string export_base;  ///< folder for the model itself in Hugging Face's layout
};
void describe(OptionTable& table, LoraJobOptions& options);

/// The settings of one training; those of other methods are left out.
deep::LoraOptions options_for(const LoraJobOptions& options, const std::string& method, Index rank);

/// One training: a method with a rank.
struct LoraTraining {
  std::string method;
  Index rank = 0, parameters = 0;
  double perplexity_before = 0, perplexity = 0;
  /// By the share of parameters that pruning leaves: "0.5", "0.25", "0.1".
  std::map<std::string, double> perplexity_at_ratio;
  std::string optimizer;  ///< as it was found
  double learning_rate = 0;
  double tokens_per_second = 0, seconds = 0;
  double peak_memory = 0;  ///< bytes
  net::TrainStop stop = net::TrainStop::kDone;
};

struct LoraJobResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< of the trainings; empty where nothing was written
  std::vector<LoraTraining> trainings;
  text::LlamaConfig config;  ///< of the model
  Index train_tokens = 0, eval_tokens = 0;
  std::optional<double> loss;      ///< of the model on `eval` where nothing was trained
  std::filesystem::path exported;  ///< folder of the given adapter in its new form
};

/// Trains LoRA-UDV, LoRA and AdaLoRA adapters of a LLaMA model and prunes them; several trainings
/// get folders of their own. Without a text to learn from, measures the model or exports its
/// adapter. Throws IoError naming a file, OptionError naming a setting.
LoraJobResult lora(const LoraInput& input, const LoraJobOptions& options, Session& session);

/// Trains with model and texts in memory; limits are for files.
LoraJobResult lora(deep::TextModel& model, const std::vector<text::Token>& train,
                   const std::vector<text::Token>& eval, const LoraJobOptions& options,
                   Session& session);

}  // namespace udv::jobs
