// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "recover/device/device.hpp"

/// Thin factors on the device, small matrices on the host.
namespace udv::device {

/// X^T X
Matrix<double> gram(const DeviceMatrix<double>& X);
/// X = X M
void multiply(DeviceMatrix<double>& X, const RowMatrix<double>& M);
/// X = Q R, and Q takes the place of X: by Cholesky factors of Gram matrices, twice. False where
/// the columns depend too much on each other for that; X has changed then, too.
bool orthonormalise(DeviceMatrix<double>& X, Matrix<double>* R = nullptr);

struct ThinSvd {
  DeviceMatrix<double> U, V;
  Vector<double> s;  ///< largest first
};
/// Of U diag(d) V^T; nothing where orthonormalise() fails.
std::optional<ThinSvd> thin_svd(DeviceMatrix<double> U, const Vector<double>& d,
                                DeviceMatrix<double> V);

}  // namespace udv::device
