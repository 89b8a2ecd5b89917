// SPDX-License-Identifier: MIT
#include "udv/core/random.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace udv {

Random::Random(std::uint64_t seed, std::uint64_t stream) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
  engine_.seed(words);
}

double Random::uniform() {
  return static_cast<double>(engine_() >> 11) * 0x1p-53;
}

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  double x, y, square;
  do {
    x = 2 * uniform() - 1;
    y = 2 * uniform() - 1;
    square = x * x + y * y;
  } while (square >= 1 || square == 0);
  const double factor = std::sqrt(-2 * std::log(square) / square);
  spare_ = y * factor;
  has_spare_ = true;
  return x * factor;
}

std::vector<Index> Random::permutation(Index size) {
  std::vector<Index> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  for (Index i = 0; i < size; ++i)
    std::swap(order[static_cast<size_t>(i)], order[static_cast<size_t>(i + below(size - i))]);
  return order;
}

Index Random::below(Index limit) {
  const auto range = static_cast<std::uint64_t>(limit);
  const std::uint64_t unbiased = ~std::uint64_t{0} - ~std::uint64_t{0} % range;
  std::uint64_t draw = engine_();
  while (draw >= unbiased) draw = engine_();
  return static_cast<Index>(draw % range);
}

}  // namespace udv
