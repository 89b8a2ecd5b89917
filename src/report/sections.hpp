// SPDX-License-Identifier: MIT
#pragma once

#include "charts.hpp"

namespace udv::report {

/// All that one run has to show.
Json run_section(const RunView& run, bool open, const Detail& detail);

/// Runs beside each other: a table of all, their objectives and spectra.
Json overview_section(const std::vector<RunView>& runs, const Detail& detail);

/// So much of each run that a page of `runs` of them stays small.
Detail detail_for(std::size_t runs);

}  // namespace udv::report
