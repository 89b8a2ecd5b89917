// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "io/growing_file.hpp"
#include "jobs/run_json.hpp"
#include "udv/net/sweep.hpp"

namespace udv::jobs {

/// results.csv of a sweep, locked and open for one line after the other.
class SweepResults {
 public:
  /// Throws IoError where another sweep writes to the file or it is none of a sweep.
  explicit SweepResults(const std::filesystem::path& path);

  /// The whole line or nothing. Throws IoError.
  void append(const std::string& line) { file_.append(line); }

 private:
  void cut_torn_line(const std::filesystem::path& path);

  io::detail::GrowingFile file_;
};

/// run.json of a sweep: the summary of each cell under /cells/OPTIMIZER/VARIANT/RATE ("0.001", or
/// "0.001, decay 0.01"), the best learning rate of each under /best/OPTIMIZER/VARIANT, and the
/// paper's figures for `dataset` beside them.
Json sweep_json(const std::vector<net::SweepRow>& rows, const std::string& dataset);

}  // namespace udv::jobs
