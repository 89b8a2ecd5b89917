// SPDX-License-Identifier: MIT
#include "recover/device/thin.hpp"

#include "core/lapack.hpp"
#include "core/small_solves.hpp"

namespace udv::device {

Matrix<double> gram(const DeviceMatrix<double>& X) {
  RowMatrix<double> result(X.cols(), X.cols());
  kernels<double>().gram(X.data(), X.rows(), X.cols(), result.data());
  check();
  return result;
}

void multiply(DeviceMatrix<double>& X, const RowMatrix<double>& M) {
  DeviceMatrix<double> product(X.rows(), M.cols());
  kernels<double>().multiply(X.data(), X.rows(), X.cols(), M.data(), M.cols(), product.data());
  X.swap(product);
}

bool orthonormalise(DeviceMatrix<double>& X, Matrix<double>* R) {
  constexpr double kIndependent = 1e-6;
  if (R) *R = Matrix<double>::Identity(X.cols(), X.cols());
  for (int round = 0; round < 2; ++round) {
    const auto [L, positive] = cholesky(gram(X));
    if (!positive || !(L.diagonal().minCoeff() > kIndependent * L.diagonal().maxCoeff()))
      return false;
    multiply(X, lower_inverse(L).transpose());
    if (R) *R = (L.transpose() * *R).eval();
  }
  return true;
}

std::optional<ThinSvd> thin_svd(DeviceMatrix<double> U, const Vector<double>& d,
                                DeviceMatrix<double> V) {
  Matrix<double> left, right;
  if (!orthonormalise(U, &left) || !orthonormalise(V, &right)) return std::nullopt;
  const auto small = lapack::thin_svd<double>(left * d.asDiagonal() * right.transpose());
  multiply(U, small.U);
  multiply(V, small.V);
  return ThinSvd{std::move(U), std::move(V), small.s};
}

}  // namespace udv::device
