// SPDX-License-Identifier: MIT
#include "recover/solver/robust.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "core/sums.hpp"
#include "recover/solver/line_repair.hpp"

namespace udv {
namespace {

constexpr double kOversampling = 2.4;          // entries per parameter at the largest rank
constexpr double kCauchyWidth = 2.385;         // 95 % efficiency for Gaussian noise
constexpr double kHomotopy[] = {0.05, 0.002};  // ridges, as those of the ordinary walk
constexpr int kReweightings = 40;
constexpr double kStalledScale = 0.98;
constexpr int kMaxMisses = 2;
constexpr double kFarOff = 10;        // standard deviations that no noise reaches
constexpr double kSuspect = 5;        // left out of the estimate of the noise
constexpr double kFloorOfZero = 100;  // smallest threshold, in units of the zero residual
constexpr int kCleaningRounds = 8;
constexpr int kWalks = 3;

FitOptions short_fit(double ridge, int max_outer, double small_gain, int patience) {
  FitOptions options;
  options.ridge = ridge;
  options.max_outer = max_outer;
  options.small_gain = small_gain;
  options.patience = patience;
  return options;
}

// Standard deviation of Gaussian numbers with this median modulus.
template <typename Real>
double median_deviation(const Vector<Real>& x) {
  std::vector<Real> modulus(static_cast<size_t>(x.size()));
  for (Index t = 0; t < x.size(); ++t) modulus[static_cast<size_t>(t)] = std::abs(x(t));
  const auto middle = modulus.begin() + static_cast<std::ptrdiff_t>(modulus.size() / 2);
  std::nth_element(modulus.begin(), middle, modulus.end());
  return 1.4826 * static_cast<double>(*middle);
}

// A fit with its judgement: how large the noise is, and how many entries are not noise.
template <typename Scalar>
struct Judged {
  StackedFactors<Scalar> Z;
  Reals<Scalar> residual;
  double sigma = 0;
  Index outliers = 0;
  double score = 0;
};

template <typename Scalar>
class OutlierSearch {
 public:
  OutlierSearch(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                const RankWalkOptions& options, const FitMonitor& monitor)
      : op_(op),
        b_(b),
        options_(options),
        monitor_(monitor),
        n_(static_cast<double>(b.size())),
        size_(median_deviation(b)),
        zero_(std::max(options.rule.zero_residual, 80 * kEpsilon<Scalar>) * size_) {
    const Index smaller = std::min(op.rows(), op.cols());
    const Index limit = options.max_rank > 0 ? std::min(options.max_rank, smaller) : smaller;
    while (cap_ < limit && kOversampling * op.degrees_of_freedom(cap_ + 1) <= n_) ++cap_;
  }

  Outliers<Scalar> run() {
    Outliers<Scalar> found;
    try {
      // Where most entries are zero, so is the unit of all thresholds.
      if (cap_ > 0 && size_ > 0) found = search();
    } catch (const Stopped&) {
      found.stopped = true;
    }
    found.max_rank = cap_;
    found.iterations = iterations_;
    found.inner = inner_;
    return found;
  }

 private:
  using Values = Reals<Scalar>;
  struct Stopped {};

  // Least squares with entry t multiplied by root(t).
  void fit(const Values& root, const FitOptions& options, StackedFactors<Scalar>& Z) {
    const Values b = root.cwiseProduct(b_);
    const FitSummary summary = fit_factors(op_.rescaled(root), b, Z, options, monitor_);
    iterations_ += summary.outer;
    inner_ += summary.inner;
    if (summary.stopped) throw Stopped();
  }

  Values residual_of(const StackedFactors<Scalar>& Z) const {
    Values residual;
    apply_stack(op_, Z, residual);
    residual -= b_;
    return residual;
  }

  double freedom(Index rank) const { return rank > 0 ? op_.degrees_of_freedom(rank) : 0; }
  double threshold(double deviations, double sigma) const {
    return std::max(deviations * sigma, kFloorOfZero * zero_);
  }

  // sqrt(w), w = 1 / (1 + (r / (c s))^2)
  static Values cauchy_root(const Values& residual, double scale) {
    const auto unit = static_cast<RealOf<Scalar>>(kCauchyWidth * scale);
    return (1 + (residual.array() / unit).square()).rsqrt();
  }
  static Values within(const Values& residual, double threshold) {
    const auto limit = static_cast<RealOf<Scalar>>(threshold);
    return (residual.array().abs() <= limit).template cast<RealOf<Scalar>>();
  }

