// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "udv/core/entries.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Find X of low rank with A(X) = b.
template <typename Scalar>
struct BasicProblem {
  std::shared_ptr<const MeasurementOperator<Scalar>> op;
  Reals<Scalar> b;
};

using Problem = BasicProblem<double>;

/// Matrix completion. Entries are taken in any order; throws InvalidArgument where an index or a
/// value makes no sense, or all values are zero.
Problem completion(const Entries& entries);

/// b_i = <A_i, X>; the rows of `measurements` are the A_i, each row by row.
template <typename Scalar>
BasicProblem<Scalar> sensing(RowMatrix<Scalar> measurements, Reals<Scalar> b, Index rows,
                             Index cols, bool symmetric);

/// b_i = w_i X w_i^* with the rows w_i of `vectors`; X is positive semidefinite. For X = x x^*
/// these are the intensities |W x|^2.
template <typename Scalar>
BasicProblem<Scalar> quadratic_sensing(RowMatrix<Scalar> vectors, Reals<Scalar> b);

/// Measurements that are used and measurements that are held out, chosen by the seed.
template <typename Scalar>
std::pair<BasicProblem<Scalar>, BasicProblem<Scalar>> split(const BasicProblem<Scalar>& problem,
                                                            double held_out_share,
                                                            std::uint64_t seed);

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

struct Planted {
  Entries entries;
  RowMatrix<double> U, V;  ///< X = U V^T; V is U where symmetric

  /// |X' - X|_F / |X|_F for X' = U' diag(d') V'^T, without forming either.
  double relative_error(const RowMatrix<double>& U_found, const Vector<double>& d_found,
                        const RowMatrix<double>& V_found) const;
};

/// Random entries of a random low-rank matrix with Gaussian factors: the paper's Fig. 1 with the
/// defaults.
Planted planted_completion(const PlantedOptions& options);

}  // namespace udv
