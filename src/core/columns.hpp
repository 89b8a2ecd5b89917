// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <vector>

#include "udv/core/types.hpp"

namespace udv {

/// 0 .. size - 1 without the given sorted indices.
inline std::vector<Index> complement(Index size, const std::vector<Index>& removed) {
  std::vector<Index> kept;
  for (Index c = 0; c < size; ++c)
    if (!std::binary_search(removed.begin(), removed.end(), c)) kept.push_back(c);
  return kept;
}

/// A copy without the given columns (sorted).
template <typename Scalar>
RowMatrix<Scalar> without_columns(const RowMatrix<Scalar>& matrix,
                                  const std::vector<Index>& removed) {
  return matrix(Eigen::all, complement(matrix.cols(), removed));
}

/// A copy without the given entries (sorted).
template <typename Scalar>
Vector<Scalar> without_entries(const Vector<Scalar>& vector, const std::vector<Index>& removed) {
  return vector(complement(vector.size(), removed));
}

}  // namespace udv
