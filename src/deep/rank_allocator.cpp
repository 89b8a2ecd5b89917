// SPDX-License-Identifier: MIT
#include "deep/rank_allocator.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;
using Tensors = std::vector<Tensor>;

constexpr double kOrthogonal = 0.1;                    // gamma
constexpr double kKeep = 0.85;                         // of both moving means
constexpr double kFirstShare = 0.1, kLastShare = 0.3;  // of the steps
constexpr size_t kArrays = 3;                          // U, w, V

// Gradient of gamma |X X^T - I|_F^2 in X: 4 gamma (X X^T - I) X.
Tensor orthogonal_gradient(const Tensor& X) {
  Tensor G = torch::matmul(X, X.t());
  G.diagonal().sub_(1);
  return torch::matmul(G, X).mul_(4 * kOrthogonal);
}

}  // namespace

RankAllocator::RankAllocator(std::vector<std::shared_ptr<UDVLinearImpl>> blocks, Index rank,
                             Index steps)
    : blocks_(std::move(blocks)), rank_(rank), steps_(steps) {
  for (const auto& block : blocks_)
    for (const char* name : {"U.weight", "D.weight", "V.weight"}) {
      parameters_.push_back(*block->find(name));
      sensitivity_.push_back(torch::zeros_like(parameters_.back().detach()));
      uncertainty_.push_back(torch::zeros_like(parameters_.back().detach()));
    }
  const auto& first = parameters_.front();
  mask_ = torch::ones({static_cast<std::int64_t>(blocks_.size()), first.size(0)},
                      first.options().requires_grad(false));
}

void RankAllocator::add_regulariser() {
  for (size_t b = 0; b < blocks_.size(); ++b) {
    const Tensor &U = parameters_[kArrays * b], &V = parameters_[kArrays * b + 2];
    U.grad().add_(orthogonal_gradient(U.detach()));
    V.grad().add_(orthogonal_gradient(V.detach().t()).t());
  }
}

void RankAllocator::before_step() {
  const torch::NoGradGuard no_grad;
  add_regulariser();
  Tensors values, gradients;
  for (const Tensor& p : parameters_) {
    values.push_back(p.detach());
    gradients.push_back(p.grad());
  }
  Tensors now = at::_foreach_mul(values, gradients);
  at::_foreach_abs_(now);
  at::_foreach_mul_(sensitivity_, kKeep);
  at::_foreach_add_(sensitivity_, now, 1 - kKeep);
  at::_foreach_sub_(now, sensitivity_);
  at::_foreach_abs_(now);
  at::_foreach_mul_(uncertainty_, kKeep);
  at::_foreach_add_(uncertainty_, now, 1 - kKeep);
}

// blocks x width
Tensor RankAllocator::scores() const {
  const Tensors s = at::_foreach_mul(sensitivity_, uncertainty_);
  Tensors rows;
  for (size_t b = 0; b < blocks_.size(); ++b)
    rows.push_back(s[kArrays * b].mean(1) + s[kArrays * b + 1] + s[kArrays * b + 2].mean(0));
  return torch::stack(rows);
}

Index RankAllocator::budget(Index step) const {
  const auto all = static_cast<double>(mask_.numel()),
             last = static_cast<double>(rank_) * static_cast<double>(mask_.size(0));
  const auto steps = static_cast<double>(steps_);
  const double first = kFirstShare * steps, end = steps - kLastShare * steps;
  const double left =
      1 - std::clamp((static_cast<double>(step) - first) / std::max(1.0, end - first), 0.0, 1.0);
  return static_cast<Index>(std::llround(last + (all - last) * left * left * left));
}

void RankAllocator::after_step(Index step) {
  const torch::NoGradGuard no_grad;
  const Index count = budget(step);
  const bool shrinks = count < mask_.numel() &&
                       (step == 1 || count < budget(step - 1) || budget(step - 1) == mask_.numel());
  if (shrinks) {
    const Tensor all = scores();
    const Tensor least = std::get<0>(all.flatten().topk(count)).min();
    mask_.copy_(all >= least);
  }
  if (count == mask_.numel()) return;
  for (size_t b = 0; b < blocks_.size(); ++b)
    parameters_[kArrays * b + 1].detach().mul_(mask_[static_cast<std::int64_t>(b)]);
}

Tensors RankAllocator::state() const {
  Tensors all = sensitivity_;
  all.insert(all.end(), uncertainty_.begin(), uncertainty_.end());
  all.push_back(mask_);
  return all;
}

void RankAllocator::load_state(const Tensors& state) {
  const torch::NoGradGuard no_grad;
  const Tensors own = this->state();
  require(state.size() == own.size(), "checkpoint: ", state.size(),
          " arrays of the rank allocation found, ", own.size(), " expected");
  for (size_t i = 0; i < own.size(); ++i) {
    require(state[i].sizes() == own[i].sizes(), "checkpoint: an array of another shape found");
    own[i].copy_(state[i]);
  }
}

}  // namespace udv::deep
