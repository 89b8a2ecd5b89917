// SPDX-License-Identifier: MIT
#include "udv/recover/solver/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/instantiate.hpp"

namespace udv {

namespace {

// What another one would have to be.
std::string answer(const RecoveryFacts& r) {
  return r.intensities ? "x (up to its phase)" : fmt::format("rank-{} matrix", r.rank);
}

std::string percent(double share) {
  const double percent = 100 * share;
  return percent > 0 && percent < 1 ? fmt::format("{:.2g} %", percent)
                                    : fmt::format("{:.0f} %", percent);
}

// What the data leave open; nothing where they determine all of X or it is not known.
std::string open_text(const RecoveryFacts& r) {
  const Determinacy& d = r.determinacy;
  const std::string share =
      fmt::format("{} of the {} are not determined", percent(1 - d.determined_share),
                  r.intensities ? "entries of x" : "entries");
  if (d.free_directions > 0)
    return fmt::format("{}{} {} free: {}", d.free_is_estimate ? "about " : "", d.free_directions,
                       d.free_directions == 1 ? "direction is" : "directions are", share);
  if (!d.decided && !(d.determined_share < 1))
    return fmt::format("whether another {} fits as well was not decided", answer(r));
  if (!d.decided)
    return fmt::format("{} of the {} may not be determined, which was not decided",
                       percent(1 - d.determined_share), r.intensities ? "entries of x" : "entries");
  if (d.another_fits) return fmt::format("so does another {}: {}", answer(r), share);
  if (r.exact && d.tolerance > 0 && !d.rank_confirmed)
    return fmt::format("so would any other values: rank {} is not confirmed", r.rank);
  return "";
}

// Of data that were too many to look at every direction.
std::string counted_verdict(const Undetermined& open) {
  const std::size_t lines = open.rows.size() + open.cols.size();
  if (lines > 0)
    return fmt::format("fits the data up to noise, but {} rows and columns have too few entries",
                       lines);
  return "fits the data up to noise, and every row and column has enough entries for it";
}

// No rank leaves a measurement to spare: rank 1 has as many parameters as there are measurements.
bool too_few_for_any_rank(const RecoveryFacts& r) {
  const Undetermined& open = r.undetermined;
  const Index rows = r.rows - static_cast<Index>(open.empty_rows.size());
  const Index cols = r.cols - static_cast<Index>(open.empty_cols.size());
  return r.measurements <= (r.symmetric ? rows : rows + cols - 1);
}

std::string rank_zero_verdict(const RecoveryFacts& r) {
  if (too_few_for_any_rank(r))
    return "too few measurements: even rank 1 has as many parameters, and nothing is determined";
  if (r.center != Centering::kNone)
    return "offsets and noise: no rank explains the data better than none";
  return "nothing but noise: no rank explains the data better than none";
}

// A wrong geometry, say: no noise that a picture survives leaves so much of the intensities.
constexpr double kPoorFit = 0.5;

std::string fit_verdict(const RecoveryFacts& r) {
  const std::string open = open_text(r);
  if (r.intensities && !r.exact && r.relative_residual > kPoorFit)
    return fmt::format("explains the data poorly: what is left over is {:.0f} % of them",
                       100 * r.relative_residual);
  if (r.intensities && !r.exact && r.determinacy.tolerance <= 0)
    return "fits the data up to noise; uniqueness was not checked";
  if (!r.exact && r.determinacy.tolerance <= 0) return counted_verdict(r.undetermined);
  if (r.certified()) return fmt::format("certified: the only {} that fits the data", answer(r));
  if (!r.exact)
    return open.empty() ? "fits the data up to noise, and the data determine all of it"
                        : "fits the data up to noise, but " + open;
  if (!open.empty()) return "fits the data exactly, but " + open;
  if (r.intensities && r.determinacy.unique == false)
    return "fits the data exactly, as do copies of x that are shifted or inverted";
  return fmt::format("fits the data exactly; whether another {} does is not known", answer(r));
}

// An answer to most of the data is not one to all of them.
std::string errors_text(const RecoveryFacts& r) {
  if (r.outliers.empty()) return "";
  const bool one = r.outliers.size() == 1;
  return fmt::format("; {} gross error{} {} left out", r.outliers.size(), one ? "" : "s",
                     r.outliers_removed ? (one ? "is" : "are") : (one ? "is not" : "are not"));
}

std::string gradient_verdict(const RecoveryFacts& r) {
  switch (r.certificate.verdict) {
    case Optimality::kGlobal:
      return "a global minimum; uniqueness was not checked";
    case Optimality::kStationary:
      return "a stationary point: no column that is present can improve it";
    default:
      return "the requested residual is reached";
  }
}

}  // namespace

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kConverged:
      return "converged";
    case StopReason::kIterationLimit:
      return "iteration limit";
    case StopReason::kTimeLimit:
      return "time limit";
    case StopReason::kInterrupted:
      return "interrupted";
    default:
      return "diverged";
  }
}

std::string_view to_string(NoiseKind kind) {
  switch (kind) {
    case NoiseKind::kEqual:
      return "equal";
    case NoiseKind::kByRow:
      return "by row";
    case NoiseKind::kByCol:
      return "by column";
    case NoiseKind::kByRowAndCol:
      return "by row and column";
    default:
      return "by signal";
  }
}

StopReason stop_reason(Verdict verdict, bool converged) {
  switch (verdict) {
    case Verdict::kInterrupt:
      return StopReason::kInterrupted;
    case Verdict::kTimeLimit:
      return StopReason::kTimeLimit;
    default:
      return converged ? StopReason::kConverged : StopReason::kIterationLimit;
  }
}

template <typename Scalar>
Scalar BasicRecovery<Scalar>::predict(Index i, Index j) const {
  const RowMatrix<Scalar>& right = symmetric ? U : V;
  const Scalar x = right.row(j).dot(U.row(i).cwiseProduct(d.transpose()));
  const Scalar value = x + static_cast<RealOf<Scalar>>(biases.at(i, j));
  if constexpr (kIsComplex<Scalar>) {
    return value;
  } else {
    if (!range) return value;
    return std::clamp(value, static_cast<Scalar>(range->first), static_cast<Scalar>(range->second));
  }
}

bool RecoveryFacts::certified() const {
  return exact && certificate.verdict == Optimality::kGlobal && determinacy.unique == true;
}

std::string RecoveryFacts::verdict() const {
  if (stop_reason == StopReason::kDiverged) return "diverged: the factors are of no use";
  if (stop_reason == StopReason::kInterrupted) return "interrupted before it converged";
  if (!converged) return fmt::format("not converged, stopped by the {}", to_string(stop_reason));
  if (!by_rank_walk) return gradient_verdict(*this);
  if (rank == 0) return rank_zero_verdict(*this);
  return fit_verdict(*this) + errors_text(*this);
}

std::string RecoveryFacts::summary() const {
  return fmt::format("rank {}, relative residual {:.1e}, {}", rank, relative_residual,
                     certified() ? "certified" + errors_text(*this) : verdict());
}

#define UDV_INSTANTIATE(Scalar) template struct BasicRecovery<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
