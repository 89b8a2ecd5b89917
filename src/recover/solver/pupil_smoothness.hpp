// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <complex>
#include <vector>

#include "udv/core/types.hpp"

namespace udv {

/// Pupils of objectives are smooth: third differences of their phase are small. (Second ones are
/// not held: a bend of the pupil that is taken off would go into the sample as a bowl.) With
/// d = given + D c, the third differences of the phase of P exp(i theta), theta = c on the samples
/// where P is not 0, 1/2 strength |d|^2 is added to what is minimised in c. Differences of the
/// phase of P are taken modulo 2 pi, so that no phase is unwrapped.
class PupilSmoothness {
 public:
  /// Nothing is added where `strength` is 0.
  PupilSmoothness(const RowMatrix<std::complex<double>>& pupil, double strength);

  bool empty() const { return bends_.empty(); }
  Index size() const { return static_cast<Index>(bends_.size()); }
  /// sqrt(strength) d
  Vector<float> residuals(const RowMatrix<float>& c) const;
  /// G += strength D^T d
  void add_gradient(const RowMatrix<float>& c, RowMatrix<float>& G) const;
  /// Y += strength D^T D P
  void add_product(const RowMatrix<float>& P, RowMatrix<float>& Y) const;
  /// strength diag(D^T D)
  Vector<float> diagonal(Index coefficients) const;

 private:
  struct Bend {
    std::array<Index, 6> at;
    std::array<float, 6> weight;  // times sqrt(strength), as all here
    float given;

    float of(const RowMatrix<float>& c) const {
      float sum = 0;
      for (size_t i = 0; i < at.size(); ++i) sum += weight[i] * c(at[i], 0);
      return sum;
    }
    void add_to(RowMatrix<float>& G, float value) const {
      for (size_t i = 0; i < at.size(); ++i) G(at[i], 0) += weight[i] * value;
    }
  };

  std::vector<Bend> bends_;
};

/// The strength that belongs to noise of this variance in the residuals: variance / s^2, where
/// third differences of the phase are about s = kPupilBend / (samples in a radius)^3 radians.
double smoothness_strength(const RowMatrix<std::complex<double>>& pupil, double variance);

}  // namespace udv
