// SPDX-License-Identifier: MIT
#pragma once

#include "deep/classifier.hpp"
#include "udv/deep/optimizer.hpp"

namespace udv::deep {

/// Steps of all layers of a classifier at once: gradient, both optimizers, projection.
class Learner {
 public:
  /// The classifier has to outlive the object; its network and head stay the same ones meanwhile.
  explicit Learner(const Classifier& classifier);

  /// Puts a fresh head where relative steps start: U and V on their spheres, all w equal to
  /// w0 = L0 / ||G0||_2, doubled for a ReLU. L0 = ln c is the loss of the outputs 0, and
  /// G0 = mean (1/c - y) h^T its gradient in the product matrix, for the features h of up to 2,048
  /// pictures.
  void start();

  /// A step on pictures begin .. end - 1 of the epoch. Returns the loss, without waiting for it.
  torch::Tensor step(Index begin, Index end, double rate);
  Index steps() const { return head_rule_.steps(); }

  /// The parameters of the network before the head in full precision.
  Tensors network_values() const;

  /// What an exact continuation needs, and back.
  Tensors state() const;
  void load_state(const Tensors& state);

 private:
  const Classifier& classifier_;
  Tensors network_parameters_;
  Projector projector_;
  Optimizer head_rule_, network_rule_;
};

}  // namespace udv::deep
