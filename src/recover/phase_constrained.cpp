// SPDX-License-Identifier: MIT
#include "recover/phase_constrained.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "recover/phase_answer.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/operators/imaging.hpp"

namespace udv {
namespace {

constexpr int kTurns = 1500, kLook = 20;
constexpr double kBeta = 0.9;
constexpr double kTarget = 1e-3;       // amplitude residual: the polish takes over
constexpr double kSparseShare = 0.02;  // of the largest entry: less is taken for zero
constexpr double kPositiveShare = 1e-3;
constexpr int kRounds = 8;
constexpr double kExact = 1e-9;

template <typename Scalar>
std::vector<Index> entries_above(const Vector<Scalar>& x, double share) {
  const double least = share * static_cast<double>(x.cwiseAbs().maxCoeff());
  std::vector<Index> entries;
  for (Index j = 0; j < x.size(); ++j)
    if (std::abs(x(j)) > least) entries.push_back(j);
  return entries;
}

// The nearest x of the kind that is wanted.
template <typename Scalar>
void make_nonnegative(Vector<Scalar>& x) {
  for (auto& value : x) value = std::max(std::real(value), RealOf<Scalar>(0));
}

// P_M z.
template <typename Scalar>
void give_amplitudes(const Reals<Scalar>& amplitudes, RowMatrix<Scalar>& z) {
  constexpr auto kFloor = std::numeric_limits<RealOf<Scalar>>::min();
  for (Index i = 0; i < z.rows(); ++i)
    z(i, 0) *= amplitudes(i) / std::max<RealOf<Scalar>>(std::abs(z(i, 0)), kFloor);
}

template <typename Scalar>
RowMatrix<Scalar> random_fields(const Reals<Scalar>& amplitudes, std::uint64_t seed) {
  RowMatrix<Scalar> z(amplitudes.size(), 1);
  Random(seed, kStreamInitialFactors).fill_normal(z);
  give_amplitudes<Scalar>(amplitudes, z);
  return z;
}

// x -> W x and back to the x of the wanted kind that is nearest.
template <typename Scalar>
class Projections {
 public:
  Projections(const IntensityOperator<Scalar>& op, const PhasePrior& prior)
      : op_(op), nonnegative_(prior.nonnegative) {
    constexpr auto kFloor = std::numeric_limits<RealOf<Scalar>>::min();
    inverse_ =
        op.diagonal(Reals<Scalar>::Ones(op.num_measurements())).cwiseMax(kFloor).cwiseInverse();
    back_.resize(op.rows(), 1);
  }

  Vector<Scalar> unknowns(const RowMatrix<Scalar>& z) {
    op_.back_project(z, back_);
    Vector<Scalar> x = back_.col(0).cwiseProduct(inverse_.template cast<Scalar>());
    if (nonnegative_) make_nonnegative(x);
    return x;
  }

  void fields(const Vector<Scalar>& x, RowMatrix<Scalar>& z) const {
    op_.project(RowMatrix<Scalar>(x), z);
  }

