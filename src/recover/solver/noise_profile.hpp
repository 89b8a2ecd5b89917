// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/operators/entries.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// Noise of different size: entry t has the standard deviation sigma * relative(t), where the
/// geometric mean of `relative` is 1, so that likelihoods with and without it can be compared.
template <typename Scalar>
struct NoiseProfile {
  NoiseKind kind = NoiseKind::kEqual;
  Reals<Scalar> relative;  ///< empty where equal
  double parameters = 0;   ///< fitted to describe it
};

/// One profile of each kind from the residuals of a fit with `freedom` parameters; `fitted` are the
/// values A(X). Robust: each group of entries is measured by its median, then without what is
/// beyond three standard deviations.
template <typename Scalar>
UDV_EXPORT std::vector<NoiseProfile<Scalar>> noise_profiles(const EntriesOperator<Scalar>& op,
                                                            const Reals<Scalar>& fitted,
                                                            const Reals<Scalar>& residual,
                                                            double freedom);

}  // namespace udv
