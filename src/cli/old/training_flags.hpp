// SPDX-License-Identifier: MIT
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

#include "udv/io/run_info.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/trainer.hpp"

namespace udv::cli {

/// The words of a list "a,b,c"; empty ones do not count.
std::vector<std::string> words(const std::string& list);

/// Settings in one line, "name value; ...": what fixes the numbers of a run.
std::string settings_text(const std::map<std::string, io::Setting>& config);

/// Flags that say how data are read and cut.
struct DataFlags {
  net::DataOptions options;
  std::string drop, keep;
  std::uint64_t split_seed = 0;

  void add_to(CLI::App& command);
  /// With the lists taken apart. Throws InvalidArgument naming what makes no sense.
  net::DataOptions read() const;
  void describe(std::map<std::string, io::Setting>& config) const;
};

/// Flags that say how a network is trained.
struct TrainFlags {
  net::TrainOptions options;
  std::string hidden = "auto", batch = "32", average_last = "auto";
  bool float64 = false;

  void add_to(CLI::App& command);
  /// Throws CLI::ValidationError naming a flag, InvalidArgument naming a value.
  net::TrainOptions read(std::uint64_t seed) const;
  /// The mean over the last epochs, where nobody said: 20 for values, 3 for classes.
  void set_average(net::Task task, net::TrainOptions& options) const;
  void describe(std::map<std::string, io::Setting>& config) const;
};

}  // namespace udv::cli
