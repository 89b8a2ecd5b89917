// SPDX-License-Identifier: MIT
#include "udv/recover/solver/balance.hpp"

#include <algorithm>
#include <cmath>

#include "udv/core/spectrum.hpp"

namespace udv {

Stack<double> balanced(const Stack<double>& Z) {
  const Vector<double> ones = Vector<double>::Ones(Z.rank());
  const FactoredSvd svd =
      Z.symmetric ? factored_eigen(Z.U(), ones) : factored_svd(Z.U(), ones, Z.V());
  const Vector<double> root = svd.s.cwiseMax(0).cwiseSqrt();
  Stack<double> result = Z;
  result.Z.resize(Z.Z.rows(), root.size());
  result.U() = svd.U * root.asDiagonal();
  if (!Z.symmetric) result.V() = svd.V * root.asDiagonal();
  return result;
}

Stack<double> leading_columns(const Stack<double>& Z, Index count) {
  Stack<double> result = Z;
  result.Z = Z.Z.leftCols(std::min(count, Z.rank()));
  return result;
}

Index significant_columns(const Stack<double>& balanced, double share) {
  const Vector<double> squares = balanced.U().colwise().squaredNorm().transpose();
  return (squares.array() > share * squares.maxCoeff()).count();
}

}  // namespace udv
