// SPDX-License-Identifier: MIT
#include "jobs/completion_solve.hpp"

#include <algorithm>

#include "core/communicator.hpp"
#include "jobs/recovery.hpp"
#include "recover/solver/state_archive.hpp"
#include "recover/spread_completion.hpp"
#include "udv/core/random.hpp"

namespace udv {

template <typename Archive>
void fields(Archive& archive, HeldOutErrors& e) {
  archive(e.answer, e.biases, e.mean, e.counted, e.left_out);
}

template <typename Archive>
void fields(Archive& archive, HeldOutEntry& e) {
  archive(e.row, e.col, e.value, e.predicted, e.deviation);
}

}  // namespace udv

namespace udv::jobs {

/// What is done of a completion with folds.
struct FoldState {
  FoldErrors done;
  std::string solve;      ///< state of the solve that was interrupted
  bool in_folds = false;  ///< which is that of the next fold
};

template <typename Archive>
void fields(Archive& archive, FoldState& s) {
  archive(s.done.folds, s.done.ranks, s.done.entries, s.solve, s.in_folds);
}

namespace {

constexpr std::size_t kFoldEntries = 10'000;  // of all folds together
const char* const kKind = "completion with folds";

// A completion with checkpoints, as often as needed.
class FoldedSolve {
 public:
  FoldedSolve(const RecoverHooks& hooks, const Entries& entries, const CompleteOptions& options)
      : hooks_(hooks), entries_(entries), options_(options) {
    if (!hooks.resume.empty()) state_ = state_from_bytes<FoldState>(kKind, hooks.resume);
  }

  CompletionAnswer run() {
    CompletionAnswer answer;
    answer.recovery = solve(entries_, false);
    const StopReason stop = answer.recovery.stop_reason;
    if (stop == StopReason::kInterrupted || stop == StopReason::kTimeLimit) return answer;
    const FoldSplit split(entries_.size(), options_.folds, options_.method.seed);
    for (auto k = static_cast<Index>(state_.done.folds.size()); k < split.folds(); ++k) {
      const StopReason why = add_fold(split, k);
      if (why == StopReason::kInterrupted) answer.recovery.stop_reason = why;
      if (why == StopReason::kInterrupted || why == StopReason::kTimeLimit) return answer;
    }
    answer.folds = std::move(state_.done);
    return answer;
  }

 private:
  Recovery solve(const Entries& entries, bool in_folds) {
    RecoverHooks hooks;
    hooks.observer = hooks_.observer;
    hooks.save_every_seconds = hooks_.save_every_seconds;
    if (!in_folds) hooks.earlier = hooks_.earlier;
    if (state_.in_folds == in_folds) hooks.resume = std::exchange(state_.solve, "");
    if (hooks_.save)
      hooks.save = [this, in_folds](const std::string& bytes) {
        FoldState now = state_;
        now.solve = bytes;
        now.in_folds = in_folds;
        hooks_.save(bytes_of_state(kKind, now));
      };
    return solve_entries(entries, options_, hooks);
  }

  StopReason add_fold(const FoldSplit& split, Index k) {
    const auto [rest, held_out] = split.split(entries_, k);
    const Recovery recovery = solve(rest, true);
    const StopReason stop = recovery.stop_reason;
    if (stop == StopReason::kInterrupted || stop == StopReason::kTimeLimit) return stop;
    std::vector<HeldOutEntry> listed;
    state_.done.folds.push_back(held_out_errors(recovery, rest, held_out, &listed));
    state_.done.ranks.push_back(recovery.rank);
    const std::size_t share = kFoldEntries / static_cast<std::size_t>(split.folds());
    // The entries of a fold are in the order of the file: every n-th of them.
    const std::size_t every = std::max<std::size_t>(1, (listed.size() + share - 1) / share);
    for (std::size_t t = 0; t < listed.size(); t += every) state_.done.entries.push_back(listed[t]);
    return stop;
  }

