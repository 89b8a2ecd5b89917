// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include <memory>

#include "answer.hpp"
#include "arrays.hpp"
#include "core/require.hpp"
#include "jobs/completion_run.hpp"
#include "udv/recover/fold_in.hpp"

namespace udv::python {
namespace {

using Columns = LearnedColumns;
using ColumnsPtr = std::shared_ptr<Columns>;

/// New rows with the columns that they were placed beside.
struct Folded {
  ColumnsPtr columns;
  FoldedRows rows;
};

ColumnsPtr columns_of_answer(const Answer<double>& answer) {
  require(answer.result.recovery.operator_name == "entries",
          "fold_in: an answer of udv.complete "
          "expected, this one is of the operator ",
          answer.result.recovery.operator_name);
  return std::make_shared<Columns>(learned_columns(answer.result.recovery));
}

std::shared_ptr<Folded> fold(const ColumnsPtr& columns, const Entries& rows) {
  require(rows.cols == columns->cols(), "rows: ", rows.cols, " columns found, ", columns->cols(),
          " expected, as the completed matrix has");
  const py::gil_scoped_release free;
  return std::make_shared<Folded>(Folded{columns, fold_in(*columns, rows)});
}

// offset_j + <t_i, a_j> for all i and j, kept in the range.
py::array_t<double> matrix_of(const Folded& f) {
  RowMatrix<double> X(f.rows.t.rows(), f.columns->cols());
  {
    const py::gil_scoped_release free;
    X.noalias() = f.rows.t * f.columns->features.transpose();
    X.rowwise() += f.columns->offsets.transpose();
    if (const auto& range = f.columns->range) X = X.cwiseMax(range->first).cwiseMin(range->second);
  }
  return to_array(std::move(X));
}

py::array_t<bool> determined_of(const Folded& f, const Dense<std::int64_t>& i,
                                const Dense<std::int64_t>& j) {
  require(i.size() == j.size(), "j: ", j.size(), " columns found, ", i.size(), " expected");
  py::array_t<bool> result(i.size());
  for (py::ssize_t t = 0; t < i.size(); ++t) {
    const std::int64_t row = i.data()[t], col = j.data()[t];
    require(row >= 0 && row < f.rows.t.rows(), "i: row ", row, " found, 0 to ", f.rows.t.rows() - 1,
            " expected");
    require(col >= 0 && col < f.columns->cols(), "j: column ", col, " found, 0 to ",
            f.columns->cols() - 1, " expected");
    result.mutable_data()[t] = f.rows.determined(*f.columns, row, col);
  }
  return result;
}

py::tuple state_of(const Columns& c) {
  return py::make_tuple(to_array(RowMatrix<double>(c.features)),
                        to_array(Vector<double>(c.offsets)), to_array(Vector<double>(c.mean)),
                        to_array(RowMatrix<double>(c.covariance)), c.noise_sigma, c.has_row_biases,
                        to_array<std::int8_t>(c.empty), c.range);
}

ColumnsPtr columns_of_state(const py::tuple& state) {
  require(state.size() == 8, "pickle: ", state.size(), " parts found, 8 expected");
  auto c = std::make_shared<Columns>();
  c->features = to_matrix(state[0].cast<Dense<double>>());
  c->offsets = to_vector(state[1].cast<Dense<double>>());
  c->mean = to_vector(state[2].cast<Dense<double>>());
  c->covariance = to_matrix(state[3].cast<Dense<double>>());
  c->noise_sigma = state[4].cast<double>();
  c->has_row_biases = state[5].cast<bool>();
  const auto empty = state[6].cast<Dense<std::int8_t>>();
  c->empty.assign(empty.data(), empty.data() + empty.size());
  c->range = state[7].cast<std::optional<std::pair<double, double>>>();
  return c;
}

// A completion that a folder holds: factors, offsets, columns.
py::tuple read_completion(const std::string& folder) {
  const jobs::CompletionRun run = jobs::read_completion(folder);
  jobs::RecoveryResult<double> result;
  result.recovery = run.answer;
  result.recovery.operator_name = "entries";
  result.folder = folder;
  std::vector<std::string> names;
  for (Index j = 0; j < run.columns.size(); ++j) names.emplace_back(run.columns[j]);
  return py::make_tuple(answer_of(std::move(result)), names, run.has_keys);
}

}  // namespace

void bind_columns(py::module_& m) {
  py::class_<Columns, ColumnsPtr>(m, "Columns")
      .def(py::init(&columns_of_answer))
      .def("fold_in", fold)
      .def_property_readonly(
          "features", [](const Columns& c) { return to_array(RowMatrix<double>(c.features)); })
      .def_property_readonly("offsets",
                             [](const Columns& c) { return to_array(Vector<double>(c.offsets)); })
      .def_property_readonly("empty", [](const Columns& c) { return to_array<bool>(c.empty); })
      .def_property_readonly("noise", [](const Columns& c) { return c.noise_sigma; })
      .def(py::pickle(&state_of, &columns_of_state));
  py::class_<Folded, std::shared_ptr<Folded>>(m, "Folded")
      .def_property_readonly("t",
                             [](const Folded& f) { return to_array(RowMatrix<double>(f.rows.t)); })
      .def_property_readonly("open",
                             [](const Folded& f) { return to_array<std::int64_t>(f.rows.open_of); })
      .def("matrix", matrix_of)
      .def("determined", determined_of);
  m.def("read_completion", read_completion);
}

}  // namespace udv::python
