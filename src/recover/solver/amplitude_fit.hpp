// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "recover/solver/slow_phases.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace udv {

/// What images of |psi|^2 + b_l are compared with, image by image.
struct ImageTargets {
  Vector<float> amplitudes;
  Vector<float> weights;      ///< 0: the pixel says nothing
  Vector<float> backgrounds;  ///< b_l, one per image
  std::vector<bool> free;     ///< backgrounds that are unknowns of the fit
  Vector<float> least;        ///< the least values of free ones; empty: 0
  /// lambda_k: 1/2 sum lambda_k |x_k|^2 is added, what is known of x before (as a Gaussian of
  /// variance 2 sigma^2 / lambda_k where sigma is that of the amplitudes). Empty: nothing.
  Vector<float> shrinkage;
  SlowPhases slow = {};  ///< added, too; empty: nothing
};

/// |sqrt(w) a|
UDV_EXPORT double data_norm(const ImageTargets& targets);

/// r_i = sqrt(w_i) (sqrt(|psi_i|^2 + b_l) - a_i) with psi = W x: the loss of images with counting
/// noise, and one that sees dark images. J p = sqrt(w) Re(conj(e) W p), e = psi / sqrt(|psi|^2 +
/// b). A free b_l >= 0 is at its best for every x; J is without the part that a change of b_l
/// undoes (variable projection; Kaufman, 1975). Where x is shrunk, its real and imaginary parts
/// times sqrt(lambda) are residuals, too; slow phases that are held are one more. Preconditioner:
/// half of the diagonal of W^* diag(w) W, as if the phases of e were random.
class UDV_EXPORT AmplitudeModel final : public ResidualModel<std::complex<float>> {
 public:
  using Complex = std::complex<float>;
  /// Refers to both while it lives.
  AmplitudeModel(const ImagingOperator<Complex>& op, const ImageTargets& targets);

  void residual(const RowMatrix<Complex>& x, Vector<float>& r) const override;
  void gradient(const RowMatrix<Complex>& x, const Vector<float>& r,
                RowMatrix<Complex>& G) const override;
  std::unique_ptr<Linearization<Complex>> linearize(const RowMatrix<Complex>& x) const override;
  double data_norm() const override { return udv::data_norm(targets_); }

  /// b_l for a given x: free ones at their best.
  Vector<float> backgrounds(const RowMatrix<Complex>& x) const;

 private:
  const ImagingOperator<Complex>& op_;
  const ImageTargets& targets_;
};

/// Fits x to images by minimise(), where the operator is: on the host or on a device. Sets free
/// backgrounds to their best.
UDV_EXPORT FitSummary fit_amplitudes(const ImagingOperator<std::complex<float>>& op,
                                     ImageTargets& targets, Vector<std::complex<float>>& x,
                                     const FitOptions& options, const FitMonitor& monitor);

/// q_i = sqrt(|psi_i|^2 + b_l)
UDV_EXPORT Vector<float> predicted_amplitudes(const RowMatrix<std::complex<float>>& psi,
                                              const Vector<float>& backgrounds);

/// e_i = psi_i / q_i, 1 where q_i = 0.
UDV_EXPORT void to_directions(const Vector<float>& q, RowMatrix<std::complex<float>>& psi);

}  // namespace udv
