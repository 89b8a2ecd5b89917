// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include <complex>
#include <limits>

#include "answer.hpp"
#include "arrays.hpp"
#include "core/require.hpp"
#include "jobs/recovery_files.hpp"
#include "running.hpp"
#include "udv/io/file.hpp"
#include "udv/io/keys.hpp"
#include "udv/jobs/run_folder.hpp"

namespace udv::python {
namespace {

using Indices = Dense<std::int64_t>;

void check_pairs(const RecoveryFacts& r, const Indices& i, const Indices& j) {
  require(i.size() == j.size(), "j: ", j.size(), " columns found, ", i.size(),
          " expected, one for each row");
  for (py::ssize_t t = 0; t < i.size(); ++t) {
    const std::int64_t row = i.data()[t], col = j.data()[t];
    if (row < 0 || row >= r.rows)
      throw py::index_error(message("i: row ", row, " found, 0 to ", r.rows - 1, " expected"));
    if (col < 0 || col >= r.cols)
      throw py::index_error(message("j: column ", col, " found, 0 to ", r.cols - 1, " expected"));
  }
}

// Values, standard deviations and whether the data determine them; NaN where there are none.
py::tuple predict_entries(Answer<double>& answer, const Indices& i, const Indices& j) {
  const Recovery& r = answer.result.recovery;
  check_pairs(r, i, j);
  const Entries none;
  if (!answer.determined)
    answer.determined = std::make_shared<DeterminedEntries>(r, answer.known ? *answer.known : none);
  const Index n = i.size();
  Vector<double> value(n), deviation(n);
  py::array_t<bool> determined(n);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (Index t = 0; t < n; ++t) {
    const Index row = i.data()[t], col = j.data()[t];
    const bool has_data = answer.determined->has_data(row, col);
    const bool known = answer.determined->determined(row, col);
    value(t) = has_data ? r.predict(row, col) : std::numeric_limits<double>::quiet_NaN();
    determined.mutable_data()[t] = known;
    const double noise = r.exact       ? 0
                         : r.posterior ? r.posterior->deviation(row, col, value(t))
                                       : r.noise_sigma;
    deviation(t) = known ? noise : kInfinity;
  }
  return py::make_tuple(to_array(std::move(value)), to_array(std::move(deviation)), determined);
}

template <typename Scalar>
py::array_t<Scalar> predict_values(Answer<Scalar>& answer, const Indices& i, const Indices& j) {
  const BasicRecovery<Scalar>& r = answer.result.recovery;
  check_pairs(r, i, j);
  Vector<Scalar> values(i.size());
  for (Index t = 0; t < i.size(); ++t) values(t) = r.predict(i.data()[t], j.data()[t]);
  return to_array(std::move(values));
}

template <typename Scalar>
void save(const Answer<Scalar>& answer, const std::string& folder, const std::string& command,
          const std::vector<std::string>& rows, const std::vector<std::string>& cols) {
  io::RunInfo info;
  info.command = command;
  info.relative_error = answer.result.relative_error;
  info.warnings = answer.result.warnings;
  const py::gil_scoped_release free;
  jobs::RunFolder run(folder);
  if (!rows.empty()) io::write_atomically(run.file("rows.csv"), io::keys_csv(io::Keys(rows)));
  if (!cols.empty()) io::write_atomically(run.file("columns.csv"), io::keys_csv(io::Keys(cols)));
  jobs::write_recovery(run, answer.result.recovery, info);
}

template <typename Scalar>
void bind_answer(py::module_& m, const char* name) {
  using A = Answer<Scalar>;
  const auto factor = [](auto member) {
    return [member](const py::object& self) {
      return view(self.cast<const A&>().result.recovery.*member, self);
    };
  };
  using R = BasicRecovery<Scalar>;
  py::class_<A, std::shared_ptr<A>> type(m, name);
  type.def_property_readonly("U", factor(&R::U))
      .def_property_readonly("V", factor(&R::V))
      .def_property_readonly("d", factor(&R::d))
      .def_property_readonly("facts", [](const A& a) { return facts_of(a.result.recovery); })
      .def_property_readonly("history", [](const A& a) { return history_of(a.result.recovery); })
      .def_property_readonly("outcome", [](const A& a) { return outcome_text(a.result.outcome); })
      .def_property_readonly("folder", [](const A& a) { return a.result.folder.string(); })
      .def_property_readonly("warnings", [](const A& a) { return a.result.warnings; })
      .def_property_readonly("relative_error", [](const A& a) { return a.result.relative_error; })
      .def_property_readonly("rank", [](const A& a) { return a.result.recovery.rank; })
      .def_property_readonly("known",
                             [](const A& a) { return std::const_pointer_cast<Entries>(a.known); })
      .def("save", save<Scalar>)
      .def(py::pickle([](const A& a) { return py::bytes(to_bytes(a)); },
                      [](const py::bytes& b) { return answer_from_bytes<Scalar>(b); }));
  if constexpr (std::is_same_v<Scalar, double>)
    type.def("predict", predict_entries);
  else
    type.def("predict_values", predict_values<Scalar>);
}

}  // namespace

void bind_recovery(py::module_& m) {
  bind_answer<double>(m, "Answer");
  bind_answer<std::complex<double>>(m, "ComplexAnswer");
  bind_answer<std::complex<float>>(m, "ImageAnswer");
}

}  // namespace udv::python
