// SPDX-License-Identifier: MIT
#include "cli/recovery_summary.hpp"

#include <fmt/format.h>

#include <complex>

#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

void print_row(const std::string& name, const std::string& value) {
  fmt::print("  {:<18} {}\n", name, value);
}

void print_summary(const RecoveryFacts& r) {
  print_row("matrix", fmt::format("{} x {}, {} measurements", r.rows, r.cols, r.measurements));
  print_row("method", r.method + (r.by_rank_walk ? ", polished" : ""));
  const bool lost = r.rank == 0 && !r.by_rank_walk;
  print_row("rank", fmt::format("{}{}", r.rank,
                                lost ? "  (all columns were lost: is the step too large?)" : ""));
  if (r.center != Centering::kNone)
    print_row("offsets",
              fmt::format("{}, mean {}", to_string(r.center), report::number(r.biases.global)));
  print_row("spectrum", report::spectrum_text(r.spectrum));
  print_row("relative residual", report::number(r.relative_residual));
  if (r.noise_sigma > 0) print_row("noise", report::number(r.noise_sigma) + " per measurement");
  if (r.holdout_rmse) print_row("held-out rmse", report::number(*r.holdout_rmse));
  if (r.test_rmse) print_row("test rmse", report::number(*r.test_rmse));
  print_row("verdict", r.verdict());
  print_row("time", fmt::format("{}, {} iterations", report::duration(r.seconds), r.iterations));
}

}  // namespace

template <typename Scalar>
ExitCode show_recovery(Terminal& terminal, const jobs::RecoveryResult<Scalar>& result,
                       const SummaryLines& more) {
  if (result.outcome == jobs::Outcome::kInterrupted)
    return terminal.exit_code(result.outcome, result.resumable ? result.folder : "");
  terminal.leave_report(result.folder);
  if (!terminal.quiet()) {
    print_summary(result.recovery);
    for (const auto& [name, value] : more) print_row(name, value);
    if (result.relative_error) print_row("relative error", report::number(*result.relative_error));
    print_row("results", result.folder.string());
  }
  return terminal.exit_code(result.outcome, result.folder);
}

template ExitCode show_recovery(Terminal&, const jobs::RecoveryResult<double>&,
                                const SummaryLines&);
template ExitCode show_recovery(Terminal&, const jobs::RecoveryResult<std::complex<double>>&,
                                const SummaryLines&);
template ExitCode show_recovery(Terminal&, const jobs::RecoveryResult<std::complex<float>>&,
                                const SummaryLines&);

}  // namespace udv::cli
