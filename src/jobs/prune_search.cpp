// SPDX-License-Identifier: MIT
#include "jobs/prune_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace udv::jobs {
namespace {

constexpr int kMostTries = kMostTrainings - 1;  // after the first one

}  // namespace

DropError::DropError(const net::Dataset<float>& rows, const net::Preprocessing& how)
    : rows_(rows), how_(how), in_units_(how.targets.bend.size() > 0) {
  if (rows.task == net::Task::kClassification) return;
  truth_ = in_units_ ? how.in_target_units(rows.Y) : RowMatrix<double>(rows.Y.cast<double>());
}

double DropError::of(const RowMatrix<double>& outputs) const {
  const RowMatrix<double> found = in_units_ ? how_.in_target_units(outputs) : outputs;
  return (found - truth_).squaredNorm() / static_cast<double>(std::max<Index>(1, truth_.size()));
}

double DropError::of(const net::Network<float>& network) const {
  if (rows_.task == net::Task::kClassification) return -net::evaluate(network, rows_).accuracy;
  return of(RowMatrix<double>(net::predict<float>(network, rows_.X).cast<double>()));
}

double DropError::change(double smaller, double whole) {
  return (smaller - whole) / std::abs(whole);
}

TrainedSmaller search_smaller(const net::Network<float>& whole, const DropError& error, Index most,
                              double limit,
                              const std::function<net::Network<float>(Index)>& candidate,
                              const net::PruneParts<float>& parts,
                              const net::RetrainOptions& training,
                              net::TrainingJournal<float>& journal) {
  const double full = error.of(whole);
  TrainedSmaller best{net::TrainStop::kDone, 0, whole};
  const auto is_good = [&](Index rank) {
    auto result = journal.part(
        fmt::format("candidate {}", rank),
        [&](const net::TrainHooks<float>& hooks) {
          return net::retrain(candidate(rank), parts, training, hooks);
        },
        net::PartProgress::kShown);
    if (journal.stopped()) best.stop = result.stop;
    if (result.stop != net::TrainStop::kDone || !result.network.parameters().allFinite())
      return false;
    if (!(DropError::change(error.of(result.network), full) <= limit)) return false;
    best.rank = rank;
    best.network = std::move(result.network);
    return true;
  };
  if (!is_good(most)) return best;
  Index bad = most / 4, good = most;
  for (int i = 0; i < kMostTries && good - bad > 1 && best.stop == net::TrainStop::kDone; ++i) {
    const Index middle = bad + (good - bad) / 2;
    (is_good(middle) ? good : bad) = middle;
  }
  return best;
}

}  // namespace udv::jobs
