// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/net/metrics.hpp"

namespace udv::cli {

/// Prints the errors of a test part in the user's units, or accuracy, per-class figures and
/// confusions, beside what needs no network where `baseline` is given.
void print_metrics(const net::Metrics& metrics, const net::Baseline* baseline,
                   const std::vector<std::string>& class_names);

}  // namespace udv::cli
