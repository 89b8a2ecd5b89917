// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/progress.hpp"
#include "cli/recovery_command.hpp"
#include "udv/core/parallel.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

constexpr Index kGradientSteps = 50'000;

struct DemoFlags {
  CommonFlags common;
};

struct Contestant {
  const char* name;  // folder and table
  const char* label;
  RecoverOptions options;
};

// The paper's algorithm: constant step, unit data, |U_0| = 0.01, no polish.
RecoverOptions paper_options(const char* method, std::uint64_t seed) {
  RecoverOptions options;
  options.method = method;
  options.step = 0.1;
  options.alpha = 1;
  options.scale_rule = ScaleRule::kUnit;
  options.polish = false;
  options.max_iterations = kGradientSteps;
  options.seed = seed;
  return options;
}

std::vector<Contestant> contestants(std::uint64_t seed) {
  RecoverOptions automatic;
  automatic.seed = seed;
  return {{"bm", "bm    U Uᵀ", paper_options("bm", seed)},
          {"udu", "udu   U D Uᵀ", paper_options("udu", seed)},
          {"auto", "udu   auto mode", automatic}};
}

std::vector<std::string> table_row(const char* label, const Recovery& r, double error) {
  const double fourth = r.spectrum.size() > 3 ? r.spectrum(3) / r.spectrum(0) : 0;
  return {label,
          std::to_string(r.rank),
          report::number(fourth),
          report::number(error),
          std::to_string(r.iterations),
          fmt::format("{:.3g}", r.seconds)};
}

Recovery solve(const Contestant& contestant, const Planted& planted, const CommonFlags& common) {
  ProgressBar progress({contestant.options.max_iterations}, common.quiet);
  RecoverHooks hooks;
  std::vector<Observer> observers{progress.observer(), [](const IterationRecord&) {
                                    return interrupted() ? Verdict::kInterrupt : Verdict::kContinue;
                                  }};
  if (common.time_limit > 0) observers.push_back(time_limit(common.time_limit));
  hooks.observer = combine(std::move(observers));
  return recover(completion(planted.entries), contestant.options, hooks);
}

ExitCode run_demo(const DemoFlags& flags) {
  set_num_threads(flags.common.threads);
  const auto folder = make_run_folder(flags.common, "demo");
  PlantedOptions problem;
  problem.seed = flags.common.seed;
  const Planted planted = planted_completion(problem);
  catch_interrupts();
  if (!flags.common.quiet)
    fmt::print(
        "A {0} x {0} positive semidefinite matrix of rank {1}, {2} entries known (18 %).\n"
        "Nobody is told the rank; bm and udu start with {0} columns, auto mode with none.\n\n",
        problem.rows, problem.rank, problem.measurements);

  std::vector<std::vector<std::string>> rows;
  std::vector<report::SpectrumLine> spectra;
  for (const Contestant& contestant : contestants(flags.common.seed)) {
    const Recovery recovery = solve(contestant, planted, flags.common);
    if (recovery.stop_reason == StopReason::kInterrupted) return kInterrupted;
    const double error = planted.relative_error(recovery.U, recovery.d, recovery.U);
    rows.push_back(table_row(contestant.label, recovery, error));
    if (!contestant.options.polish) spectra.push_back({contestant.name, recovery.spectrum});
    io::RunInfo info;
    info.command = "demo";
    info.seed = flags.common.seed;
    info.relative_error = error;
    info.config["method"] = std::string(contestant.options.method);
    info.config["polish"] = contestant.options.polish;
    io::write_run(folder / contestant.name, recovery, info);
  }
  leave_report(flags.common, "demo", folder);
  if (!flags.common.quiet) {
    fmt::print(
        "{}\n{}\n",
        report::table({"method", "rank", "σ₄/σ₁", "relative error", "iterations", "seconds"}, rows),
        report::spectrum_sketch(spectra));
    fmt::print("results in {}\n", folder.string());
  }
  return kDone;
}

}  // namespace

Run setup_demo(CLI::App& program) {
  auto flags = std::make_shared<DemoFlags>();
  CLI::App& command = *program.add_subcommand(
      "demo", "The paper's completion problem: bm against udu, no files needed");
  flags->common.add_to(command);
  return [flags] { return run_demo(*flags); };
}

}  // namespace udv::cli
