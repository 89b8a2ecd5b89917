// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "udv/net/calibration.hpp"

namespace udv::net {

/// The metric |M|_F, M = Ly^T W Lx (out x in), of changes of a weight W, with Cx = Lx Lx^T and
/// Cy = Ly Ly^T, each damped by 1e-3 of its mean diagonal. Without moments M = W.
class LayerMetric {
 public:
  LayerMetric() = default;
  /// Throws InvalidArgument naming the layer where the moments are of other sizes.
  LayerMetric(const std::string& name, Index out, Index in, const Calibration& calibration);

  bool measures_loss() const { return measures_loss_; }  ///< 1/2 |dM|^2 is an increase of the loss
  /// Ly^T B for B (out x r): what stands left of the middle.
  Matrix<double> into_left(const Matrix<double>& B) const;
  /// Lx^T A^T for A (r x in), as in x r.
  Matrix<double> into_right(const Matrix<double>& At) const;
  /// Ly^-T P and Lx^-T Q: back from the metric.
  Matrix<double> from_left(const Matrix<double>& P) const;
  Matrix<double> from_right(const Matrix<double>& Q) const;

 private:
  Matrix<double> left_, right_;  // Ly, Lx; empty: the identity
  bool measures_loss_ = false;
};

}  // namespace udv::net
