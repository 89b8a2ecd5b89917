// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"
#include "udv/jobs/train.hpp"
#include "udv/net/sweep.hpp"

namespace udv::jobs {

/// What a sweep trains: the settings of its TOML file. Variant, optimizer, learning rate, weight
/// decay and seeds come from the grid.
struct UDV_EXPORT SweepSpec {
  std::string
      dataset;       ///< name of a data set of the paper, whose figures stand beside; may be empty
  std::string data;  ///< file or folder that net::DataSource reads
  net::SweepGrid grid = default_grid();
  TrainJobOptions training;

  /// The defaults of udv train, ten seeds, one split.
  static net::SweepGrid default_grid();
};
UDV_EXPORT void describe(OptionTable& table, SweepSpec& spec);

/// Reads a TOML file. Paths in it are relative to it; $UDV_DATA is what the environment says.
/// Throws IoError naming file, line and key.
UDV_EXPORT SweepSpec read_sweep_spec(const std::string& path);

struct SweepInput {
  std::string spec;           ///< TOML file
  std::string keep = "best";  ///< models to write: best (model.safetensors), all (models/KEY), none
  /// "I/N": only the I-th of N parts, in a folder of its own (part-I-of-N) in that of the sweep;
  /// what all parts have finished so far is put together there. Parts may run at the same time.
  std::string part = {};
  /// Folders of the same sweep from elsewhere: their results are put together, nothing is trained.
  std::vector<std::string> merge = {};
};
UDV_EXPORT void describe(OptionTable& table, SweepInput& input);

struct SweepResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;   ///< of the run; empty where nothing was written
  std::filesystem::path results;  ///< results.csv in it
  std::string dataset;
  std::vector<net::SweepRow> rows;  ///< of these settings, also of earlier calls
  Index cells = 0;                  ///< of the grid; rows.size() of them are finished
  Index trained = 0;                ///< of them that were open
  std::filesystem::path model;      ///< of the best run; empty where none was kept
};

/// Trains every cell of the grid that is not in results.csv yet. Interrupted, it resumes with the
/// next call. Throws IoError naming file and place.
UDV_EXPORT SweepResult sweep(const SweepInput& input, Session& session);

/// The same with settings and data in memory: both parts for every split seed of the grid.
template <typename Real>
UDV_EXPORT SweepResult sweep(const SweepSpec& spec, const net::SweepData<Real>& data,
                             Session& session);

/// The rows of a finished or interrupted sweep: its folder, or its results.csv.
UDV_EXPORT SweepResult read_sweep_result(const std::filesystem::path& path);

}  // namespace udv::jobs
