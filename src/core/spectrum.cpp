// SPDX-License-Identifier: MIT
#include "udv/core/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/instantiate.hpp"

namespace udv {
namespace {

// Single precision is computed in double: cores are small, and spectra show what is negligible.
template <typename Scalar>
using Wide = std::conditional_t<kIsComplex<Scalar>, std::complex<double>, double>;

template <typename Scalar>
struct ThinQr {
  Matrix<Scalar> Q;  // p x m, m = min(p, k)
  Matrix<Scalar> R;  // m x k
};

template <typename Scalar>
ThinQr<Scalar> thin_qr(const Matrix<Scalar>& U) {
  const Index m = std::min(U.rows(), U.cols());
  const Eigen::HouseholderQR<Matrix<Scalar>> qr{U};
  ThinQr<Scalar> result;
  result.Q = qr.householderQ() * Matrix<Scalar>::Identity(U.rows(), m);
  result.R = qr.matrixQR().topRows(m).template triangularView<Eigen::Upper>();
  return result;
}

// Jacobi is the more accurate one, divide and conquer the one that is still fast for large cores.
constexpr Index kLargeCore = 128;

template <typename Scalar>
FactoredSvd<Scalar> core_svd(const Matrix<Scalar>& core) {
  constexpr unsigned kThin = Eigen::ComputeThinU | Eigen::ComputeThinV;
  if (core.cols() <= kLargeCore) {
    const Eigen::JacobiSVD<Matrix<Scalar>> svd(core, kThin);
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
  }
  const Eigen::BDCSVD<Matrix<Scalar>> svd(core, kThin);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

}  // namespace

template <typename Scalar>
FactoredSvd<Scalar> factored_svd(const RowMatrix<Scalar>& U, const Reals<Scalar>& d,
                                 const RowMatrix<Scalar>& V) {
  using W = Wide<Scalar>;
  if (d.size() == 0) return {U, d.template cast<double>(), V};
  const auto left = thin_qr<W>(U.template cast<W>());
  const auto right = thin_qr<W>(V.template cast<W>());
  const Matrix<W> core = left.R * d.template cast<W>().asDiagonal() * right.R.adjoint();
  const auto small = core_svd<W>(core);
  return {(left.Q * small.U).template cast<Scalar>(), small.s,
          (right.Q * small.V).template cast<Scalar>()};
}

template <typename Scalar>
FactoredSvd<Scalar> factored_eigen(const RowMatrix<Scalar>& U, const Reals<Scalar>& d) {
  using W = Wide<Scalar>;
  if (d.size() == 0) return {U, d.template cast<double>(), {}};
  const auto qr = thin_qr<W>(U.template cast<W>());
  const Matrix<W> core = qr.R * d.template cast<W>().asDiagonal() * qr.R.adjoint();
  const Eigen::SelfAdjointEigenSolver<Matrix<W>> eigen(core);
  return {(qr.Q * eigen.eigenvectors().rowwise().reverse()).template cast<Scalar>(),
          eigen.eigenvalues().reverse(),
          {}};
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
