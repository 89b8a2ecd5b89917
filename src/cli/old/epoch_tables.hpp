// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/net/dataset.hpp"
#include "udv/net/network.hpp"

namespace udv::cli {

/// A CSV file whose lines begin with the epoch; written anew, atomically, after each.
class EpochTable {
 public:
  /// Lines of an earlier part of the same run are taken over where `resume` is set.
  EpochTable(std::filesystem::path path, std::string header, bool resume);

  /// Lines of this epoch; those of it and of later ones that were there go.
  void add(Index epoch, const std::string& lines);

 private:
  struct Entry {
    Index epoch;
    std::string lines;
  };
  std::filesystem::path path_;
  std::string header_;
  std::vector<Entry> entries_;
};

/// "epoch,index,sigma" for each singular value of UD.
std::string spectrum_lines(Index epoch, const Vector<double>& spectrum);
/// "epoch,neurons,loss,accuracy" for each number of neurons kept by the SVD, 1 to all.
std::string curve_lines(Index epoch, const net::Network<float>& head,
                        const net::Dataset<float>& data);

}  // namespace udv::cli