  const RecoverHooks& hooks_;
  const Entries& entries_;
  const CompleteOptions& options_;
  FoldState state_;
};

}  // namespace

Recovery solve_entries(const Entries& entries, const CompleteOptions& options,
                       const RecoverHooks& hooks) {
  if (options.symmetric != Symmetry::kIndefinite)
    return recover(completion(entries), options.method, hooks);
  RecoverOptions method = options.method;
  method.center = Centering::kNone;
  return unmirrored(symmetrised(recover(completion(mirrored(entries)), method, hooks)), entries);
}

namespace {

// Without weights the pattern and the values are in memory once, lent to the problem.
bool can_be_lent(const Entries& entries, const CompleteOptions& options) {
  return options.symmetric != Symmetry::kIndefinite && entries.weight.empty();
}

template <typename Use>
void with_lent(Entries& entries, const Use& use) {
  const Problem problem = completion(std::move(entries));
  use(problem);
  entries = entries_of(problem);
}

// This process's part of entries that all processes have.
Entries part_of(const Entries& entries) {
  const auto size = static_cast<std::int64_t>(entries.size());
  const auto place = [&](int r) { return size * r / communicator().size(); };
  const auto begin = place(communicator().rank()), end = place(communicator().rank() + 1);
  const auto cut = [&](const auto& values) {
    return std::decay_t<decltype(values)>(values.begin() + begin, values.begin() + end);
  };
  return {entries.rows,     entries.cols,     entries.symmetric,
          cut(entries.row), cut(entries.col), cut(entries.value)};
}

void count_lines(const Problem& problem, CompleteTask& task) {
  const Entries own = entries_of(problem);
  const auto count = [](const std::vector<std::int32_t>& lines, Index size) {
    std::vector<Index> counts(static_cast<std::size_t>(size), 0);
    for (const std::int32_t line : lines) ++counts[static_cast<std::size_t>(line)];
    communicator().sum(counts.data(), size);
    return counts;
  };
  task.row_entries = count(own.row, own.rows);
  task.col_entries = count(own.col, own.cols);
}

// Each process keeps the entries of its own rows and columns while they are lent. Rank 0 gets all
// of them back where they are needed.
Recovery solve_spread(CompleteTask& task, const CompleteOptions& options,
                      const RecoverHooks& hooks) {
  Entries& entries = task.data.entries;
  const Problem problem = spread_completion(entries);
  entries = {entries.rows, entries.cols, entries.symmetric, {}, {}, {}};
  Recovery recovery = recover(problem, options.method, hooks);
  if (task.needs_entries() || !recovery.outliers.empty())
    entries = entries_at_root(problem);
  else
    count_lines(problem, task);
  return recovery;
}

Recovery solve_lent(CompleteTask& task, const CompleteOptions& options, const RecoverHooks& hooks) {
  Entries& entries = task.data.entries;
  if (task.spread) return solve_spread(task, options, hooks);
  if (!can_be_lent(entries, options)) return solve_entries(entries, options, hooks);
  if (entries_shared_out(task, options) > 0) {
    entries = part_of(entries);
    return solve_spread(task, options, hooks);
  }
  Recovery recovery;
  with_lent(entries,
            [&](const Problem& problem) { recovery = recover(problem, options.method, hooks); });
  return recovery;
}

}  // namespace

Index entries_shared_out(const CompleteTask& task, const CompleteOptions& options) {
  const Entries& entries = task.data.entries;
  Index total = entries.size();
  if (task.spread) {
    communicator().sum(&total, 1);
    return total;
  }
  const bool lent = options.folds == 0 && can_be_lent(entries, options);
  return lent && can_be_spread(total, entries.symmetric, false, options.method) ? total : 0;
}

void check_entries(Entries& entries, const CompleteOptions& options, bool spread) {
  if (spread) return check_problem(spread_completion(entries), options.method);
  if (can_be_lent(entries, options))
    return with_lent(entries,
                     [&](const Problem& problem) { check_problem(problem, options.method); });
  const bool indefinite = options.symmetric == Symmetry::kIndefinite;
  RecoverOptions method = options.method;
  if (indefinite) method.center = Centering::kNone;
  check_problem(completion(indefinite ? mirrored(entries) : entries), method);
}

CompletionAnswer solve_completion(Run& run, CompleteTask& task, const CompleteOptions& options) {
  RecoverHooks hooks;
  static_cast<Hooks&>(hooks) = run.hooks(solve_total(options.method, run.session()));
  hooks.earlier = task.earlier;
  return run.compute(hooks, [&] {
    if (options.folds > 0) return FoldedSolve(hooks, task.data.entries, options).run();
    return CompletionAnswer{solve_lent(task, options, hooks), std::nullopt};
  });
}

}  // namespace udv::jobs
