// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/require.hpp"
#include "udv/core/types.hpp"

namespace udv::testing {

/// tests/data/<name>
inline std::filesystem::path data_folder(const std::string& name) {
  return std::filesystem::path(__FILE__).parent_path().parent_path() / "data" / name;
}

/// The numbers below the header line of a golden file.
inline RowMatrix<double> read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  require<IoError>(file.good(), path.string(), ": cannot be read");
  std::vector<std::vector<double>> rows;
  std::string line, cell;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    rows.emplace_back();
    while (std::getline(cells, cell, ',')) rows.back().push_back(std::stod(cell));
  }
  RowMatrix<double> values(static_cast<Index>(rows.size()), static_cast<Index>(rows.at(0).size()));
  for (Index i = 0; i < values.rows(); ++i)
    for (Index j = 0; j < values.cols(); ++j)
      values(i, j) = rows[static_cast<size_t>(i)].at(static_cast<size_t>(j));
  return values;
}

}  // namespace udv::testing
