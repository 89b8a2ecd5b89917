// SPDX-License-Identifier: MIT
#include "udv/recover/solver/levenberg_marquardt.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/sums.hpp"
#include "recover/device/entries_device.hpp"
#include "recover/solver/fit_loop.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

// r(Z) = A(U V^*) - b for the stack (U; V).
template <typename Scalar>
class FactorModel final : public ResidualModel<Scalar> {
 public:
  FactorModel(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
              const StackedFactors<Scalar>& at)
      : op_(op), b_(b), at_(at) {}

  void residual(const RowMatrix<Scalar>& Z, Reals<Scalar>& r) const override {
    const auto U = Z.topRows(at_.rows);
    const auto V = Z.bottomRows(at_.symmetric ? at_.rows : Z.rows() - at_.rows);
    op_.apply(U, Reals<Scalar>::Ones(Z.cols()), V, r);
    r -= b_;
  }
  void gradient(const RowMatrix<Scalar>&, const Reals<Scalar>& r,
                RowMatrix<Scalar>& G) const override {
    pull_back(op_, at_, r, G);
  }
  std::unique_ptr<Linearization<Scalar>> linearize(const RowMatrix<Scalar>&) const override {
    return op_.linearize(at_);
  }
  double data_norm() const override { return std::sqrt(squared_norm(b_)); }

 private:
  const MeasurementOperator<Scalar>& op_;
  const Reals<Scalar>& b_;
  const StackedFactors<Scalar>& at_;  // holds the Z of the fit
};

// Z goes to the device and comes back; between them nothing does but sums.
template <typename Scalar>
FitSummary fit_on_device(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b,
                         StackedFactors<Scalar>& Z, const FitOptions& options,
                         const FitMonitor& monitor) {
  const device::EntriesResidual<Scalar> model(op, b);
  device::DeviceMatrix<Scalar> on_device(Z.Z);
  FitMonitor of_stack;
  if (monitor)
    of_stack = [&](FitStep step) {
      step.norm_u = on_device.norm_of(0, Z.rows);
      return monitor(step);
    };
  const FitSummary summary = run_fit<Scalar>(model, on_device, options, of_stack);
  on_device.download(Z.Z);
  return summary;
}

}  // namespace

template <typename Scalar>
FitSummary minimise(const ResidualModel<Scalar>& model, RowMatrix<Scalar>& Z,
                    const FitOptions& options, const FitMonitor& monitor) {
  return run_fit<RealOf<Scalar>>(model, Z, options, monitor);
}

template <typename Scalar>
FitSummary fit_factors(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                       StackedFactors<Scalar>& Z, const FitOptions& options,
                       const FitMonitor& monitor) {
  if constexpr (!kIsComplex<Scalar>) {
    const auto* const entries = device::entries_on_device(op);
    if (entries && Z.rank() > 0) return fit_on_device(*entries, b, Z, options, monitor);
  }
  const FactorModel<Scalar> model(op, b, Z);
  FitMonitor of_stack;
  if (monitor)
    of_stack = [&](FitStep step) {
      step.norm_u = Z.U().norm();
      return monitor(step);
    };
  return minimise<Scalar>(model, Z.Z, options, of_stack);
}

#define UDV_INSTANTIATE(Scalar)                                                             \
  template FitSummary minimise(const ResidualModel<Scalar>&, RowMatrix<Scalar>&,            \
                               const FitOptions&, const FitMonitor&);                       \
  template FitSummary fit_factors(const MeasurementOperator<Scalar>&, const Reals<Scalar>&, \
                                  StackedFactors<Scalar>&, const FitOptions&, const FitMonitor&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
