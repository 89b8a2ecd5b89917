// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "net/training_journal.hpp"
#include "udv/net/prune_budget.hpp"

namespace udv::jobs {

/// What a drop is a share of, the smaller the better: minus the accuracy, or the mean squared error
/// of values. The error is in the units of the target where its logarithm was learned; a linear
/// scale does not change a share.
class DropError {
 public:
  DropError(const net::Dataset<float>& rows, const net::Preprocessing& how);
  double of(const net::Network<float>& network) const;
  double of(const RowMatrix<double>& outputs) const;  ///< values
  /// (of(smaller) - whole) / |whole|
  static double change(double smaller, double whole);

 private:
  const net::Dataset<float>& rows_;
  const net::Preprocessing& how_;
  bool in_units_;
  RowMatrix<double> truth_;  // in the same units
};

/// The largest number of trainings of a search.
inline constexpr int kMostTrainings = 5;

/// A network that was made smaller and trained further.
struct TrainedSmaller {
  net::TrainStop stop = net::TrainStop::kDone;
  Index rank = 0;  ///< of the candidates; 0: none was within the limit
  net::Network<float> network;
};

/// The smallest of the candidates 1 .. most, networks of growing size, that is within the limit on
/// the validation part after training, by `error`, against `whole`. Looks at `most` and then by
/// halving, from a quarter of it on, at four others. The trainings are parts of the journal;
/// stopped, it returns the best so far.
TrainedSmaller search_smaller(const net::Network<float>& whole, const DropError& error, Index most,
                              double limit,
                              const std::function<net::Network<float>(Index)>& candidate,
                              const net::PruneParts<float>& parts,
                              const net::RetrainOptions& training,
                              net::TrainingJournal<float>& journal);

}  // namespace udv::jobs
