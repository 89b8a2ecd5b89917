// SPDX-License-Identifier: MIT
#include "udv/jobs/sense.hpp"

#include <pybind11/stl.h>

#include "answer.hpp"
#include "arrays.hpp"
#include "core/require.hpp"
#include "keywords.hpp"
#include "running.hpp"
#include "udv/recover/operators/dense.hpp"
#include "udv/recover/operators/user.hpp"

namespace udv::python {
namespace {

using Shape = std::pair<Index, Index>;
using jobs::SenseMap;
using jobs::SenseOptions;

py::tuple solve(const Problem& problem, const SenseOptions& options, const jobs::RunOptions& run,
                const py::object& watcher) {
  PythonListener listener(watcher);
  auto result = run_job(run, listener, [&](jobs::Session& session) {
    return jobs::sense(problem, options, session);
  });
  return py::make_tuple(answer_of(std::move(result)), listener.warnings(), listener.notices());
}

// A and its transposes, each with its value: X need not be positive semidefinite then.
Problem mirrored(const Dense<double>& A, const Vector<double>& b, Index size) {
  const Index n = A.shape(0);
  RowMatrix<double> both(2 * n, size * size);
  both.topRows(n) = Eigen::Map<const RowMatrix<double>>(A.data(), n, size * size);
  for (Index i = 0; i < n; ++i)
    Eigen::Map<RowMatrix<double>>(both.row(n + i).data(), size, size) =
        Eigen::Map<const RowMatrix<double>>(both.row(i).data(), size, size).transpose();
  Vector<double> values(2 * n);
  values << b, b;
  return sensing(std::move(both), std::move(values), size, size, false);
}

// The values of A stay where NumPy has them.
Problem rectangular(const Dense<double>& A, Vector<double> b, const Shape& shape) {
  Problem problem;
  problem.op = std::make_shared<DenseOperator<double>>(A.data(), A.shape(0), keep_alive(A),
                                                       shape.first, shape.second);
  problem.b = std::move(b);
  return problem;
}

Problem dense_problem(const Dense<double>& A, const Vector<double>& b, const Shape& shape,
                      const SenseOptions& options) {
  if (options.map == SenseMap::kRankOne)
    return quadratic_sensing(
        RowMatrix<double>(Eigen::Map<const RowMatrix<double>>(A.data(), A.shape(0), shape.first)),
        b);
  if (options.symmetric == Symmetry::kIndefinite) return mirrored(A, b, shape.first);
  if (options.symmetric == Symmetry::kOff) return rectangular(A, b, shape);
  const Index size = shape.first * shape.second;
  return sensing(RowMatrix<double>(Eigen::Map<const RowMatrix<double>>(A.data(), A.shape(0), size)),
                 Vector<double>(b), shape.first, shape.second, true);
}

py::tuple sense_arrays(const Dense<double>& A, const Dense<double>& b, const Shape& shape,
                       const py::dict& keywords, const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<SenseOptions>("sense", keywords, run);
  const Problem problem = dense_problem(A, to_vector(b), shape, options);
  return solve(problem, options, run, watcher);
}

py::tuple sense_files(const std::string& A, const std::string& b, const py::dict& keywords,
                      const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<SenseOptions>("sense", keywords, run);
  PythonListener listener(watcher);
  auto result = run_job(run, listener, [&](jobs::Session& session) {
    return jobs::sense(jobs::SenseInput{A, b}, options, session);
  });
  return py::make_tuple(answer_of(std::move(result)), listener.warnings(), listener.notices());
}

// y = A vec(X) for an operator of Python that maps p q numbers to n: X is formed.
struct PythonMap {
  py::object forward, backward;  // numbers -> numbers, as arrays
  Index rows, cols, measurements;

  static Vector<double> call(const py::object& function, Vector<double> in, Index expected,
                             const char* name) {
    const py::gil_scoped_acquire gil;
    const auto out = Dense<double>::ensure(function(to_array(std::move(in))));
    if (!out) throw py::error_already_set();
    require(out.size() == expected, "A: ", name, " returned ", out.size(), " numbers, ", expected,
            " expected");
    return to_vector(out);
  }
  RowMatrix<double> adjoint(const Vector<double>& z) const {
    const Vector<double> x = call(backward, z, rows * cols, "rmatvec");
    return Eigen::Map<const RowMatrix<double>>(x.data(), rows, cols);
  }
};

UserFunctions<double> functions_of(const PythonMap& map, bool symmetric) {
  UserFunctions<double> f;
  f.rows = map.rows;
  f.cols = map.cols;
  f.num_measurements = map.measurements;
  f.symmetric = symmetric;
  f.apply = [map](const ConstRows<double>& U, const Vector<double>& d, const ConstRows<double>& V,
                  Vector<double>& y) {
    const RowMatrix<double> X = U * d.asDiagonal() * V.transpose();
    y = PythonMap::call(map.forward, Eigen::Map<const Vector<double>>(X.data(), X.size()),
                        map.measurements, "matvec");
  };
  f.adjoint_times = [map](const Vector<double>& z, const ConstRows<double>& V, Rows<double> out) {
    out.noalias() = map.adjoint(z) * V;
  };
  f.adjoint_transpose_times = [map](const Vector<double>& z, const ConstRows<double>& U,
                                    Rows<double> out) {
    out.noalias() = map.adjoint(z).transpose() * U;
  };
  return f;
}

py::tuple sense_operator(const py::object& forward, const py::object& backward,
                         const Dense<double>& b, const Shape& shape, const py::dict& keywords,
                         const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<SenseOptions>("sense", keywords, run);
  const PythonMap map{forward, backward, shape.first, shape.second, b.size()};
  const bool symmetric = options.symmetric == Symmetry::kPsd;
  Problem problem;
  {
    const OneBlasThread one;
    problem.op = std::make_shared<UserOperator<double>>(functions_of(map, symmetric));
  }
  problem.b = to_vector(b);
  py::tuple result = solve(problem, options, run, watcher);
  problem.op.reset();  // with the GIL: it holds functions of Python
  return result;
}

}  // namespace

void bind_sense(py::module_& m) {
  m.def("sense", sense_arrays);
  m.def("sense_files", sense_files);
  m.def("sense_operator", sense_operator);
}

}  // namespace udv::python
