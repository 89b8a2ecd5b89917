// SPDX-License-Identifier: MIT
#include "jobs/recovery.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "jobs/recovery_files.hpp"

namespace udv::jobs {
namespace {

constexpr size_t kNamesShown = 10;
constexpr size_t kBlocksShown = 5;

using NameOf = std::function<std::string(Index)>;

std::string join(const std::vector<Index>& indices, const NameOf& name) {
  std::string text;
  for (size_t i = 0; i < std::min(indices.size(), kNamesShown); ++i)
    text += (i ? ", " : "") + name(indices[i]);
  if (indices.size() > kNamesShown)
    text += fmt::format(", ... ({} in all, listed in run.json)", indices.size());
  return text;
}

// What the data leave open, by name: one line per kind.
std::vector<std::string> undetermined_lines(const Undetermined& open, Index rank,
                                            const LineNames& names) {
  const NameOf row = [&](Index i) { return names.row_text(i); };
  const NameOf col = [&](Index j) { return names.col_text(j); };
  std::vector<std::string> lines;
  const auto add = [&](const std::string& what, const char* kind, const NameOf& name,
                       const std::vector<Index>& which) {
    if (!which.empty()) lines.push_back(fmt::format("{} {} {}", kind, join(which, name), what));
  };
  add("have no entries that can be used: nothing is predicted there", "rows", row, open.empty_rows);
  add("have no entries that can be used: nothing is predicted there", "columns", col,
      open.empty_cols);
  const std::string few =
      fmt::format("have too few useful entries for rank {}: not determined by the data", rank);
  add(few, "rows", row, open.rows);
  add(few, "columns", col, open.cols);
  for (size_t i = 0; i < std::min(open.blocks.size(), kBlocksShown); ++i) {
    const auto& [rows, cols] = open.blocks[i];
    std::string block = rows.empty() ? "" : "rows " + join(rows, row);
    if (!cols.empty()) block += (block.empty() ? "columns " : ", columns ") + join(cols, col);
    lines.push_back(fmt::format(
        "too few entries join a block ({}) to the rest: entries between them are not determined",
        block));
  }
  if (open.blocks.size() > kBlocksShown)
    lines.push_back(
        fmt::format("{} more such blocks, listed in run.json", open.blocks.size() - kBlocksShown));
  return lines;
}

}  // namespace

void describe_symmetry(OptionTable& table, Symmetry& symmetric) {
  table
      .add(
          "symmetric", symmetric,
          {{"off", Symmetry::kOff}, {"psd", Symmetry::kPsd}, {"indefinite", Symmetry::kIndefinite}},
          "X is symmetric: positive semidefinite (psd, also without a word) or indefinite")
      .when_bare("psd");
}

void check_options(const RecoverOptions& options) {
  try {
    options.validate();
  } catch (const OptionError&) {
    throw;
  } catch (const InvalidArgument& error) {
    throw OptionError("", error.what());
  }
}

void check_for_intensities(const RecoverOptions& options, bool on_a_device) {
  RecoverOptions given = options, usual;
  OptionTable table, defaults;
  describe(table, given);
  describe(defaults, usual);
  if (!on_a_device && options.device != usual.device)
    throw OptionError("device", "has no meaning here: phase retrieval runs on the processor");
  for (const char* const name :
       {"alpha", "scale", "noise", "holdout", "start", "shrinkage", "center", "robust"})
    if (table.find(name)->get() != defaults.find(name)->get())
      throw OptionError(name,
                        "has no meaning here: only without polish or with a step of your own");
}

template <typename Scalar>
void check_problem(const BasicProblem<Scalar>& problem, const RecoverOptions& options) {
  const bool symmetric = problem.op->symmetric();
  if (options.method != "auto" && method_named(options.method).symmetric != symmetric)
    throw OptionError("method", fmt::format("method {} is for {} problems, this one is {}",
                                            options.method, symmetric ? "rectangular" : "symmetric",
                                            symmetric ? "symmetric" : "rectangular"));
  check(problem, options);
}

void check_magnitude(const std::string& path, double largest, double limit) {
  require<IoError>(largest > 1 / limit && largest < limit, path, ": the largest magnitude is ",
                   largest, ", between ", 1 / limit, " and ", limit, " expected");
}

void check_finite(const std::string& path, const io::ComplexArray& array) {
  for (size_t i = 0; i < array.values.size(); ++i)
    require<IoError>(std::isfinite(array.values[i].real()) && std::isfinite(array.values[i].imag()),
                     path, ": value ", i, " (in row-major order) is not finite");
}

ProgressTotal solve_total(const RecoverOptions& options, const Session& session) {
  return {options.rank_walk ? 0 : options.max_iterations, session.options().time_limit};
}

template <typename Scalar>
BasicRecovery<Scalar> solve(Run& run, const BasicProblem<Scalar>& problem,
                            const RecoverOptions& options, BasicHooks<Scalar> more) {
  static_cast<Hooks&>(more) = run.hooks(solve_total(options, run.session()));
  return run.compute(more, [&] { return recover<Scalar>(problem, options, more); });
}

void warn_about(Run& run, const RecoveryFacts& recovery) {
  const io::Keys none;
  warn_about(run, recovery, {none, none, run.info().index_base});
}

void warn_about(Run& run, const RecoveryFacts& recovery, const LineNames& names) {
  if (recovery.stop_reason == StopReason::kInterrupted) return;
  if (recovery.stop_reason == StopReason::kDiverged)
    run.warn((run.has_folder() ? run.path().string() + ": " : "") +
             "diverged, a smaller step expected; its factors are of no use");
  const Determinacy& known = recovery.determinacy;
  const bool open = known.free_directions > 0 || known.another_fits ||
                    (recovery.exact && known.tolerance > 0 && !known.rank_confirmed);
  if (open && recovery.converged) run.warn("the answer " + recovery.verdict());
  for (const std::string& line : undetermined_lines(recovery.undetermined, recovery.rank, names))
    run.warn(line);
  if (recovery.indefinite)
    run.warn(
        "no positive semidefinite matrix fits these data: leave out the option symmetric, or give "
        "it as indefinite");
  if (recovery.rank_cap > 0)
    run.warn(fmt::format("the data ({} measurements) cannot confirm a rank above {}",
                         recovery.measurements, recovery.rank_cap));
}

bool is_written(const Run& run, const RecoveryFacts& recovery) {
  return run.has_folder() && recovery.stop_reason != StopReason::kInterrupted;
}

Outcome outcome_of(const RecoveryFacts& recovery) {
  if (recovery.stop_reason == StopReason::kInterrupted) return Outcome::kInterrupted;
  const bool limited = recovery.stop_reason == StopReason::kTimeLimit ||
                       (recovery.stop_reason == StopReason::kIterationLimit && !recovery.converged);
  return limited || recovery.stop_reason == StopReason::kDiverged ? Outcome::kLimited
                                                                  : Outcome::kDone;
}

template <typename Scalar>
RecoveryResult<Scalar> finish(Run& run, BasicRecovery<Scalar> recovery) {
  if (is_written(run, recovery)) {
    write_recovery(run.folder(), recovery, run.info());
    // A run that a time limit cut short can still be resumed.
    if (recovery.stop_reason != StopReason::kTimeLimit) run.remove_checkpoint();
  }
  RecoveryResult<Scalar> result;
  result.outcome = outcome_of(recovery);
  result.folder = run.path();
  result.resumable = run.has_checkpoint();
  result.relative_error = run.info().relative_error;
  result.warnings = run.info().warnings;
  result.recovery = std::move(recovery);
  return result;
}

#define UDV_INSTANTIATE(Scalar)                                                                  \
  template void check_problem(const BasicProblem<Scalar>&, const RecoverOptions&);               \
  template BasicRecovery<Scalar> solve(Run&, const BasicProblem<Scalar>&, const RecoverOptions&, \
                                       BasicHooks<Scalar>);                                      \
  template RecoveryResult<Scalar> finish(Run&, BasicRecovery<Scalar>);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)
#undef UDV_INSTANTIATE

}  // namespace udv::jobs
