// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/types.hpp"

namespace udv::net {

/// At most 20,000 rows of X, spread evenly: enough to choose neurons by.
template <typename Real>
RowMatrix<Real> sample_rows(const ConstRows<Real>& X) {
  constexpr Index kMostRows = 20000;
  if (X.rows() <= kMostRows) return X;
  RowMatrix<Real> rows(kMostRows, X.cols());
  for (Index i = 0; i < kMostRows; ++i) rows.row(i) = X.row(i * X.rows() / kMostRows);
  return rows;
}

}  // namespace udv::net
