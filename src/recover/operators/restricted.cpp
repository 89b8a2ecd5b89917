// SPDX-License-Identifier: MIT
#include "recover/operators/restricted.hpp"

#include <algorithm>

#include "core/instantiate.hpp"
#include "core/require.hpp"

namespace udv {

template <typename Scalar>
RestrictedOperator<Scalar>::RestrictedOperator(const IntensityOperator<Scalar>& op,
                                               std::vector<Index> entries)
    : IntensityOperator<Scalar>(static_cast<Index>(entries.size()), op.num_measurements()),
      op_(op),
      entries_(std::move(entries)) {
  require(!entries_.empty() && entries_.front() >= 0 && entries_.back() < op.rows(),
          "restricted: ", entries_.size(), " entries named, some of 0 to ", op.rows() - 1,
          " expected");
  const auto p = static_cast<double>(entries_.size());
  const Reals<Scalar> squares = squared_rows(Reals<Scalar>::Ones(this->rows()));
  norm_bound_ = squares.template cast<double>().norm();
  mean_gain_ = norm_bound_ * norm_bound_ / (p * p);
}

template <typename Scalar>
RowMatrix<Scalar> RestrictedOperator<Scalar>::spread(const ConstRows<Scalar>& U) const {
  RowMatrix<Scalar> whole = RowMatrix<Scalar>::Zero(op_.rows(), U.cols());
  for (size_t j = 0; j < entries_.size(); ++j)
    whole.row(entries_[j]) = U.row(static_cast<Index>(j));
  return whole;
}

template <typename Scalar>
Vector<Scalar> RestrictedOperator<Scalar>::gather(const Vector<Scalar>& x) const {
  Vector<Scalar> part(this->rows());
  for (size_t j = 0; j < entries_.size(); ++j) part(static_cast<Index>(j)) = x(entries_[j]);
  return part;
}

template <typename Scalar>
void RestrictedOperator<Scalar>::project(const ConstRows<Scalar>& U,
                                         RowMatrix<Scalar>& fields) const {
  op_.project(spread(U), fields);
}

template <typename Scalar>
void RestrictedOperator<Scalar>::back_project(const RowMatrix<Scalar>& fields,
                                              Rows<Scalar> out) const {
  RowMatrix<Scalar> whole(op_.rows(), fields.cols());
  op_.back_project(fields, whole);
  for (size_t j = 0; j < entries_.size(); ++j)
    out.row(static_cast<Index>(j)) = whole.row(entries_[j]);
}

// E |w x|^2 = |w|^2 |x|^2 / p for a random direction of w.
template <typename Scalar>
double RestrictedOperator<Scalar>::trace_estimate(const Reals<Scalar>& b) const {
  const auto squares = squared_rows(Reals<Scalar>::Ones(this->rows()));
  const double light = squares.template cast<double>().sum();
  return light > 0 ? b.template cast<double>().sum() / light * static_cast<double>(this->rows())
                   : 0;
}

template <typename Scalar>
Reals<Scalar> RestrictedOperator<Scalar>::diagonal(const Reals<Scalar>& w) const {
  const Reals<Scalar> whole = op_.diagonal(w);
  Reals<Scalar> part(this->rows());
  for (size_t j = 0; j < entries_.size(); ++j) part(static_cast<Index>(j)) = whole(entries_[j]);
  return part;
}

template <typename Scalar>
Reals<Scalar> RestrictedOperator<Scalar>::squared_rows(const Reals<Scalar>& c) const {
  Reals<Scalar> whole = Reals<Scalar>::Zero(op_.rows());
  for (size_t j = 0; j < entries_.size(); ++j) whole(entries_[j]) = c(static_cast<Index>(j));
  return op_.squared_rows(whole);
}

// Re sum_c d_c (W U)_c o conj (W V)_c
template <typename Scalar>
void RealUnknowns<Scalar>::apply(const ConstRows<Real>& U, const Vector<Real>& d,
                                 const ConstRows<Real>& V, Vector<Real>& y) const {
  RowMatrix<Scalar> left, right;
  op_.project(RowMatrix<Scalar>(U.template cast<Scalar>()), left);
  if (U.data() == V.data()) {
    y = left.cwiseAbs2() * d;
    return;
  }
  op_.project(RowMatrix<Scalar>(V.template cast<Scalar>()), right);
  y = left.cwiseProduct(right.conjugate()).real() * d;
}

// Re W^* (z o W V)
template <typename Scalar>
void RealUnknowns<Scalar>::adjoint_times(const Vector<Real>& z, const ConstRows<Real>& V,
                                         Rows<Real> out) const {
  RowMatrix<Scalar> fields, back(V.rows(), V.cols());
  op_.project(RowMatrix<Scalar>(V.template cast<Scalar>()), fields);
  scale_rows<Scalar>(z, fields);
  op_.back_project(fields, back);
  out = back.real();
}

#define UDV_INSTANTIATE(Scalar) template class RestrictedOperator<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)
#undef UDV_INSTANTIATE
template class RealUnknowns<std::complex<float>>;
template class RealUnknowns<std::complex<double>>;

}  // namespace udv
