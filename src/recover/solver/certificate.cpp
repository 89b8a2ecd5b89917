// SPDX-License-Identifier: MIT
#include "udv/recover/solver/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "core/lanczos.hpp"
#include "core/sums.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

constexpr Index kLanczosSteps = 100;
constexpr double kLanczosTolerance = 1e-3;

// -lambda_min of A*(z), or of [0 A*(z); A*(z)^* 0]: the largest singular value.
template <typename Scalar>
double steepest_descent(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& z,
                        std::uint64_t seed) {
  Random random(seed, kStreamLanczos);
  const Index size = op.symmetric() ? op.rows() : op.rows() + op.cols();
  return -smallest_eigenvalue<Scalar>(
      size, [&](const Vector<Scalar>& x, Vector<Scalar>& y) { residual_product(op, z, x, y); },
      kLanczosTolerance, kLanczosSteps, random);
}

// Gradient products per column: G = (A*(r) V; A*(r)^* U), with the ridge's share on unit columns.
template <typename Scalar>
struct ColumnProducts {
  RowMatrix<Scalar> Z;  // the columns themselves
  RowMatrix<Scalar> G;
  Reals<Scalar> norms;  // of the columns of Z
};

template <typename Scalar>
ColumnProducts<Scalar> column_products(const MeasurementOperator<Scalar>& op,
                                       const Reals<Scalar>& residual,
                                       const Factorization<Scalar>& factors, double ridge) {
  ColumnProducts<Scalar> products;
  const StackedFactors<Scalar>& stack = factors.stack();
  products.Z = stack.Z;
  pull_back(op, stack, residual, products.G);
  // pull_back is the gradient of f(U U^T) = 2 A*(r) U where symmetric; Lemma 1 has A*(r) U.
  if (stack.symmetric) products.G /= 2;
  // For balanced columns the ridge of |X|_* acts as mu on each side (half of it where symmetric).
  products.G += static_cast<RealOf<Scalar>>(stack.symmetric ? ridge / 2 : ridge) * products.Z;
  products.norms = products.Z.colwise().norm().transpose();
  return products;
}

template <typename Scalar>
void check_lemma(const ColumnProducts<Scalar>& products, const Factorization<Scalar>& factors,
                 double unit, Certificate& certificate) {
  const Reals<Scalar>& d = factors.d();
  for (Index j = 0; j < d.size(); ++j) {
    const double norm = products.norms(j);
    if (norm == 0) continue;
    const Index p = factors.stack().rows;
    const double u_norm = products.Z.col(j).head(p).norm();
    if (u_norm == 0) continue;
    const double curvature = std::real(products.Z.col(j).head(p).dot(products.G.col(j).head(p))) /
                             (u_norm * u_norm) / unit;
    const double slope = products.G.col(j).norm() / norm / unit;
    if (d(j) > 0) {
      certificate.stationarity = std::max(certificate.stationarity, slope);
      certificate.complementarity = std::max(certificate.complementarity, std::abs(curvature));
    } else {
      certificate.dead_curvature = std::max(certificate.dead_curvature, -curvature);
    }
  }
}

// (b): beta = -<G D, Z> / |Z|^2, and |G D + beta Z| / |Z| where the ball binds.
template <typename Scalar>
void check_ball(const ColumnProducts<Scalar>& products, const Factorization<Scalar>& factors,
                double alpha, double unit, Certificate& certificate) {
  const double norm = products.Z.norm();
  const bool binding = alpha > 0 && factors.norm_u() >= alpha * (1 - 1e-9);
  if (!binding || norm == 0) return;
  const RowMatrix<Scalar> GD = products.G * factors.d().template cast<Scalar>().asDiagonal();
  const double beta = -dot(GD, products.Z) / (norm * norm);
  certificate.ball_multiplier = std::max(0.0, beta) / unit;
  certificate.ball_residual =
      (GD + static_cast<RealOf<Scalar>>(beta) * products.Z).norm() / norm / unit;
}

}  // namespace

std::string_view to_string(Optimality verdict) {
  switch (verdict) {
    case Optimality::kGlobal:
      return "global";
    case Optimality::kStationary:
      return "stationary";
    default:
      return "not converged";
  }
}

template <typename Scalar>
Certificate certify(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                    const Factorization<Scalar>& factors, const CertificateOptions& options) {
  Certificate certificate;
  Reals<Scalar> residual;
  factors.measure(op, residual);
  residual -= b;
  const double unit = std::max(steepest_descent<Scalar>(op, -b, options.seed), 1e-300);
  const auto products = column_products(op, residual, factors, options.ridge);
  check_lemma(products, factors, unit, certificate);
  check_ball(products, factors, options.alpha, unit, certificate);
  const double threshold = op.symmetric() ? options.ridge / 2 : options.ridge;
  certificate.dual_infeasibility =
      std::max(0.0, steepest_descent(op, residual, options.seed) - threshold) / unit;
  certificate.ridge = options.ridge;

  const bool stationary = certificate.stationarity <= options.tolerance &&
                          certificate.complementarity <= options.tolerance;
  if (stationary)
    certificate.verdict = certificate.dual_infeasibility <= options.tolerance
                              ? Optimality::kGlobal
                              : Optimality::kStationary;
  return certificate;
}

#define UDV_INSTANTIATE(Scalar)                                                          \
  template Certificate certify(const MeasurementOperator<Scalar>&, const Reals<Scalar>&, \
                               const Factorization<Scalar>&, const CertificateOptions&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
