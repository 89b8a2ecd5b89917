// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"

namespace udv {

/// What is added to the low-rank part of a completed matrix; kAuto: what the data ask for.
enum class Centering { kAuto, kNone, kGlobal, kRows, kCols, kBoth };
UDV_EXPORT std::string_view to_string(Centering mode);

/// An additive model of a matrix: global + row[i] + col[j]. Empty vectors stand for zeros.
struct UDV_EXPORT Biases {
  double global = 0;
  Vector<double> row, col;

  double at(Index i, Index j) const {
    return global + (row.size() > 0 ? row(i) : 0) + (col.size() > 0 ? col(j) : 0);
  }
  /// Not zero everywhere.
  bool any() const { return global != 0 || (row.array() != 0).any() || (col.array() != 0).any(); }
};

/// Least-squares fit, with the weights of the entries, of the biases that the mode allows; kBoth by
/// alternating between rows and columns until nothing moves. Rows and columns without entries get
/// 0, as does all with kAuto.
UDV_EXPORT Biases fit_biases(const Entries& entries, Centering mode);

/// The entries less their biases.
UDV_EXPORT Entries centered(Entries entries, const Biases& biases);

}  // namespace udv
