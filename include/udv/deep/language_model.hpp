// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/observer.hpp"
#include "udv/deep/adapter_options.hpp"
#include "udv/deep/placement.hpp"
#include "udv/net/adapter.hpp"
#include "udv/net/optimizer.hpp"
#include "udv/net/schedule.hpp"
#include "udv/net/trainer.hpp"
#include "udv/text/llama_config.hpp"
#include "udv/text/tokenizer.hpp"

// Nothing of LibTorch shows here: a program that uses this compiles quickly.
namespace udv::deep {

/// How adapters learn. What is left at "auto" (or the number that stands for it) is found from the
/// preset, the method and the number of steps: resolved().
struct LoraOptions {
  LoraOptions();

  std::string preset = "auto";     ///< or paper: mbgd at 1e-3 on q and v, A normal, d = 1
  AdapterOptions adapter;          ///< modules empty: auto; start "auto"; deviation 0: auto
  std::string optimizer = "auto";  ///< relative for lora-udv, else adam
  net::OptimizerSettings rule;
  double learning_rate = 0;  ///< 0: 7 / sqrt(steps) for relative, else 3e-3
  net::Schedule schedule;    ///< auto: cosine-step, the cosine over the steps
  Index epochs = 30;
  Index batch = 32;       ///< sequences of one step
  Index micro_batch = 0;  ///< sequences at a time; 0: 8192 tokens, 2048 on the CPU
  Index sequence = 0;     ///< tokens of one sequence; 0: the model's limit, 1024 at most
  double clip = 0;        ///< largest norm of the gradient; 0: none
  bool checkpointing = false;
  std::uint64_t seed = 0;

  /// The same with nothing left at auto, for a training of so many steps. Throws InvalidArgument
  /// where settings contradict each other.
  LoraOptions resolved(Index steps) const;
  /// Throws InvalidArgument naming field and value.
  void validate() const;
};
/// Without method and rank, which `lora` compares, and seed.
void describe(OptionTable& table, LoraOptions& options);

/// One line of a training's history; epoch 0 is the model as it was.
struct LoraEpoch {
  Index epoch = 0;
  double seconds = 0;
  double train_loss = 0;  ///< mean of -log p over the epoch; NaN at epoch 0
  double eval_loss = 0;   ///< of the other text, after the epoch
  double learning_rate = 0;
  double tokens_per_second = 0;  ///< learned from
  double perplexity() const;     ///< exp of eval_loss
};

struct LoraResult {
  std::vector<LoraEpoch> history;
  net::TrainStop stop = net::TrainStop::kDone;
  double seconds = 0, tokens_per_second = 0;
  double peak_memory = 0;  ///< bytes, of the device or of the process
};

/// The observer sees the tokens so far as iteration, the loss of a step as objective and the rank
/// of the adapters. States are saved after every epoch, and where the observer stops the training.
struct LoraHooks : Hooks {
  std::function<void(const LoraEpoch&)> epoch;
};

struct GenerateOptions {
  Index tokens = 256;      ///< at most
  double temperature = 0;  ///< 0: the likeliest token each time
  std::uint64_t seed = 0;
};
/// Without the seed.
void describe(OptionTable& table, GenerateOptions& options);

/// A LLaMA model with adapters, on a device.
class LanguageModel {
 public:
  /// A folder in Hugging Face's layout, or a file in that of llama2.c. Throws IoError.
  static LanguageModel read(const std::filesystem::path& path, const Placement& placement);
  /// The contents of a llama2.c file; the name is for errors.
  static LanguageModel from_llama2c(const std::string& name, std::string_view bytes,
                                    const Placement& placement);
  /// Normal weights with this deviation, made on the device.
  static LanguageModel random(const text::LlamaConfig& config, const Placement& placement,
                              double deviation = 0.02, std::uint64_t seed = 0);
  ~LanguageModel();
  LanguageModel(LanguageModel&&) noexcept;

  const text::LlamaConfig& config() const;
  /// That work on it together; nullptr: this one alone.
  const std::shared_ptr<Processes>& processes() const;
  /// config.json, model.safetensors (shards where it is large) of the weights without adapters.
  void write(const std::filesystem::path& folder) const;

  /// Sums over each array of weights: other models have other ones.
  std::string fingerprint() const;

  void add_adapters(const AdapterOptions& options, std::uint64_t seed);
  /// Throws InvalidArgument where add_adapters would.
  void check_adapters(const AdapterOptions& options) const;
  net::Adapter adapter() const;
  /// Throws InvalidArgument where it is for another model.
  void set_adapter(const net::Adapter& adapter);
  void merge_adapters();

  /// Mean of -log p(token | tokens before it in the window) over a text, in windows of `sequence`
  /// inputs; every token but the first counts once. 0: as in training.
  double loss(const std::vector<text::Token>& text, Index sequence = 0, Index micro_batch = 0);
  /// Scores of what follows each token, tokens x vocabulary.
  RowMatrix<float> logits(const std::vector<text::Token>& tokens);
  /// What follows; `look` sees each token as it comes, and ends it with false. Ends at the model's
  /// limit and where the model ends the text.
  std::vector<text::Token> generate(const std::vector<text::Token>& prompt,
                                    const GenerateOptions& options,
                                    const std::function<bool(text::Token)>& look = {});

  /// Second moments of the inputs and of the gradients of the outputs, and the slope, of every
  /// matrix that has an adapter, with the adapter as it is: over so many sequences of the text,
  /// evenly spread. The gradients are those of the summed loss. Throws InvalidArgument where there
  /// is no adapter.
  net::Calibration calibrate(const std::vector<text::Token>& text, Index sequences,
                             Index sequence = 0, Index micro_batch = 0);
  /// Numbers in these moments.
  double calibration_size() const;

  /// Trains the adapters. A loss that is not finite ends it as diverged.
  LoraResult train(const std::vector<text::Token>& text, const std::vector<text::Token>& evaluation,
                   const LoraOptions& options, const LoraHooks& hooks = {});

 private:
  struct Parts;
  explicit LanguageModel(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// The length of sequences: `wanted`, or a default where that is 0.
Index sequence_length(const text::LlamaConfig& config, Index wanted);
/// Steps of a training on such a text.
Index training_steps(const std::vector<text::Token>& text, Index sequence,
                     const LoraOptions& options);
/// Tokens that an epoch of such a text learns from: those of its whole sequences.
Index tokens_of_epoch(const std::vector<text::Token>& text, Index sequence);

}  // namespace udv::deep
