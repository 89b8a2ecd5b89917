// SPDX-License-Identifier: MIT
#pragma once

#include "recover/device/device.hpp"
#include "udv/core/types.hpp"

namespace udv::device {

/// r = A(U diag(d) V^*) - b for a stack Z = (U; V) on the device: what a gradient step needs.
template <typename Real>
class GradientModel {
 public:
  virtual ~GradientModel() = default;
  /// G = (A*(r) V; A*(r)^* U), where symmetric A*(r) U; returns |r|^2. An empty d is 1.
  virtual double products(const DeviceMatrix<Real>& Z, const Vector<double>& d,
                          DeviceMatrix<Real>& G) const = 0;
};

}  // namespace udv::device
