// SPDX-License-Identifier: MIT
#include "recover/solver/robust.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

#include "core/sums.hpp"
#include "recover/solver/line_repair.hpp"
#include "recover/solver/live_lines.hpp"
#include "recover/solver/robust_walk.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/solver/determinacy.hpp"

namespace udv {
namespace {

constexpr double kFarOff = 10;   // standard deviations that are hardly noise
constexpr double kDoubtful = 6;  // standard deviations: a single one within is noise
constexpr double kLeastCut = 3;  // standard deviations: nothing within is removed
constexpr int kCleaningRounds = 8;
constexpr int kWalks = 3;
constexpr int kProfileRounds = 4;
// Gains of the score, per entry, that make noise of different size worth while, and one more round
// of it. 0.05 is that of standard deviations that differ by a sixth.
constexpr double kClearGain = 0.05;
constexpr double kSmallGain = 0.01;
constexpr double kUnusual = 10;  // times the median of its row and column
constexpr double kUnusualShare = 5e-4;

// b / sigma and A / sigma, entry by entry.
template <typename Scalar>
std::pair<EntriesOperator<Scalar>, Reals<Scalar>> in_units_of_noise(
    const EntriesOperator<Scalar>& op, const Reals<Scalar>& b, const NoiseProfile<Scalar>& noise) {
  if (noise.kind == NoiseKind::kEqual) return {op, b};
  const Reals<Scalar> inverse = noise.relative.cwiseInverse();
  return {op.rescaled(inverse), inverse.cwiseProduct(b)};
}

// Entries of positive weight, but for the removed ones (ascending).
template <typename Scalar>
std::vector<Index> kept_entries(const EntriesOperator<Scalar>& op,
                                const std::vector<Index>& removed) {
  std::vector<Index> kept;
  auto next = removed.begin();
  for (Index t = 0; t < op.num_measurements(); ++t) {
    const bool wrong = next != removed.end() && *next == t;
    if (wrong)
      ++next;
    else if (op.root_weights().size() == 0 || op.root_weights()(t) > 0)
      kept.push_back(t);
  }
  return kept;
}

// A residual that only errors reach, none where all may be noise. Laplace noise is the heaviest
// that is not a matter of single errors. Of n draws with the median |r| = M, L = n exp(-ln 2 x / M)
// are expected beyond x, and m or more of them have at most the probability (e L / m)^m exp(-L).
// Looked at for the m-th largest residuals, m = 1, 2, 4, ...; M is not far below that of noise with
// the standard deviation sigma, and nothing below `least` is an error.
template <typename Real>
std::optional<double> beyond_noise(const Vector<Real>& residual, double sigma, double least) {
  const double kLogFalseAlarm = std::log(1e-5);
  constexpr Index kMostLooked = 64;
  constexpr double kLeastMedian = 0.35;  // 0.49 is that of Laplace noise, 0.67 of Gaussian
  Vector<Real> sizes = residual.cwiseAbs();
  const Index n = sizes.size(), top = std::min(kMostLooked, n);
  const auto middle = sizes.begin() + n / 2;
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double median = std::max(static_cast<double>(*middle), kLeastMedian * sigma);
  std::partial_sort(sizes.begin(), sizes.begin() + top, sizes.end(), std::greater<>());
  std::optional<double> found;
  for (Index m = 1; m <= top; m *= 2) {
    const auto x = static_cast<double>(sizes(m - 1)), count = static_cast<double>(m);
    const double log_expected =
        std::log(static_cast<double>(n)) - (x > 0 ? std::log(2.0) * x / median : 0);
    const double log_chance = count * (1 + log_expected - std::log(count)) - std::exp(log_expected);
    if (x > least && log_expected < std::log(count) && log_chance <= kLogFalseAlarm) found = x;
  }
  return found;
}

template <typename Scalar>
class OutlierSearch {
 public:
  OutlierSearch(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                const RankWalkOptions& options, const FitMonitor& monitor)
      : op_(op), b_(b), options_(options), monitor_(monitor) {}

  Outliers<Scalar> run() {
    Outliers<Scalar> found;
    try {
      found = search();
    } catch (const Stopped&) {
      found.stopped = true;
    }
    found.iterations = outer_;
    found.inner = inner_;
    return found;
  }

