// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "udv/core/export.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Whether data that X = U U^T leaves a residual of ask for negative eigenvalues: a column w with
/// X - s w w^T would lower n log f + penalty dof n / (n - dof), or the same for all known diagonal
/// entries that are negative, one parameter each. w is the eigenvector of the largest eigenvalue of
/// A*(r), by Lanczos. `op` is symmetric.
template <typename Scalar>
UDV_EXPORT bool contradicts_psd(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                                const StackedFactors<Scalar>& Z, double penalty,
                                std::uint64_t seed);

}  // namespace udv
