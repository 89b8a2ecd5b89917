// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/dataset.hpp"
#include "udv/net/preprocessing.hpp"

namespace udv::net {

/// How good predictions are, in the units of the targets.
struct UDV_EXPORT Metrics {
  Task task = Task::kRegression;
  Index rows = 0;

  // Regression, one entry for each target.
  std::vector<double> rmse, mae, r2;

  // Classification.
  double accuracy = 0, log_loss = 0, balanced_accuracy = 0;
  RowMatrix<Index> confusion;  ///< true class x predicted class; empty above 1,000 classes
  std::vector<double> precision, recall;  ///< of each class; nan where it does not occur
  std::vector<Index> support;             ///< rows of each class

  /// Root of the mean over the targets of rmse^2, the same for mae and r2 as means.
  double mean_rmse() const;
  double mean_mae() const;
  double mean_r2() const;
};

/// What needs no network: the mean of the training targets, or the commonest class of them.
struct UDV_EXPORT Baseline {
  std::vector<double> rmse, mae;
  double accuracy = 0;
  Index label = -1;  ///< the commonest class

  double mean_rmse() const;
  double mean_mae() const;
};

/// `outputs` of a network for the rows of `data`, n x c, as they come.
template <typename Real>
UDV_EXPORT Metrics metrics_of(const RowMatrix<Real>& outputs, const Dataset<Real>& data,
                              const Preprocessing& how);

template <typename Real>
UDV_EXPORT Baseline baseline_of(const Dataset<Real>& training, const Dataset<Real>& test,
                                const Preprocessing& how);

/// Whether the network is better than the baseline, which needs no network.
UDV_EXPORT bool is_better_than(const Metrics& metrics, const Baseline& baseline);

}  // namespace udv::net
