// SPDX-License-Identifier: MIT
#include "recover/operators/team_columns.hpp"

#include <algorithm>

#include "core/blas.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

using blas::Form;

// part of X times M, block by block.
void product(const ConstRows<double>& part, const RowMatrix<double>& M, RowMatrix<double>& out) {
  out.resize(part.rows(), M.cols());
  blas::multiply<double>(Form::kPlain, part, Form::kPlain, M, out);
}

void add_gram(const ConstRows<double>& part, Rows<double> sum) {
  RowMatrix<double> square(part.cols(), part.cols());
  blas::multiply<double>(Form::kTransposed, part, Form::kPlain, part, square);
  sum += square;
}

}  // namespace

void over_own_blocks(Index lines, const LineShares& owners,
                     const std::function<void(Index, Index)>& visit) {
  const Index first = owners.begin();
  parallel_blocks(owners.end(lines) - first, lines_per_block(lines),
                  [&](Index begin, Index end) { visit(first + begin, first + end); });
}

RowMatrix<double> sum_over_lines(Index lines, const LineShares& owners, Index rows, Index cols,
                                 const std::function<void(Index, Index, Rows<double>)>& add) {
  const Index per_block = std::max<Index>(1, lines_per_block(lines));
  const Index blocks = (lines + per_block - 1) / per_block;
  RowMatrix<double> parts = RowMatrix<double>::Zero(blocks * rows, cols);
  over_own_blocks(lines, owners, [&](Index begin, Index end) {
    add(begin, end, parts.middleRows(begin / per_block * rows, rows));
  });
  LineShares of_blocks = owners;
  for (Index& bound : of_blocks.bounds) bound = (bound + per_block - 1) / per_block;
  of_blocks.gather(parts.data(), rows * cols * static_cast<Index>(sizeof(double)));
  RowMatrix<double> sum = RowMatrix<double>::Zero(rows, cols);
  for (Index b = 0; b < blocks; ++b) sum += parts.middleRows(b * rows, rows);
  return sum;
}

Matrix<double> gram(const ConstRows<double>& X, const LineShares& owners) {
  return sum_over_lines(X.rows(), owners, X.cols(), X.cols(),
                        [&](Index begin, Index end, Rows<double> sum) {
                          add_gram(X.middleRows(begin, end - begin), sum);
                        });
}

Matrix<double> gram_of_product(const ConstRows<double>& X, const Matrix<double>& M,
                               const LineShares& owners) {
  const RowMatrix<double> by_rows = M;
  return sum_over_lines(X.rows(), owners, M.cols(), M.cols(),
                        [&](Index begin, Index end, Rows<double> sum) {
                          RowMatrix<double> part;
                          product(X.middleRows(begin, end - begin), by_rows, part);
                          add_gram(part, sum);
                        });
}

void multiply_own(Rows<double> X, const Matrix<double>& M, const LineShares& owners) {
  const RowMatrix<double> by_rows = M;
  over_own_blocks(X.rows(), owners, [&](Index begin, Index end) {
    RowMatrix<double> part;
    product(X.middleRows(begin, end - begin), by_rows, part);
    X.middleRows(begin, end - begin) = part;
  });
}

Vector<double> mean_squares(const ConstRows<double>& X, const LineShares& owners) {
  const RowMatrix<double> squares =
      sum_over_lines(X.rows(), owners, 1, X.cols(), [&](Index begin, Index end, Rows<double> sum) {
        sum += X.middleRows(begin, end - begin).colwise().squaredNorm();
      });
  return squares.row(0).transpose() / static_cast<double>(X.rows());
}

LineShares even_shares(Index lines) {
  const Index per_block = lines_per_block(lines);
  std::vector<Index> before{0};
  for (Index begin = 0; begin < lines; begin += per_block)
    before.push_back(std::min(lines, begin + per_block));
  LineShares shares = fair_shares(before);
  for (Index& bound : shares.bounds) bound = std::min(lines, bound * per_block);
  return shares;
}

}  // namespace udv
