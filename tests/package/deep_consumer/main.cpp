// SPDX-License-Identifier: MIT
// Uses the installed LibTorch component like a stranger: a head, its constraint sets, pruning.
#include <iostream>
#include <udv/deep/udv_linear.hpp>

namespace {

int fail(const char* what) {
  std::cerr << "deep consumer: " << what << '\n';
  return 1;
}

}  // namespace

int main() {
  torch::manual_seed(1);
  udv::deep::UDVLinear head(20, 5, 8);
  const torch::Tensor x = torch::randn({3, 20});
  head(x).sum().backward();
  for (const auto& array : head->arrays()) {
    if (!array.values.grad().defined()) return fail("an array without gradient");
    array.values.set_data(10 * array.values.detach());
  }
  udv::deep::Projector(std::vector{head.ptr()}).project();
  if (head->find("U.weight")->norm().item<double>() > 1 + 1e-5) return fail("|U| above 1");
  const auto smaller = head->prune(udv::deep::PruneTarget::of_rank(8));
  if (!torch::allclose(smaller->merge()->forward(x), head(x), 1e-4, 1e-5))
    return fail("another function after pruning to full rank");
  try {
    udv::deep::UDVLinear(3, 2, 2, "XYZ");
    return fail("no exception for an unknown variant");
  } catch (const std::invalid_argument&) {
    return 0;
  }
}
