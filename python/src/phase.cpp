// SPDX-License-Identifier: MIT
#include "udv/jobs/phase.hpp"

#include <pybind11/complex.h>
#include <pybind11/stl.h>

#include <cmath>

#include "answer.hpp"
#include "arrays.hpp"
#include "keywords.hpp"
#include "running.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"

namespace udv::python {
namespace {

using Complex = std::complex<double>;
using jobs::PhaseJobOptions;

template <typename Scalar>
py::tuple solve(const std::shared_ptr<const IntensityOperator<Scalar>>& op, const Dense<double>& b,
                const Dense<Scalar>& truth, PhaseJobOptions options, const Dense<double>& support,
                const jobs::RunOptions& run, const py::object& watcher) {
  for (Index j = 0; j < support.size(); ++j) options.support.push_back(support.data()[j] != 0);
  PythonListener listener(watcher);
  const Vector<double> values = to_vector(b);
  const Vector<Scalar> x = to_vector(truth);
  auto answer = run_job(run, listener, [&](jobs::Session& session) {
    return jobs::phase<Scalar>(op, values, x, options, session);
  });
  py::object found = to_array(std::move(answer.x));
  return py::make_tuple(answer_of(jobs::RecoveryResult<Scalar>(std::move(answer))),
                        listener.warnings(), listener.notices(), found);
}

template <typename Scalar>
py::tuple phase_rows(const Dense<Scalar>& A, const Dense<double>& b, const Dense<Scalar>& truth,
                     const Dense<double>& support, const py::dict& keywords,
                     const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<PhaseJobOptions>("retrieve_phase", keywords, run);
  return solve<Scalar>(std::make_shared<RankOneOperator<Scalar>>(to_matrix(A)), b, truth, options,
                       support, run, watcher);
}

// b = |fft2(m_l x)|^2. NumPy's fft2 is not normalised, the operator's transform is unitary.
py::tuple phase_masks(const Dense<Complex>& A, const Dense<double>& b, const Dense<Complex>& truth,
                      const Dense<double>& support, const py::dict& keywords,
                      const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<PhaseJobOptions>("retrieve_phase", keywords, run);
  const Index rows = A.shape(1), cols = A.shape(2);
  const double unit = std::sqrt(static_cast<double>(rows * cols));
  std::vector<RowMatrix<Complex>> masks;
  for (Index l = 0; l < A.shape(0); ++l)
    masks.push_back(unit *
                    Eigen::Map<const RowMatrix<Complex>>(A.data() + l * rows * cols, rows, cols));
  return solve<Complex>(std::make_shared<CodedDiffractionOperator<Complex>>(std::move(masks)), b,
                        truth, options, support, run, watcher);
}

}  // namespace

void bind_phase(py::module_& m) {
  m.def("phase_real", phase_rows<double>);
  m.def("phase_complex", phase_rows<Complex>);
  m.def("phase_masks", phase_masks);
}

}  // namespace udv::python
