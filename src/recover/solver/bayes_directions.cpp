// SPDX-License-Identifier: MIT
// Where a fit of variational Bayes looks for more columns: leading singular vectors of its
// residual.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/small_solves.hpp"
#include "recover/operators/team_columns.hpp"
#include "recover/solver/bayes.hpp"
#include "recover/solver/leading_triples.hpp"
#include "recover/solver/line_balance.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

constexpr Index kTiedSweeps = 5;  // after new columns
constexpr int kSubspaceRounds = 4;

// A*(z) and thin arrays of the host, of which each process has its own lines to work on where
// several share the entries.
class HostSubspace {
 public:
  using Columns = TeamColumns;

  HostSubspace(const EntriesOperator<double>& op, const Vector<double>& z) : op_(op), z_(z) {
    if (!op.is_spread()) return;
    rows_ = op.shares().spread->rows;
    cols_ = op.shares().spread->cols;
    of_cols_ = to_columns(op, z.data());
  }

  // Blocks of lines have streams of their own.
  Columns start(Index lines, Index count, std::uint64_t seed) const {
    constexpr Index kLines = 1 << 14, kStreams = 16;
    Columns V(lines, count, cols_);
    const Index own = V.begin(), first = own / kLines * kLines;
    parallel_blocks(V.end() - first, kLines, [&](Index begin, Index end) {
      RowMatrix<double> block(std::min(kLines, lines - first - begin), count);
      const auto stream = static_cast<std::uint64_t>(kStreams * ((first + begin) / kLines));
      Random(seed, kStreamLanczos + stream).fill_normal(block);
      const Index from = std::max(first + begin, own);
      V.all().middleRows(from, first + end - from) =
          block.middleRows(from - first - begin, first + end - from);
    });
    return V;
  }
  void times(const Columns& V, Columns& U) const {
    if (U.rows() == 0) U = Columns(op_.rows(), V.cols(), rows_);
    op_.adjoint_times(z_, V.all(), U.all());
  }
  void transpose_times(const Columns& U, Columns& V) const {
    if (op_.is_spread())
      own_columns_times(op_, of_cols_.data(), U.all(), V.all());
    else
      op_.adjoint_transpose_times(z_, U.all(), V.all());
  }
  void orthonormalise(Columns& X) const {
    if (X.rows() < kManyLines || !orthonormalise_by_cholesky(X)) orthonormalise_by_reflections(X);
    X.publish();
  }
  Matrix<double> gram(const Columns& X) const { return udv::gram(X.all(), X.owners()); }
  void multiply(Columns& X, const Matrix<double>& M) const {
    multiply_own(X.all(), M, X.owners());
    X.publish();
  }
  void divide(Columns& X, const Vector<double>& d) const {
    for (Index c = 0; c < d.size(); ++c)
      if (d(c) > 0) X.own().col(c) /= d(c);
    X.publish();
  }

 private:
  static constexpr Index kManyLines = 1 << 16;

  // Twice X = X L^-T with X^T X = L L^T: a fraction of the time of reflections, and as good where
  // the columns are far from dependent. False where they are not.
  bool orthonormalise_by_cholesky(Columns& X) const {
    constexpr double kIndependent = 1e-6;
    for (int round = 0; round < 2; ++round) {
      const auto [L, positive] = cholesky(gram(X));
      if (!positive || !(L.diagonal().minCoeff() > kIndependent * L.diagonal().maxCoeff()))
        return false;
      multiply_own(X.all(), lower_inverse(L).transpose(), X.owners());
    }
    return true;
  }
  void orthonormalise_by_reflections(Columns& X) const {
    X.publish();
    const RowMatrix<double> Q = orthonormal(X.all());
    if (X.owners().shared()) communicator().meet();  // nobody reads X any more
    X.own() = Q.middleRows(X.begin(), X.end() - X.begin());
  }

  const EntriesOperator<double>& op_;
  const Vector<double>& z_;
  LineShares rows_, cols_;
  std::vector<double> of_cols_;  // z by entries of own columns
};

// sum_(i,j) (u_i v_j)^2 = sum_i u_i^2 (sum_j v_j^2), j over the entries of row i.
Vector<double> overlaps(const EntriesOperator<double>& op, const TeamColumns& U,
                        const TeamColumns& V) {
  const Vector<double>& root = op.root_weights();
  Vector<double> ones = Vector<double>::Ones(op.num_own());
  for (Index t = 0; t < root.size(); ++t) ones(t) = root(t) > 0 ? 1 / root(t) : 0;
  TeamColumns squares(V.rows(), V.cols(), V.owners()), sums(U.rows(), U.cols(), U.owners());
  squares.own() = V.own().cwiseAbs2();
  squares.publish();
  op.adjoint_times(ones, squares.all(), sums.all());
  const RowMatrix<double> all = sum_over_lines(
      U.rows(), U.owners(), 1, U.cols(), [&](Index begin, Index end, Rows<double> sum) {
        const Index lines = end - begin;
        sum += U.all()
                   .middleRows(begin, lines)
                   .cwiseAbs2()
                   .cwiseProduct(sums.all().middleRows(begin, lines))
                   .colwise()
                   .sum();
      });
  return all.row(0).transpose();
}

