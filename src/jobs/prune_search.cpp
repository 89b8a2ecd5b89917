// SPDX-License-Identifier: MIT
#include "jobs/prune_search.hpp"

namespace udv::jobs {
namespace {

constexpr int kMostTries = 4;

// How much worse, relative to the whole network.
double drop_of(const net::Score& score, const net::Score& whole, net::Task task) {
  return task == net::Task::kClassification ? (whole.accuracy - score.accuracy) / whole.accuracy
                                            : (score.loss - whole.loss) / whole.loss;
}

}  // namespace

TrainedSmaller search_smaller(const net::Network<float>& whole, Index most, double limit,
                              const std::function<net::Network<float>(Index)>& candidate,
                              const net::PruneParts<float>& parts,
                              const net::RetrainOptions& training,
                              const net::TrainHooks<float>& hooks) {
  const net::Score full = net::evaluate(whole, parts.validation);
  TrainedSmaller best{net::TrainStop::kDone, 0, whole};
  const auto is_good = [&](Index rank) {
    auto result = net::retrain(candidate(rank), parts, training, hooks);
    best.stop = result.stop == net::TrainStop::kInterrupted ? result.stop : best.stop;
    if (result.stop != net::TrainStop::kDone || !result.network.parameters().allFinite())
      return false;
    const net::Score score = net::evaluate(result.network, parts.validation);
    if (!(drop_of(score, full, parts.validation.task) <= limit)) return false;
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
