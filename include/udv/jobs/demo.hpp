// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/solver/options.hpp"

namespace udv::jobs {

/// The demo needs no input and has no settings.
struct DemoInput {};
struct DemoOptions {};
UDV_EXPORT void describe(OptionTable& table, DemoInput& input);
UDV_EXPORT void describe(OptionTable& table, DemoOptions& options);

/// One method on the demo's problem.
struct DemoRun {
  std::string name;   ///< of its folder
  std::string label;  ///< for people
  RecoverOptions options;
  Recovery recovery;
  double relative_error = 0;
};

struct DemoResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< with one run for each method
  std::vector<DemoRun> runs;
};

/// The problem of the demo: the paper's completion problem, by seed.
UDV_EXPORT PlantedOptions demo_problem(std::uint64_t seed);

/// The paper's completion problem: bm against udu with the paper's settings, and the auto mode.
/// `started` is called once with the problem, when the folder of the results is there.
UDV_EXPORT DemoResult demo(const DemoInput& input, const DemoOptions& options, Session& session,
                           const std::function<void(const PlantedOptions&)>& started = {});

}  // namespace udv::jobs
