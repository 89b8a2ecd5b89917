// SPDX-License-Identifier: MIT
#include "recover/plan/noisy_entries.hpp"

#include <cmath>

#include "core/hash.hpp"
#include "core/instantiate.hpp"
#include "core/sums.hpp"

namespace udv {
namespace {

constexpr Index kLargeData = 50'000;    // entries that are not searched for gross errors twice
constexpr Index kHugeData = 2'000'000;  // entries for which the walk is not tried first
constexpr double kClearNoise = 0.02;    // share of the data that is noise for sure
constexpr double kWeakNoise = 0.002;    // the same where Bayes is asked to come first
constexpr double kGrossError = 10;      // standard deviations of the noise
// Of Gaussian residuals one in 10^10 is beyond 6.5 deviations, and 62 % are beyond half a one.
constexpr double kFarthest = 6.5, kLeastShare = 0.5;

bool look_gaussian(const BayesAnswer& answer) {
  return answer.largest_residual <= kFarthest && answer.share_beyond_half >= kLeastShare;
}

std::uint64_t hash_of(const BayesStart& start) {
  std::uint64_t hash = kHashStart;
  const auto add = [&hash](const auto& values) {
    hash = array_hash(values.data(), static_cast<size_t>(values.size()) * sizeof(double), hash);
  };
  if (start.fit) add(start.fit->Z);
  if (!start.model) return hash;
  add(start.model->Z.Z);
  add(start.model->biases.row);
  add(start.model->biases.col);
  return hash;
}

}  // namespace

template <typename Scalar>
bool NoisyEntries<Scalar>::possible() const {
  return problem_.takes_offsets() && options_.shrinkage && !problem_.holds_out() &&
         options_.noise_sigma <= 0;
}

template <typename Scalar>
BayesAnswer NoisyEntries<Scalar>::run(const BayesStart& start, double smallest_sigma) {
  BayesSearchOptions search;
  search.center = options_.center;
  search.noise_model = options_.noise_model;
  search.max_rank = options_.max_rank;
  search.noise_sigma = options_.noise_sigma;
  search.seed = options_.seed;
  search.float32 = options_.float32;
  search.go_on = [this, smallest_sigma](double sigma, const WriteState& write) {
    // In this order: a state after a sweep that ends the search would be resumed with another one.
    return sigma >= smallest_sigma && progress_.go_on_with_search(write);
  };
  std::string resume = progress_.begin_search(hash_of(start));
  search.resume = &resume;
  if constexpr (std::is_same_v<Scalar, double>)
    return bayes_answer(dynamic_cast<const EntriesOperator<double>&>(problem_.op()),
                        problem_.data(), start, search, errors_.found().noise.kind);
  else
    return {};
}

template <typename Scalar>
BayesAnswer NoisyEntries<Scalar>::run_from(StackedFactors<double> scaled) {
  scaled.Z /= std::sqrt(problem_.scale());
  BayesStart start;
  start.fit = std::move(scaled);
  return run(start, 0);
}

template <typename Scalar>
void NoisyEntries<Scalar>::add_offsets(Centering center, const Biases& biases) {
  const OffsetModel& before = problem_.offsets();
  problem_.take_offsets({joined(before.center, center), sum_of(before.biases, biases), {}});
}

template <typename Scalar>
void NoisyEntries<Scalar>::take(BayesAnswer answer, RankWalkOutcome<Scalar>& outcome,
                                RecoveryFacts& facts) {
  if constexpr (std::is_same_v<Scalar, double>) {
    add_offsets(answer.center, answer.biases);
    outcome.fit.Z = std::move(answer.Z);
    scale(std::sqrt(problem_.scale()), outcome.fit.Z.Z.data(), outcome.fit.Z.Z.size());
    outcome.noise_sigma = answer.sigma * problem_.scale();
    outcome.ridge = 0;
    if (answer.noise != NoiseKind::kEqual) errors_.set_noise(answer.noise);
    facts.models = std::move(answer.trials);
    facts.posterior = std::move(answer.posterior);
  }
}

template <typename Scalar>
bool NoisyEntries<Scalar>::are_clear(RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts) {
  if (!possible() || comes_first() || problem_.op().num_measurements() < kLargeData ||
      errors_.judged())
    return false;
  return take_where_clear({}, outcome, facts);
}

template <typename Scalar>
bool NoisyEntries<Scalar>::resume_from(const EarlierAnswer& earlier,
                                       RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts) {
  if (!possible()) return false;
  BayesStart start;
  if (earlier.Z.rank() > 0)
    start.model = {earlier.Z, earlier.center,
                   difference(earlier.biases, problem_.offsets().biases)};
  return take_where_clear(start, outcome, facts);
}

template <typename Scalar>
bool NoisyEntries<Scalar>::take_where_clear(const BayesStart& start,
                                            RankWalkOutcome<Scalar>& outcome,
                                            RecoveryFacts& facts) {
  if constexpr (std::is_same_v<Scalar, double>) {
    if (progress_.finished_search()) return false;  // a clear one ends the solve
    const auto n = static_cast<double>(problem_.op().num_measurements());
    const double size = problem_.norm() / problem_.scale() / std::sqrt(n);
    problem_.drop_scaled();  // room for the posteriors
    BayesAnswer answer = run(start, (comes_first() ? kWeakNoise : kClearNoise) * size);
    const bool interrupted = progress_.stopped();
    const bool exact = answer.stopped && !interrupted;
    const bool clear =
        interrupted || (!exact && (comes_first() ? look_gaussian(answer)
                                                 : answer.largest_residual <= kGrossError));
    if (clear)
      take(std::move(answer), outcome, facts);
    else
      progress_.end_search({});
    return clear;
  } else {
    return false;
  }
}

template <typename Scalar>
bool NoisyEntries<Scalar>::are_clear_at_once(RankWalkOutcome<Scalar>& outcome,
                                             RecoveryFacts& facts) {
  if (progress_.state().has_gradient) return false;
  if (comes_first()) return possible() && take_where_clear({}, outcome, facts);
  return problem_.op().num_measurements() >= kHugeData && are_clear(outcome, facts);
}

template <typename Scalar>
void NoisyEntries<Scalar>::settle(RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts) {
  if constexpr (std::is_same_v<Scalar, double>) take(run_from(outcome.fit.Z), outcome, facts);
}

template <typename Scalar>
bool NoisyEntries<Scalar>::take_offsets(const StackedFactors<Scalar>& Z) {
  if constexpr (std::is_same_v<Scalar, double>) {
    const FinishedSearch* found = progress_.finished_search();
    if (!found) {
      const BayesAnswer answer = run_from(Z);
      if (answer.stopped) return false;
      progress_.end_search({answer.center, answer.biases});
      found = &progress_.state().searches.back();
    }
    if (found->center == Centering::kNone) return false;
    add_offsets(found->center, found->biases);
    return true;
  } else {
    return false;
  }
}

#define UDV_INSTANTIATE(Scalar) template class NoisyEntries<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
