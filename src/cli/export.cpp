// SPDX-License-Identifier: MIT
#include "udv/jobs/export.hpp"

#include "cli/commands.hpp"
#include "cli/deep_program.hpp"
#ifdef UDV_WITH_DEEP
#include "udv/deep/export_script.hpp"
#endif

namespace udv::cli {
namespace {

#ifdef UDV_WITH_DEEP
jobs::ScriptWriter script_writer() {
  return deep::write_script;
}
#else
jobs::ScriptWriter script_writer() {
  continue_as_deep_program();
  return nullptr;
}
#endif

ExitCode run_export(const jobs::ExportInput& input, const jobs::ExportOptions& options,
                    Terminal& terminal) {
  const jobs::ScriptWriter writer =
      options.format == "torchscript" ? script_writer() : jobs::ScriptWriter();
  const jobs::ExportResult result = jobs::export_model(input, options, terminal.session(), writer);
  if (!terminal.quiet()) print_fact("results", result.folder.string());
  return terminal.exit_code(result.outcome, result.folder);
}

}  // namespace

Command export_command() {
  return job_command("export", "Write a trained network for other programs", run_export);
}

}  // namespace udv::cli
