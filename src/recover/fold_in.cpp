// SPDX-License-Identifier: MIT
#include "udv/recover/fold_in.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>

#include "core/require.hpp"
#include "core/small_solves.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

// Relative size of a direction that the entries do not see.
constexpr double kUnseen = 1e-10;

using Square = Eigen::MatrixXd;

// L with C = L L^T; no direction is left out altogether.
Square root_of(const RowMatrix<double>& covariance) {
  if (covariance.size() == 0) return Square(0, 0);
  const SymmetricEigen eigen = symmetric_eigen(covariance);
  const Vector<double> variances = eigen.values.cwiseMax(0);
  const double least = std::max(1e-8 * variances.sum(), std::numeric_limits<double>::min());
  return eigen.Q * variances.cwiseMax(least).cwiseSqrt().asDiagonal();
}

// Entries in order of their rows: those of row i stand at start[i] .. start[i + 1].
struct ByRow {
  std::vector<std::size_t> start, entry;

  explicit ByRow(const Entries& entries)
      : start(static_cast<std::size_t>(entries.rows) + 1), entry(entries.row.size()) {
    for (const std::int32_t i : entries.row) ++start[static_cast<std::size_t>(i) + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    std::vector<std::size_t> next(start.begin(), start.end() - 1);
    for (std::size_t t = 0; t < entry.size(); ++t)
      entry[next[static_cast<std::size_t>(entries.row[t])]++] = t;
  }
};

// One row: z with t = mean + L z, and the directions of t that its entries leave open.
struct RowFit {
  Vector<double> t;
  Square open;
  Square spread;
};

class RowFitter {
 public:
  RowFitter(const LearnedColumns& columns, const Entries& entries)
      : columns_(columns),
        entries_(entries),
        by_row_(entries),
        root_(root_of(columns.covariance)),
        features_(columns.features * root_),
        base_(columns.offsets + columns.features * columns.mean) {}

  RowFit fit(Index i) const {
    const Index k = columns_.mean.size();
    Square gram = Square::Zero(k, k);
    Vector<double> right = Vector<double>::Zero(k);
    const auto row = static_cast<std::size_t>(i);
    for (std::size_t n = by_row_.start[row]; n < by_row_.start[row + 1]; ++n) {
      const std::size_t t = by_row_.entry[n];
      const Index j = entries_.col[t];
      if (!columns_.empty.empty() && columns_.empty[static_cast<std::size_t>(j)]) continue;
      const double weight = entries_.weight.empty() ? 1 : entries_.weight[t];
      const Vector<double> a = features_.row(j).transpose();
      gram.noalias() += weight * a * a.transpose();
      right += weight * (entries_.value[t] - base_(j)) * a;
    }
    return solve(gram, right);
  }

 private:
  RowFit solve(const Square& gram, const Vector<double>& right) const {
    if (gram.size() == 0) return {Vector<double>(0), Square(0, 0), Square(0, 0)};
    const auto [values, Q] = symmetric_eigen(gram);
    const double largest = std::max(values(values.size() - 1), 0.0);
    const double sigma = columns_.noise_sigma;
    // Data without noise still have the rounding of their own digits.
    const double ridge = std::max(sigma * sigma, 1e-15 * largest);
    Vector<double> z = Q.transpose() * right;
    Index open = 0;
    for (Index m = 0; m < z.size(); ++m) {
      const bool unseen = !(values(m) > kUnseen * largest);
      open += unseen;
      z(m) = unseen ? 0 : z(m) / (values(m) + ridge);
    }
    const Vector<double> left =
        (ridge / (values.array().cwiseMax(0) + ridge)).sqrt();  // of the prior's deviations
    return {columns_.mean + root_ * (Q * z), root_ * Q.leftCols(open),
            root_ * Q * left.asDiagonal()};
  }

  const LearnedColumns& columns_;
  const Entries& entries_;
  ByRow by_row_;
  Square root_;
  RowMatrix<double> features_;  // a_j in units of the prior
  Vector<double> base_;         // the mean row
};

void check_sizes(const LearnedColumns& c, const Entries& rows) {
  require(rows.cols == c.cols() && !rows.symmetric, "fold_in: ", rows.cols, " columns found, ",
          c.cols(), " expected");
  require(rows.weight.empty() || rows.weight.size() == rows.value.size(),
          "fold_in: ", rows.weight.size(), " weights for ", rows.value.size(), " entries found");
}

}  // namespace

