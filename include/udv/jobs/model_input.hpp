// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// A trained model and data to apply it to.
struct ModelInput {
  std::string model;    ///< model.safetensors, or the folder of a run
  std::string data;     ///< of the kind that the model was trained on
  std::string targets;  ///< file with the targets of a .npy or IDX file; may be empty
};
UDV_EXPORT void describe(OptionTable& table, ModelInput& input);

/// Throws IoError where the results would replace the run that the model is part of.
UDV_EXPORT void require_other_folder(const Session& session, const std::string& model);

}  // namespace udv::jobs