 private:
  using Walk = RobustWalk<Scalar>;
  using Values = Reals<Scalar>;
  using Stopped = typename Walk::Stopped;

  Walk walk_with(const NoiseProfile<Scalar>& noise) const {
    auto [op, b] = in_units_of_noise(op_, b_, noise);
    return Walk(std::move(op), std::move(b), options_, monitor_, noise.parameters);
  }

  void count(const Walk& walk) {
    outer_ += walk.outer();
    inner_ += walk.inner();
  }

  // Takes the kind of noise that explains the residuals of a fit best, where its score is lower.
  void explain(const StackedFactors<Scalar>& Z, double& lowest,
               std::optional<NoiseProfile<Scalar>>& best) const {
    Values fitted;
    apply_stack(op_, Z, fitted);
    for (auto& noise :
         noise_profiles<Scalar>(op_, fitted, fitted - b_, op_.degrees_of_freedom(Z.rank()))) {
      const double score = walk_with(noise).judged(Z).score;
      if (score >= lowest) continue;
      lowest = score;
      best = std::move(noise);
    }
  }

  // Noise that explains the answer of a walk clearly better than the noise it was made with.
  std::optional<NoiseProfile<Scalar>> better_noise(const Walk& walk,
                                                   const JudgedFit<Scalar>& answer,
                                                   double gain) const {
    const auto n = static_cast<double>(b_.size());
    std::optional<NoiseProfile<Scalar>> best;
    double lowest = answer.score - kSmallGain * n;
    explain(answer.Z, lowest, best);
    // Too large a rank has fitted the largest noise and hides it: ask the other ranks, too.
    if (best)
      for (const StackedFactors<Scalar>& Z : walk.visited()) explain(Z, lowest, best);
    if (lowest > answer.score - gain * n) best.reset();
    return best;
  }

  // A robust walk, and again in units of the noise as long as that explains the data better. Where
  // the size of the noise is given, it is equal.
  std::pair<JudgedFit<Scalar>, NoiseProfile<Scalar>> robust_fit() {
    NoiseProfile<Scalar> noise;
    Walk walk = walk_with(noise);
    JudgedFit<Scalar> fit = walk.run();
    count(walk);
    for (int round = 0; round < kProfileRounds; ++round) {
      if (fit.Z.rank() == 0 || is_exact(walk, fit.sigma) || options_.rule.noise_sigma > 0 ||
          options_.equal_noise)
        break;
      const bool equal = noise.kind == NoiseKind::kEqual;
      auto other = better_noise(walk, fit, equal ? kClearGain : kSmallGain);
      if (!other) break;
      walk = walk_with(*other);
      JudgedFit<Scalar> next = walk.run();
      count(walk);
      if (next.score >= fit.score) break;
      fit = std::move(next);
      noise = std::move(*other);
    }
    return {std::move(fit), std::move(noise)};
  }

  // Number and root mean square of the residuals beyond a limit.
  struct OutlierStatistics {
    double count, size;
  };
  static OutlierStatistics outlier_statistics(const Values& residual, double limit) {
    const Values keep = Walk::within(residual, limit);
    const auto count = static_cast<double>((keep.array() == 0).count());
    const double squares =
        squared_norm(residual) - squared_norm(Values(keep.cwiseProduct(residual)));
    return {count, std::sqrt(squares / std::max(1.0, count))};
  }

  // Deviations beyond which an entry is more probably an error than noise: posterior 1/2 of a
  // mixture of two Gaussians, sigma and the size of the errors, those beyond `most`.
  static double removal_cut(const OutlierStatistics& outliers, double entries, double sigma,
                            double most) {
    const double log_odds =
        std::log((entries - outliers.count) / outliers.count * outliers.size / sigma);
    return std::clamp(std::sqrt(2 * std::max(log_odds, 0.0)), kLeastCut, most);
  }

