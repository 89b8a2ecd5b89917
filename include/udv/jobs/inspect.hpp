// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/options.hpp"

namespace udv::jobs {

struct InspectInput {
  std::string file;  ///< or a folder
};
UDV_EXPORT void describe(OptionTable& table, InspectInput& input);

struct InspectOptions {
  bool svd = false;       ///< singular values also where they take time
  double energy = 0.99;   ///< share of the energy that an SVD keeps
  double max_expand = 0;  ///< GiB that a packed file may unpack to; 0: 16, and 1,000-fold
};
UDV_EXPORT void describe(OptionTable& table, InspectOptions& options);

/// What is in a file, in the order in which it is worth telling.
struct UDV_EXPORT InspectReport {
  struct Fact {
    std::string name, value;
  };
  struct Table {
    std::vector<std::string> header;
    std::vector<std::vector<std::string>> rows;  ///< as many cells each as the header
    std::string note;                            ///< what was left out; may be empty
  };
  std::vector<std::variant<Fact, Table>> parts;

  void fact(std::string name, std::string value) {
    parts.emplace_back(Fact{std::move(name), std::move(value)});
  }
  void table(std::vector<std::string> header, std::vector<std::vector<std::string>> rows,
             std::string note = "") {
    parts.emplace_back(Table{std::move(header), std::move(rows), std::move(note)});
  }
};

/// Describes a file that udv reads or writes, or the folder of a run or of a PEFT adapter. Texts of
/// the file come without control characters. Throws IoError naming the file where it is of no known
/// kind or damaged.
UDV_EXPORT InspectReport inspect(const InspectInput& input, const InspectOptions& options);

}  // namespace udv::jobs
