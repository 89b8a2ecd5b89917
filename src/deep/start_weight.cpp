// SPDX-License-Identifier: MIT
#include "deep/start_weight.hpp"

#include <algorithm>
#include <cmath>

namespace udv::deep {
namespace {

using torch::Tensor;

constexpr int kPowerSteps = 50;
constexpr std::int64_t kMostGradients = std::int64_t{1} << 30;  // numbers in memory at a time

using Linears = std::vector<const AdaptedLinear*>;

// Matrices whose gradients lie in memory together.
std::vector<Linears> groups_of(const Linears& linears) {
  std::vector<Linears> groups;
  std::int64_t size = 0;
  for (const AdaptedLinear* linear : linears) {
    size += linear->weight.numel();
    if (groups.empty() || size > kMostGradients) {
      groups.emplace_back();
      size = linear->weight.numel();
    }
    groups.back().push_back(linear);
  }
  return groups;
}

void learn(const Linears& linears, bool on) {
  for (const AdaptedLinear* linear : linears) {
    Tensor weight = linear->weight;
    weight.requires_grad_(on);
    if (!on) weight.mutable_grad() = Tensor();
  }
}

// Mean loss, with the gradients of what learns.
double mean_gradient(const Llama& model, const TextWindows& text, const std::vector<Index>& windows,
                     Index micro_batch) {
  const auto count = static_cast<Index>(windows.size());
  const double scale = 1 / static_cast<double>(count * text.sequence());
  double sum = 0;
  for (Index at = 0; at < count; at += micro_batch) {
    const auto batch = text.batch(windows.data() + at, std::min(micro_batch, count - at));
    sum += model.accumulate(batch.inputs, batch.targets, scale, false).item<double>();
  }
  return sum * scale;
}

}  // namespace

double spectral_norm(const Tensor& G) {
  const torch::NoGradGuard no_grad;
  const Tensor M = G.detach().to(torch::kFloat32);
  const Tensor lengths = at::linalg_vector_norm(M, 2, at::IntArrayRef{1});
  const double largest = lengths.max().item<double>();
  if (!(largest > 0) || !std::isfinite(largest)) return 0;
  Tensor v = M[lengths.argmax().item<std::int64_t>()];
  for (int step = 0; step < kPowerSteps; ++step) {
    v = v / v.norm();
    v = torch::mv(M.t(), torch::mv(M, v));
  }
  return std::sqrt(v.norm().item<double>());
}

double start_weight(const Llama& model, const TextWindows& text, const std::vector<Index>& windows,
                    Index micro_batch) {
  double loss = 0, largest = 0;
  for (const Linears& group : groups_of(model.adapted())) {
    learn(group, true);
    loss = mean_gradient(model, text, windows, micro_batch);
    for (const AdaptedLinear* linear : group)
      largest = std::max(largest, spectral_norm(linear->weight.grad()));
    learn(group, false);
  }
  for (Tensor& values : model.adapter_parameters()) values.mutable_grad() = Tensor();
  const double weight = loss / largest;
  return std::isfinite(weight) && weight > 0 ? weight : 1;
}

}  // namespace udv::deep