  // Entries to remove, with Z fitted to the others; none where no entry is far off.
  std::vector<Index> clean(Walk& walk, StackedFactors<Scalar>& Z, double sigma,
                           ErrorSizes& sizes) const {
    std::vector<Index> removed;
    double cut = kFarOff;
    for (int round = 0; round < kCleaningRounds; ++round) {
      repair_lines(walk.op(), walk.b(), walk.threshold(cut, sigma), options_.seed, Z);
      Values residual = walk.residual_of(Z);
      const auto beyond = beyond_noise(residual, sigma, walk.threshold(kDoubtful, sigma));
      if (!beyond) return {};
      const double most = std::min(kFarOff, 0.999 * *beyond / sigma);
      const OutlierStatistics outliers = outlier_statistics(residual, walk.threshold(most, sigma));
      cut = removal_cut(outliers, static_cast<double>(residual.size()), sigma, most);
      sizes = {walk.threshold(1, sigma), outliers.size};
      const std::vector<Index> unknown =
          judge_doubtful_lines(walk.op(), walk.b(), sizes, options_.seed, Z);
      residual = walk.residual_of(Z);
      Values keep = Walk::within(residual, walk.threshold(cut, sigma));
      for (const Index t : unknown) keep(t) = 0;
      std::vector<Index> out;
      for (Index t = 0; t < keep.size(); ++t)
        if (keep(t) == 0) out.push_back(t);
      if (out == removed) break;
      removed = std::move(out);
      walk.fit(keep, short_fit(0, 30, 1e-4, 2), Z);
      const double squares = squared_norm(Values(keep.cwiseProduct(walk.residual_of(Z))));
      const double dof = walk.op().rescaled(keep).degrees_of_freedom(Z.rank());
      sigma = std::sqrt(squares / std::max(1.0, keep.sum() - dof));
    }
    return removed;
  }

  // The ordinary walk over what is left; returns its score, nothing where it takes too many steps.
  std::optional<double> walk_without(const Walk& robust, Outliers<Scalar>& found,
                                     Index pause_after = 0) {
    const std::vector<Index> kept = kept_entries(robust.op(), found.entries);
    const EntriesOperator<Scalar> op = robust.op().restricted(kept);
    const Values b = robust.b()(kept);
    RankWalkOptions options = options_;
    options.max_rank = found.max_rank;
    options.shrinkage = false;
    options.pause_after = pause_after;
    RankWalk<Scalar> walk(op, b, options);
    walk.set_monitor(monitor_);
    const RankWalkOutcome<Scalar> outcome = walk.run(found.start);
    if (outcome.paused) return std::nullopt;
    if (outcome.stopped) throw Stopped();
    found.journal = walk.journal();
    for (const RankFit<Scalar>& fit : found.journal) inner_ += fit.inner;
    outer_ += outcome.iterations;
    found.fit = outcome.fit.Z;
    const double squares = 2 * outcome.fit.objective;
    const Index rank = found.fit.rank();
    const double dof = rank > 0 ? op.degrees_of_freedom(rank) : 0;
    found.sigma = std::sqrt(squares / std::max(1.0, static_cast<double>(kept.size()) - dof));
    return robust.score(squares, dof, static_cast<Index>(found.entries.size()));
  }

  Outliers<Scalar> search() {
    Outliers<Scalar> next;
    JudgedFit<Scalar> fit;
    std::tie(fit, next.noise) = robust_fit();
    Walk robust = walk_with(next.noise);
    const bool equal_noise = next.noise.kind == NoiseKind::kEqual;
    next.max_rank = robust.cap();
    next.sigma = fit.sigma;
    next.fit = std::move(fit.Z);
    if (!equal_noise) next.start = next.fit;
    const Outliers<Scalar> none = next;
    Outliers<Scalar> best = none;
    double lowest = std::numeric_limits<double>::infinity();
    const auto size = static_cast<size_t>(b_.size());  // errors are a minority
    for (int round = 0; round < kWalks && next.fit.rank() > 0; ++round) {
      const std::vector<Index> before = std::move(next.entries);
      next.entries = clean(robust, next.fit, next.sigma, next.sizes);
      if (!equal_noise) next.start = next.fit;
      const bool believable = !next.entries.empty() && 2 * next.entries.size() < size;
      if (!believable) best = none;
      if (!believable || next.entries == before) break;
      const double score = *walk_without(robust, next);
      if (score >= lowest) break;
      lowest = score;
      best = next;
    }
    if (best.any() && is_exact(robust, best.sigma)) put_blocks_back(robust, best);
    count(robust);
    return best;
  }

