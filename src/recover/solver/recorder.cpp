// SPDX-License-Identifier: MIT
#include "recorder.hpp"

#include <algorithm>

#include "core/instantiate.hpp"

namespace udv {
namespace {

constexpr double kNoticeSeconds = 0.05;
constexpr Index kDenseStart = 100;  // a log-spaced history keeps every one of the first iterations

// The iteration that a log-spaced history keeps next.
Index after(Index iteration) {
  return iteration < kDenseStart ? iteration + 1 : std::max(iteration + 1, iteration * 103 / 100);
}

template <typename Scalar>
IterationRecord record_of(const BasicGradientState<Scalar>& state, Index iteration, double seconds,
                          double unit) {
  IterationRecord record;
  record.iteration = iteration;
  record.seconds = seconds;
  record.objective = state.objective * unit;
  record.rank = state.live;
  record.norm_u = state.factors.norm_u();
  record.max_d =
      state.factors.columns() > 0 ? static_cast<double>(state.factors.d().maxCoeff()) : 0.0;
  record.step = state.step_rule.step();
  return record;
}

// d_j |u_j| |v_j|, largest first.
template <typename Scalar>
Vector<double> column_sizes(const Factorization<Scalar>& factors) {
  Vector<double> sizes = factors.magnitudes();
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  return sizes;
}

}  // namespace

Recorder::Recorder(Recording recording, Observer observer)
    : recording_(recording), observer_(std::move(observer)) {}

double Recorder::seconds() const {
  const std::chrono::duration<double> running = std::chrono::steady_clock::now() - started_;
  return earlier_seconds_ + running.count();
}

bool Recorder::wanted(Index iteration) const {
  return recording_ == Recording::kEvery ||
         (recording_ == Recording::kLog && iteration >= next_recorded_);
}

template <typename Scalar>
Verdict Recorder::observe(const BasicGradientState<Scalar>& state, double unit) {
  latest_.iteration = earlier_iterations_ + state.iteration;
  const bool record = wanted(latest_.iteration);
  // Asking the clock costs as much as a small iteration: once in a while is enough.
  const bool look = record || state.iteration % 16 == 0;
  const double now = look ? seconds() : 0;
  if (!record && !(look && now - last_notice_ > kNoticeSeconds)) return Verdict::kContinue;
  latest_ = record_of(state, latest_.iteration, now, unit);
  if (record) {
    keep(latest_);
    keep_columns(state);
  }
  const std::function<Vector<double>()> sizes = [&state] { return column_sizes(state.factors); };
  IterationRecord shown = latest_;
  shown.column_sizes = &sizes;
  return notify(shown);
}

template <typename Scalar>
void Recorder::finish(const BasicGradientState<Scalar>& state, double unit) {
  latest_ = record_of(state, earlier_iterations_ + state.iteration, seconds(), unit);
}

Verdict Recorder::observe(const FitStep& step, double unit) {
  ++latest_.iteration;
  latest_.seconds = seconds();
  latest_.objective = step.objective * unit;
  latest_.rank = step.rank;
  latest_.norm_u = step.norm_u;
  latest_.max_d = 1;
  latest_.step = step.damping;
  // Second-order steps are few: all of them are kept.
  if (recording_ != Recording::kNone) keep(latest_);
  return notify(latest_);
}

Verdict Recorder::poll() {
  const double now = seconds();
  if (now - last_notice_ <= kNoticeSeconds) return Verdict::kContinue;
  latest_.seconds = now;
  return notify(latest_);
}

void Recorder::keep(const IterationRecord& record) {
  history_.push_back(record);
  next_recorded_ = after(record.iteration);
}

template <typename Scalar>
void Recorder::keep_columns(const BasicGradientState<Scalar>& state) {
  for (const Index name : state.names) num_columns_ = std::max(num_columns_, name + 1);
  Vector<double> norms = Vector<double>::Zero(num_columns_);
  Vector<double> d = Vector<double>::Zero(num_columns_);
  const Reals<Scalar> present = state.factors.norms_of_u();
  for (size_t c = 0; c < state.names.size(); ++c) {
    norms(state.names[c]) = present(static_cast<Index>(c));
    d(state.names[c]) = state.factors.d()(static_cast<Index>(c));
  }
  columns_.iteration.push_back(state.iteration);
  columns_.norm_u.push_back(std::move(norms));
  columns_.d.push_back(std::move(d));
}

Verdict Recorder::notify(const IterationRecord& record) {
  last_notice_ = record.seconds;
  return observer_ ? observer_(record) : Verdict::kContinue;
}

// Steps of a fit that was cut off are done again: their records go.
template <typename Scalar>
void Recorder::restore(const SolveState<Scalar>& checkpoint) {
  latest_.iteration = checkpoint.has_gradient ? checkpoint.gradient.iteration : 0;
  for (const RankFit<Scalar>& fit : checkpoint.journal) latest_.iteration += fit.outer;
  earlier_seconds_ = checkpoint.seconds;
  history_ = checkpoint.history;
  columns_ = checkpoint.columns;
  while (!history_.empty() && history_.back().iteration > latest_.iteration) history_.pop_back();
  if (!columns_.norm_u.empty()) num_columns_ = columns_.norm_u.front().size();
  if (!history_.empty()) next_recorded_ = after(history_.back().iteration);
}

template <typename Scalar>
void Recorder::store(SolveState<Scalar>& checkpoint) const {
  checkpoint.seconds = seconds();
  checkpoint.history = history_;
  checkpoint.columns = columns_;
}

Recorder::Mark Recorder::mark() const {
  return {latest_, earlier_iterations_, next_recorded_, history_.size()};
}

RecorderState Recorder::state_at(const Mark& mark) const {
  const auto end = history_.begin() + static_cast<std::ptrdiff_t>(mark.history_size);
  return {
      seconds(), mark.latest, mark.earlier_iterations, mark.next_recorded, {history_.begin(), end}};
}

void Recorder::restore(RecorderState state) {
  earlier_seconds_ = state.seconds;
  latest_ = state.latest;
  earlier_iterations_ = state.earlier_iterations;
  next_recorded_ = state.next_recorded;
  history_ = std::move(state.history);
}

void Recorder::flush() {
  const bool known = !history_.empty() && history_.back().iteration == latest_.iteration;
  if (recording_ != Recording::kNone && latest_.iteration > 0 && !known)
    history_.push_back(latest_);
}

#define UDV_INSTANTIATE(Scalar)                                                  \
  template Verdict Recorder::observe(const BasicGradientState<Scalar>&, double); \
  template void Recorder::finish(const BasicGradientState<Scalar>&, double);     \
  template void Recorder::restore(const SolveState<Scalar>&);                    \
  template void Recorder::store(SolveState<Scalar>&) const;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
