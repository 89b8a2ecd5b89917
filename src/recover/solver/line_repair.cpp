// SPDX-License-Identifier: MIT
#include "recover/solver/line_repair.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

constexpr int kPasses = 4;
constexpr int kDeviationRounds = 12;
constexpr double kFloorShrinkage = 0.3;              // of the smallest |e| told apart, a round
constexpr double kSelections[] = {1e-2, 1e-4, 0.0};  // closing cuts, in units of mean |e|
constexpr double kDoubtfulPartner = 1e-3;            // weight of an entry that meets a bad line
constexpr double kManyBad = 0.2;                     // share of bad entries that asks for subsets
constexpr double kSubsetFailure = 1e-3;              // chance that no subset is free of errors
constexpr double kMostSubsets = 2000;
constexpr int kSubsetRefits = 2;
constexpr double kUnusual = 1;  // standard deviations above the mean number of bad entries
constexpr Index kLinesPerBlock = 8;

// The entries of one line against the other side: y ~ F z.
struct Line {
  RowMatrix<double> F;
  Vector<double> y;
  Vector<double> prior;  // 1, or less where the other line is doubtful itself

  Vector<double> deviations(const Vector<double>& z) const { return (F * z - y).cwiseAbs(); }
  Index count_beyond(const Vector<double>& z, double threshold) const {
    return (deviations(z).array() > threshold).count();
  }
};

// argmin_z sum_t w_t (F z - y)_t^2, with a ridge of rounding size.
Vector<double> least_squares(const Line& line, const Vector<double>& w) {
  Matrix<double> G = line.F.transpose() * w.asDiagonal() * line.F;
  G.diagonal().array() += 1e-13 * G.trace() + std::numeric_limits<double>::min();
  return G.ldlt().solve(line.F.transpose() * w.cwiseProduct(line.y));
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

// Draws of k entries until one of them is free of errors but for the chance kSubsetFailure, where
// `good` of `size` entries are.
double draws_needed(Index good, Index size, Index k) {
  double free_of_errors = 1;
  for (Index c = 0; c < k; ++c)
    free_of_errors *= static_cast<double>(good - c) / static_cast<double>(size - c);
  return free_of_errors < 1 ? std::log(kSubsetFailure) / std::log1p(-free_of_errors) : 1;
}

// The z through k random entries that leaves the smallest cost.
LineFit through_subsets(const Line& line, double threshold, Random& random) {
  const Index k = line.F.cols(), size = line.y.size();
  std::vector<Index> order(static_cast<size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  Eigen::PartialPivLU<Matrix<double>> lu(k);
  LineFit best;
  double wanted = kMostSubsets;
  for (double trial = 0; trial < wanted; ++trial) {
    for (Index c = 0; c < k; ++c)
      std::swap(order[static_cast<size_t>(c)],
                order[static_cast<size_t>(c + random.below(size - c))]);
    const Eigen::Map<const Vector<Index>> rows(order.data(), k);
    lu.compute(line.F(rows, Eigen::all));
    LineFit fit = judged(line, lu.solve(line.y(rows)), threshold);
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
      : op_(op), b_(b), columns_(columns) {}

  // Lines depend on the other side alone (where symmetric: on Z before the pass), so their order
  // does not matter.
  bool repair(double threshold, std::uint64_t seed, StackedFactors<Scalar>& Z) const {
    const RowMatrix<Scalar> partners = columns_ ? Z.U() : Z.V();
    const std::vector<char> bad = bad_entries(threshold, Z);
    const std::vector<char> doubtful = doubtful_partners(bad);
    const double usual = static_cast<double>(std::count(bad.begin(), bad.end(), 1)) /
                         static_cast<double>(bad.size());
    Rows<Scalar> own = columns_ ? Z.V() : Z.U();
    const Index offset = columns_ ? op_.rows() : 0;
    std::vector<char> changed(static_cast<size_t>(own.rows()), 0);
    parallel_blocks(own.rows(), kLinesPerBlock, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        const auto [size, bad_here] = count_line(i, columns_, bad);
        if (!unusually_many(bad_here, size, usual)) continue;
        const Line line = line_of(i, partners, doubtful);
        Vector<double> z = own.row(i).transpose().template cast<double>();
        const auto stream = kStreamLines + 16 * static_cast<std::uint64_t>(offset + i);
        if (!repair_line(line, threshold, seed, stream, z)) continue;
        own.row(i) = z.transpose().template cast<Scalar>();
        changed[static_cast<size_t>(i)] = 1;
      }
    });
    return std::count(changed.begin(), changed.end(), 1) > 0;
  }

 private:
  // Calls visit(partner, entry) for the entries of line i. The diagonal of a symmetric matrix is
  // not linear in its line and is left out.
  template <typename Visit>
  void visit_line(Index i, bool columns, const Visit& visit) const {
    const auto visit_tile = [&](const SparseLines& tile) {
      for (auto s = tile.first[i]; s < tile.first[i + 1]; ++s)
        if (!op_.symmetric() || tile.other[s] != i) visit(tile.other[s], tile.entry[s]);
    };
    if (!columns || op_.symmetric()) visit_tile(op_.by_row());
    if (!columns && !op_.symmetric()) return;
    for (Index t = 0; t < op_.by_col().tiles(); ++t) visit_tile(op_.by_col().tile(t));
  }

  Line line_of(Index i, const RowMatrix<Scalar>& partners,
               const std::vector<char>& doubtful) const {
    Index size = 0;
    visit_line(i, columns_, [&](Index, Index) { ++size; });
    Line line{RowMatrix<double>(size, partners.cols()), Vector<double>(size), Vector<double>(size)};
    Index s = 0;
    visit_line(i, columns_, [&](Index partner, Index entry) {
      const double root = op_.root_weights().size() > 0 ? op_.root_weights()(entry) : 1.0;
      line.F.row(s) = root * partners.row(partner).template cast<double>();
      line.y(s) = b_(entry);
      line.prior(s) = doubtful[static_cast<size_t>(partner)] ? kDoubtfulPartner : 1.0;
      ++s;
    });
    return line;
  }

  // 1 for entries beyond the threshold.
  std::vector<char> bad_entries(double threshold, const StackedFactors<Scalar>& Z) const {
    Reals<Scalar> residual;
    apply_stack(op_, Z, residual);
    residual -= b_;
    std::vector<char> bad(static_cast<size_t>(residual.size()));
    for (size_t t = 0; t < bad.size(); ++t)
      bad[t] = std::abs(residual(static_cast<Index>(t))) > threshold;
    return bad;
  }

  // Entries of a line, and the bad ones among them.
  std::pair<Index, Index> count_line(Index i, bool columns, const std::vector<char>& bad) const {
    Index size = 0, count = 0;
    visit_line(i, columns, [&](Index, Index entry) {
      ++size;
      count += bad[static_cast<size_t>(entry)];
    });
    return {size, count};
  }

  // Lines of the other side with more than half of their entries beyond the threshold.
  std::vector<char> doubtful_partners(const std::vector<char>& bad) const {
    const bool partners_are_columns = !columns_ && !op_.symmetric();
    const Index count = partners_are_columns ? op_.cols() : op_.rows();
    std::vector<char> doubtful(static_cast<size_t>(count));
    for (Index i = 0; i < count; ++i) {
      const auto [size, count] = count_line(i, partners_are_columns, bad);
      doubtful[static_cast<size_t>(i)] = 2 * count > size;
    }
    return doubtful;
  }

  const EntriesOperator<Scalar>& op_;
  const Reals<Scalar>& b_;
  bool columns_;
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