  // n log(S / n) + c D n / (n - D), D = dof + m: an entry left out costs as much as a parameter.
  double score(double squares, double dof, Index outliers) const {
    const double D = std::min(dof + static_cast<double>(outliers), 0.95 * n_);
    return n_ * std::log(std::max(squares, n_ * zero_ * zero_ * 1e-6) / n_) +
           options_.rule.penalty * D * n_ / (n_ - D);
  }

  Judged<Scalar> judged(StackedFactors<Scalar> Z) const {
    Judged<Scalar> fit;
    fit.residual = residual_of(Z);
    const double dof = freedom(Z.rank());
    fit.sigma = median_deviation(fit.residual) * std::sqrt(n_ / (n_ - dof));
    double squares = squared_norm(fit.residual);
    for (int round = 0; Z.rank() > 0 && round < 3; ++round) {
      const Values keep = within(fit.residual, threshold(kSuspect, fit.sigma));
      fit.outliers = (keep.array() == 0).count();
      squares = squared_norm(Values(keep.cwiseProduct(fit.residual)));
      const double left = n_ - static_cast<double>(fit.outliers) - dof;
      fit.sigma = std::sqrt(squares / std::max(1.0, left));
    }
    fit.score = score(squares, dof, fit.outliers);
    fit.Z = std::move(Z);
    return fit;
  }

  // Cauchy weights at a falling scale s, until the median residual falls no longer.
  StackedFactors<Scalar> reweighted_fit(StackedFactors<Scalar> Z, double& scale) {
    int stalled = 0;
    Values residual = residual_of(Z);
    for (int round = 0; round < kReweightings && stalled < 2 && scale > zero_; ++round) {
      const Values root = cauchy_root(residual, scale);
      if (round == 0)
        for (const double share : kHomotopy)
          fit(root, short_fit(share * largest_ridge_, 6, 0.1, 1), Z);
      fit(root, short_fit(0, 2, 0.01, 2), Z);
      residual = residual_of(Z);
      const double now = median_deviation(residual);
      stalled = now > kStalledScale * scale ? stalled + 1 : 0;
      scale = std::min(scale, now);
    }
    return Z;
  }

  // Lines that the weights have given up come back; kept where the score falls.
  void repair(Judged<Scalar>& fit_so_far) {
    const double limit = threshold(kFarOff, fit_so_far.sigma);
    StackedFactors<Scalar> Z = fit_so_far.Z;
    if (!repair_lines(op_, b_, limit, options_.seed, Z)) return;
    fit(within(residual_of(Z), limit), short_fit(0, 10, 0.01, 2), Z);
    Judged<Scalar> repaired = judged(std::move(Z));
    if (repaired.score < fit_so_far.score) fit_so_far = std::move(repaired);
  }

  // Up from nothing, one column at a time, to the best score.
  Judged<Scalar> robust_walk() {
    double scale = size_;
    Judged<Scalar> now = judged(StackedFactors<Scalar>(op_.rows(), op_.cols(), op_.symmetric(), 0));
    const Values at_start = cauchy_root(b_, scale);
    largest_ridge_ =
        largest_ridge(op_.rescaled(at_start), Values(at_start.cwiseProduct(b_)), options_.seed);
    Judged<Scalar> best = now;
    int misses = 0;
    while (now.Z.rank() < cap_ && misses < kMaxMisses && scale > zero_) {
      const Values root = cauchy_root(now.residual, scale);
      auto start = with_steepest_columns<Scalar>(
          op_.rescaled(root), root.cwiseProduct(now.residual), now.Z, 1, options_.seed);
      if (!start) break;
      now = judged(reweighted_fit(std::move(*start), scale));
      if (now.outliers > 0 && now.score < best.score) repair(now);
      scale = std::min(scale, median_deviation(now.residual));
      misses = now.score < best.score ? 0 : misses + 1;
      if (misses == 0) best = now;
    }
    return best;
  }

  // Deviations beyond which an entry is more probably an error than noise: posterior 1/2 of a
  // mixture of two Gaussians, sigma and the root mean square of the entries that are far off.
  double removal_cut(const Values& residual, double sigma) const {
    const Values keep = within(residual, threshold(kFarOff, sigma));
    const auto far = static_cast<double>((keep.array() == 0).count());
    const double squares =
        squared_norm(residual) - squared_norm(Values(keep.cwiseProduct(residual)));
    const double odds = (n_ - far) / far * std::sqrt(squares / far) / sigma;
    return std::min(kFarOff, std::sqrt(2 * std::max(std::log(odds), 4.5)));
  }