  static bool is_exact(const Walk& walk, double sigma) { return sigma < walk.threshold(1, sigma); }

  DeterminacyOptions of_exact_fit() const {
    DeterminacyOptions options;
    options.zero_residual = options_.rule.zero_residual;
    options.exact = true;
    options.seed = options_.seed;
    return options;
  }

  // Of the entries left out, those that the others contradict: entries that nothing else determines
  // are not wrong for all one knows. Half of a line may well be wrong and leave too little of it to
  // tell: with `lines` such ones stay out.
  std::vector<Index> contradicted(const Walk& robust, const Outliers<Scalar>& found,
                                  const OpenEntries<Scalar>& open, bool lines) const {
    const auto marked = [lines](const std::vector<char>& line, Index i) {
      return lines && !line.empty() && line[static_cast<size_t>(i)];
    };
    const auto places = robust.op().places(found.entries);
    std::vector<Index> wrong;
    for (size_t n = 0; n < places.size(); ++n) {
      const auto [i, j] = places[n];
      if (marked(open.row, i) || marked(open.col, j) || open.determined(i, j))
        wrong.push_back(found.entries[n]);
    }
    return wrong;
  }

  // Blocks of their own, and the few entries that join two blocks, are errors only where no exact
  // fit of the same rank has them, too.
  void put_blocks_back(const Walk& robust, Outliers<Scalar>& best) {
    const std::vector<Index> kept = kept_entries(robust.op(), best.entries);
    const auto answer =
        determine<Scalar>(robust.op().restricted(kept), robust.b()(kept), best.fit, of_exact_fit());
    for (const bool lines : {false, true}) {
      Outliers<Scalar> more = best;
      more.entries = contradicted(robust, best, answer.open, lines);
      if (more.entries.size() == best.entries.size()) return;
      if (!fit_exactly(robust, best.fit.rank(), more)) continue;
      best = std::move(more);
      return;
    }
  }

  // An exact fit of at most this rank to what is left, soon found.
  bool fit_exactly(const Walk& robust, Index rank, Outliers<Scalar>& found) {
    constexpr Index kSoon = 150;
    if (!walk_without(robust, found, kSoon) || !is_exact(robust, found.sigma)) return false;
    const std::vector<Index> kept = kept_entries(robust.op(), found.entries);
    if (auto lower = with_lower_rank<Scalar>(robust.op().restricted(kept), robust.b()(kept),
                                             found.fit, of_exact_fit()))
      found.fit = std::move(*lower);
    return found.fit.rank() <= rank;
  }

