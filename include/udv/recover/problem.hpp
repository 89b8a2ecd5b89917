// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Find X of low rank with A(X) = b.
template <typename Scalar>
struct BasicProblem {
  std::shared_ptr<const MeasurementOperator<Scalar>> op;
  Reals<Scalar> b;
};

using Problem = BasicProblem<double>;

/// Matrix completion: b_t = sqrt(w_t) value_t. Entries are taken in any order; throws
/// InvalidArgument where an index, a value or a weight makes no sense, or all values are zero.
UDV_EXPORT Problem completion(Entries entries);
/// The entries of such a problem without weights, row by row: a caller that has moved its own in
/// gets them back.
UDV_EXPORT Entries entries_of(const Problem& completion);

/// b_i = <A_i, X>; the rows of `measurements` are the A_i, each row by row.
template <typename Scalar>
UDV_EXPORT BasicProblem<Scalar> sensing(RowMatrix<Scalar> measurements, Reals<Scalar> b, Index rows,
                                        Index cols, bool symmetric);

/// b_i = w_i X w_i^* with the rows w_i of `vectors`; X is positive semidefinite. For X = x x^*
/// these are the intensities |W x|^2.
template <typename Scalar>
UDV_EXPORT BasicProblem<Scalar> quadratic_sensing(RowMatrix<Scalar> vectors, Reals<Scalar> b);

/// The same for any dense matrix and vector of Eigen: column-major ones, maps, blocks, expressions.
template <typename Measurements, typename Values>
requires(!std::is_same_v<Measurements, RowMatrix<typename Measurements::Scalar>>)
    BasicProblem<typename Measurements::Scalar> sensing(const Eigen::MatrixBase<Measurements>& A,
                                                        const Eigen::MatrixBase<Values>& b,
                                                        Index rows, Index cols,
                                                        bool symmetric = false) {
  using Scalar = typename Measurements::Scalar;
  return sensing<Scalar>(RowMatrix<Scalar>(A), Reals<Scalar>(b), rows, cols, symmetric);
}
template <typename Vectors, typename Values>
requires(!std::is_same_v<Vectors, RowMatrix<typename Vectors::Scalar>>)
    BasicProblem<typename Vectors::Scalar> quadratic_sensing(const Eigen::MatrixBase<Vectors>& W,
                                                             const Eigen::MatrixBase<Values>& b) {
  using Scalar = typename Vectors::Scalar;
  return quadratic_sensing<Scalar>(RowMatrix<Scalar>(W), Reals<Scalar>(b));
}

/// A made-up problem whose answer is known.
struct PlantedOptions {
  Index rows = 100, cols = 100;
  bool symmetric = true;
  Index rank = 3;
  Index measurements = 900;
  double condition = 1;  ///< ratio of the largest to the smallest column weight of X
  double noise = 0;      ///< standard deviation, as a share of the root mean square entry
  std::uint64_t seed = 0;
};

struct UDV_EXPORT Planted {
  Entries entries;
  RowMatrix<double> U, V;  ///< X = U V^T; V is U where symmetric

  /// |X' - X|_F / |X|_F for X' = U' diag(d') V'^T, without forming either.
  double relative_error(const RowMatrix<double>& U_found, const Vector<double>& d_found,
                        const RowMatrix<double>& V_found) const;
};

/// Random entries of a random low-rank matrix with Gaussian factors: the paper's Fig. 1 with the
/// defaults.
UDV_EXPORT Planted planted_completion(const PlantedOptions& options);

/// Made-up intensities b_i = <w_i, x>^2 + noise, never negative, with Gaussian rows w_i of W.
struct PlantedIntensities {
  RowMatrix<double> W;
  Vector<double> b;
};

/// `noise` is its standard deviation as a share of the root mean square intensity.
UDV_EXPORT PlantedIntensities planted_intensities(const Vector<double>& x, Index measurements,
                                                  double noise, std::uint64_t seed);

/// Gaussian unknowns for such a problem.
UDV_EXPORT Vector<double> planted_signal(Index size, std::uint64_t seed);

/// L: the largest eigenvalue of A A^* for b_i = w_i X w_i^T, whose entries are <w_i, w_j>^2, by
/// power iteration. 1 / L is the step of the paper.
UDV_EXPORT double intensity_smoothness(const RowMatrix<double>& W);

}  // namespace udv
