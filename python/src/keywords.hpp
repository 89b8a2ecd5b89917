// SPDX-License-Identifier: MIT
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "udv/core/options.hpp"
#include "udv/jobs/session.hpp"

namespace udv::python {

namespace py = pybind11;

/// "max-rank" as a keyword of Python: "max_rank". A word that Python keeps for itself gets an
/// underscore behind it: "from_".
std::string keyword_of(const std::string& option);

/// What keywords settle: each option with its value as text.
using Settings = std::vector<std::pair<Option*, std::string>>;

/// Reads keywords; None leaves an option as it is. Throws TypeError naming an unknown keyword and
/// the nearest known one, or a value of a wrong type.
Settings settings_of(const std::string& function, const std::vector<OptionTable*>& tables,
                     const py::dict& keywords);

/// Options and their tables, which take longer to build than to fill in: made once for each thread.
template <typename Options, typename... Input>
struct Form {
  std::tuple<Options, jobs::RunOptions, Input...> values;
  OptionTable table, run_table;

  Form() {
    (describe(table, std::get<Input>(values)), ...);
    describe(table, std::get<Options>(values));
    jobs::describe(run_table, std::get<jobs::RunOptions>(values));
  }
};

/// The options of a job, of its run and of its input, from one set of keywords. Throws OptionError
/// for a value that makes no sense.
template <typename Options, typename... Input>
Options options_from(const std::string& function, const py::dict& keywords, jobs::RunOptions& run,
                     Input&... input) {
  if (keywords.empty()) return {};
  thread_local Form<Options, Input...> form;
  // Reading a keyword may run Python code that comes back here: the form is filled in afterwards.
  const Settings settings = settings_of(function, {&form.table, &form.run_table}, keywords);
  form.values = std::make_tuple(Options(), run, input...);
  for (const auto& [option, text] : settings) option->set(text);
  std::tie(run, input...) =
      std::tie(std::get<jobs::RunOptions>(form.values), std::get<Input>(form.values)...);
  return std::get<Options>(form.values);
}

}  // namespace udv::python
