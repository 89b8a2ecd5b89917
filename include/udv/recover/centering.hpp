// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"

namespace udv {

enum class Centering { kNone, kGlobal, kRows, kCols, kBoth };

/// An additive model of a matrix: global + row[i] + col[j].
struct UDV_EXPORT Biases {
  double global = 0;
  Vector<double> row, col;

  double at(Index i, Index j) const { return global + row(i) + col(j); }
};

/// Least-squares fit, with the weights of the entries, of the biases that the mode allows; kBoth by
/// alternating between rows and columns until nothing moves. Rows and columns without entries get
/// 0.
UDV_EXPORT Biases fit_biases(const Entries& entries, Centering mode);

/// The entries less their biases.
UDV_EXPORT Entries centered(Entries entries, const Biases& biases);

}  // namespace udv
