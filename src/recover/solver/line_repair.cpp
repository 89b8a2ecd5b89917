// SPDX-License-Identifier: MIT
#include "recover/solver/line_repair.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/small_solves.hpp"
#include "recover/solver/line_view.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

constexpr int kPasses = 4;
constexpr int kDeviationRounds = 12;
constexpr double kFloorShrinkage = 0.3;              // of the smallest |e| told apart, a round
constexpr double kSelections[] = {1e-2, 1e-4, 0.0};  // closing cuts, in units of mean |e|
constexpr double kManyBad = 0.2;                     // share of bad entries that asks for subsets
constexpr double kMostSubsets = 2000;
constexpr int kSubsetRefits = 2;
constexpr double kUnusual = 1;  // standard deviations above the mean number of bad entries
constexpr Index kLinesPerBlock = 8;

Vector<double> least_squares(const Line& line, const Vector<double>& w) {
  return weighted_least_squares(line.F, w, line.y);
}

// argmin_z sum_t prior_t |F z - y|_t by reweighted least squares with a falling floor under |e|;
// then plain least squares on what is within ever closer cuts.
Vector<double> least_deviations(const Line& line, double threshold) {
  Vector<double> z = least_squares(line, line.prior);
  Vector<double> e = line.deviations(z);
  const double mean = e.mean();
  double floor = mean;
  for (int round = 0; round < kDeviationRounds; ++round) {
    floor *= kFloorShrinkage;
    z = least_squares(line, line.prior.cwiseQuotient(e.cwiseMax(std::max(floor, threshold))));
    e = line.deviations(z);
  }
  for (const double share : kSelections) {
    const double cut = std::max(threshold, share * mean);
    z = least_squares(line, (e.array() <= cut).select(line.prior, 0.0));
    e = line.deviations(z);
  }
  return z;
}

// A fit of a line and what it leaves: sum of min(|e|, threshold), and entries within it.
struct LineFit {
  Vector<double> z;
  double cost = std::numeric_limits<double>::infinity();
  Index within = 0;
};

LineFit judged(const Line& line, Vector<double> z, double threshold) {
  LineFit fit;
  if (!z.allFinite()) return fit;
  const Vector<double> e = line.deviations(z);
  fit.z = std::move(z);
  fit.cost = e.cwiseMin(threshold).sum();
  fit.within = (e.array() <= threshold).count();
  return fit;
}

// Least squares on the entries within the threshold, again while that helps.
LineFit refitted(const Line& line, LineFit fit, double threshold) {
  for (int refit = 0; refit < kSubsetRefits && fit.within >= line.F.cols(); ++refit) {
    const Vector<double> within = (line.deviations(fit.z).array() <= threshold).cast<double>();
    LineFit next = judged(line, least_squares(line, within), threshold);
    if (next.cost >= fit.cost) break;
    fit = std::move(next);
  }
  return fit;
}

// The z through k random entries that leaves the smallest cost.
LineFit through_subsets(const Line& line, double threshold, Random& random) {
  const Index k = line.F.cols(), size = line.y.size();
  std::vector<Index> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  LineFit best;
  double wanted = kMostSubsets;
  for (double trial = 0; trial < wanted; ++trial) {
    draw_first(k, random, order);
    const Eigen::Map<const Vector<Index>> rows(order.data(), k);
    LineFit fit = judged(line, square_solve(line.F(rows, Eigen::all), line.y(rows)), threshold);
    if (fit.within <= best.within && fit.cost >= best.cost) continue;
    fit = refitted(line, std::move(fit), threshold);
    if (fit.cost >= best.cost) continue;
    best = std::move(fit);
    wanted = std::min(kMostSubsets, draws_needed(std::max(best.within, k), size, k));
  }
  return best;
}

// Lines with as many bad entries as chance brings are fitted well: their errors are single ones.
bool unusually_many(Index bad, Index size, double usual) {
  const double expected = usual * static_cast<double>(size);
  return static_cast<double>(bad) > expected + kUnusual * std::sqrt(expected);
}

// Replaces z by a fit with fewer bad entries; false where none is found.
bool repair_line(const Line& line, double threshold, std::uint64_t seed, std::uint64_t stream,
                 Vector<double>& z) {
  const Index k = line.F.cols(), size = line.y.size();
  Index bad = line.count_beyond(z, threshold);
  if (bad == 0 || size < k) return false;
  bool changed = false;
  const auto take_if_better = [&](const LineFit& other) {
    if (size - other.within >= bad) return;
    z = other.z;
    bad = size - other.within;
    changed = true;
  };
  take_if_better(judged(line, least_deviations(line, threshold), threshold));
  if (static_cast<double>(bad) > kManyBad * static_cast<double>(size) && size >= k + 2) {
    Random random(seed, stream);
    take_if_better(through_subsets(line, threshold, random));
  }
  return changed;
}

// One side of a factored matrix seen line by line, the other side fixed.
template <typename Scalar>
class Side {
 public:
  Side(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b, bool columns)
      : view_(op, b, columns) {}

  // Lines depend on the other side alone (where symmetric: on Z before the pass), so their order
  // does not matter.
  bool repair(double threshold, std::uint64_t seed, StackedFactors<Scalar>& Z) const {
    const RowMatrix<Scalar> partners = view_.partners_of(Z);
    const std::vector<char> bad = view_.bad_entries(threshold, Z);
    const std::vector<char> doubtful = view_.doubtful_partners(bad);
    const double usual = static_cast<double>(std::count(bad.begin(), bad.end(), 1)) /
                         static_cast<double>(bad.size());
    Rows<Scalar> own = view_.own_of(Z);
    std::vector<char> changed(static_cast<size_t>(own.rows()), 0);
    parallel_blocks(own.rows(), kLinesPerBlock, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto [size, bad_here] = view_.count_own(i, bad);
        if (!unusually_many(bad_here, size, usual)) continue;
        const Line line = view_.line_of(i, partners, doubtful);
        Vector<double> z = own.row(i).transpose().template cast<double>();
        const std::uint64_t stream = view_.stream_of(i);
        if (!repair_line(line, threshold, seed, stream, z)) continue;
        own.row(i) = z.transpose().template cast<Scalar>();
        changed[static_cast<size_t>(i)] = 1;
      }
    });
    return std::count(changed.begin(), changed.end(), 1) > 0;
  }

 private:
  LineView<Scalar> view_;
};

}  // namespace

template <typename Scalar>
bool repair_lines(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b, double threshold,
                  std::uint64_t seed, StackedFactors<Scalar>& Z) {
  if (Z.rank() == 0) return false;
  bool any = false, changed = true;
  for (int pass = 0; changed && pass < kPasses; ++pass) {
    changed = Side<Scalar>(op, b, false).repair(threshold, seed, Z);
    if (!op.symmetric()) changed |= Side<Scalar>(op, b, true).repair(threshold, seed, Z);
    any |= changed;
  }
  return any;
}

#define UDV_INSTANTIATE(Scalar)                                                            \
  template bool repair_lines(const EntriesOperator<Scalar>&, const Reals<Scalar>&, double, \
                             std::uint64_t, StackedFactors<Scalar>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