 private:
  const IntensityOperator<Scalar>& op_;
  bool nonnegative_;
  Reals<Scalar> inverse_;
  RowMatrix<Scalar> back_;
};

FitOptions fit_options(double residual_target) {
  FitOptions options;
  options.max_cg = 100;
  options.patience = 3;
  options.small_gain = 1e-4;
  options.residual_target = residual_target;
  return options;
}

// The real or complex entries of x that are named, fitted to b.
template <typename Scalar>
Vector<Scalar> fitted(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                      const std::vector<Index>& entries, bool real, const Vector<Scalar>& x,
                      const FitMonitor& monitor) {
  using Real = RealOf<Scalar>;
  const RestrictedOperator<Scalar> part(op, entries);
  const FitOptions options = fit_options(10 * kEpsilon<Scalar>);
  if constexpr (kIsComplex<Scalar>) {
    if (real) {
      const RealUnknowns<Scalar> real_part(part);
      StackedFactors<Real> Z(part.rows(), part.rows(), true, 1);
      Z.Z.col(0) = part.gather(x).real();
      fit_factors<Real>(real_part, b, Z, options, monitor);
      return part.spread(RowMatrix<Scalar>(Z.Z.template cast<Scalar>())).col(0);
    }
  }
  StackedFactors<Scalar> Z(part.rows(), part.rows(), true, 1);
  Z.Z.col(0) = part.gather(x);
  fit_factors<Scalar>(part, b, Z, options, monitor);
  return part.spread(Z.Z).col(0);
}

// Entries that are zero and whose growth would lower the objective.
template <typename Scalar>
std::vector<Index> wanted_entries(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                  const Vector<Scalar>& x) {
  RowMatrix<Scalar> fields, back(x.size(), 1);
  op.project(RowMatrix<Scalar>(x), fields);
  const Reals<Scalar> residual = fields.col(0).cwiseAbs2() - b;
  scale_rows<Scalar>(residual, fields);
  op.back_project(fields, back);
  double largest = 0;
  for (Index j = 0; j < x.size(); ++j)
    largest = std::max<double>(largest, std::abs(std::real(back(j, 0))));
  std::vector<Index> wanted;
  for (Index j = 0; j < x.size(); ++j)
    if (x(j) == Scalar(0) && -std::real(back(j, 0)) > 0.1 * largest) wanted.push_back(j);
  return wanted;
}

// More unknowns than measurements fit anything.
template <typename Scalar>
bool can_tell(const IntensityOperator<Scalar>& op, size_t entries, bool real) {
  return (real ? 1 : kParts<Scalar>)*static_cast<Index>(entries) < op.num_measurements();
}

template <typename Scalar>
void polish_nonnegative(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                        Vector<Scalar>& x, const FitMonitor& monitor) {
  make_nonnegative(x);
  std::vector<Index> entries = entries_above<Scalar>(x, kPositiveShare);
  double best_residual = intensity_residual(op, b, x);
  for (int round = 0; round < kRounds && !entries.empty(); ++round) {
    Vector<Scalar> next = fitted<Scalar>(op, b, entries, true, x, monitor);
    if (std::real(next.sum()) < 0) next = -next;
    const bool negative = next.real().minCoeff() < 0;
    make_nonnegative(next);
    const double residual = intensity_residual(op, b, next);
    if (!(residual < best_residual || residual <= kExact)) return;
    best_residual = residual;
    x = next;
    if (residual <= kExact) {
      // Of exact fits the one with fewer entries.
      const size_t before = entries.size();
      entries = entries_above<Scalar>(x, kPositiveShare);
      if (entries.size() == before) return;
      continue;
    }
    entries = entries_above<Scalar>(x, 0);
    if (negative) continue;
    const auto wanted = wanted_entries<Scalar>(op, b, x);
    if (wanted.empty()) return;
    entries.insert(entries.end(), wanted.begin(), wanted.end());
    std::sort(entries.begin(), entries.end());
  }
}

template <typename Scalar>
void polish_sparse(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b, Vector<Scalar>& x,
                   const FitMonitor& monitor) {
  const Vector<Scalar> start = x;
  for (const double share : {kSparseShare, 0.1 * kSparseShare}) {
    const auto entries = entries_above<Scalar>(start, share);
    if (entries.empty() || !can_tell(op, entries.size(), false)) return;
    const Vector<Scalar> next = fitted<Scalar>(op, b, entries, false, start, monitor);
    const bool exact = intensity_residual(op, b, next) <= kExact;
    // More entries always fit better: only an exact fit speaks for them.
    if (exact || share == kSparseShare) x = next;
    if (exact) return;
  }
}

template <typename Scalar, typename From>
StackedFactors<Scalar> spread_factors(const RestrictedOperator<Scalar>& part,
                                      const StackedFactors<From>& Z, Index size) {
  StackedFactors<Scalar> whole(size, size, true, Z.rank());
  if (Z.rank() > 0) whole.Z = part.spread(RowMatrix<Scalar>(Z.Z.template cast<Scalar>()));
  return whole;
}

// An answer for some of the entries as one for all of them.
template <typename Scalar, typename From>
BasicRecovery<Scalar> spread_recovery(const RestrictedOperator<Scalar>& part, Index size,
                                      const BasicRecovery<From>& found) {
  BasicRecovery<Scalar> result;
  static_cast<RecoveryFacts&>(result) = found;
  result.rows = result.cols = size;
  result.U = part.spread(RowMatrix<Scalar>(found.U.template cast<Scalar>()));
  result.d = found.d;
  if (!found.open_entries.any()) return result;
  OpenEntries<Scalar>& open = result.open_entries;
  open.Z = spread_factors<Scalar>(part, found.open_entries.Z, size);
  open.dZ = spread_factors<Scalar>(part, found.open_entries.dZ, size);
  const auto sizes = found.open_entries.sizes.template cast<Scalar>();
  open.sizes = sizes.size() > 0 ? Reals<Scalar>(part.spread(RowMatrix<Scalar>(sizes)).col(0).real())
                                : Reals<Scalar>();
  open.tolerance = found.open_entries.tolerance;
  open.all_open = found.open_entries.all_open;
  return result;
}

}  // namespace

template <typename Scalar>
Vector<Scalar> project_in_turns(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                const PhasePrior& prior, std::uint64_t seed,
                                const FitMonitor& monitor) {
  using Real = RealOf<Scalar>;
  const Reals<Scalar> amplitudes = b.cwiseMax(0).cwiseSqrt();
  const double norm = amplitudes.norm();
  Projections<Scalar> projections(op, prior);
  RowMatrix<Scalar> z = random_fields<Scalar>(amplitudes, seed), p, q;
  Vector<Scalar> best = Vector<Scalar>::Zero(op.rows());
  double best_residual = std::numeric_limits<double>::infinity();
  for (int turn = 0; turn < kTurns; ++turn) {
    p = z;
    give_amplitudes<Scalar>(amplitudes, p);
    if (turn % kLook == 0) {
      const Vector<Scalar> x = projections.unknowns(p);
      projections.fields(x, q);
      const double residual = (q.col(0).cwiseAbs() - amplitudes).norm() / norm;
      if (residual < best_residual) {
        best_residual = residual;
        best = x;
      }
      const double objective = 0.5 * (q.col(0).cwiseAbs2() - b).squaredNorm();
      const FitStep step{objective, kBeta, 1, static_cast<double>(x.norm())};
      if (best_residual < kTarget || (monitor && !monitor(step))) break;
    }
    projections.fields(projections.unknowns(static_cast<Real>(1 + kBeta) * p - z), q);
    z += q - static_cast<Real>(kBeta) * p;
  }
  return best;
}

template <typename Scalar>
void polish_constrained(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                        const PhasePrior& prior, Vector<Scalar>& x, const FitMonitor& monitor) {
  if (prior.nonnegative)
    polish_nonnegative(op, b, x, monitor);
  else if (prior.sparse)
    polish_sparse(op, b, x, monitor);
  else
    polish_phase<Scalar>(op, b, x, monitor);
}

template <typename Scalar>
bool confirms_entries(const IntensityOperator<Scalar>& op, const PhasePrior& prior,
                      const Vector<Scalar>& x) {
  if (!prior.nonnegative && !prior.sparse) return true;
  return can_tell(op, entries_above<Scalar>(x, 0).size(), prior.nonnegative);
}

template <typename Scalar>
BasicRecovery<Scalar> constrained_recovery(const IntensityOperator<Scalar>& op,
                                           const Reals<Scalar>& b, const PhasePrior& prior,
                                           const Vector<Scalar>& x) {
  const std::vector<Index> entries = entries_above<Scalar>(x, 0);
  if ((!prior.nonnegative && !prior.sparse) || entries.empty())
    return rank_one_recovery<Scalar>(op, b, x);
  const RestrictedOperator<Scalar> part(op, entries);
  const Vector<Scalar> present = part.gather(x);
  BasicRecovery<Scalar> result;
  if constexpr (kIsComplex<Scalar>) {
    if (prior.nonnegative)
      result = spread_recovery(
          part, op.rows(),
          rank_one_answer<RealOf<Scalar>>(RealUnknowns<Scalar>(part), b, present.real(), {}));
  }
  if (result.rows == 0)
    result = spread_recovery(part, op.rows(), rank_one_answer<Scalar>(part, b, present, {}));
  if (result.determinacy.unique == true) result.determinacy.unique = std::nullopt;
  return result;
}

template <typename Scalar>
BasicRecovery<Scalar> spread_over(const RestrictedOperator<Scalar>& part, Index size,
                                  const BasicRecovery<Scalar>& found) {
  return spread_recovery<Scalar, Scalar>(part, size, found);
}

Ambiguity pattern_ambiguity(const std::vector<bool>& support, const std::vector<bool>& present,
                            Index rows, Index cols) {
  std::vector<std::pair<Index, Index>> places;
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      if (present[static_cast<size_t>(r * cols + c)]) places.emplace_back(r, c);
  const auto fits = [&](Index dr, Index dc, int sign) {
    return std::all_of(places.begin(), places.end(), [&](const auto& at) {
      const Index r = ((dr + sign * at.first) % rows + rows) % rows;
      const Index c = ((dc + sign * at.second) % cols + cols) % cols;
      return support[static_cast<size_t>(r * cols + c)];
    });
  };
  Ambiguity found;
  for (Index dr = 0; dr < rows; ++dr)
    for (Index dc = 0; dc < cols; ++dc) {
      found.inversion = found.inversion || fits(dr, dc, -1);
      found.shifts += (dr > 0 || dc > 0) && fits(dr, dc, 1);
    }
  return found;
}

// The largest |<y moved by s, truth>| over s, through F^-1 (conj(F y) o F truth).
template <typename Scalar>
double pattern_error(const Vector<Scalar>& x, const Vector<Scalar>& truth, Index rows, Index cols) {
  const CodedDiffractionOperator<Scalar> fourier(
      {RowMatrix<std::complex<double>>::Constant(rows, cols, 1.0)});
  RowMatrix<Scalar> left, right, products(x.size(), 1);
  fourier.project(RowMatrix<Scalar>(truth), left);
  double least = std::numeric_limits<double>::infinity();
  for (const bool inverted : {false, true}) {
    const Vector<Scalar> y = inverted ? Vector<Scalar>(x.reverse().conjugate()) : x;
    fourier.project(RowMatrix<Scalar>(y), right);
    fourier.back_project(left.cwiseProduct(right.conjugate()), products);
    Index at = 0;
    products.col(0).cwiseAbs().maxCoeff(&at);
    Vector<Scalar> moved(x.size());
    for (Index r = 0; r < rows; ++r)
      for (Index c = 0; c < cols; ++c)
        moved((r + at / cols) % rows * cols + (c + at % cols) % cols) = y(r * cols + c);
    least = std::min(least, phase_error<Scalar>(moved, truth));
  }
  return least;
}

template double pattern_error(const Vector<std::complex<float>>&,
                              const Vector<std::complex<float>>&, Index, Index);
template double pattern_error(const Vector<std::complex<double>>&,
                              const Vector<std::complex<double>>&, Index, Index);

#define UDV_INSTANTIATE(Scalar)                                                                    \
  template Vector<Scalar> project_in_turns(const IntensityOperator<Scalar>&, const Reals<Scalar>&, \
                                           const PhasePrior&, std::uint64_t, const FitMonitor&);   \
  template void polish_constrained(const IntensityOperator<Scalar>&, const Reals<Scalar>&,         \
                                   const PhasePrior&, Vector<Scalar>&, const FitMonitor&);         \
  template BasicRecovery<Scalar> constrained_recovery(const IntensityOperator<Scalar>&,            \
                                                      const Reals<Scalar>&, const PhasePrior&,     \
                                                      const Vector<Scalar>&);                      \
  template BasicRecovery<Scalar> spread_over(const RestrictedOperator<Scalar>&, Index,             \
                                             const BasicRecovery<Scalar>&);                        \
  template bool confirms_entries(const IntensityOperator<Scalar>&, const PhasePrior&,              \
                                 const Vector<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
