// SPDX-License-Identifier: MIT
#include "recover/plan/progress.hpp"

#include "core/communicator.hpp"
#include "core/instantiate.hpp"
#include "core/require.hpp"

namespace udv {

template <typename Scalar>
Progress<Scalar>::Progress(std::uint64_t fingerprint, const RecoverOptions& options,
                           const BasicHooks<Scalar>& hooks)
    : options_(options), hooks_(hooks), recorder_(options.record, hooks.observer), clock_(hooks) {
  state_.fingerprint = fingerprint;
}

template <typename Scalar>
void Progress<Scalar>::resume() {
  if (hooks_.resume.empty()) return;
  auto state = solve_state_from_bytes<Scalar>(hooks_.resume);
  require(state.fingerprint == state_.fingerprint,
          "the checkpoint belongs to another problem or to other options");
  state_ = std::move(state);
  recorder_.restore(state_);
}

template <typename Scalar>
void Progress<Scalar>::save() {
  if (!hooks_.save || saved_at_stop_) return;
  recorder_.store(state_);
  clock_.save([this] { return to_bytes(state_); });
}

template <typename Scalar>
bool Progress<Scalar>::go_on_with_search(const WriteState& write) {
  const bool stopped_before = stopped();
  const Verdict verdict = from_root(recorder_.poll());
  if (verdict != Verdict::kContinue) stop_ = verdict;
  ++state_.search.sweeps;
  if (!stopped_before && (stopped() || clock_.due())) {
    state_.search.write = write;
    save();
    state_.search.write = nullptr;
    saved_at_stop_ = stopped();
  }
  return !stopped();
}

template <typename Scalar>
std::string Progress<Scalar>::begin_search(std::uint64_t start) {
  InterruptedSearch now;
  now.number = static_cast<Index>(state_.searches.size());
  now.fits = static_cast<Index>(fits_used_);
  now.start = start;
  const InterruptedSearch& earlier = state_.search;
  const bool same =
      earlier.number == now.number && earlier.fits == now.fits && earlier.start == now.start;
  std::string bytes = same ? std::move(state_.search.bytes) : "";
  if (same) now.sweeps = earlier.sweeps;
  state_.search = std::move(now);
  return bytes;
}

template <typename Scalar>
const FinishedSearch* Progress<Scalar>::finished_search() {
  const size_t next = searches_used_++;
  return next < state_.searches.size() ? &state_.searches[next] : nullptr;
}

template <typename Scalar>
bool Progress<Scalar>::should_continue(Verdict verdict) {
  verdict = from_root(verdict);  // clocks and interrupts of processes that work together differ
  if (verdict != Verdict::kContinue) stop_ = verdict;
  if (!walking_ && clock_.due()) save();
  return !stopped();
}

template <typename Scalar>
RankWalkOutcome<Scalar> Progress<Scalar>::run(const PreparedProblem<Scalar>& problem,
                                              const Reals<Scalar>& b,
                                              const RankWalkOptions& options, double unit,
                                              const Walk& act) {
  using Journal = std::vector<RankFit<Scalar>>;
  const auto first = state_.journal.begin() + static_cast<std::ptrdiff_t>(fits_used_);
  const Journal earlier(state_.journal.begin(), first);
  const auto whole = [&](const Journal& journal) {
    Journal all = earlier;
    all.insert(all.end(), journal.begin(), journal.end());
    return all;
  };
  RankWalk<Scalar> walk(problem.op(), b, options);
  walk.set_journal({first, state_.journal.end()});
  if (problem.holds_out() && !options.exact_only)
    walk.set_held_out([&](const StackedFactors<Scalar>& Z) { return problem.held_out_error(Z); });
  const Index limit = options_.max_iterations;
  walking_ = true;  // from here the journal is the state: saved after whole fits only
  walk.set_monitor([&](const FitStep& step) {
    const bool wanted = should_continue(recorder_.observe(step, unit));
    over_limit_ = limit > 0 && recorder_.next_iteration() > limit;
    return wanted && !over_limit_;
  });
  walk.set_on_fit([&](const Journal& journal) {
    if (clock_.due_at_point()) {
      state_.journal = whole(journal);
      save();
    }
  });
  auto outcome = act(walk);
  state_.journal = whole(walk.journal());
  fits_used_ += walk.num_fits();
  return outcome;
}

template <typename Scalar>
void Progress<Scalar>::offer(const std::vector<RankFit<Scalar>>& fits) {
  if (state_.journal.size() == fits_used_)
    state_.journal.insert(state_.journal.end(), fits.begin(), fits.end());
}

#define UDV_INSTANTIATE(Scalar) template class Progress<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
