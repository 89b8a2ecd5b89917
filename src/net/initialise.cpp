// SPDX-License-Identifier: MIT
#include "udv/net/initialise.hpp"

#include <cmath>

#include "net/named_entries.hpp"
#include "udv/core/random.hpp"

namespace udv::net {
namespace {

constexpr double kDeviation = 0.02;

// A weight of a layer with so many inputs.
using Draw = double (*)(Random&, Index inputs, bool is_bias);

double uniform(Random& random, Index inputs, bool) {
  return (2 * random.uniform() - 1) / std::sqrt(static_cast<double>(inputs));
}

double truncated_normal(Random& random, Index, bool is_bias) {
  if (is_bias) return 0;
  double value = random.normal();
  while (std::abs(value) > 2) value = random.normal();
  return kDeviation * value;
}

struct Entry {
  std::string_view name;
  Draw draw;
};
constexpr Entry kInitialisations[] = {{"pytorch", uniform}, {"truncated-normal", truncated_normal}};

Draw draw_named(std::string_view name) {
  return entry_named("initialisation", kInitialisations, name).draw;
}

}  // namespace

std::string initialisation_names() {
  return names_of(kInitialisations);
}

void check_initialisation(std::string_view name) {
  draw_named(name);
}

template <typename Real>
void initialise(Network<Real>& network, std::string_view name, std::uint64_t seed) {
  const Draw draw = draw_named(name);
  Random random(seed, kStreamWeights);
  Index inputs = 0;
  for (const ParameterBlock& block : network.blocks()) {
    auto W = network.at(block);
    if (block.kind == LayerKind::kDiagonal) {
      W.setOnes();
      continue;
    }
    if (!block.is_bias) inputs = block.cols;  // a bias follows its weights
    for (Index i = 0; i < W.size(); ++i)
      W.data()[i] = static_cast<Real>(draw(random, inputs, block.is_bias));
  }
  network.project();
}

template void initialise(Network<float>&, std::string_view, std::uint64_t);
template void initialise(Network<double>&, std::string_view, std::uint64_t);

}  // namespace udv::net
