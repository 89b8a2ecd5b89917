// SPDX-License-Identifier: MIT
#include "udv/recover/operators/measurement_operator.hpp"

#include "udv/core/error.hpp"
#include "udv/recover/operators/generic_linearization.hpp"

namespace udv {

template <typename Scalar>
void MeasurementOperator<Scalar>::residual_products(const ConstRows<Scalar>& U,
                                                    const Vector<Scalar>& d,
                                                    const ConstRows<Scalar>& V,
                                                    const Vector<Scalar>& b, Vector<Scalar>& z,
                                                    Rows<Scalar> for_u, Rows<Scalar> for_v) const {
  apply(U, d, V, z);
  z -= b;
  if (symmetric_)
    adjoint_times(z, U, for_u);
  else
    adjoint_products(z, U, V, for_u, for_v);
}

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> MeasurementOperator<Scalar>::linearize(
    const Stack<Scalar>& Z) const {
  return std::make_unique<GenericLinearization<Scalar>>(*this, Z);
}

template <typename Scalar>
double MeasurementOperator<Scalar>::degrees_of_freedom(Index rank) const {
  // k (p + q - k), or p k - k (k - 1) / 2 where symmetric.
  const auto k = static_cast<double>(rank);
  return symmetric_ ? k * static_cast<double>(rows_) - k * (k - 1) / 2
                    : k * (static_cast<double>(rows_ + cols_) - k);
}

template <typename Scalar>
Undetermined MeasurementOperator<Scalar>::undetermined(Index) const {
  return {};
}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> MeasurementOperator<Scalar>::subset(
    const std::vector<Index>&) const {
  throw InvalidArgument(message("operator '", name(), "' cannot hold out measurements"));
}

template <typename Scalar>
void pull_back(const MeasurementOperator<Scalar>& op, const Stack<Scalar>& Z,
               const Vector<Scalar>& z, RowMatrix<Scalar>& G) {
  G.resize(Z.Z.rows(), Z.rank());
  if (Z.symmetric) {
    op.adjoint_times(z, Z.U(), G);
    G *= 2;
  } else {
    op.adjoint_products(z, Z.U(), Z.V(), G.topRows(op.rows()), G.bottomRows(op.cols()));
  }
}

template <typename Scalar>
void residual_product(const MeasurementOperator<Scalar>& op, const Vector<Scalar>& z,
                      const Vector<Scalar>& x, Vector<Scalar>& y) {
  const Index p = op.rows();
  y.resize(x.size());
  const auto in = [&](Index from, Index size) {
    return Eigen::Map<const RowMatrix<Scalar>>(x.data() + from, size, 1);
  };
  const auto out = [&](Index from, Index size) {
    return Eigen::Map<RowMatrix<Scalar>>(y.data() + from, size, 1);
  };
  if (op.symmetric()) {
    op.adjoint_times(z, in(0, p), out(0, p));
  } else {
    op.adjoint_products(z, in(0, p), in(p, op.cols()), out(0, p), out(p, op.cols()));
  }
}

template class MeasurementOperator<double>;
template void pull_back(const MeasurementOperator<double>&, const Stack<double>&,
                        const Vector<double>&, RowMatrix<double>&);
template void residual_product(const MeasurementOperator<double>&, const Vector<double>&,
                               const Vector<double>&, Vector<double>&);

}  // namespace udv
