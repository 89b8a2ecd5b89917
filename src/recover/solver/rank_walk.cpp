// SPDX-License-Identifier: MIT
#include "recover/solver/rank_walk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "core/lanczos.hpp"
#include "core/sums.hpp"
#include "recover/solver/balance.hpp"
#include "recover/solver/determined_part.hpp"
#include "recover/solver/live_lines.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/core/spectrum.hpp"

namespace udv {
namespace {

constexpr double kOversampling = 1.2;   // measurements per parameter at the largest rank
constexpr double kInterpolation = 2.2;  // below: an exact fit at too large a rank is possible
constexpr double kHomotopy[] = {0.05, 0.002};  // ridges, in units of the one that leaves only zero
constexpr double kSmallColumn = 2e-3;          // share of the largest that the last ridge removes
constexpr double kNegligible = 1e-5;           // singular values below this share are cut
constexpr double kRoundingOfExact = 1e-9;      // and below this they are errors of an exact fit
constexpr int kMaxMisses = 2;
constexpr int kShrinkageRounds = 3;
constexpr Index kLanczosSteps = 30;
constexpr size_t kMostBlocks = 20;

FitOptions homotopy_options(double ridge) {
  FitOptions options;
  options.ridge = ridge;
  options.max_outer = 6;
  options.small_gain = 0.1;
  options.patience = 1;
  return options;
}

// Tight: until the gradient is 1e-8 of what it is at a stack of this size without a fit.
FitOptions final_options(double ridge, double gradient_unit) {
  FitOptions options;
  options.ridge = ridge;
  options.max_outer = 100;
  options.small_gain = 1e-13;
  options.gradient_target = 1e-8 * gradient_unit;
  return options;
}

}  // namespace

template <typename Scalar>
Index largest_determined_rank(const MeasurementOperator<Scalar>& op, Index limit) {
  const auto n = static_cast<double>(op.num_measurements());
  // dof(k) may fall again for large k: the first rank that asks too much is the limit.
  Index k = 1;
  while (k < limit && kOversampling * op.degrees_of_freedom(k + 1) <= n) ++k;
  return k;
}

template <typename Scalar>
RankWalk<Scalar>::RankWalk(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                           RankWalkOptions options)
    : op_(op),
      b_(b),
      live_(live_part(op, b)),
      options_(options),
      b_norm_(std::sqrt(squared_norm(b))) {
  const Index smaller = std::min(op.rows(), op.cols());
  const Index limit = options.max_rank > 0 ? std::min(options.max_rank, smaller) : smaller;
  cap_ = live_ ? largest_determined_rank<Scalar>(*live_, limit)
               : largest_determined_rank<Scalar>(op, limit);
  capped_by_data_ = cap_ < limit;
  auto open = op.undetermined(1);
  if (open.blocks.size() <= kMostBlocks) blocks_ = std::move(open.blocks);
}

template <typename Scalar>
bool RankWalk<Scalar>::is_exact(const RankFit<Scalar>& fit) const {
  const double squared = 2 * fit.objective;
  const double zero = options_.rule.zero_residual * b_norm_;
  bool exact = squared <= zero * zero;
  if (options_.rule.noise_sigma > 0) {
    // |r|^2 / sigma^2 is chi-squared with n - dof degrees: mean m, standard deviation sqrt(2 m).
    const double m = std::max(1.0, measurements() - degrees_of_freedom(fit.Z.rank()));
    const double sigma = options_.rule.noise_sigma;
    exact = exact || squared <= sigma * sigma * (m + 2 * std::sqrt(2 * m));
  }
  return exact;
}

template <typename Scalar>
double RankWalk<Scalar>::measurements() const {
  return static_cast<double>(live_ ? live_->num_measurements() : b_.size());
}

template <typename Scalar>
double RankWalk<Scalar>::degrees_of_freedom(Index rank) const {
  return live_ ? live_->degrees_of_freedom(rank) : op_.degrees_of_freedom(rank);
}

template <typename Scalar>
double RankWalk<Scalar>::score(const RankFit<Scalar>& fit) const {
  if (held_out_) return held_out_(fit.Z);
  const double n = measurements();
  const double dof = fit.Z.rank() == 0 ? 0 : degrees_of_freedom(fit.Z.rank());
  if (dof >= n) return std::numeric_limits<double>::infinity();
  const double smallest = 1e-32 * b_norm_ * b_norm_;
  return n * std::log(std::max(fit.objective, smallest) / n) +
         options_.rule.penalty * dof * n / (n - dof);
}

template <typename Scalar>
Index RankWalk<Scalar>::best_rank() const {
  const auto best = std::min_element(scores_.begin(), scores_.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return best->first;
}

// Keeps the better of two fits of one rank.
template <typename Scalar>
const RankFit<Scalar>& RankWalk<Scalar>::record(RankFit<Scalar> fit) {
  const Index rank = fit.Z.rank();
  const auto known = visited_.find(rank);
  if (known == visited_.end() || fit.objective < known->second.objective) {
    scores_[rank] = score(fit);
    if (is_exact(fit) && (!exact_rank_ || rank < *exact_rank_)) exact_rank_ = rank;
    visited_[rank] = std::move(fit);
  }
  return visited_[rank];
}

// The next fit of an earlier walk where there is one, else a new one.
template <typename Scalar>
template <typename Compute>
RankFit<Scalar> RankWalk<Scalar>::journaled(const Compute& compute) {
  if (replayed_ == journal_.size()) {
    journal_.push_back(compute());
    if (on_fit_) on_fit_(journal_);
  }
  const RankFit<Scalar>& next = journal_[replayed_++];
  iterations_ += next.outer;
  if (options_.pause_after > 0 && iterations_ > options_.pause_after) throw Paused();
  return next;
}

template <typename Scalar>
RankFit<Scalar> RankWalk<Scalar>::refine(StackedFactors<Scalar> Z, const FitOptions& options) {
  RankFit<Scalar> result;
  result.Z = std::move(Z);
  const FitSummary summary = fit_factors(op_, b_, result.Z, options, monitor_);
  result.objective = summary.objective;
  result.outer = summary.outer;
  result.inner = summary.inner;
  if (summary.stopped) {
    unfinished_ = result;
    throw Stopped();
  }
  return result;
}

// Ridges of a homotopy are shares of the largest one. They would remove columns that are smaller
// than these shares: where there are some, the unit is the ridge of what is left to explain.
template <typename Scalar>
double RankWalk<Scalar>::ridge_unit(const StackedFactors<Scalar>& start) const {
  const Index kept = significant_columns(balanced(start), kSmallColumn);
  if (kept == start.rank()) return largest_ridge_;
  Reals<Scalar> residual;
  apply_stack(op_, start, residual);
  const Reals<Scalar> left = b_ - residual;
  return std::clamp(largest_ridge(op_, left, options_.seed), 0.0, largest_ridge_);
}

// A short ridge homotopy, then the plain least-squares fit.
template <typename Scalar>
const RankFit<Scalar>& RankWalk<Scalar>::fit(StackedFactors<Scalar> Z) {
  return record(journaled([&] {
    int outer = 0, inner = 0;
    const double unit = ridge_unit(Z);
    for (const double share : kHomotopy) {
      RankFit<Scalar> ridged = refine(std::move(Z), homotopy_options(share * unit));
      outer += ridged.outer;
      inner += ridged.inner;
      Z = std::move(ridged.Z);
    }
    RankFit<Scalar> result = refine(std::move(Z), FitOptions{});
    result.outer += outer;
    result.inner += inner;
    return result;
  }));
}

template <typename Scalar>
std::optional<StackedFactors<Scalar>> with_steepest_columns(
    const MeasurementOperator<Scalar>& op, const Reals<Scalar>& residual,
    const StackedFactors<Scalar>& Z, Index count, std::uint64_t seed,
    const std::function<bool(Index)>& among) {
  Random random(seed, kStreamLanczos);
  const auto keep = [&](Vector<Scalar>& x) {
    for (Index line = 0; line < x.size(); ++line)
      if (!among(line)) x(line) = 0;
  };
  const auto product = [&](const Vector<Scalar>& x, Vector<Scalar>& y) {
    if (!among) return residual_product(op, residual, x, y);
    Vector<Scalar> kept = x;
    keep(kept);
    residual_product(op, residual, kept, y);
    keep(y);
  };
  const auto pairs = smallest_eigenpairs<Scalar>(Z.Z.rows(), product, count,
                                                 std::max(kLanczosSteps, 10 * count), random);
  StackedFactors<Scalar> column(op.rows(), op.cols(), op.symmetric(), 1);
  StackedFactors<Scalar> result = Z;
  for (Index c = 0; c < pairs.values.size(); ++c) {
    column.Z.col(0) = pairs.vectors.col(c);
    Reals<Scalar> measured;
    apply_stack(op, column, measured);
    const double length = -dot(residual, measured) / squared_norm(measured);
    if (!(pairs.values(c) < 0) || !(length > 0)) break;
    result.Z.conservativeResize(Eigen::NoChange, result.Z.cols() + 1);
    result.Z.col(result.Z.cols() - 1) =
        static_cast<RealOf<Scalar>>(std::sqrt(length)) * column.Z.col(0);
  }
  if (result.rank() == Z.rank()) return std::nullopt;
  return result;
}

template <typename Scalar>
double largest_ridge(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                     std::uint64_t seed) {
  Random random(seed, kStreamLanczos);
  const Reals<Scalar> minus_b = -b;
  const double steepest = smallest_eigenvalue<Scalar>(
      op.symmetric() ? op.rows() : op.rows() + op.cols(),
      [&](const Vector<Scalar>& x, Vector<Scalar>& y) { residual_product(op, minus_b, x, y); },
      1e-2, 24, random);
  return -steepest * (op.symmetric() ? 2 : 1);
}

// Blocks that no entry joins do not see each other's columns: each gets its own part of the new
// ones, or a column would help a single block and the score would miss the others.
template <typename Scalar>
std::optional<StackedFactors<Scalar>> RankWalk<Scalar>::with_columns_by_blocks(
    const Reals<Scalar>& residual, const StackedFactors<Scalar>& Z, Index count) const {
  std::vector<std::int32_t> block(static_cast<size_t>(Z.Z.rows()), 0);
  for (size_t b = 0; b < blocks_.size(); ++b) {
    for (const Index i : blocks_[b].first) block[static_cast<size_t>(i)] = static_cast<int>(b) + 1;
    if (!Z.symmetric)
      for (const Index j : blocks_[b].second)
        block[static_cast<size_t>(Z.rows + j)] = static_cast<int>(b) + 1;
  }
  StackedFactors<Scalar> result = Z;
  result.Z.conservativeResize(Eigen::NoChange, Z.rank() + count);
  result.Z.rightCols(count).setZero();
  bool any = false;
  for (std::int32_t b = 0; b <= static_cast<std::int32_t>(blocks_.size()); ++b) {
    const auto grown =
        with_steepest_columns(op_, residual, Z, count, options_.seed,
                              [&](Index line) { return block[static_cast<size_t>(line)] == b; });
    if (!grown) continue;
    const Index added = grown->rank() - Z.rank();
    result.Z.middleCols(Z.rank(), added) += grown->Z.rightCols(added);
    any = true;
  }
  if (!any) return std::nullopt;
  return result;
}

template <typename Scalar>
const RankFit<Scalar>* RankWalk<Scalar>::grow(const RankFit<Scalar>& from, Index count) {
  Reals<Scalar> residual;
  apply_stack(op_, from.Z, residual);
  residual -= b_;
  auto start = blocks_.empty() ? with_steepest_columns(op_, residual, from.Z, count, options_.seed)
                               : with_columns_by_blocks(residual, from.Z, count);
  return start ? &fit(std::move(*start)) : nullptr;
}

template <typename Scalar>
const RankFit<Scalar>& RankWalk<Scalar>::shrink(const RankFit<Scalar>& from) {
  return fit(leading_columns(balanced(from.Z), from.Z.rank() - 1));
}

// Upwards from a fit until one is exact, the limit is reached or the score has missed twice.
template <typename Scalar>
void RankWalk<Scalar>::climb(const RankFit<Scalar>* from, Index limit) {
  double best = scores_.at(from->Z.rank());
  bool exact = is_exact(*from);
  int misses = 0;
  while (from && !exact && from->Z.rank() < limit && misses < kMaxMisses) {
    const Index rank = from->Z.rank();
    from = grow(*from, std::clamp<Index>(rank / 4, 1, limit - rank));
    if (!from) break;
    exact = is_exact(*from);
    const double now = scores_.at(from->Z.rank());
    misses = now < best ? 0 : misses + 1;
    best = std::min(best, now);
  }
}

// Downwards from a rank, one column at a time, until the score has missed twice.
template <typename Scalar>
void RankWalk<Scalar>::descend(Index from) {
  int misses = 0;
  for (Index rank = from; rank > 1 && misses < kMaxMisses && !exact_rank_; --rank) {
    const double best = scores_.at(best_rank());
    shrink(visited_.at(rank));
    misses = scores_.at(rank - 1) < best ? 0 : misses + 1;
  }
}

// Down from the best rank and one up from it, until it stays the best.
template <typename Scalar>
void RankWalk<Scalar>::settle() {
  Index settled = -1;
  while (!exact_rank_ && settled != best_rank()) {
    settled = best_rank();
    descend(settled);
    const Index best = best_rank();
    if (!exact_rank_ && best < cap_ && !visited_.count(best + 1)) grow(visited_.at(best), 1);
  }
}

// Blocks that no entry joins need not have columns of their own: the columns of one can stand
// beside those of another. A fit does not find that, because a column that is zero in a block stays
// so.
template <typename Scalar>
Index RankWalk<Scalar>::joined_blocks(Index rank) {
  if (blocks_.empty() || rank < 2) return rank;
  const StackedFactors<Scalar> joined =
      balanced_by_blocks(visited_.at(rank).Z, blocks_, kNegligible);
  if (joined.rank() >= rank) return rank;
  const auto& fit = record(journaled([&] { return refine(joined, FitOptions{}); }));
  return is_exact(fit) ? fit.Z.rank() : rank;
}

// Lines with no more entries than columns are fitted exactly by any columns, wrong ones too; the
// others tell the rank. The same fit with that rank, where it is lower and still exact.
template <typename Scalar>
Index RankWalk<Scalar>::rank_of_determined_part(Index rank) {
  const StackedFactors<Scalar>& Z = visited_.at(rank).Z;
  const DeterminedLines lines = determined_lines(op_, rank + 1);
  if (lines.rows.empty() || lines.cols.empty()) return rank;
  const FactoredSvd<Scalar> svd = svd_of_part(Z, lines);
  const Index lower = numerical_rank(svd.s, kRoundingOfExact);
  if (lower < 1 || lower >= rank) return rank;
  const auto& cut =
      record(journaled([&] { return refine(stack_of_part(svd, lower, Z, lines), FitOptions{}); }));
  return is_exact(cut) ? lower : rank;
}

// Below an exact fit: cut what is negligible, then one column less while the fit stays exact.
// Where the data could be interpolated at a lower rank that the walk skipped, look there too.
template <typename Scalar>
RankFit<Scalar> RankWalk<Scalar>::smallest_exact(Index rank) {
  rank = joined_blocks(rank);
  rank = rank_of_determined_part(rank);
  const StackedFactors<Scalar> balanced_fit = balanced(visited_.at(rank).Z);
  const Index kept = significant_columns(balanced_fit, kNegligible);
  if (kept < rank) {
    const auto& cut = record(
        journaled([&] { return refine(leading_columns(balanced_fit, kept), FitOptions{}); }));
    if (is_exact(cut)) rank = kept;
  }
  while (rank > 1 && is_exact(shrink(visited_.at(rank)))) --rank;
  if (measurements() < kInterpolation * degrees_of_freedom(rank) && rank > 1) {
    exact_rank_.reset();
    climb(&visited_.at(0), rank - 1);
    if (exact_rank_ && *exact_rank_ < rank) rank = *exact_rank_;
  }
  return visited_.at(rank);
}

// Empirical-Bayes ridge: sigma^2 from the least-squares residual, tau^2 = mean square of Z.
template <typename Scalar>
RankFit<Scalar> RankWalk<Scalar>::shrunken(RankFit<Scalar> fit, RankWalkOutcome<Scalar>& outcome) {
  const double freedom = measurements() - degrees_of_freedom(fit.Z.rank());
  if (options_.rule.noise_sigma <= 0)
    outcome.noise_sigma = std::sqrt(2 * fit.objective / std::max(1.0, freedom));
  const double variance = outcome.noise_sigma * outcome.noise_sigma;
  for (int round = 0; options_.shrinkage && round < kShrinkageRounds; ++round) {
    const double mean_square = squared_norm(fit.Z.Z) / static_cast<double>(fit.Z.Z.size());
    outcome.ridge = variance / mean_square;
    fit = journaled([&] {
      return refine(fit.Z, final_options(outcome.ridge, largest_ridge_ * fit.Z.Z.norm()));
    });
  }
  return fit;
}

// The tight fit of noisy data.
template <typename Scalar>
RankFit<Scalar> RankWalk<Scalar>::last_fit(const StackedFactors<Scalar>& Z,
                                           RankWalkOutcome<Scalar>& outcome) {
  RankFit<Scalar> fit =
      journaled([&] { return refine(Z, final_options(0, largest_ridge_ * Z.Z.norm())); });
  const double zero = options_.rule.zero_residual * b_norm_;
  return 2 * fit.objective > zero * zero ? shrunken(std::move(fit), outcome) : fit;
}

template <typename Scalar>
RankWalkOutcome<Scalar> RankWalk<Scalar>::refit(const StackedFactors<Scalar>& Z) {
  RankWalkOutcome<Scalar> outcome;
  outcome.noise_sigma = options_.rule.noise_sigma;
  try {
    largest_ridge_ = largest_ridge(op_, b_, options_.seed);
    outcome.fit = last_fit(Z, outcome);
    outcome.exact = is_exact(outcome.fit);
  } catch (const Stopped&) {
    outcome.stopped = true;
    outcome.fit = unfinished_;
  }
  outcome.iterations = iterations_;
  return outcome;
}

template <typename Scalar>
RankWalkOutcome<Scalar> RankWalk<Scalar>::run(const std::optional<StackedFactors<Scalar>>& start) {
  RankWalkOutcome<Scalar> outcome;
  outcome.noise_sigma = options_.rule.noise_sigma;
  RankFit<Scalar> nothing;
  nothing.Z = StackedFactors<Scalar>(op_.rows(), op_.cols(), op_.symmetric(), 0);
  nothing.objective = 0.5 * b_norm_ * b_norm_;
  record(nothing);
  try {
    largest_ridge_ = largest_ridge(op_, b_, options_.seed);
    if (largest_ridge_ > 0 && !exact_rank_) {
      if (start && start->rank() > 0) {
        climb(&fit(leading_columns(balanced(*start), cap_)), cap_);
        settle();
      }
      if (!exact_rank_) climb(&visited_.at(0), cap_);
      settle();
    }
    outcome.exact = exact_rank_.has_value();
    // Two misses above the best rank exclude higher ones.
    const bool excluded = cap_ - best_rank() >= kMaxMisses;
    if (!outcome.exact && capped_by_data_ && !excluded) outcome.cap = cap_;
    if (exact_rank_ && *exact_rank_ > 0) {
      outcome.fit = smallest_exact(*exact_rank_);
    } else if (exact_rank_ || best_rank() == 0) {
      outcome.fit = visited_.at(0);
      if (!exact_rank_ && options_.rule.noise_sigma <= 0)
        outcome.noise_sigma = b_norm_ / std::sqrt(measurements());
    } else if (options_.exact_only) {
      outcome.fit = visited_.at(best_rank());
    } else {
      const StackedFactors<Scalar>& best = visited_.at(best_rank()).Z;
      outcome.fit =
          journaled([&] { return refine(best, final_options(0, largest_ridge_ * best.Z.norm())); });
    }
    if (outcome.fit.Z.rank() > 0 && !options_.exact_only &&
        2 * outcome.fit.objective > std::pow(options_.rule.zero_residual * b_norm_, 2))
      outcome.fit = shrunken(outcome.fit, outcome);
  } catch (const Paused&) {
    outcome.stopped = outcome.paused = true;
    outcome.fit = visited_.at(best_rank());
  } catch (const Stopped&) {
    outcome.stopped = true;
    outcome.fit = best_rank() > 0 ? visited_.at(best_rank()) : unfinished_;
  }
  outcome.iterations = iterations_;
  outcome.scores.assign(scores_.begin(), scores_.end());
  return outcome;
}

#define UDV_INSTANTIATE(Scalar)                                                                \
  template Index largest_determined_rank(const MeasurementOperator<Scalar>&, Index);           \
  template std::optional<StackedFactors<Scalar>> with_steepest_columns(                        \
      const MeasurementOperator<Scalar>&, const Reals<Scalar>&, const StackedFactors<Scalar>&, \
      Index, std::uint64_t, const std::function<bool(Index)>&);                                \
  template double largest_ridge(const MeasurementOperator<Scalar>&, const Reals<Scalar>&,      \
                                std::uint64_t);                                                \
  template class RankWalk<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
