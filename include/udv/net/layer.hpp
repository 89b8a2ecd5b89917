// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// A differentiable map of samples, one per row. Its parameters lie in an array of the caller's;
/// the layer itself is only a shape. Laws: backward is the gradient of forward; a batch gives the
/// same as its rows one by one.
template <typename Real>
class UDV_EXPORT Layer {
 public:
  virtual ~Layer() = default;

  virtual Index inputs() const = 0;
  virtual Index outputs() const = 0;
  virtual Index num_parameters() const { return 0; }

  /// Y = f(X): n x inputs -> n x outputs.
  virtual void forward(const Real* parameters, const ConstRows<Real>& X, Rows<Real> Y) const = 0;

  /// With dY the gradient in Y: writes the gradient in the parameters, and that in X unless dX has
  /// no columns (nobody asks for it at the first layer). dX and dY may not overlap.
  virtual void backward(const Real* parameters, const ConstRows<Real>& X, const ConstRows<Real>& Y,
                        const ConstRows<Real>& dY, Real* gradient, Rows<Real> dX) const = 0;
};

/// Y = X W^T + 1 b^T with W of outputs x inputs, then b where there is one.
template <typename Real>
UDV_EXPORT std::unique_ptr<Layer<Real>> make_dense(Index inputs, Index outputs, bool bias);

/// Y = X diag(w).
template <typename Real>
UDV_EXPORT std::unique_ptr<Layer<Real>> make_diagonal(Index width);

/// Y = max(X, 0).
template <typename Real>
UDV_EXPORT std::unique_ptr<Layer<Real>> make_relu(Index width);

}  // namespace udv::net
