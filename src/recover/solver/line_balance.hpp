// SPDX-License-Identifier: MIT
#pragma once

#include "recover/operators/team_columns.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {

/// Whether one of the columns of X is made of few lines: n sum x^4 / (sum x^2)^2 is 3 for Gaussian
/// columns of n numbers and n for a single line.
bool falls_on_few_lines(const ConstRows<double>& X, const LineShares& owners = {});

/// With few entries in a line, the leading singular vectors of a residual R are its heaviest rows
/// and columns. R' = diag(r) R diag(c) with r_i = min(1, typical norm of a row / norm of row i) and
/// c alike has vectors of all lines instead (trimming: Keshavan, Montanari, Oh, 2010).
class LineBalance {
 public:
  /// R_t = sqrt(w_t) z_t with the weights of the operator.
  LineBalance(const EntriesOperator<double>& op, const Vector<double>& z);

  /// z' of R'.
  Vector<double> balanced(const EntriesOperator<double>& op, const Vector<double>& z) const;
  /// Unit vectors of R' -> u / r and v / c, unit vectors again.
  void undo(TeamColumns& U, TeamColumns& V) const;

 private:
  Vector<double> rows_, cols_;  // r, c
};

}  // namespace udv
