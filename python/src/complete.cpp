// SPDX-License-Identifier: MIT
#include "udv/jobs/complete.hpp"

#include <pybind11/stl.h>

#include "answer.hpp"
#include "arrays.hpp"
#include "keywords.hpp"
#include "running.hpp"

namespace udv::python {
namespace {

using Pairs = std::vector<std::pair<Index, Index>>;

// What concerns data in memory is an invalid argument, not a file.
template <typename Job>
auto with_argument_errors(const Job& job) {
  try {
    return job();
  } catch (const IoError& error) {
    const std::string text = error.what(), prefix = "entries: ";
    if (text.starts_with(prefix)) throw InvalidArgument("X: " + text.substr(prefix.size()));
    throw;
  }
}

py::tuple complete_entries(const std::shared_ptr<Entries>& entries,
                           const std::shared_ptr<Entries>& test,
                           const std::vector<std::string>& row_keys,
                           const std::vector<std::string>& col_keys, const py::dict& keywords,
                           const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<jobs::CompleteOptions>("complete", keywords, run);
  jobs::CompleteData data;
  data.entries = *entries;
  if (test) data.test = *test;
  if (!row_keys.empty()) data.row_keys = io::Keys(row_keys);
  if (!col_keys.empty()) data.col_keys = io::Keys(col_keys);
  data.form.is_table = true;
  data.form.has_header = !col_keys.empty();
  data.form.has_labels = !row_keys.empty();
  PythonListener listener(watcher);
  jobs::RecoveryResult<double> result = run_job(run, listener, [&](jobs::Session& session) {
    return with_argument_errors(
        [&]() -> jobs::RecoveryResult<double> { return jobs::complete(data, options, session); });
  });
  return py::make_tuple(answer_of(std::move(result), entries), listener.warnings(),
                        listener.notices());
}

py::tuple complete_file(const std::string& file, const std::string& test, const py::dict& keywords,
                        const py::object& watcher) {
  jobs::RunOptions run;
  jobs::CompleteInput input;
  const auto options = options_from<jobs::CompleteOptions>("complete", keywords, run, input);
  input.file = file;
  input.test = test;
  PythonListener listener(watcher);
  jobs::RecoveryResult<double> result =
      run_job(run, listener, [&](jobs::Session& session) -> jobs::RecoveryResult<double> {
        return jobs::complete(input, options, session);
      });
  return py::make_tuple(answer_of(std::move(result)), listener.warnings(), listener.notices());
}

}  // namespace

void bind_complete(py::module_& m) {
  m.def("complete", complete_entries);
  m.def("complete_file", complete_file);
}

}  // namespace udv::python
