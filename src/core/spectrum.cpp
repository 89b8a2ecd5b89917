// SPDX-License-Identifier: MIT
#include "udv/core/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <limits>

namespace udv {
namespace {

struct ThinQr {
  Matrix<double> Q;  // p x m, m = min(p, k)
  Matrix<double> R;  // m x k
};

ThinQr thin_qr(const RowMatrix<double>& U) {
  const Index m = std::min(U.rows(), U.cols());
  const Eigen::HouseholderQR<Matrix<double>> qr{Matrix<double>(U)};
  ThinQr result;
  result.Q = qr.householderQ() * Matrix<double>::Identity(U.rows(), m);
  result.R = qr.matrixQR().topRows(m).template triangularView<Eigen::Upper>();
  return result;
}

// Jacobi is the more accurate one, divide and conquer the one that is still fast for large cores.
constexpr Index kLargeCore = 128;

FactoredSvd core_svd(const Matrix<double>& core) {
  constexpr unsigned kThin = Eigen::ComputeThinU | Eigen::ComputeThinV;
  if (core.cols() <= kLargeCore) {
    const Eigen::JacobiSVD<Matrix<double>> svd(core, kThin);
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
  }
  const Eigen::BDCSVD<Matrix<double>> svd(core, kThin);
  return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

}  // namespace

FactoredSvd factored_svd(const RowMatrix<double>& U, const Vector<double>& d,
                         const RowMatrix<double>& V) {
  if (d.size() == 0) return {U, d, V};
  const ThinQr left = thin_qr(U);
  const ThinQr right = thin_qr(V);
  const Matrix<double> core = left.R * d.asDiagonal() * right.R.transpose();
  const FactoredSvd small = core_svd(core);
  return {left.Q * small.U, small.s, right.Q * small.V};
}

FactoredSvd factored_eigen(const RowMatrix<double>& U, const Vector<double>& d) {
  if (d.size() == 0) return {U, d, {}};
  const ThinQr qr = thin_qr(U);
  const Matrix<double> core = qr.R * d.asDiagonal() * qr.R.transpose();
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> eigen(core);
  return {qr.Q * eigen.eigenvectors().rowwise().reverse(), eigen.eigenvalues().reverse(), {}};
}

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
