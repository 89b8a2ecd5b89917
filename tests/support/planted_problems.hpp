// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "support/operator_registry.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/recover.hpp"

/// Problems of every kind whose answer is known.
namespace udv::testing {

template <typename Scalar>
struct BasicPlanted {
  BasicProblem<Scalar> problem;
  RowMatrix<Scalar> U, V;  ///< X = U V^*

  double relative_error(const RowMatrix<Scalar>& left, const Reals<Scalar>& d,
                        const RowMatrix<Scalar>& right) const {
    const RowMatrix<Scalar> X = product(U, V.adjoint());
    return (dense(left, d, right) - X).norm() / X.norm();
  }
  double relative_error(const BasicRecovery<Scalar>& found) const {
    return relative_error(found.U, found.d, found.symmetric ? found.U : found.V);
  }
  /// The truth as a stack, moved by Gaussian noise of the given size.
  StackedFactors<Scalar> near(double noise) const {
    StackedFactors<Scalar> Z(problem.op->rows(), problem.op->cols(), problem.op->symmetric(),
                             U.cols());
    Z.U() = U;
    if (!Z.symmetric) Z.V() = V;
    Z.Z += static_cast<RealOf<Scalar>>(noise) * random_rows<Scalar>(Z.Z.rows(), Z.rank(), 77);
    return Z;
  }
};

using PlantedProblem = BasicPlanted<double>;

/// Random entries of a random matrix: `oversampling` per parameter.
inline Planted completed(Index rows, Index cols, bool symmetric, Index rank, double oversampling,
                         double condition, double noise, std::uint64_t seed) {
  const double freedom = static_cast<double>(symmetric ? rank * rows - rank * (rank - 1) / 2
                                                       : rank * (rows + cols - rank));
  PlantedOptions options{rows, cols, symmetric, rank, 0, condition, noise, seed};
  options.measurements = static_cast<Index>(oversampling * freedom);
  return planted_completion(options);
}

inline PlantedProblem planted_entries(Index rows, Index cols, bool symmetric, Index rank,
                                      double oversampling, double condition = 1, double noise = 0,
                                      std::uint64_t seed = 0) {
  const Planted planted =
      completed(rows, cols, symmetric, rank, oversampling, condition, noise, seed);
  return {completion(planted.entries), planted.U, planted.V};
}

/// Exact measurements of a random matrix of the given rank by any operator.
template <typename Scalar>
BasicPlanted<Scalar> planted_by(SharedOperator<Scalar> op, Index rank) {
  BasicPlanted<Scalar> planted;
  planted.U = random_rows<Scalar>(op->rows(), rank, 31);
  planted.V = op->symmetric() ? planted.U : random_rows<Scalar>(op->cols(), rank, 32);
  planted.problem.op = op;
  op->apply(planted.U, Reals<Scalar>::Ones(rank), planted.V, planted.problem.b);
  return planted;
}

/// The places of planted_entries() with a matrix over any scalar.
template <typename Scalar>
BasicPlanted<Scalar> planted_places(Index rows, Index cols, bool symmetric, Index rank,
                                    double oversampling) {
  const Planted places = completed(rows, cols, symmetric, rank, oversampling, 1, 0, 0);
  return planted_by<Scalar>(std::make_shared<EntriesOperator<Scalar>>(places.entries), rank);
}

template <typename Scalar = double>
BasicPlanted<Scalar> planted_sensing(Index rows, Index cols, bool symmetric, Index rank, Index n) {
  return planted_by<Scalar>(std::make_shared<DenseOperator<Scalar>>(
                                random_rows<Scalar>(n, rows * cols, 33), rows, cols, symmetric),
                            rank);
}

template <typename Scalar = double>
BasicPlanted<Scalar> planted_quadratic(Index rows, Index rank, Index n) {
  return planted_by<Scalar>(
      std::make_shared<RankOneOperator<Scalar>>(random_rows<Scalar>(n, rows, 34)), rank);
}

/// The problem of the paper's Fig. 1 at a size that takes milliseconds.
inline PlantedProblem small_symmetric() {
  return planted_entries(30, 30, true, 3, 4);
}
inline PlantedProblem small_rectangular() {
  return planted_entries(30, 25, false, 2, 4);
}

/// A(X) - b of an answer, in the caller's units.
template <typename Scalar>
Reals<Scalar> residual_of(const BasicProblem<Scalar>& problem, const BasicRecovery<Scalar>& found) {
  Reals<Scalar> y;
  problem.op->apply(found.U, found.d, found.symmetric ? found.U : found.V, y);
  return y - problem.b;
}

/// Everything that must be equal where two solves are the same.
template <typename Scalar>
void expect_same_bits(const BasicRecovery<Scalar>& one, const BasicRecovery<Scalar>& other) {
  const auto same = [](const auto& a, const auto& b) {
    return a.rows() == b.rows() && a.cols() == b.cols() && a == b;
  };
  EXPECT_TRUE(same(one.U, other.U));
  EXPECT_TRUE(same(one.V, other.V));
  EXPECT_TRUE(same(one.d, other.d));
  EXPECT_TRUE(same(one.spectrum, other.spectrum));
  EXPECT_EQ(one.iterations, other.iterations);
  EXPECT_EQ(one.objective, other.objective);
  EXPECT_EQ(one.stop_reason, other.stop_reason);
  EXPECT_EQ(one.certificate.stationarity, other.certificate.stationarity);
}

}  // namespace udv::testing
