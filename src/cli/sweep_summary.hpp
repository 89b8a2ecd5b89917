// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/net/sweep.hpp"

namespace udv::cli {

/// One table per optimizer and weight decay: variants down, learning rates across, mean +- standard
/// deviation over seeds and splits. The best rate of a variant is bold (on a terminal) or marked by
/// *; the paper's figures stand below ours where the data set is one of its own.
std::string sweep_summary(const std::vector<net::SweepRow>& rows, const std::string& dataset,
                          bool terminal);

}  // namespace udv::cli
