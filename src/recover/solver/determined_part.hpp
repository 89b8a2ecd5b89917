// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/spectrum.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Rows and columns of the largest block that the data determine at a rank, by what the operator
/// says; cols is rows where symmetric.
struct DeterminedLines {
  std::vector<Index> rows, cols;
};

template <typename Scalar>
UDV_EXPORT DeterminedLines determined_lines(const MeasurementOperator<Scalar>& op, Index rank);

/// SVD (symmetric: eigendecomposition) of this part of X = U V^*.
template <typename Scalar>
UDV_EXPORT FactoredSvd<Scalar> svd_of_part(const StackedFactors<Scalar>& Z,
                                           const DeterminedLines& lines);

/// The leading `rank` columns of such an SVD, balanced; zero in all other lines.
template <typename Scalar>
UDV_EXPORT StackedFactors<Scalar> stack_of_part(const FactoredSvd<Scalar>& svd, Index rank,
                                                const StackedFactors<Scalar>& like,
                                                const DeterminedLines& lines);

}  // namespace udv
