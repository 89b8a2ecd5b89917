// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "udv/deep/udv_linear.hpp"

namespace udv::deep {

/// AdaLoRA (Zhang et al. 2023): adapters P diag(l) Q whose ranks share one budget. Of the loss
///   L + gamma sum (|P^T P - I|_F^2 + |Q Q^T - I|_F^2)
/// every number p has the importance s(p) = mean I * mean |I - mean I|, I = |p dL/dp|, with moving
/// means; a triplet (P_j, l_j, Q_j) has s(l_j) + mean s(P_j) + mean s(Q_j). After each step the
/// triplets with the largest ones keep their l_j, the others get 0. Their number falls from all to
/// `rank` per block, as a cube: not in the first tenth of the steps, and no more, nor with other
/// triplets, in the last three tenths.
class RankAllocator {
 public:
  /// Blocks of the variant UDV-unconstrained and of one width.
  RankAllocator(std::vector<std::shared_ptr<UDVLinearImpl>> blocks, Index rank, Index steps);

  /// Adds the gradients of the regulariser to those of the loss, and looks at their sums.
  void before_step();
  /// Drops triplets; steps are counted from 1.
  void after_step(Index step);

  /// Triplets that are left after this step.
  Index budget(Index step) const;

  /// What an exact continuation needs, and back. Throws InvalidArgument where shapes differ.
  std::vector<torch::Tensor> state() const;
  void load_state(const std::vector<torch::Tensor>& state);
  size_t state_size() const { return 2 * parameters_.size() + 1; }

 private:
  void add_regulariser();
  torch::Tensor scores() const;

  std::vector<std::shared_ptr<UDVLinearImpl>> blocks_;
  std::vector<torch::Tensor> parameters_;  // U, w, V of each block
  std::vector<torch::Tensor> sensitivity_, uncertainty_;
  torch::Tensor mask_;  // blocks x width
  Index rank_, steps_;
};

}  // namespace udv::deep
