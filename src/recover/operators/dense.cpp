// SPDX-License-Identifier: MIT
#include "udv/recover/operators/dense.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "recover/operators/scalar_values.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kMeasurementBlock = 16;  // rows of A per task in A(X)
constexpr Index kEntryBlock = 512;       // entries of X per task in A*(z)

}  // namespace

template <typename Scalar>
DenseOperator<Scalar>::DenseOperator(RowMatrix<Scalar> measurements, Index rows, Index cols,
                                     bool symmetric)
    : MeasurementOperator<Scalar>(rows, cols, (symmetric ? 1 : kParts<Scalar>)*measurements.rows(),
                                  symmetric),
      measurements_(std::move(measurements)) {
  require(rows > 0 && cols > 0, "dense: the matrix is ", rows, " x ", cols,
          ", at least 1 x 1 expected");
  require(measurements_.rows() > 0, "dense: no measurements");
  require(measurements_.cols() == rows * cols, "dense: each A_i has ", measurements_.cols(),
          " entries, ", rows, " x ", cols, " = ", rows * cols, " expected");
  require(!symmetric || rows == cols, "dense: a symmetric matrix is ", rows, " x ", cols,
          ", square expected");
  for (Index i = 0; i < measurements_.rows(); ++i)
    require(measurements_.row(i).allFinite(), "dense: A_", i, " holds a value that is not finite");
  if (symmetric) {
    for (Index i = 0; i < measurements_.rows(); ++i) {
      Eigen::Map<RowMatrix<Scalar>> A(measurements_.data() + i * rows * cols, rows, cols);
      A = ((A + A.adjoint()) / RealOf<Scalar>(2)).eval();
    }
  }
  // Real symmetric matrices have p (p + 1) / 2 dimensions: that many share the gain. Hermitian
  // ones have p^2, and complex ones 2 p q for two numbers per measurement.
  const Index dimensions = symmetric && !kIsComplex<Scalar> ? rows * (rows + 1) / 2 : rows * cols;
  mean_gain_ = measurements_.squaredNorm() / static_cast<double>(dimensions);
}

template <typename Scalar>
void DenseOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                  const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  const RowMatrix<Scalar> X = U * d.template cast<Scalar>().asDiagonal() * V.adjoint();
  const Eigen::Map<const Vector<Scalar>> x(X.data(), X.size());
  y.resize(this->num_measurements());
  parallel_blocks(measurements_.rows(), kMeasurementBlock, [&](Index begin, Index end) {
    const auto A = measurements_.middleRows(begin, end - begin);
    const Vector<Scalar> measured = A.conjugate() * x;
    if (parts() == kParts<Scalar>)
      Eigen::Map<Vector<Scalar>>(as_scalars<Scalar>(y.data()) + begin, end - begin) = measured;
    else
      y.segment(begin, end - begin) = measured.real();
  });
}

template <typename Scalar>
RowMatrix<Scalar> DenseOperator<Scalar>::adjoint(const Reals<Scalar>& z) const {
  RowMatrix<Scalar> X(this->rows(), this->cols());
  const Index n = measurements_.rows();
  Vector<Scalar> weights = z.head(n).template cast<Scalar>();
  if (parts() == kParts<Scalar>)
    weights = Eigen::Map<const Vector<Scalar>>(as_scalars<Scalar>(z.data()), n);
  Eigen::Map<Vector<Scalar>> x(X.data(), X.size());
  parallel_blocks(x.size(), kEntryBlock, [&](Index begin, Index end) {
    x.segment(begin, end - begin).noalias() =
        measurements_.middleCols(begin, end - begin).transpose() * weights;
  });
  return X;
}

template <typename Scalar>
void DenseOperator<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                                          Rows<Scalar> out) const {
  out.noalias() = adjoint(z) * V;
}

template <typename Scalar>
void DenseOperator<Scalar>::adjoint_transpose_times(const Reals<Scalar>& z,
                                                    const ConstRows<Scalar>& U,
                                                    Rows<Scalar> out) const {
  out.noalias() = adjoint(z).adjoint() * U;
}

template <typename Scalar>
void DenseOperator<Scalar>::adjoint_products(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                                             const ConstRows<Scalar>& V, Rows<Scalar> for_u,
                                             Rows<Scalar> for_v) const {
  const RowMatrix<Scalar> back = adjoint(z);
  for_u.noalias() = back * V;
  for_v.noalias() = back.adjoint() * U;
}

template <typename Scalar>
double DenseOperator<Scalar>::norm_bound() const {
  return measurements_.norm();
}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> DenseOperator<Scalar>::subset(
    const std::vector<Index>& which) const {
  RowMatrix<Scalar> kept(static_cast<Index>(which.size()), measurements_.cols());
  for (size_t i = 0; i < which.size(); ++i)
    kept.row(static_cast<Index>(i)) = measurements_.row(which[i]);
  return std::make_unique<DenseOperator>(std::move(kept), this->rows(), this->cols(),
                                         this->symmetric());
}

#define UDV_INSTANTIATE(Scalar) template class DenseOperator<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
