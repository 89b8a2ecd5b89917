// SPDX-License-Identifier: MIT
#pragma once

#include "deep/process_group.hpp"
#include "deep/runtime.hpp"
#include "udv/deep/language_model.hpp"
#include "udv/deep/llama.hpp"

namespace udv::deep {

struct LanguageModel::Parts {
  Parts(const text::LlamaConfig& config, const Placement& placement)
      : processes(placement.processes),
        device(device_of(placement)),
        model(config,
              torch::TensorOptions(type_named(placement.precision, device)).device(device)) {}

  std::shared_ptr<Processes> processes;  // nullptr: this one alone
  torch::Device device;
  Llama model;
};

/// Windows of a text: inputs [k L, k L + L) and the tokens after them.
class TextWindows {
 public:
  TextWindows(const std::vector<text::Token>& text, Index sequence, const torch::Device& device);

  Index sequence() const { return sequence_; }
  Index count() const { return count_; }                                 ///< whole windows
  Index tokens() const { return static_cast<Index>(text_.size()) - 1; }  ///< to be predicted
  struct Batch {
    torch::Tensor inputs, targets;
  };
  Batch batch(const Index* windows, Index count) const;
  /// What whole windows leave; false where nothing is left.
  bool rest(Batch& batch) const;

 private:
  Batch slices(const std::vector<Index>& begins, Index length) const;

  const std::vector<text::Token>& text_;
  Index sequence_, count_;
  torch::Device device_;
};

/// Sequences at a time that make so many tokens.
Index micro_batch_size(Index wanted, Index sequence, const torch::Device& device);

/// Mean loss over all tokens of a text; every process computes its share.
double mean_loss(const Llama& model, const TextWindows& windows, Index micro_batch,
                 Processes* processes);

}  // namespace udv::deep
