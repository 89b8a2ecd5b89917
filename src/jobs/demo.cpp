// SPDX-License-Identifier: MIT
#include "udv/jobs/demo.hpp"

#include "jobs/recovery.hpp"
#include "jobs/run_files.hpp"

namespace udv::jobs {
namespace {

constexpr Index kGradientSteps = 50'000;

// The paper's algorithm: constant step, unit data, |U_0| = 0.01, no walk in the rank.
RecoverOptions paper_options(const char* method, std::uint64_t seed) {
  RecoverOptions options;
  options.method = method;
  options.step = 0.1;
  options.alpha = 1;
  options.scale_rule = ScaleRule::kUnit;
  options.rank_walk = false;
  options.max_iterations = kGradientSteps;
  options.seed = seed;
  return options;
}

std::vector<DemoRun> methods(std::uint64_t seed) {
  RecoverOptions automatic;
  automatic.seed = seed;
  return {{"bm", "bm    U Uᵀ", paper_options("bm", seed), {}},
          {"udu", "udu   U D Uᵀ", paper_options("udu", seed), {}},
          {"auto", "udu   auto mode", automatic, {}}};
}

// False where it was interrupted.
bool run_method(const Planted& planted, DemoRun& one, Session& session,
                const std::function<void()>& started) {
  OptionTable table;
  describe(table, one.options);
  // A demonstration that is resumed solves again what it has finished: it takes a moment.
  Run run(session, "demo", table.config(), table.fingerprint(), one.name, kRunFile);
  started();
  one.recovery = solve(run, completion(planted.entries), one.options);
  if (one.recovery.stop_reason == StopReason::kInterrupted) return false;
  one.relative_error = planted.relative_error(one.recovery.U, one.recovery.d, one.recovery.U);
  run.info().relative_error = one.relative_error;
  one.recovery = finish(run, std::move(one.recovery)).recovery;
  return true;
}

// The page of an earlier demonstration stands beside its runs.
void check_place(const std::vector<DemoRun>& runs, const Session& session) {
  if (!session.has_folder()) return;
  std::vector<std::string> names;
  for (const DemoRun& one : runs) names.push_back(one.name);
  check_folder_of_runs(session.options().out, session.folder_rules(), names, {"report.html"});
}

}  // namespace

void describe(OptionTable&, DemoInput&) {}
void describe(OptionTable&, DemoOptions&) {}

PlantedOptions demo_problem(std::uint64_t seed) {
  PlantedOptions problem;
  problem.seed = seed;
  return problem;
}

DemoResult demo(const DemoInput&, const DemoOptions&, Session& session,
                const std::function<void(const PlantedOptions&)>& started) {
  DemoResult result;
  result.folder = session.options().out;
  result.runs = methods(session.seed());
  check_place(result.runs, session);
  const PlantedOptions problem = demo_problem(session.seed());
  const Planted planted = planted_completion(problem);
  for (DemoRun& one : result.runs)
    if (!run_method(planted, one, session, [&] {
          if (started && &one == &result.runs.front()) started(problem);
        })) {
      result.outcome = Outcome::kInterrupted;
      break;
    }
  return result;
}

}  // namespace udv::jobs
