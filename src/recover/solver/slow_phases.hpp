// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/operators/imaging.hpp"

namespace udv {

/// Images hardly show phases that vary slowly over the sample: to first order an LED well inside of
/// the pupil does not show them at all. What is known of them before is that they are small:
/// 1/2 sum_k mu_k |y_k - u^2 conj(y_-k)|^2 / 4 is added to an objective, 1/2 sum_k mu_k |phi_k|^2
/// for a weak phase u exp(i phi). y is the centred spectrum of the sample without the phase of the
/// light, u its mean phase.
class SlowPhases {
 public:
  using Complex = std::complex<float>;

  /// None.
  SlowPhases() = default;
  /// mu_k = strength (1 - |k|^2 / highest^2)^2 for |k| <= highest samples of the spectrum.
  /// `curvature` is that of the light, as bend_wave() has it; u is that of x.
  SlowPhases(const ImagingOperator<Complex>& op, const Vector<Complex>& x, double curvature,
             double highest, double strength);

  bool empty() const { return strength_.size() == 0; }
  /// Twice what is added to the objective.
  double energy(const Vector<Complex>& x) const;
  /// The gradient of what is added, linear in real and imaginary parts of x.
  Vector<Complex> product(const Vector<Complex>& x) const;
  /// Diagonal of the map product(), about.
  const Vector<float>& diagonal() const { return diagonal_; }

 private:
  RowMatrix<Complex> slow_part(const Vector<Complex>& x) const;
  // y_k - u^2 conj(y_-k) of the slow samples.
  RowMatrix<Complex> phases(const Vector<Complex>& x) const;

  Matrix<Complex> down_, right_;  // slow samples of y = down * X * right^T
  RowMatrix<float> strength_;     // of them
  Vector<float> diagonal_;
  Complex turn_ = 1;  // u^2
};

}  // namespace udv
