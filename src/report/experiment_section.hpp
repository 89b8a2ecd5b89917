// SPDX-License-Identifier: MIT
#pragma once

#include "blocks.hpp"
#include "udv/jobs/reproduce.hpp"

namespace udv::report {

/// The section of a page: claim, checks, and charts where the runs are there.
Json experiment_section(const jobs::Reproduced& reproduced);

}  // namespace udv::report
