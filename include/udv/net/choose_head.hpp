// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

template <typename Real>
class TrainingJournal;

/// Why the head and the targets are what they are, in words; empty where nothing was chosen.
struct HeadChoice {
  std::string head, target;
};

/// What is left open is decided by races of 1,000 steps, judged in the user's units:
/// - the variant, where it is auto: UDV-ReLU, unless a linear UDV head is clearly better, with
///   features that are clipped or not;
/// - where data.may_bend and one target above 0 has a skewness above kLeastSkewness: whether it is
///   bent (ColumnTransform), which is the logarithm up to its 90 % quantile.
/// Values of up to kMostCrossRows rows are judged by five-fold cross-validation of the training and
/// validation rows, others by the validation part. Sets options.variant and changes the data.
/// Nothing is raced without a validation part or beyond kMostRaceNumbers features in all rows (a
/// linear head has never won there).
inline constexpr Index kMostRaceNumbers = 20'000'000, kMostCrossRows = 5'000;
inline constexpr double kLeastSkewness = 1;
/// The races are parts of the journal, where there is one; nothing is chosen where they are
/// stopped.
template <typename Real>
UDV_EXPORT HeadChoice choose_head(PreparedData<Real>& data, TrainOptions& options,
                                  TrainingJournal<Real>* journal = nullptr);

}  // namespace udv::net
