// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/recover/operators/intensity.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace udv {

/// r_i = sqrt(w_i) (|psi_i| - a_i) with psi = W x: the loss of images with counting noise, and one
/// that sees dark images. J p = sqrt(w) Re(conj(e) W p), e = psi / |psi|.
/// Preconditioner: half of the diagonal of W^* diag(w) W, as if the phases of e were random.
template <typename Scalar>
class UDV_EXPORT AmplitudeModel final : public ResidualModel<Scalar> {
 public:
  /// Refers to all three while it lives.
  AmplitudeModel(const IntensityOperator<Scalar>& op, const Reals<Scalar>& amplitudes,
                 const Reals<Scalar>& weights);

  void residual(const RowMatrix<Scalar>& x, Reals<Scalar>& r) const override;
  void gradient(const RowMatrix<Scalar>& x, const Reals<Scalar>& r,
                RowMatrix<Scalar>& G) const override;
  std::unique_ptr<Linearization<Scalar>> linearize(const RowMatrix<Scalar>& x) const override;
  double data_norm() const override;

 private:
  const IntensityOperator<Scalar>& op_;
  const Reals<Scalar>& amplitudes_;
  const Reals<Scalar>& weights_;
};

/// e = psi / |psi|, 1 where psi = 0.
template <typename Scalar>
void to_directions(RowMatrix<Scalar>& psi) {
  for (Index i = 0; i < psi.size(); ++i) {
    const RealOf<Scalar> size = std::abs(psi.data()[i]);
    psi.data()[i] = size > 0 ? Scalar(psi.data()[i] / size) : Scalar(1);
  }
}

/// fields_i = w_i e_i Re(conj(e_i) fields_i): the part of a change of psi that changes |psi|.
template <typename Scalar>
UDV_EXPORT void project_on_directions(const Reals<Scalar>& weights,
                                      const RowMatrix<Scalar>& directions,
                                      RowMatrix<Scalar>& fields);

}  // namespace udv
