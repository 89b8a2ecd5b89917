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

struct PlantedProblem {
  Problem problem;
  RowMatrix<double> U, V;  ///< X = U V^T

  double relative_error(const RowMatrix<double>& left, const Vector<double>& d,
                        const RowMatrix<double>& right) const {
    return Planted{{}, U, V}.relative_error(left, d, right);
  }
  double relative_error(const Recovery& found) const {
    return relative_error(found.U, found.d, found.symmetric ? found.U : found.V);
  }
  /// The truth as a stack, moved by Gaussian noise of the given size.
  Stack<double> near(double noise) const {
    Stack<double> Z(problem.op->rows(), problem.op->cols(), problem.op->symmetric(), U.cols());
    Z.U() = U;
    if (!Z.symmetric) Z.V() = V;
    Z.Z += noise * random_rows(Z.Z.rows(), Z.rank(), 77);
    return Z;
  }
};

/// `oversampling` entries per parameter of a rows x cols matrix of the given rank.
inline PlantedProblem planted_entries(Index rows, Index cols, bool symmetric, Index rank,
                                      double oversampling, double condition = 1, double noise = 0,
                                      std::uint64_t seed = 0) {
  const double freedom = static_cast<double>(symmetric ? rank * rows - rank * (rank - 1) / 2
                                                       : rank * (rows + cols - rank));
  PlantedOptions options{rows, cols, symmetric, rank, 0, condition, noise, seed};
  options.measurements = static_cast<Index>(oversampling * freedom);
  Planted planted = planted_completion(options);
  return {completion(planted.entries), planted.U, planted.V};
}

/// Exact measurements of a random matrix of the given rank by any operator.
inline PlantedProblem planted_by(OperatorPointer op, Index rank) {
  PlantedProblem planted;
  planted.U = random_rows(op->rows(), rank, 31);
  planted.V = op->symmetric() ? planted.U : random_rows(op->cols(), rank, 32);
  planted.problem.op = op;
  op->apply(planted.U, Vector<double>::Ones(rank), planted.V, planted.problem.b);
  return planted;
}

inline PlantedProblem planted_sensing(Index rows, Index cols, bool symmetric, Index rank, Index n) {
  return planted_by(std::make_shared<DenseOperator<double>>(random_rows(n, rows * cols, 33), rows,
                                                            cols, symmetric),
                    rank);
}

inline PlantedProblem planted_quadratic(Index rows, Index rank, Index n) {
  return planted_by(std::make_shared<RankOneOperator<double>>(random_rows(n, rows, 34)), rank);
}

/// The problem of the paper's Fig. 1 at a size that takes milliseconds.
inline PlantedProblem small_symmetric() {
  return planted_entries(30, 30, true, 3, 4);
}
inline PlantedProblem small_rectangular() {
  return planted_entries(30, 25, false, 2, 4);
}

/// A(X) - b of an answer, in the caller's units.
inline Vector<double> residual_of(const Problem& problem, const Recovery& found) {
  Vector<double> y;
  problem.op->apply(found.U, found.d, found.symmetric ? found.U : found.V, y);
  return y - problem.b;
}

/// Everything that must be equal where two solves are the same.
inline void expect_same_bits(const Recovery& one, const Recovery& other) {
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
