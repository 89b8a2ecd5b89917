// SPDX-License-Identifier: MIT
#include "deep/head_loss.hpp"

#include <algorithm>

namespace udv::deep {
namespace {

using torch::Tensor;

constexpr std::int64_t kScores = std::int64_t{1} << 24;  // at a time

}  // namespace

HeadLoss head_loss(const Tensor& hidden, const Tensor& W, const Tensor& targets, double scale) {
  const torch::NoGradGuard no_grad;
  const std::int64_t rows = hidden.size(0), part = std::max<std::int64_t>(1, kScores / W.size(0));
  HeadLoss result{torch::zeros({}, hidden.options().dtype(torch::kFloat64)), Tensor()};
  if (scale != 0) result.gradient = torch::empty_like(hidden);
  for (std::int64_t begin = 0; begin < rows; begin += part) {
    const std::int64_t count = std::min(part, rows - begin);
    const Tensor h = hidden.narrow(0, begin, count);
    const Tensor target = targets.narrow(0, begin, count).unsqueeze(1);
    // log p = s - log sum exp s; the gradient by s is p - e_target.
    Tensor log_p = torch::log_softmax(torch::linear(h, W), 1, torch::kFloat32);
    result.sum.sub_(log_p.gather(1, target).sum(torch::kFloat64));
    if (scale == 0) continue;
    Tensor p = log_p.exp_();
    p.scatter_add_(1, target, torch::full({count, 1}, -1.0, p.options()));
    Tensor gradient = result.gradient.narrow(0, begin, count);
    gradient.copy_(torch::matmul(p.mul_(scale).to(W.scalar_type()), W));
  }
  return result;
}

}  // namespace udv::deep
