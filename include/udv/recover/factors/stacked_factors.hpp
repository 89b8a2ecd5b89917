// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Z = (U; V), the factors of X = U V^* one above the other; a symmetric X = U U^* has Z = U.
/// One array for both cases, so that everything done with Z is written once.
template <typename Scalar>
struct UDV_EXPORT StackedFactors {
  RowMatrix<Scalar> Z;
  Index rows = 0;  ///< of U
  bool symmetric = false;

  StackedFactors() = default;
  StackedFactors(Index p, Index q, bool is_symmetric, Index rank)
      : Z(RowMatrix<Scalar>::Zero(is_symmetric ? p : p + q, rank)),
        rows(p),
        symmetric(is_symmetric) {}

  Index rank() const { return Z.cols(); }
  auto U() const { return Z.topRows(rows); }
  auto U() { return Z.topRows(rows); }
  auto V() const { return Z.bottomRows(symmetric ? rows : Z.rows() - rows); }
  auto V() { return Z.bottomRows(symmetric ? rows : Z.rows() - rows); }
};

}  // namespace udv
