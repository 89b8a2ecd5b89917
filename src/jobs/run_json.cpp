// SPDX-License-Identifier: MIT
#include "jobs/run_json.hpp"

#include "udv/core/version.hpp"

namespace udv::jobs {

void write_run_json(RunFolder& folder, const io::RunInfo& info, const Json& results) {
  Json run = {{"udv", version()},
              {"format", kRunFormat},
              {"command", info.command},
              {"config", io::detail::config_json(info.config)},
              {"seed", info.seed}};
  run.update(results);
  run["warnings"] = info.warnings;
  if (info.relative_error) run["relative_error"] = number(*info.relative_error);
  io::detail::add_figures(info, run);
  run["files"] = folder.files();
  folder.finish(io::detail::json_text(run));
}

}  // namespace udv::jobs
