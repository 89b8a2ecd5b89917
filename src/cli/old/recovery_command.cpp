// SPDX-License-Identifier: MIT
#include "cli/recovery_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <ctime>

#include "cli/interrupt.hpp"
#include "cli/live.hpp"
#include "core/instantiate.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

constexpr size_t kNamesShown = 10;
constexpr size_t kBlocksShown = 5;

std::string join(const std::vector<Index>& indices, int base) {
  std::string text;
  for (size_t i = 0; i < std::min(indices.size(), kNamesShown); ++i)
    text += fmt::format("{}{}", i ? ", " : "", indices[i] + base);
  if (indices.size() > kNamesShown)
    text += fmt::format(", ... ({} in all, listed in run.json)", indices.size());
  return text;
}

// What the data leave open, by name: one line per kind.
std::vector<std::string> describe(const Undetermined& open, Index rank, int base) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const char* kind, const std::vector<Index>& which) {
    if (!which.empty()) lines.push_back(fmt::format("{} {} {}", kind, join(which, base), what));
  };
  add("have no entries: nothing is predicted there", "rows", open.empty_rows);
  add("have no entries: nothing is predicted there", "columns", open.empty_cols);
  const std::string few =
      fmt::format("have too few useful entries for rank {}: not determined by the data", rank);
  add(few.c_str(), "rows", open.rows);
  add(few.c_str(), "columns", open.cols);
  for (size_t i = 0; i < std::min(open.blocks.size(), kBlocksShown); ++i) {
    const auto& [rows, cols] = open.blocks[i];
    std::string block = rows.empty() ? "" : "rows " + join(rows, base);
    if (!cols.empty()) block += (block.empty() ? "columns " : ", columns ") + join(cols, base);
    lines.push_back(fmt::format(
        "a separate block ({}): entries between it and the rest are not determined", block));
  }
  if (open.blocks.size() > kBlocksShown)
    lines.push_back(fmt::format("{} more separate blocks, listed in run.json",
                                open.blocks.size() - kBlocksShown));
  return lines;
}

template <typename Scalar>
ExitCode exit_code(const BasicRecovery<Scalar>& recovery) {
  if (recovery.stop_reason == StopReason::kInterrupted) return kInterrupted;
  const bool limited = recovery.stop_reason == StopReason::kTimeLimit ||
                       (recovery.stop_reason == StopReason::kIterationLimit && !recovery.converged);
  return limited || recovery.stop_reason == StopReason::kDiverged ? kNotConverged : kDone;
}

template <typename Scalar>
void print_summary(const BasicRecovery<Scalar>& r,
                   const std::vector<std::pair<std::string, std::string>>& more,
                   const std::filesystem::path& folder) {
  std::string text;
  const auto row = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<18} {}\n", name, value);
  };
  row("matrix", fmt::format("{} x {}, {} measurements", r.rows, r.cols, r.measurements));
  row("method", r.method + (r.polished ? ", polished" : ""));
  const char* const nothing =
      r.polished ? "  (nothing but noise)" : "  (all columns were lost: is the step too large?)";
  row("rank", fmt::format("{}{}", r.rank, r.rank == 0 ? nothing : ""));
  row("spectrum", report::spectrum_text(r.spectrum));
  row("relative residual", report::number(r.relative_residual));
  if (r.noise_sigma > 0) row("noise", report::number(r.noise_sigma) + " per measurement");
  if (r.holdout_rmse) row("held-out rmse", report::number(*r.holdout_rmse));
  if (r.test_rmse) row("test rmse", report::number(*r.test_rmse));
  row("certificate", std::string(to_string(r.certificate.verdict)));
  row("stopped", fmt::format("{}, {} iterations, {}", to_string(r.stop_reason), r.iterations,
                             report::duration(r.seconds)));
  for (const auto& [name, value] : more) row(name.c_str(), value);
  row("results", folder.string());
  fmt::print("{}", text);
}

template <typename Scalar>
std::optional<SolveState<Scalar>> load_checkpoint(const std::filesystem::path& path,
                                                       bool wanted) {
  if (!wanted || !std::filesystem::exists(path)) return std::nullopt;
  try {
    return checkpoint_from_bytes<Scalar>(io::read_bytes(path));
  } catch (const InvalidArgument& error) {
    throw IoError(message(path.string(), ": ", error.what()));
  }
}

// Files of another run in this folder that the new one may not replace; run.json first.
void forget_earlier_run(const std::filesystem::path& folder) {
  for (const char* name :
       {"run.json", "V.npy", "columns.npz", "predictions.csv", "center.npz", "x.npy", "pupil.npy",
        "windows.npy", "amplitude.png", "phase.png", "picture.png", "truth.png"})
    remove_file(folder / name);
}