  // Entries to remove, with Z fitted to the others; none where no entry is far off.
  std::vector<Index> clean(StackedFactors<Scalar>& Z, double& sigma) {
    std::vector<Index> removed;
    double cut = kFarOff;
    for (int round = 0; round < kCleaningRounds; ++round) {
      repair_lines(op_, b_, threshold(cut, sigma), options_.seed, Z);
      const Values residual = residual_of(Z);
      if ((within(residual, threshold(kFarOff, sigma)).array() == 1).all()) return {};
      cut = removal_cut(residual, sigma);
      const Values keep = within(residual, threshold(cut, sigma));
      std::vector<Index> out;
      for (Index t = 0; t < keep.size(); ++t)
        if (keep(t) == 0) out.push_back(t);
      if (out == removed) break;
      removed = std::move(out);
      fit(keep, short_fit(0, 30, 1e-4, 2), Z);
      const double squares = squared_norm(Values(keep.cwiseProduct(residual_of(Z))));
      const double left = n_ - static_cast<double>(removed.size()) -
                          op_.rescaled(keep).degrees_of_freedom(Z.rank());
      sigma = std::sqrt(squares / std::max(1.0, left));
    }
    return removed;
  }

  std::vector<Index> all_but(const std::vector<Index>& removed) const {
    std::vector<Index> all(static_cast<size_t>(b_.size())), kept;
    std::iota(all.begin(), all.end(), 0);
    std::set_difference(all.begin(), all.end(), removed.begin(), removed.end(),
                        std::back_inserter(kept));
    return kept;
  }

  // The ordinary walk over the entries that are left.
  double walk_without(Outliers<Scalar>& found) {
    const std::vector<Index> kept = all_but(found.entries);
    const EntriesOperator<Scalar> op = op_.restricted(kept);
    const Values b = b_(kept);
    RankWalkOptions options = options_;
    options.max_rank = cap_;
    options.shrinkage = false;
    RankWalk<Scalar> walk(op, b, options);
    walk.set_monitor(monitor_);
    const RankWalkOutcome<Scalar> outcome = walk.run(std::nullopt);
    if (outcome.stopped) throw Stopped();
    found.journal = walk.journal();
    for (const RankFit<Scalar>& fit : found.journal) inner_ += fit.inner;
    iterations_ += outcome.iterations;
    found.start = outcome.fit.Z;
    found.rank = found.start.rank();
    const double squares = 2 * outcome.fit.objective;
    const double dof = found.rank > 0 ? op.degrees_of_freedom(found.rank) : 0;
    found.sigma = std::sqrt(squares / std::max(1.0, static_cast<double>(kept.size()) - dof));
    return score(squares, dof, static_cast<Index>(found.entries.size()));
  }

  Outliers<Scalar> search() {
    Judged<Scalar> robust = robust_walk();
    if (robust.Z.rank() == 0) return {};
    Outliers<Scalar> best, next;
    next.start = std::move(robust.Z);
    next.sigma = robust.sigma;
    double lowest = std::numeric_limits<double>::infinity();
    for (int walk = 0; walk < kWalks; ++walk) {
      next.entries = clean(next.start, next.sigma);
      if (next.entries.empty()) return {};
      if (next.entries == best.entries) break;
      const double now = walk_without(next);
      if (now >= lowest) break;
      lowest = now;
      best = next;
    }
    return best;
  }

  const EntriesOperator<Scalar>& op_;
  const Values& b_;
  const RankWalkOptions& options_;
  const FitMonitor& monitor_;
  double n_;
  double size_;  // of the measurements: their median deviation from zero
  double zero_;  // a residual that counts as zero
  Index cap_ = 0;
  double largest_ridge_ = 0;
  Index iterations_ = 0, inner_ = 0;
};

}  // namespace

template <typename Scalar>
Outliers<Scalar> find_outliers(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                               const RankWalkOptions& options, const FitMonitor& monitor) {
  const Reals<Scalar>& root = op.root_weights();
  if (root.size() == 0 || (root.array() > 0).all())
    return OutlierSearch<Scalar>(op, b, options, monitor).run();
  // Entries of weight 0 say nothing: they are neither noise nor errors.
  std::vector<Index> used;
  for (Index t = 0; t < root.size(); ++t)
    if (root(t) > 0) used.push_back(t);
  Outliers<Scalar> found = find_outliers<Scalar>(op.restricted(used), b(used), options, monitor);
  for (Index& entry : found.entries) entry = used[static_cast<size_t>(entry)];
  return found;
}

#define UDV_INSTANTIATE(Scalar)                                                                 \
  template Outliers<Scalar> find_outliers(const EntriesOperator<Scalar>&, const Reals<Scalar>&, \
                                          const RankWalkOptions&, const FitMonitor&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
