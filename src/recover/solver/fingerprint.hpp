// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "core/hash.hpp"
#include "recover/operators/measured_sums.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// A hash of everything that decides the numbers of a solve: the data, the options, and the
/// operator by what it says of a random matrix.
template <typename Scalar>
std::uint64_t solve_fingerprint(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                std::string_view options) {
  Random random(7, kStreamProbe);
  StackedFactors<Scalar> probe(op.rows(), op.cols(), op.symmetric(), 1);
  random.fill_normal(probe.Z);
  Reals<Scalar> seen;
  apply_stack(op, probe, seen);
  std::uint64_t hash = fnv_hash(options, fnv_hash(op.name()));
  const auto add = [&](const Reals<Scalar>& values) {
    const auto of_part = [&](Index begin, Index end, std::uint64_t before) {
      return array_hash(values.data() + begin, static_cast<size_t>(end - begin) * sizeof(values(0)),
                        before);
    };
    // 53 bits of each block, whoever has it.
    const auto parts = parts_over(op, [&](Index begin, Index end) {
      return static_cast<double>(of_part(begin, end, kHashStart) >> 11);
    });
    hash = parts.size() > 1 ? array_hash(parts.data(), parts.size() * sizeof(double), hash)
                            : of_part(0, values.size(), hash);
  };
  add(seen);
  add(b);
  return hash;
}

}  // namespace udv
