// SPDX-License-Identifier: MIT
#include "recover/solver/balance.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "udv/core/spectrum.hpp"

namespace udv {

template <typename Scalar>
StackedFactors<Scalar> balanced(const StackedFactors<Scalar>& Z) {
  const Reals<Scalar> ones = Reals<Scalar>::Ones(Z.rank());
  const auto svd =
      Z.symmetric ? factored_eigen<Scalar>(Z.U(), ones) : factored_svd<Scalar>(Z.U(), ones, Z.V());
  const Vector<Scalar> root = svd.s.cwiseMax(0).cwiseSqrt().template cast<Scalar>();
  StackedFactors<Scalar> result = Z;
  result.Z.resize(Z.Z.rows(), root.size());
  result.U() = svd.U * root.asDiagonal();
  if (!Z.symmetric) result.V() = svd.V * root.asDiagonal();
  return result;
}

template <typename Scalar>
StackedFactors<Scalar> leading_columns(const StackedFactors<Scalar>& Z, Index count) {
  StackedFactors<Scalar> result = Z;
  result.Z = Z.Z.leftCols(std::min(count, Z.rank()));
  return result;
}

template <typename Scalar>
Index significant_columns(const StackedFactors<Scalar>& balanced, double share) {
  const Vector<double> squares =
      balanced.U().colwise().squaredNorm().transpose().template cast<double>();
  return (squares.array() > share * squares.maxCoeff()).count();
}

#define UDV_INSTANTIATE(Scalar)                                                          \
  template StackedFactors<Scalar> balanced(const StackedFactors<Scalar>&);               \
  template StackedFactors<Scalar> leading_columns(const StackedFactors<Scalar>&, Index); \
  template Index significant_columns(const StackedFactors<Scalar>&, double);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
