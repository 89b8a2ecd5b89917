// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "udv/core/options.hpp"
#include "udv/jobs/session.hpp"

namespace udv::python {

namespace py = pybind11;

/// "max-rank" as a keyword of Python: "max_rank".
std::string keyword_of(const std::string& option);

/// Sets options of the tables from keywords; None leaves an option as it is. Throws TypeError
/// naming an unknown keyword and the nearest known one, or a value of a wrong type; OptionError
/// for a value that makes no sense.
void set_options(const std::string& function, const std::vector<OptionTable*>& tables,
                 const py::dict& keywords);

/// The options of a job and of its run, from one set of keywords. Tables are built only where
/// there is something to set.
template <typename Options>
Options options_from(const std::string& function, const py::dict& keywords, jobs::RunOptions& run) {
  Options options;
  if (keywords.empty()) return options;
  OptionTable table, run_table;
  describe(table, options);
  jobs::describe(run_table, run);
  set_options(function, {&table, &run_table}, keywords);
  return options;
}

}  // namespace udv::python
