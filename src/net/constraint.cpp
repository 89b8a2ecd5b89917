// SPDX-License-Identifier: MIT
#include "udv/net/constraint.hpp"

#include <cmath>

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

template <typename Real>
void project_neurons(Eigen::Ref<RowMatrix<Real>> W, Eigen::Ref<RowMatrix<Real>> bias) {
  for (Index j = 0; j < W.rows(); ++j) {
    const Real norm = std::hypot(W.row(j).norm(), bias(0, j));
    if (norm <= 1) continue;
    W.row(j) /= norm;
    bias(0, j) /= norm;
  }
}

template void project_neurons<float>(Eigen::Ref<RowMatrix<float>>, Eigen::Ref<RowMatrix<float>>);
template void project_neurons<double>(Eigen::Ref<RowMatrix<double>>, Eigen::Ref<RowMatrix<double>>);
template void project<float>(Constraint, Neurons, Eigen::Ref<RowMatrix<float>>);
template void project<double>(Constraint, Neurons, Eigen::Ref<RowMatrix<double>>);

}  // namespace udv::net