void check_method(const RecoverOptions& options, bool symmetric) {
  if (options.method == "auto" || method_named(options.method).symmetric == symmetric) return;
  throw CLI::ValidationError(
      "--method", fmt::format("method {} is for {} problems, this one is {}", options.method,
                              symmetric ? "rectangular" : "symmetric",
                              symmetric ? "symmetric" : "rectangular"));
}

// Fewer equations than unknowns, whatever the operator.
template <typename Scalar>
void add_freedom(const BasicRecovery<Scalar>& recovery, const MeasurementOperator<Scalar>& op,
                 std::vector<std::string>& lines) {
  const double freedom = recovery.rank > 0 ? op.degrees_of_freedom(recovery.rank) : 0;
  if (!recovery.polished || static_cast<double>(recovery.measurements) >= freedom) return;
  lines.push_back(
      fmt::format("{} measurements for {} degrees of freedom of rank {}: X is not "
                  "determined by the data",
                  recovery.measurements, freedom, recovery.rank));
}

}  // namespace

void check_magnitude(const std::string& path, double largest, double limit) {
  require<IoError>(largest > 1 / limit && largest < limit, path, ": the largest magnitude is ",
                   largest, ", between ", 1 / limit, " and ", limit, " expected");
}

void check_finite(const std::string& path, const io::ComplexArray& array) {
  for (size_t i = 0; i < array.values.size(); ++i)
    require<IoError>(std::isfinite(array.values[i].real()) && std::isfinite(array.values[i].imag()),
                     path, ": value ", i, " (in row-major order) is not finite");
}

template <typename Scalar>
ExitCode run_recovery(BasicJob<Scalar> job, const CommonFlags& common, const RecoveryFlags& flags) {
  const RecoverOptions options = flags.options(common.seed);
  set_num_threads(common.threads);
  check_method(options, job.problem.op->symmetric());
  check(job.problem, options);
  const auto folder = make_run_folder(common, job.command);
  const auto checkpoint_path = folder / "checkpoint.bin";
  const auto resumed = load_checkpoint<Scalar>(checkpoint_path, common.resume);
  if (common.resume && !resumed) warn(checkpoint_path.string() + ": not there, starting anew");

  catch_interrupts();
  const ProgressTotal total{options.polish ? 0 : options.max_iterations, common.time_limit};
  ProgressBar progress(total, common.quiet);
  auto live = std::make_unique<LiveFile>(folder, job.command, total);
  BasicHooks<Scalar> hooks;
  std::vector<Observer> observers{progress.observer(), live->observer(), stop_on_interrupt()};
  if (common.time_limit > 0) observers.push_back(time_limit_from_now(common.time_limit));
  hooks.observer = combine(std::move(observers));
  hooks.save = [&](const SolveState<Scalar>& checkpoint) {
    io::write_atomically(checkpoint_path, to_bytes(checkpoint));
  };
  hooks.resume = resumed ? &*resumed : nullptr;
  if (job.prepare) job.prepare(folder, hooks);
  BasicRecovery<Scalar> recovery =
      job.solve ? job.solve(options, hooks) : recover<Scalar>(job.problem, options, hooks);
  progress.clear();
  live.reset();
  forget_earlier_run(folder);

  const ExitCode code = exit_code(recovery);
  if (code == kInterrupted) {
    say_interrupted(std::filesystem::exists(checkpoint_path) ? folder : "");
    return code;
  }
  if (recovery.stop_reason == StopReason::kDiverged)
    warn(folder.string() + ": diverged, a smaller step expected; its factors are of no use");
  auto lines = describe(recovery.undetermined, recovery.rank, job.info.index_base);
  add_freedom(recovery, *job.problem.op, lines);
  for (const auto& line : lines) {
    warn(line);
    job.info.warnings.push_back(line);
  }
  job.info.command = job.command;
  job.info.seed = common.seed;
  flags.describe(job.info.config);
  job.info.config["threads"] = static_cast<std::int64_t>(num_threads());
  if (common.time_limit > 0) job.info.config["time-limit"] = common.time_limit;
  if (job.finish) job.finish(recovery, job, folder);
  io::write_run(folder, recovery, job.info);
  // A run that a time limit cut short can still go on.
  if (recovery.stop_reason != StopReason::kTimeLimit) remove_file(checkpoint_path);
  leave_report(common, job.command, folder);
  if (!common.quiet) print_summary(recovery, job.summary, folder);
  return code;
}

#define UDV_INSTANTIATE(Scalar) \
  template ExitCode run_recovery(BasicJob<Scalar>, const CommonFlags&, const RecoveryFlags&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv::cli
