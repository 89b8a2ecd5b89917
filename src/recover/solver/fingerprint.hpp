// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "core/hash.hpp"
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
  const auto add = [&hash](const Reals<Scalar>& values) {
    hash = array_hash(values.data(), static_cast<size_t>(values.size()) * sizeof(values(0)), hash);
  };
  add(seen);
  add(b);
  return hash;
}

}  // namespace udv
