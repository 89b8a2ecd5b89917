// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "core/team_array.hpp"
#include "recover/operators/entry_shares.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// A tall thin matrix by rows that all processes know. Where lines have owners, each process
/// changes its own and publish() shows them to the others; without owners each has a matrix of its
/// own.
class TeamColumns {
 public:
  TeamColumns() = default;
  /// Zeros. Collective where lines have owners, in blocks of lines_per_block(lines).
  TeamColumns(Index lines, Index width, LineShares owners = {})
      : lines_(lines),
        width_(width),
        owners_(std::move(owners)),
        numbers_(lines * width, owners_.shared()) {}

  Index rows() const { return lines_; }
  Index cols() const { return width_; }
  Index size() const { return lines_ * width_; }
  const LineShares& owners() const { return owners_; }
  Eigen::Map<RowMatrix<double>> all() { return {numbers_.data(), lines_, width_}; }
  Eigen::Map<const RowMatrix<double>> all() const { return {numbers_.data(), lines_, width_}; }
  Index begin() const { return owners_.begin(); }
  Index end() const { return owners_.end(lines_); }
  auto own() { return all().middleRows(begin(), end() - begin()); }
  auto own() const { return all().middleRows(begin(), end() - begin()); }
  void publish() { owners_.gather(numbers_.data(), width_ * static_cast<Index>(sizeof(double))); }

 private:
  Index lines_ = 0, width_ = 0;
  LineShares owners_;
  TeamArray<double> numbers_;
};

/// Calls visit(begin, end) for each of at most 64 blocks of lines that this process owns, on all
/// threads.
void over_own_blocks(Index lines, const LineShares& owners,
                     const std::function<void(Index, Index)>& visit);

/// The sum of what add(begin, end, sum) adds to rows x cols zeros for each of these blocks, of all
/// processes, in their order: the same bits for any number of them. Collective.
RowMatrix<double> sum_over_lines(Index lines, const LineShares& owners, Index rows, Index cols,
                                 const std::function<void(Index, Index, Rows<double>)>& add);

/// X^T X.
Matrix<double> gram(const ConstRows<double>& X, const LineShares& owners);
/// The same of X M, which is not kept.
Matrix<double> gram_of_product(const ConstRows<double>& X, const Matrix<double>& M,
                               const LineShares& owners);
/// X <- X M with square M, own lines alone.
void multiply_own(Rows<double> X, const Matrix<double>& M, const LineShares& owners);
/// Of each column: its mean square.
Vector<double> mean_squares(const ConstRows<double>& X, const LineShares& owners);

/// Whole blocks of lines for each process that works on this problem, about equally many; none
/// where there is one process.
LineShares even_shares(Index lines);

}  // namespace udv
