// SPDX-License-Identifier: MIT
#include "udv/jobs/model_input.hpp"

#include "core/require.hpp"
#include "jobs/run_files.hpp"

namespace udv::jobs {

namespace fs = std::filesystem;

void describe(OptionTable& table, ModelInput& input) {
  table.add("model", input.model, "model.safetensors, or the folder of a run")
      .is_input()
      .called("MODEL");
  table.add("data", input.data, "Data of the same kind as those that the model was trained on")
      .is_input()
      .called("DATA");
  table.add("targets", input.targets, "File with the targets of a .npy or IDX file").called("FILE");
}

void require_other_folder(const Session& session, const std::string& model) {
  if (!session.has_folder()) return;
  const fs::path out = session.options().out, file = model_path(model);
  const fs::path home = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::error_code unknown;  // where a folder is not there, nothing is replaced
  const bool replaced = fs::exists(home / kRunFile, unknown) && fs::equivalent(out, home, unknown);
  require<IoError>(!replaced, out.string(),
                   ": the run that the model belongs to found, another folder for the results "
                   "expected");
}

}  // namespace udv::jobs
