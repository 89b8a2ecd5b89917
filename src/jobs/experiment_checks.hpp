// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "io/json_file.hpp"
#include "udv/jobs/experiment.hpp"

namespace udv::jobs {

/// The value of a measure in one run.json; NaN where it has no such figure.
double measure_in(const io::detail::OrderedJson& run, const Measure& measure);

/// Four digits; "nothing" for NaN.
std::string figure_text(double value);

/// Applies the checks to the runs in `folder`/NAME. Throws IoError where a run is damaged.
ExperimentOutcome evaluate(const Experiment& experiment, const std::filesystem::path& folder);

}  // namespace udv::jobs
