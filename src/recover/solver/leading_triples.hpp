// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "core/small_solves.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Leading singular triples U diag(d) V^T, d not negative.
template <typename Columns>
struct Triples {
  Columns U, V;
  Vector<double> d;
};

/// Those of a matrix A that a Subspace multiplies with thin arrays of its own kind, of the host or
/// of a device: start(lines, count, seed), which is random, times(V, U), transpose_times(U, V),
/// orthonormalise(X), gram(X) = X^T X, multiply(X, M), divide(X, d) column by column. By subspace
/// iteration.
template <typename Subspace>
Triples<typename Subspace::Columns> leading_triples(const Subspace& space, Index cols, Index count,
                                                    int rounds, std::uint64_t seed) {
  Triples<typename Subspace::Columns> t;
  t.V = space.start(cols, count, seed);
  for (int round = 0; round < rounds; ++round) {
    space.orthonormalise(t.V);
    space.times(t.V, t.U);
    space.orthonormalise(t.U);
    space.transpose_times(t.U, t.V);
  }
  // A^T U = V: U stays orthonormal, V = W S Y^T.
  const SymmetricEigen eigen = symmetric_eigen(space.gram(t.V));
  const Matrix<double> Y = eigen.Q.rowwise().reverse();
  t.d = eigen.values.reverse().cwiseMax(0).cwiseSqrt();
  space.multiply(t.U, Y);
  space.multiply(t.V, Y);
  space.divide(t.V, t.d);
  return t;
}

}  // namespace udv