  const EntriesOperator<Scalar>& op_;
  const Values& b_;
  const RankWalkOptions& options_;
  const FitMonitor& monitor_;
  Index outer_ = 0, inner_ = 0;
};

// Median of the values in each line, 0 where a line is empty.
template <typename Real>
Vector<Real> line_medians(const std::vector<SparseLines>& tiles, const Vector<Real>& values) {
  constexpr Index kLinesPerBlock = 256;
  Vector<Real> medians = Vector<Real>::Zero(tiles.front().count);
  parallel_blocks(medians.size(), kLinesPerBlock, [&](Index begin, Index end) {
    std::vector<Real> members;
    for (Index i = begin; i < end; ++i) {
      members.clear();
      for (const SparseLines& tile : tiles)
        for (auto s = tile.first[i]; s < tile.first[i + 1]; ++s)
          members.push_back(values(tile.entry[s]));
      if (members.empty()) continue;
      const auto middle = members.begin() + static_cast<std::ptrdiff_t>(members.size() / 2);
      std::nth_element(members.begin(), middle, members.end());
      medians(i) = *middle;
    }
  });
  return medians;
}

// Medians by rows and by columns; where symmetric, a line is both.
template <typename Scalar>
std::pair<Reals<Scalar>, Reals<Scalar>> medians_of_lines(const EntriesOperator<Scalar>& op,
                                                         const Reals<Scalar>& values) {
  std::vector<SparseLines> rows{op.by_row()}, cols;
  for (Index t = 0; t < op.by_col().tiles(); ++t) cols.push_back(op.by_col().tile(t));
  if (!op.symmetric()) return {line_medians(rows, values), line_medians(cols, values)};
  rows.insert(rows.end(), cols.begin(), cols.end());
  const Reals<Scalar> both = line_medians(rows, values);
  return {both, both};
}

}  // namespace

template <typename Scalar>
Outliers<Scalar> find_outliers(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                               const RankWalkOptions& options, const FitMonitor& monitor) {
  std::vector<Index> used = kept_entries(op, {});
  if (static_cast<Index>(used.size()) == b.size() && num_entries_in_dead_lines(op, b) > 0)
    used = entries_in_live_lines(op, b);
  if (used.empty() || static_cast<Index>(used.size()) == b.size())
    return OutlierSearch<Scalar>(op, b, options, monitor).run();
  // Entries of weight 0 and lines of zeros say nothing: they are neither noise nor errors.
  Outliers<Scalar> found = find_outliers<Scalar>(op.restricted(used), b(used), options, monitor);
  for (Index& entry : found.entries) entry = used[static_cast<size_t>(entry)];
  if (found.noise.kind != NoiseKind::kEqual) {
    const Reals<Scalar> relative = found.noise.relative;
    found.noise.relative = Reals<Scalar>::Ones(b.size());
    found.noise.relative(used) = relative;
  }
  return found;
}

template <typename Scalar>
BasicProblem<Scalar> without(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                             const Outliers<Scalar>& outliers) {
  const auto [scaled_op, scaled_b] = in_units_of_noise(op, b, outliers.noise);
  const std::vector<Index> kept = kept_entries(op, outliers.entries);
  return {scaled_op.subset(kept), scaled_b(kept)};
}

template <typename Scalar>
std::vector<Index> entries_of_lost_lines(const EntriesOperator<Scalar>& op,
                                         const Outliers<Scalar>& outliers) {
  std::vector<Index> lost;
  if (outliers.noise.kind != NoiseKind::kEqual) return lost;
  std::vector<Index> rows(static_cast<size_t>(op.rows())), cols(static_cast<size_t>(op.cols()));
  for (const auto& [i, j] : op.places(kept_entries(op, outliers.entries))) {
    ++rows[static_cast<size_t>(i)];
    ++cols[static_cast<size_t>(j)];
    if (op.symmetric() && i != j) ++rows[static_cast<size_t>(j)], ++cols[static_cast<size_t>(i)];
  }
  const Index enough = outliers.fit.rank();
  const auto places = op.places(outliers.entries);
  for (size_t n = 0; n < places.size(); ++n) {
    const auto [i, j] = places[n];
    if (rows[static_cast<size_t>(i)] < enough || cols[static_cast<size_t>(j)] < enough)
      lost.push_back(outliers.entries[n]);
  }
  return lost;
}

template <typename Scalar>
bool gross_errors_likely(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b) {
  const Reals<Scalar> modulus = b.cwiseAbs();
  const auto [of_rows, of_cols] = medians_of_lines(op, modulus);
  Reals<Scalar> sorted = modulus;
  std::nth_element(sorted.begin(), sorted.begin() + sorted.size() / 2, sorted.end());
  const auto median = static_cast<double>(sorted(sorted.size() / 2));
  // |b_ij| against median_i median_j / median: for a matrix of rank 1 both are equal in size.
  Index unusual = 0;
  const SparseLines rows = op.by_row();
  for (Index i = 0; i < rows.count; ++i)
    for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
      const double usual = static_cast<double>(of_rows(i)) * of_cols(rows.other[s]);
      unusual += usual > 0 && modulus(rows.entry[s]) * median > kUnusual * usual;
    }
  return unusual > 1 &&
         static_cast<double>(unusual) > kUnusualShare * static_cast<double>(b.size());
}

#define UDV_INSTANTIATE(Scalar)                                                                 \
  template Outliers<Scalar> find_outliers(const EntriesOperator<Scalar>&, const Reals<Scalar>&, \
                                          const RankWalkOptions&, const FitMonitor&);           \
  template BasicProblem<Scalar> without(const EntriesOperator<Scalar>&, const Reals<Scalar>&,   \
                                        const Outliers<Scalar>&);                               \
  template std::vector<Index> entries_of_lost_lines(const EntriesOperator<Scalar>&,             \
                                                    const Outliers<Scalar>&);                   \
  template bool gross_errors_likely(const EntriesOperator<Scalar>&, const Reals<Scalar>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
