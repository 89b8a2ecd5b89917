// SPDX-License-Identifier: MIT
#include "udv/recover/operators/dense.hpp"

#include <cmath>

#include "core/blas.hpp"
#include "core/instantiate.hpp"
#include "core/require.hpp"
#include "recover/operators/scalar_values.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

using blas::as_column;
using blas::Form;

constexpr Index kMeasurementBlock = 16;  // rows of A per task in A(X)
constexpr Index kEntryBlock = 512;       // entries of X per task in A*(z)

}  // namespace

template <typename Scalar>
DenseOperator<Scalar>::DenseOperator(RowMatrix<Scalar> measurements, Index rows, Index cols,
                                     bool symmetric)
    : MeasurementOperator<Scalar>(rows, cols, (symmetric ? 1 : kParts<Scalar>)*measurements.rows(),
                                  symmetric),
      own_(std::move(measurements)),
      measurements_(own_.data(), own_.rows(), own_.cols()) {
  require(rows > 0 && cols > 0, "dense: the matrix is ", rows, " x ", cols,
          ", at least 1 x 1 expected");
  require(own_.rows() > 0, "dense: no measurements");
  require(own_.cols() == rows * cols, "dense: each A_i has ", own_.cols(), " entries, ", rows,
          " x ", cols, " = ", rows * cols, " expected");
  require(!symmetric || rows == cols, "dense: a symmetric matrix is ", rows, " x ", cols,
          ", square expected");
  if (symmetric) {
    for (Index i = 0; i < own_.rows(); ++i) {
      Eigen::Map<RowMatrix<Scalar>> A(own_.data() + i * rows * cols, rows, cols);
      A = ((A + A.adjoint()) / RealOf<Scalar>(2)).eval();
    }
  }
  check_and_weigh();
}

template <typename Scalar>
DenseOperator<Scalar>::DenseOperator(const Scalar* values, Index measurements,
                                     std::shared_ptr<const void> owner, Index rows, Index cols)
    : MeasurementOperator<Scalar>(rows, cols, kParts<Scalar> * measurements, false),
      owner_(std::move(owner)),
      measurements_(values, measurements, rows * cols) {
  require(rows > 0 && cols > 0, "dense: the matrix is ", rows, " x ", cols,
          ", at least 1 x 1 expected");
  require(measurements > 0, "dense: no measurements");
  check_and_weigh();
}

template <typename Scalar>
void DenseOperator<Scalar>::check_and_weigh() {
  double energy = 0;
  Vector<Scalar> one;  // a copy: sums depend on where in memory the values begin
  for (Index i = 0; i < measurements_.rows(); ++i) {
    one = measurements_.row(i);
    require(one.allFinite(), "dense: A_", i, " holds a value that is not finite");
    energy += static_cast<double>(one.squaredNorm());
  }
  // Real symmetric matrices have p (p + 1) / 2 dimensions: that many share the gain. Hermitian
  // ones have p^2, and complex ones 2 p q for two numbers per measurement.
  const Index p = this->rows(), q = this->cols();
  const Index dimensions = this->symmetric() && !kIsComplex<Scalar> ? p * (p + 1) / 2 : p * q;
  mean_gain_ = energy / static_cast<double>(dimensions);
}

template <typename Scalar>
void DenseOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                  const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  const RowMatrix<Scalar> scaled = U * d.template cast<Scalar>().asDiagonal();
  RowMatrix<Scalar> X(U.rows(), V.rows());
  blas::multiply<Scalar>(Form::kPlain, scaled, Form::kAdjoint, V, X);
  // conj(A) x = conj(A conj(x)), with conj(x) for all tasks.
  if (kIsComplex<Scalar>) X = X.conjugate().eval();
  const Eigen::Map<const RowMatrix<Scalar>> x(X.data(), X.size(), 1);
  y.resize(this->num_measurements());
  parallel_blocks(measurements_.rows(), kMeasurementBlock, [&](Index begin, Index end) {
    Vector<Scalar> measured(end - begin);
    blas::multiply<Scalar>(Form::kPlain, measurements_.middleRows(begin, end - begin), Form::kPlain,
                           x, as_column(measured));
    if (kIsComplex<Scalar>) measured = measured.conjugate().eval();
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
  Eigen::Map<RowMatrix<Scalar>> x(X.data(), X.size(), 1);
  parallel_blocks(x.size(), kEntryBlock, [&](Index begin, Index end) {
    blas::multiply<Scalar>(Form::kTransposed, measurements_.middleCols(begin, end - begin),
                           Form::kPlain, as_column(weights), x.middleRows(begin, end - begin));
  });
  return X;
}

template <typename Scalar>
void DenseOperator<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                                          Rows<Scalar> out) const {
  blas::multiply<Scalar>(Form::kPlain, adjoint(z), Form::kPlain, V, out);
}

template <typename Scalar>
void DenseOperator<Scalar>::adjoint_transpose_times(const Reals<Scalar>& z,
                                                    const ConstRows<Scalar>& U,
                                                    Rows<Scalar> out) const {
  blas::multiply<Scalar>(Form::kAdjoint, adjoint(z), Form::kPlain, U, out);
}

template <typename Scalar>
void DenseOperator<Scalar>::adjoint_products(const Reals<Scalar>& z, const ConstRows<Scalar>& U,
                                             const ConstRows<Scalar>& V, Rows<Scalar> for_u,
                                             Rows<Scalar> for_v) const {
  const RowMatrix<Scalar> back = adjoint(z);
  blas::multiply<Scalar>(Form::kPlain, back, Form::kPlain, V, for_u);
  blas::multiply<Scalar>(Form::kAdjoint, back, Form::kPlain, U, for_v);
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
