// SPDX-License-Identifier: MIT
#include "udv/core/spectrum.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/blas.hpp"
#include "core/instantiate.hpp"
#include "core/lapack.hpp"

namespace udv {
namespace {

// Single precision is computed in double: cores are small, and spectra show what is negligible.
template <typename Scalar>
using Wide = std::conditional_t<kIsComplex<Scalar>, std::complex<double>, double>;

// A diag(d) B^*
template <typename W>
Matrix<W> core_of(RowMatrix<W> A, const Vector<double>& d, const RowMatrix<W>& B) {
  for (Index j = 0; j < A.cols(); ++j) A.col(j) *= d(j);
  RowMatrix<W> core(A.rows(), B.rows());
  blas::multiply<W>(blas::Form::kPlain, A, blas::Form::kAdjoint, B, core);
  return core;
}

}  // namespace

template <typename Scalar>
FactoredSvd<Scalar> factored_svd(const RowMatrix<Scalar>& U, const Reals<Scalar>& d,
                                 const RowMatrix<Scalar>& V) {
  using W = Wide<Scalar>;
  if (d.size() == 0) return {U, d.template cast<double>(), V};
  const lapack::ThinQr<W> left(U.template cast<W>()), right(V.template cast<W>());
  const auto small =
      lapack::thin_svd<W>(core_of<W>(left.R(), d.template cast<double>(), right.R()));
  return {left.Q_times(small.U).template cast<Scalar>(), small.s,
          right.Q_times(small.V).template cast<Scalar>()};
}

template <typename Scalar>
FactoredSvd<Scalar> factored_eigen(const RowMatrix<Scalar>& U, const Reals<Scalar>& d) {
  using W = Wide<Scalar>;
  if (d.size() == 0) return {U, d.template cast<double>(), {}};
  const lapack::ThinQr<W> qr(U.template cast<W>());
  const RowMatrix<W> R = qr.R();
  Matrix<W> core = core_of<W>(R, d.template cast<double>(), R);
  const Vector<double> values = lapack::eigen_in_place<W>(core, true);
  return {qr.Q_times(core.rowwise().reverse()).template cast<Scalar>(), values.reverse(), {}};
}

#define UDV_INSTANTIATE(Scalar)                                                             \
  template FactoredSvd<Scalar> factored_svd(const RowMatrix<Scalar>&, const Reals<Scalar>&, \
                                            const RowMatrix<Scalar>&);                      \
  template FactoredSvd<Scalar> factored_eigen(const RowMatrix<Scalar>&, const Reals<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

Index numerical_rank(const Vector<double>& spectrum, double tolerance) {
  if (spectrum.size() == 0 || !(spectrum(0) > 0)) return 0;
  return (spectrum.array() > tolerance * spectrum(0)).count();
}

double rank_gap(const Vector<double>& spectrum, Index rank) {
  if (rank == 0) return 0;
  const double floor = std::numeric_limits<double>::epsilon() * spectrum(0);
  const double next = rank < spectrum.size() ? spectrum(rank) : 0.0;
  return spectrum(rank - 1) / std::max(next, floor);
}

}  // namespace udv
