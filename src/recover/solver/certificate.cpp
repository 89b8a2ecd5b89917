// SPDX-License-Identifier: MIT
#include "udv/recover/solver/certificate.hpp"

#include <algorithm>
#include <cmath>

#include "udv/core/lanczos.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace {

constexpr Index kLanczosSteps = 100;
constexpr double kLanczosTolerance = 1e-3;

// -lambda_min of A*(z), or of [0 A*(z); A*(z)^T 0]: the largest singular value.
double steepest_descent(const MeasurementOperator<double>& op, const Vector<double>& z,
                        std::uint64_t seed) {
  Random random(seed, kStreamLanczos);
  const Index size = op.symmetric() ? op.rows() : op.rows() + op.cols();
  return -smallest_eigenvalue(
      size, [&](const Vector<double>& x, Vector<double>& y) { residual_product(op, z, x, y); },
      kLanczosTolerance, kLanczosSteps, random);
}

// Gradient products per column: G = (A*(r) V; A*(r)^T U), with the ridge's share on unit columns.
struct ColumnProducts {
  RowMatrix<double> Z;  // the columns themselves
  RowMatrix<double> G;
  Vector<double> norms;  // of the columns of Z
};

ColumnProducts column_products(const MeasurementOperator<double>& op,
                               const Vector<double>& residual, const Factorization<double>& factors,
                               double ridge) {
  ColumnProducts products;
  const Stack<double>& stack = factors.stack();
  products.Z = stack.Z;
  pull_back(op, stack, residual, products.G);
  // pull_back is the gradient of f(U U^T) = 2 A*(r) U where symmetric; Lemma 1 has A*(r) U.
  if (stack.symmetric) products.G /= 2;
  // For balanced columns the ridge of |X|_* acts as mu on each side (half of it where symmetric).
  products.G += (stack.symmetric ? ridge / 2 : ridge) * products.Z;
  products.norms = products.Z.colwise().norm().transpose();
  return products;
}

void check_lemma(const ColumnProducts& products, const Factorization<double>& factors, double unit,
                 Certificate& certificate) {
  const Vector<double>& d = factors.d();
  for (Index j = 0; j < d.size(); ++j) {
    const double norm = products.norms(j);
    if (norm == 0) continue;
    const Index p = factors.stack().rows;
    const double u_norm = products.Z.col(j).head(p).norm();
    if (u_norm == 0) continue;
    const double curvature =
        products.Z.col(j).head(p).dot(products.G.col(j).head(p)) / (u_norm * u_norm) / unit;
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
void check_ball(const ColumnProducts& products, const Factorization<double>& factors, double alpha,
                double unit, Certificate& certificate) {
  const double norm = products.Z.norm();
  const bool binding = alpha > 0 && factors.norm_u() >= alpha * (1 - 1e-9);
  if (!binding || norm == 0) return;
  const RowMatrix<double> GD = products.G * factors.d().asDiagonal();
  const double beta = -GD.cwiseProduct(products.Z).sum() / (norm * norm);
  certificate.ball_multiplier = std::max(0.0, beta) / unit;
  certificate.ball_residual = (GD + beta * products.Z).norm() / norm / unit;
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

Certificate certify(const MeasurementOperator<double>& op, const Vector<double>& b,
                    const Factorization<double>& factors, const CertificateOptions& options) {
  Certificate certificate;
  Vector<double> residual;
  factors.measure(op, residual);
  residual -= b;
  const double unit = std::max(steepest_descent(op, -b, options.seed), 1e-300);
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

}  // namespace udv
