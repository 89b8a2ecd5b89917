// SPDX-License-Identifier: MIT
#pragma once

#include "udv/jobs/ptychography.hpp"

namespace udv::jobs {

/// Settings of recover_image() for those of a job.
PtychographyOptions image_options(const PtychographyJobOptions& options);

/// The job where the field is cut into tiles; `geometry` goes in front of its states, see
/// with_geometry().
PtychographyJobResult recover_in_tiles(const PtychographyInput& input, PtychographyField field,
                                       const PtychographyJobOptions& options, Session& session,
                                       std::string geometry);

}  // namespace udv::jobs
