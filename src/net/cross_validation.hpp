// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/net/trainer.hpp"

namespace udv::net {

inline constexpr Index kFolds = 5;

struct CrossValidation {
  Index folds = 0;
  Index steps = 0;         ///< with the smallest mean objective over the folds
  double temperature = 1;  ///< geometric mean over the folds
};

/// The rows of both, one after the other.
template <typename Real>
Dataset<Real> joined(const Dataset<Real>& a, const Dataset<Real>& b);

/// Calls `visit` with the rows outside and inside of every fold in turn; the seed fixes the folds,
/// in which every class has its share.
template <typename Real>
using FoldVisit = std::function<void(const Dataset<Real>&, const Dataset<Real>&)>;
template <typename Real>
void for_each_fold(const Dataset<Real>& data, std::uint64_t seed, const FoldVisit<Real>& visit);

/// Trains on all folds but one and looks at that one, each in its turn. `run` trains on the first
/// part, looks at the second and keeps the history.
template <typename Real>
using FoldRun = std::function<TrainResult<Real>(const Dataset<Real>&, const Dataset<Real>&,
                                                const TrainOptions&)>;
template <typename Real>
CrossValidation cross_validate(const Dataset<Real>& training, const TrainOptions& options,
                               const FoldRun<Real>& run);

}  // namespace udv::net
