// SPDX-License-Identifier: MIT
#include "udv/recover/operators/intensity.hpp"

#include "core/instantiate.hpp"
#include "udv/recover/operators/generic_linearization.hpp"

namespace udv {
namespace {

// J P = 2 Re sum_c conj (W U)_c o (W P)_c and J^T z = 2 W^* (z o W U), with W U computed once.
template <typename Scalar>
class IntensityLinearization final : public GenericLinearization<Scalar> {
 public:
  IntensityLinearization(const IntensityOperator<Scalar>& op, const StackedFactors<Scalar>& Z)
      : GenericLinearization<Scalar>(op, Z), op_(op) {
    op.project(Z.U(), at_);
  }

  void normal_product(const RowMatrix<Scalar>& P, RowMatrix<Scalar>& Y) override {
    op_.project(P, moved_);
    measured_ = 4 * at_.conjugate().cwiseProduct(moved_).real().rowwise().sum();
    moved_ = at_;
    scale_rows<Scalar>(measured_, moved_);
    Y.resize(P.rows(), P.cols());
    op_.back_project(moved_, Y);
  }

 private:
  const IntensityOperator<Scalar>& op_;
  RowMatrix<Scalar> at_, moved_;
  Reals<Scalar> measured_;
};

}  // namespace

template <typename Scalar>
void IntensityOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                      const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  RowMatrix<Scalar> left, right;
  project(U, left);
  if (U.data() == V.data()) {
    y = left.cwiseAbs2() * d;
  } else {
    project(V, right);
    y = left.cwiseProduct(right.conjugate()).real() * d;
  }
}

template <typename Scalar>
void IntensityOperator<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                                              Rows<Scalar> out) const {
  RowMatrix<Scalar> fields;
  project(V, fields);
  scale_rows<Scalar>(z, fields);
  back_project(fields, out);
}

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> IntensityOperator<Scalar>::linearize(
    const StackedFactors<Scalar>& Z) const {
  return std::make_unique<IntensityLinearization<Scalar>>(*this, Z);
}

#define UDV_INSTANTIATE(Scalar) template class IntensityOperator<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
