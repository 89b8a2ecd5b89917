// SPDX-License-Identifier: MIT
#include "cli/commands.hpp"
#include "cli/recovery_summary.hpp"
#include "udv/jobs/ptychography.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

SummaryLines summary_of(const jobs::PtychographyJobResult& result) {
  SummaryLines lines;
  if (!result.winner.empty()) lines.emplace_back("start that won", result.winner);
  if (result.dark_gain != 1)
    lines.emplace_back("dark-field gain", report::number(result.dark_gain));
  if (result.tiles > 0) lines.emplace_back("tiles", report::number(double(result.tiles)));
  lines.emplace_back("amplitude residual", report::number(result.amplitude_residual));
  if (result.held_out_residual)
    lines.emplace_back("held-out residual", report::number(*result.held_out_residual));
  lines.emplace_back("vortices of the phase", report::number(static_cast<double>(result.vortices)));
  lines.emplace_back("bowl of the phase", report::number(result.phase_bowl) + " rad");
  return lines;
}

ExitCode show_guess(const jobs::PtychographyInput& input, Terminal& terminal) {
  const jobs::SetupGuess guess = jobs::guess_setup(input, terminal.session());
  const auto joined = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
    return text.empty() ? "nothing" : text;
  };
  print_fact("setup", guess.path);
  print_fact("found", joined(guess.found));
  print_fact("missing", joined(guess.missing));
  return ExitCode::kDone;
}

ExitCode run_ptycho(const jobs::PtychographyInput& input,
                    const jobs::PtychographyJobOptions& options, Terminal& terminal) {
  if (input.guess) return show_guess(input, terminal);
  const auto result = jobs::ptychography(input, options, terminal.session());
  return show_recovery<std::complex<float>>(terminal, result, summary_of(result));
}

}  // namespace

Command ptycho_command() {
  return job_command("ptycho", "Recover a complex image from Fourier ptychographic intensities",
                     run_ptycho);
}

}  // namespace udv::cli
