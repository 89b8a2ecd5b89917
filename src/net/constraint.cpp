// SPDX-License-Identifier: MIT
#include "udv/net/constraint.hpp"

#include "core/projections.hpp"

namespace udv::net {
namespace {

// w <- w / max(1, |w|)
template <typename Weights>
void project_unit_ball(Weights&& w) {
  using Real = typename std::decay_t<Weights>::Scalar;
  const Real norm = w.norm();
  if (norm > 1) w /= norm;
}

}  // namespace

template <typename Real>
void project(Constraint constraint, Neurons neurons, Eigen::Ref<RowMatrix<Real>> W) {
  switch (constraint) {
    case Constraint::kFree:
      break;
    case Constraint::kBall:
      project_frobenius_ball(W, 1);
      break;
    case Constraint::kNeuronBalls:
      if (neurons == Neurons::kRows)
        for (Index j = 0; j < W.rows(); ++j) project_unit_ball(W.row(j));
      else
        for (Index j = 0; j < W.cols(); ++j) project_unit_ball(W.col(j));
      break;
    case Constraint::kNonnegative:
      W = W.cwiseMax(0);
      break;
  }
}

template void project<float>(Constraint, Neurons, Eigen::Ref<RowMatrix<float>>);
template void project<double>(Constraint, Neurons, Eigen::Ref<RowMatrix<double>>);

}  // namespace udv::net
