// SPDX-License-Identifier: MIT
#include "recover/solver/contradiction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/instantiate.hpp"
#include "core/lanczos.hpp"
#include "core/sums.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {
namespace {

// n log f + penalty dof n / (n - dof) for f = |r|^2.
double score(double n, double squares, double dof, double penalty) {
  if (dof >= n) return std::numeric_limits<double>::infinity();
  return n * std::log(squares) + penalty * dof * n / (n - dof);
}

// |r|^2 after a step along the best negative column.
template <typename Scalar>
double with_negative_column(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& residual,
                            std::uint64_t seed) {
  constexpr Index kSteps = 30;
  const double before = squared_norm(residual);
  const Reals<Scalar> opposite = -residual;
  Random random(seed, kStreamLanczos);
  const auto pairs = smallest_eigenpairs<Scalar>(
      op.rows(),
      [&](const Vector<Scalar>& x, Vector<Scalar>& y) { residual_product(op, opposite, x, y); }, 1,
      kSteps, random);
  if (pairs.values.size() == 0 || !(pairs.values(0) < 0)) return before;
  StackedFactors<Scalar> column(op.rows(), op.cols(), true, 1);
  column.Z.col(0) = pairs.vectors.col(0);
  Reals<Scalar> measured;
  apply_stack(op, column, measured);
  const double along = dot(residual, measured);
  return along > 0 ? before - along * along / squared_norm(measured) : before;
}

// |r|^2 and the number of negative diagonal entries: without their residuals.
template <typename Scalar>
std::pair<double, Index> without_negative_diagonal(const EntriesOperator<Scalar>& op,
                                                   const Reals<Scalar>& b,
                                                   const Reals<Scalar>& residual) {
  double squares = squared_norm(residual);
  Index count = 0;
  const SparseLines rows = op.by_row();
  for (Index i = 0; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
      const Index t = kParts<Scalar> * rows.entry[s];
      if (rows.other[s] != i || b(t) >= 0) continue;
      squares -= static_cast<double>(residual(t)) * residual(t);
      ++count;
    }
  return {squares, count};
}

}  // namespace

template <typename Scalar>
bool contradicts_psd(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                     const StackedFactors<Scalar>& Z, double penalty, std::uint64_t seed) {
  Reals<Scalar> residual;
  apply_stack(op, Z, residual);
  residual -= b;
  const auto n = static_cast<double>(b.size());
  const auto dof = [&](Index rank) { return rank == 0 ? 0 : op.degrees_of_freedom(rank); };
  const double squares = squared_norm(residual);
  const double smallest = 1e-32 * squares;
  const double now = score(n, squares, dof(Z.rank()), penalty);
  const double column = std::max(smallest, with_negative_column(op, residual, seed));
  if (score(n, column, dof(Z.rank() + 1), penalty) < now) return true;
  const auto* const entries = dynamic_cast<const EntriesOperator<Scalar>*>(&op);
  if (entries == nullptr) return false;
  const auto [rest, count] = without_negative_diagonal(*entries, b, residual);
  const double parameters = dof(Z.rank()) + static_cast<double>(count);
  return count > 0 && score(n, std::max(smallest, rest), parameters, penalty) < now;
}

#define UDV_INSTANTIATE(Scalar)                                                           \
  template bool contradicts_psd(const MeasurementOperator<Scalar>&, const Reals<Scalar>&, \
                                const StackedFactors<Scalar>&, double, std::uint64_t);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