LearnedColumns learned_columns(const Recovery& r) {
  const RowMatrix<double>& V = r.symmetric ? r.U : r.V;
  const Index rank = r.d.size();
  LearnedColumns learned;
  learned.has_row_biases = r.biases.row.size() > 0 && r.biases.row.cwiseAbs().maxCoeff() > 0;
  const Index k = rank + (learned.has_row_biases ? 1 : 0);
  learned.features = RowMatrix<double>::Ones(V.rows(), k);
  learned.features.leftCols(rank) = V;
  learned.offsets = Vector<double>::Constant(V.rows(), r.biases.global);
  if (r.biases.col.size() > 0) learned.offsets += r.biases.col;
  std::vector<char> no_data(static_cast<std::size_t>(r.rows), 0);
  for (const Index i : r.undetermined.empty_rows) no_data[static_cast<std::size_t>(i)] = 1;
  learned.mean = Vector<double>::Zero(k);
  learned.covariance = RowMatrix<double>::Zero(k, k);
  Index count = 0;
  for (Index i = 0; i < r.rows; ++i) {
    if (no_data[static_cast<std::size_t>(i)]) continue;
    Vector<double> t = Vector<double>::Zero(k);
    t.head(rank) = r.U.row(i).transpose().cwiseProduct(r.d);
    if (learned.has_row_biases) t(rank) = r.biases.row(i);
    learned.mean += t;
    learned.covariance.noalias() += t * t.transpose();
    ++count;
  }
  const double scale = 1 / static_cast<double>(std::max<Index>(count, 1));
  learned.mean *= scale;
  learned.covariance =
      (scale * learned.covariance - learned.mean * learned.mean.transpose()).eval();
  learned.range = r.range;
  learned.noise_sigma = std::isfinite(r.noise_sigma) ? r.noise_sigma : 0;
  learned.empty.assign(static_cast<std::size_t>(V.rows()), 0);
  for (const Index j : r.symmetric ? r.undetermined.empty_rows : r.undetermined.empty_cols)
    learned.empty[static_cast<std::size_t>(j)] = 1;
  return learned;
}

double FoldedRows::predict(const LearnedColumns& columns, Index i, Index j) const {
  const double value = columns.offsets(j) + t.row(i).dot(columns.features.row(j));
  return columns.range ? std::clamp(value, columns.range->first, columns.range->second) : value;
}

bool FoldedRows::determined(const LearnedColumns& columns, Index i, Index j) const {
  constexpr double kMoves = 1e-5;  // relative to what the prior lets it move
  if (columns.empty[static_cast<std::size_t>(j)]) return false;
  const std::int32_t which = open_of[static_cast<std::size_t>(i)];
  if (which < 0) return true;
  const Vector<double> a = columns.features.row(j).transpose();
  const double moves = (open[static_cast<std::size_t>(which)].transpose() * a).squaredNorm();
  return moves <= kMoves * kMoves * a.dot(columns.covariance * a);
}

double FoldedRows::deviation(const LearnedColumns& columns, Index i, Index j) const {
  if (!determined(columns, i, j)) return std::numeric_limits<double>::infinity();
  const double sigma = columns.noise_sigma;
  if (spread.cols() == 0) return sigma;
  const Index k = columns.mean.size();
  const Eigen::Map<const RowMatrix<float>> S(spread.row(i).data(), k, k);
  const Vector<float> a = columns.features.row(j).transpose().cast<float>();
  const double own = static_cast<double>((S.transpose() * a).squaredNorm());
  return sigma > 0 ? std::sqrt(sigma * sigma + own) : 0;
}

FoldedRows fold_in(const LearnedColumns& columns, const Entries& rows, bool with_spread) {
  constexpr Index kBlock = 64;
  check_sizes(columns, rows);
  const RowFitter fitter(columns, rows);
  FoldedRows result;
  const Index k = columns.mean.size();
  result.t.resize(rows.rows, k);
  if (with_spread) result.spread.resize(rows.rows, k * k);
  std::vector<Square> open(static_cast<std::size_t>(rows.rows));
  parallel_blocks(rows.rows, kBlock, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      RowFit fit = fitter.fit(i);
      result.t.row(i) = fit.t.transpose();
      if (with_spread)
        Eigen::Map<RowMatrix<float>>(result.spread.row(i).data(), k, k) = fit.spread.cast<float>();
      if (fit.open.cols() > 0) open[static_cast<std::size_t>(i)] = std::move(fit.open);
    }
  });
  for (const Square& directions : open) {
    const bool any = directions.cols() > 0;
    result.open_of.push_back(any ? static_cast<std::int32_t>(result.open.size()) : -1);
    if (any) result.open.emplace_back(directions);
  }
  return result;
}

}  // namespace udv
