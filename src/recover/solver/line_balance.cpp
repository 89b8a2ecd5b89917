// SPDX-License-Identifier: MIT
#include "recover/solver/line_balance.hpp"

#include <algorithm>
#include <cmath>

#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr double kFewLines = 50;  // n sum x^4 / (sum x^2)^2, at least
constexpr Index kLineBlock = 1 << 12;

// min(1, root mean square of the norms / norm), from squared norms; 1 for empty lines.
Vector<double> factors_of(const RowMatrix<double>& squares) {
  const double typical = squares.mean();
  Vector<double> factors = Vector<double>::Ones(squares.rows());
  for (Index i = 0; i < squares.rows(); ++i)
    if (squares(i, 0) > typical) factors(i) = std::sqrt(typical / squares(i, 0));
  return factors;
}

void divide_lines(TeamColumns& X, const Vector<double>& factors) {
  X.own().array().colwise() /= factors.segment(X.begin(), X.end() - X.begin()).array();
  const Vector<double> squares = mean_squares(X.all(), X.owners()) * static_cast<double>(X.rows());
  for (Index c = 0; c < X.cols(); ++c)
    if (squares(c) > 0) X.own().col(c) /= std::sqrt(squares(c));
  X.publish();
}

}  // namespace

bool falls_on_few_lines(const ConstRows<double>& X, const LineShares& owners) {
  const Index k = X.cols();
  // Sums of x^2 and x^4.
  const RowMatrix<double> sums =
      sum_over_lines(X.rows(), owners, 1, 2 * k, [&](Index begin, Index end, Rows<double> sum) {
        for (Index i = begin; i < end; ++i) {
          const auto squares = X.row(i).array().square();
          sum.leftCols(k).array() += squares;
          sum.rightCols(k).array() += squares.square();
        }
      });
  const Vector<double> all = sums.row(0).transpose();
  const auto lines = static_cast<double>(X.rows());
  const double most = std::max(kFewLines, std::sqrt(lines));
  for (Index c = 0; c < k; ++c)
    if (lines * all(k + c) > most * all(c) * all(c)) return true;
  return false;
}

LineBalance::LineBalance(const EntriesOperator<double>& op, const Vector<double>& z) {
  // A*(y)_t = sqrt(w_t) y_t = R_t^2
  Vector<double> y = z.cwiseAbs2();
  if (op.root_weights().size() > 0) y.array() *= op.root_weights().array();
  RowMatrix<double> of_rows(op.rows(), 1), of_cols(op.cols(), 1);
  op.adjoint_times(y, RowMatrix<double>::Ones(op.cols(), 1), of_rows);
  op.adjoint_transpose_times(y, RowMatrix<double>::Ones(op.rows(), 1), of_cols);
  rows_ = factors_of(of_rows);
  cols_ = factors_of(of_cols);
}

Vector<double> LineBalance::balanced(const EntriesOperator<double>& op,
                                     const Vector<double>& z) const {
  Vector<double> scaled = z;
  const SparseLines rows = op.by_row();
  parallel_blocks(rows.count - rows.begin, kLineBlock, [&](Index begin, Index end) {
    for (Index i = rows.begin + begin; i < rows.begin + end; ++i)
      for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s)
        scaled(rows.entry[s]) *= rows_(i) * cols_(rows.other[s]);
  });
  return scaled;
}

void LineBalance::undo(TeamColumns& U, TeamColumns& V) const {
  divide_lines(U, rows_);
  divide_lines(V, cols_);
}

}  // namespace udv
