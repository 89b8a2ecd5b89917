// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/experiment.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// Which experiments: names of built-in ones, "all", or TOML files (experiments/README.md).
struct ReproduceInput {
  std::vector<std::string> names;
};
UDV_EXPORT void describe(OptionTable& table, ReproduceInput& input);

/// An experiment after its runs.
struct Reproduced {
  Experiment experiment;
  ExperimentOutcome outcome;
  std::filesystem::path folder;  ///< holds the folders of its runs
  double seconds = 0;            ///< that passed
};

/// Settings of `reproduce`.
struct ReproduceOptions {
  bool quick = false;  ///< smaller sizes
  bool fresh = false;  ///< run again what is finished
  std::string data;    ///< folder of the data sets; empty: the environment variable UDV_DATA
  /// The program that runs the commands. Empty: this program where it is udv, else `udv` on PATH.
  std::filesystem::path program;
  /// "I/N": only the I-th of N parts of the experiments that were named. All parts share one
  /// folder; each checks at its end what is there of all of them.
  std::string part = {};
  std::function<void(const Reproduced&)> finished;  ///< called after each experiment of this part
  /// Writes a page about the result, which goes with claims.md; empty: none.
  std::function<void(const std::filesystem::path&, const struct ReproduceResult&)> page;
};
UDV_EXPORT void describe(OptionTable& table, ReproduceOptions& options);

struct UDV_EXPORT ReproduceResult {
  Outcome outcome = Outcome::kDone;  ///< kLimited where a run failed
  std::filesystem::path folder;
  bool quick = false;
  std::vector<Reproduced> experiments;  ///< of all parts

  Index count(ClaimStatus status) const;
};

/// Runs the experiments that have no results in the folder of the session yet, each command in a
/// process of its own, checks the claims and writes claims.md. An interrupt is passed on to the
/// processes, which leave checkpoints; the next call resumes from them. Throws OptionError for an
/// unknown name or a folder with files of others, IoError naming file and line of a damaged TOML
/// file, or the folder of an experiment that another process runs.
UDV_EXPORT ReproduceResult reproduce(const ReproduceInput& input, const ReproduceOptions& options,
                                     Session& session);

/// All built-in experiments: figures by number first.
UDV_EXPORT std::vector<Experiment> built_in_experiments(const ReproduceOptions& options);

}  // namespace udv::jobs
