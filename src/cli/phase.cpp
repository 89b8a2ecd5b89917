// SPDX-License-Identifier: MIT
#include "udv/jobs/phase.hpp"

#include "cli/commands.hpp"
#include "cli/recovery_summary.hpp"

namespace udv::cli {
namespace {

template <typename Scalar>
ExitCode show(Terminal& terminal, const jobs::PhaseAnswer<Scalar>& answer) {
  return show_recovery<Scalar>(terminal, answer);
}

ExitCode run_phase(const jobs::PhaseInput& input, const jobs::PhaseJobOptions& options,
                   Terminal& terminal) {
  const jobs::PhaseResult result = jobs::phase(input, options, terminal.session());
  return std::visit([&](const auto& answer) { return show(terminal, answer); }, result);
}

}  // namespace

Command phase_command() {
  return job_command("phase", "Recover x from the intensities |A x|^2, up to a global phase",
                     run_phase);
}

}  // namespace udv::cli
