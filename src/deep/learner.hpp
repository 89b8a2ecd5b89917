// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "deep/classifier.hpp"
#include "deep/gradient_buckets.hpp"
#include "udv/deep/optimizer.hpp"

namespace udv::deep {

/// Steps of all layers of a classifier at once: gradient, both optimizers, projection. Several
/// processes sum their gradients, and then make the same step, each for itself.
class Learner {
 public:
  /// The classifier has to outlive the object; its network and head stay the same ones meanwhile.
  explicit Learner(const Classifier& classifier);

  /// Puts a fresh head where relative steps start: U and V on their spheres, all w equal to
  /// w0 = L0 / ||G0||_2, doubled for a ReLU. L0 = ln c is the loss of the outputs 0, and
  /// G0 = mean (1/c - y) h^T its gradient in the product matrix, for the features h of up to 2,048
  /// pictures.
  void start();

  /// All processes continue from what the first one has; nothing where there is only one.
  void take_state_of_first();

  /// A step on pictures begin .. end - 1 of the epoch, of which every process takes its share.
  /// Returns the loss of all of them, without waiting for it.
  torch::Tensor step(Index begin, Index end, double rate);
  Index steps() const { return head_rule_.steps(); }

  /// The parameters of the network before the head in full precision.
  Tensors network_values() const;

  /// What an exact continuation needs, and back.
  Tensors state() const;
  void load_state(const Tensors& state);

 private:
  /// Of the pictures begin .. end - 1, with the gradients of the parameters.
  torch::Tensor mean_loss(Index begin, Index end);
  torch::Tensor mean_loss_of_all(Processes& processes, Index begin, Index end);
  void average_buffers(Processes& processes);

  const Classifier& classifier_;
  Tensors network_parameters_;
  Projector projector_;
  Optimizer head_rule_, network_rule_;
  std::unique_ptr<GradientBuckets> buckets_;  // of several processes
};

}  // namespace udv::deep
