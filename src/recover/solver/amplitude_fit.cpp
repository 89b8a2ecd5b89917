// SPDX-License-Identifier: MIT
#include "recover/solver/amplitude_fit.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kPixelBlock = 1 << 14;

template <typename Scalar>
class AmplitudeLinearization final : public Linearization<Scalar> {
 public:
  AmplitudeLinearization(const IntensityOperator<Scalar>& op, const Reals<Scalar>& weights,
                         const RowMatrix<Scalar>& x)
      : op_(op), weights_(weights) {
    op.project(x, directions_);
    to_directions<Scalar>(directions_);
    diagonal_ = op.diagonal(weights) / RealOf<Scalar>(2);
  }

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override {
    op_.project(P, fields_);
    project_on_directions<Scalar>(weights_, directions_, fields_);
    Y.resize(P.rows(), 1);
    op_.back_project(fields_, Y);
  }
  double mean_diagonal() const override { return diagonal_.template cast<double>().mean(); }
  void factor_preconditioner(double damping) override {
    const double floor = kEpsilon<Scalar> * mean_diagonal() + 1e-30;
    inverse_ = (diagonal_.array() + static_cast<RealOf<Scalar>>(damping + floor)).inverse();
  }
  void precondition(const RowMatrix<Scalar>& R, RowMatrix<Scalar>& Y) const override {
    Y = R.col(0).cwiseProduct(inverse_);
  }

 private:
  const IntensityOperator<Scalar>& op_;
  const Reals<Scalar>& weights_;
  RowMatrix<Scalar> directions_, fields_;
  Reals<Scalar> diagonal_, inverse_;
};

}  // namespace

template <typename Scalar>
void project_on_directions(const Reals<Scalar>& weights, const RowMatrix<Scalar>& directions,
                           RowMatrix<Scalar>& fields) {
  const auto* const w = weights.data();
  const auto* const e = reals_of(directions.data());
  auto* const f = reals_of(fields.data());
  parallel_blocks(weights.size(), kPixelBlock, [&](Index begin, Index end) {
#pragma omp simd
    for (Index i = begin; i < end; ++i) {
      if constexpr (!kIsComplex<Scalar>) {
        f[i] *= w[i];  // e = 1 or -1
      } else {
        const auto change = w[i] * (e[2 * i] * f[2 * i] + e[2 * i + 1] * f[2 * i + 1]);
        f[2 * i] = change * e[2 * i];
        f[2 * i + 1] = change * e[2 * i + 1];
      }
    }
  });
}

template <typename Scalar>
AmplitudeModel<Scalar>::AmplitudeModel(const IntensityOperator<Scalar>& op,
                                       const Reals<Scalar>& amplitudes,
                                       const Reals<Scalar>& weights)
    : op_(op), amplitudes_(amplitudes), weights_(weights) {}

template <typename Scalar>
void AmplitudeModel<Scalar>::residual(const RowMatrix<Scalar>& x, Reals<Scalar>& r) const {
  RowMatrix<Scalar> psi;
  op_.project(x, psi);
  r = weights_.cwiseSqrt().cwiseProduct(psi.col(0).cwiseAbs() - amplitudes_);
}

template <typename Scalar>
void AmplitudeModel<Scalar>::gradient(const RowMatrix<Scalar>& x, const Reals<Scalar>& r,
                                      RowMatrix<Scalar>& G) const {
  RowMatrix<Scalar> psi;
  op_.project(x, psi);
  to_directions<Scalar>(psi);
  scale_rows<Scalar>(weights_.cwiseSqrt().cwiseProduct(r), psi);
  G.resize(x.rows(), 1);
  op_.back_project(psi, G);
}

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> AmplitudeModel<Scalar>::linearize(
    const RowMatrix<Scalar>& x) const {
  return std::make_unique<AmplitudeLinearization<Scalar>>(op_, weights_, x);
}

template <typename Scalar>
double AmplitudeModel<Scalar>::data_norm() const {
  return weights_.cwiseSqrt().cwiseProduct(amplitudes_).norm();
}

#define UDV_INSTANTIATE(Scalar)                                                       \
  template void project_on_directions(const Reals<Scalar>&, const RowMatrix<Scalar>&, \
                                      RowMatrix<Scalar>&);                            \
  template class AmplitudeModel<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
