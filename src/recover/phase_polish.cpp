// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/instantiate.hpp"
#include "udv/recover/phase.hpp"

namespace udv {
namespace {

constexpr int kFlowSteps = 1000, kFlowWindow = 100, kFlowLook = 16;
constexpr double kFlowWeight = 10;    // beta in w = 1 / (1 + beta psi / |W z|)
constexpr double kFlowGain = 0.02;    // less per window ends the flow
constexpr double kFlowTarget = 1e-3;  // amplitude residual
template <typename Scalar>
constexpr double kFlowStep = kIsComplex<Scalar> ? 6 : 2;

// A step of the flow in terms of the intensities.
template <typename Scalar>
FitStep flow_step(const Reals<Scalar>& sizes, const Reals<Scalar>& amplitudes,
                  const RowMatrix<Scalar>& z) {
  const double squared = (sizes.cwiseAbs2() - amplitudes.cwiseAbs2()).squaredNorm();
  return {0.5 * squared, kFlowStep<Scalar>, 1, z.norm()};
}

// z -= step diag^-1 W^* (w (1 - a / |W z|) W z), w = 1 / (1 + beta a / |W z|). Keeps the best z.
template <typename Scalar>
void amplitude_flow(const IntensityOperator<Scalar>& op, const Reals<Scalar>& amplitudes,
                    RowMatrix<Scalar>& z, const FitMonitor& monitor) {
  using Real = RealOf<Scalar>;
  const Reals<Scalar> ones = Reals<Scalar>::Ones(amplitudes.size());
  const Real floor = std::numeric_limits<Real>::min();
  const Reals<Scalar> lengths =
      static_cast<Real>(kFlowStep<Scalar>) * op.diagonal(ones).cwiseMax(floor).cwiseInverse();
  const double norm = amplitudes.norm();
  RowMatrix<Scalar> fields, back(z.rows(), 1), best = z;
  double best_residual = std::numeric_limits<double>::infinity(), before = best_residual;
  for (int step = 0; step < kFlowSteps; ++step) {
    op.project(z, fields);
    const Reals<Scalar> sizes = fields.col(0).cwiseAbs();
    const double residual = (sizes - amplitudes).norm() / norm;
    if (residual < best_residual) {
      best_residual = residual;
      best = z;
    }
    if (residual < kFlowTarget || !std::isfinite(residual)) break;
    if (monitor && step % kFlowLook == 0 && !monitor(flow_step<Scalar>(sizes, amplitudes, z)))
      break;
    if (step > 0 && step % kFlowWindow == 0) {
      if (best_residual > (1 - kFlowGain) * before) break;
      before = best_residual;
    }
    for (Index i = 0; i < sizes.size(); ++i) {
      const Real size = std::max(sizes(i), floor);
      const Real ratio = amplitudes(i) / size;
      fields(i, 0) *= (1 - ratio) / (1 + static_cast<Real>(kFlowWeight) * ratio);
    }
    op.back_project(fields, back);
    z.col(0) -= lengths.cwiseProduct(back.col(0));
  }
  z = best;
}

FitOptions polish_options(double residual_target) {
  FitOptions options;
  options.max_cg = 100;
  options.patience = 3;
  options.residual_target = residual_target;
  return options;
}

}  // namespace

template <typename Scalar>
void polish_phase(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b, Vector<Scalar>& x,
                  const FitMonitor& monitor) {
  StackedFactors<Scalar> Z(op.rows(), op.rows(), true, 1);
  Z.Z.col(0) = x;
  const Reals<Scalar> amplitudes = b.cwiseMax(0).cwiseSqrt();
  bool wanted = true;
  const FitMonitor watched = [&](const FitStep& step) {
    return wanted = wanted && (!monitor || monitor(step));
  };
  amplitude_flow(op, amplitudes, Z.Z, watched);
  if (wanted) fit_factors(op, b, Z, polish_options(10 * kEpsilon<Scalar>), watched);
  x = Z.Z.col(0);
}

#define UDV_INSTANTIATE(Scalar)                                                      \
  template void polish_phase(const IntensityOperator<Scalar>&, const Reals<Scalar>&, \
                             Vector<Scalar>&, const FitMonitor&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
