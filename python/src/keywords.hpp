// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "udv/core/options.hpp"
#include "udv/jobs/session.hpp"

namespace udv::python {

namespace py = pybind11;

/// "max-rank" as a keyword of Python: "max_rank". A word that Python keeps for itself gets an
/// underscore behind it: "from_".
std::string keyword_of(const std::string& option);

/// Sets options of the tables from keywords; None leaves an option as it is. Throws TypeError
/// naming an unknown keyword and the nearest known one, or a value of a wrong type; OptionError
/// for a value that makes no sense.
void set_options(const std::string& function, const std::vector<OptionTable*>& tables,
                 const py::dict& keywords);

/// The options of a job, of its run and of its input, from one set of keywords. Tables are built
/// only where there is something to set.
template <typename Options, typename... Input>
Options options_from(const std::string& function, const py::dict& keywords, jobs::RunOptions& run,
                     Input&... input) {
  Options options;
  if (keywords.empty()) return options;
  OptionTable table, run_table;
  (describe(table, input), ...);
  describe(table, options);
  jobs::describe(run_table, run);
  set_options(function, {&table, &run_table}, keywords);
  return options;
}

}  // namespace udv::python
