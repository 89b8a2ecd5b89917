// SPDX-License-Identifier: MIT
#include "udv/recover/operators/measurement_operator.hpp"

#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "udv/core/options.hpp"
#include "udv/recover/operators/generic_linearization.hpp"

namespace udv {

template <typename Scalar>
void MeasurementOperator<Scalar>::residual_products(const ConstRows<Scalar>& U,
                                                    const Reals<Scalar>& d,
                                                    const ConstRows<Scalar>& V,
                                                    const Reals<Scalar>& b, Reals<Scalar>& z,
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
    const StackedFactors<Scalar>& Z) const {
  return std::make_unique<GenericLinearization<Scalar>>(*this, Z);
}

template <typename Scalar>
double MeasurementOperator<Scalar>::degrees_of_freedom(Index rank) const {
  // k (p + q - k), or p k - k (k - 1) / 2 where symmetric; complex: twice, or 2 p k - k^2.
  const auto k = static_cast<double>(rank);
  const auto p = static_cast<double>(rows_), q = static_cast<double>(cols_);
  if (kIsComplex<Scalar>) return symmetric_ ? k * (2 * p - k) : 2 * k * (p + q - k);
  return symmetric_ ? k * p - k * (k - 1) / 2 : k * (p + q - k);
}

template <typename Scalar>
Undetermined MeasurementOperator<Scalar>::undetermined(Index) const {
  return {};
}

template <typename Scalar>
std::vector<std::int32_t> MeasurementOperator<Scalar>::rigid_groups(
    const StackedFactors<Scalar>& Z, const std::function<Reals<Scalar>()>&) const {
  return std::vector<std::int32_t>(static_cast<size_t>(Z.Z.rows()), 0);
}

template <typename Scalar>
void MeasurementOperator<Scalar>::visit_entries(const std::function<void(Index, Index)>&) const {}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> MeasurementOperator<Scalar>::subset(
    const std::vector<Index>&) const {
  throw InvalidArgument(message("operator '", name(), "' cannot hold out measurements"));
}

template <typename Scalar>
std::shared_ptr<const MeasurementOperator<Scalar>> MeasurementOperator<Scalar>::on_device(
    Index) const {
  throw OptionError("device", message("cuda has no operator '", name(), "' of ",
                                      scalar_name<Scalar>(), " numbers: leave the option out"));
}

template <typename Scalar>
std::shared_ptr<const device::GradientModel<RealOf<Scalar>>>
MeasurementOperator<Scalar>::gradient_model(const Reals<Scalar>&) const {
  return nullptr;
}

template <typename Scalar>
void pull_back(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
               const Reals<Scalar>& z, RowMatrix<Scalar>& G) {
  G.resize(Z.Z.rows(), Z.rank());
  if (Z.symmetric) {
    op.adjoint_times(z, Z.U(), G);
    G *= 2;
  } else {
    op.adjoint_products(z, Z.U(), Z.V(), G.topRows(op.rows()), G.bottomRows(op.cols()));
  }
}

template <typename Scalar>
void push_forward(const MeasurementOperator<Scalar>& op, const StackedFactors<Scalar>& Z,
                  const RowMatrix<Scalar>& P, Reals<Scalar>& y) {
  const Index k = Z.rank();
  if (Z.symmetric) {
    op.apply(P, Reals<Scalar>::Constant(k, 2), Z.U(), y);
    return;
  }
  RowMatrix<Scalar> left(op.rows(), 2 * k), right(op.cols(), 2 * k);
  left << P.topRows(op.rows()), Z.U();
  right << Z.V(), P.bottomRows(op.cols());
  op.apply(left, Reals<Scalar>::Ones(2 * k), right, y);
}

template <typename Scalar>
void residual_product(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& z,
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

#define UDV_INSTANTIATE(Scalar)                                                                 \
  template class MeasurementOperator<Scalar>;                                                   \
  template void pull_back(const MeasurementOperator<Scalar>&, const StackedFactors<Scalar>&,    \
                          const Reals<Scalar>&, RowMatrix<Scalar>&);                            \
  template void push_forward(const MeasurementOperator<Scalar>&, const StackedFactors<Scalar>&, \
                             const RowMatrix<Scalar>&, Reals<Scalar>&);                         \
  template void residual_product(const MeasurementOperator<Scalar>&, const Reals<Scalar>&,      \
                                 const Vector<Scalar>&, Vector<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