void scale_columns(TeamColumns& X, const Vector<double>& factors) {
  X.own().array().rowwise() *= factors.transpose().array();
  X.publish();
}

}  // namespace

// Those of the residual, or of the balanced one where the former are some of its lines.
template <typename Real>
Directions BayesFit<Real>::leading_directions(Index count, std::uint64_t seed) const {
  if (device_) {
    Directions t = device_->directions(rows_, cols_, mean_, count, kSubspaceRounds, seed);
    const bool few = falls_on_few_lines(t.away_U.host()) || falls_on_few_lines(t.away_V.host());
    return few ? balanced_directions(weighted_residual(), count, seed) : std::move(t);
  }
  const Vector<double> z = weighted_residual();
  auto t = leading_triples(HostSubspace(*op_, z), op_->cols(), count, kSubspaceRounds, seed);
  if (falls_on_few_lines(t.U.all(), t.U.owners()) || falls_on_few_lines(t.V.all(), t.V.owners()))
    return balanced_directions(z, count, seed);
  const Vector<double> overlap = overlaps(*op_, t.U, t.V);
  return {std::move(t.U), std::move(t.V), {}, {}, std::move(t.d), overlap};
}

template <typename Real>
Directions BayesFit<Real>::balanced_directions(const Vector<double>& z, Index count,
                                               std::uint64_t seed) const {
  const LineBalance balance(*op_, z);
  const Vector<double> balanced = balance.balanced(*op_, z);
  auto t = leading_triples(HostSubspace(*op_, balanced), op_->cols(), count, kSubspaceRounds, seed);
  balance.undo(t.U, t.V);
  TeamColumns RV(op_->rows(), count, t.U.owners());
  op_->adjoint_times(z, t.V.all(), RV.all());
  // d = u^T R v
  const RowMatrix<double> d = sum_over_lines(
      op_->rows(), t.U.owners(), 1, count, [&](Index begin, Index end, Rows<double> sum) {
        const Index lines = end - begin;
        sum += t.U.all()
                   .middleRows(begin, lines)
                   .cwiseProduct(RV.all().middleRows(begin, lines))
                   .colwise()
                   .sum();
      });
  scale_columns(t.U, (d.row(0).transpose().array() < 0).select(-Vector<double>::Ones(count), 1.0));
  const Vector<double> overlap = overlaps(*op_, t.U, t.V);
  return {std::move(t.U), std::move(t.V), {}, {}, d.row(0).transpose().cwiseAbs(), overlap};
}

template <typename Real>
Directions BayesFit<Real>::directions(Index count, std::uint64_t seed) const {
  Directions t = leading_directions(count, seed);
  const auto p = static_cast<double>(op_->rows()), q = static_cast<double>(op_->cols());
  const double all = p * q / num_entries_;
  const double balance = std::pow(p / q, 0.25);
  Vector<double> of_rows(count), of_cols(count);
  for (Index c = 0; c < count; ++c) {
    // The best length of this direction alone, sum z u v / sum (u v)^2, but no more than a matrix
    // whose entries are sampled evenly would have.
    const double length =
        std::sqrt(std::min(t.d(c) / std::max(t.overlap(c), 1e-300), t.d(c) * all));
    of_rows(c) = length * balance;
    of_cols(c) = length / balance;
  }
  if (t.U.size() == 0) {
    device::scale_columns(t.away_U, of_rows);
    device::scale_columns(t.away_V, of_cols);
  } else {
    scale_columns(t.U, of_rows);
    scale_columns(t.V, of_cols);
  }
  return t;
}

template <typename Real>
void BayesFit<Real>::grow(const Directions& t) {
  const auto append_to = [](BayesSide<Real>& side, const TeamColumns& columns,
                            const device::DeviceMatrix<double>& away) {
    if (columns.size() > 0)
      return side.append(columns.all(), mean_squares(columns.all(), columns.owners()));
    const Vector<double> norms = away.column_norms(0, away.rows());
    side.append(away, norms.cwiseAbs2() / static_cast<double>(away.rows()));
  };
  append_to(rows_, t.U, t.away_U);
  append_to(cols_, t.V, t.away_V);
  since_growth_ = 0;
  tied_sweeps_ = kTiedSweeps;
}

#define UDV_INSTANTIATE(Real)                                                           \
  template Directions BayesFit<Real>::leading_directions(Index, std::uint64_t) const;   \
  template Directions BayesFit<Real>::balanced_directions(const Vector<double>&, Index, \
                                                          std::uint64_t) const;         \
  template Directions BayesFit<Real>::directions(Index, std::uint64_t) const;           \
  template void BayesFit<Real>::grow(const Directions&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)

}  // namespace udv
