// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/jobs/run_folder.hpp"
#include "udv/net/dataset.hpp"
#include "udv/net/network.hpp"

namespace udv::jobs {

/// A CSV file in the folder of a run whose lines begin with the epoch; written again, atomically,
/// after every epoch.
class EpochTable {
 public:
  /// The folder has to outlive the table. `resume` keeps the lines of an earlier part of the run.
  EpochTable(RunFolder& folder, std::string name, std::string header, bool resume);

  /// Replaces the lines of this epoch and of later ones.
  void add(Index epoch, const std::string& lines);

 private:
  struct Entry {
    Index epoch;
    std::string lines;
  };
  RunFolder* folder_;
  std::string name_, header_;
  std::vector<Entry> entries_;
};

/// "epoch,index,sigma" for each singular value of UD.
std::string spectrum_lines(Index epoch, const Vector<double>& spectrum);
/// "epoch,neurons,loss,accuracy" for each number of neurons kept by the SVD, 1 to all.
std::string curve_lines(Index epoch, const net::Network<float>& head,
                        const net::Dataset<float>& data);

}  // namespace udv::jobs
