// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include "udv/core/export.hpp"
#include "udv/recover/factors/factorization.hpp"

namespace udv {

enum class Optimality { kGlobal, kStationary, kNotConverged };
UDV_EXPORT std::string_view to_string(Optimality verdict);

/// How far (U, d, V) is from a fixed point (Lemma 1) and X from a global minimiser. All figures
/// are relative to the gradient at X = 0, so 1 is "not started" and 1e-16 is rounding.
/// Lemma 1 is for X = U D U^T; for U D V^T read A*(r) v_j and u_j^T A*(r) v_j.
struct Certificate {
  double stationarity = 0;        ///< (a) max_j |grad f(X) u_j d_j| / |u_j d_j|, ball not binding
  double ball_multiplier = 0;     ///< (b) beta in grad f(X) u_j d_j = -beta u_j, ball binding
  double ball_residual = 0;       ///< (b) what is left of that equation
  double dead_curvature = 0;      ///< (c) max_j of -u_j^T grad f(X) u_j / |u_j|^2 where d_j = 0
  double complementarity = 0;     ///< (d) max_j |u_j^T grad f(X) u_j| / |u_j|^2 where d_j > 0
  double dual_infeasibility = 0;  ///< -lambda_min(grad f), or its largest singular value, above 0
  double ridge = 0;               ///< mu, where the certificate is for f(X) + mu |X|_*
  Optimality verdict = Optimality::kNotConverged;
};

struct CertificateOptions {
  double tolerance = 1e-8;  ///< on every figure
  double ridge = 0;
  double alpha = 0;  ///< radius of the balls; 0: none
  std::uint64_t seed = 0;
};

/// Certifies X = U diag(d) V^T for f(X) = 1/2 |A(X) - b|^2 (+ ridge |X|_*): `global` where X is a
/// minimiser over all positive semidefinite matrices (symmetric) or over all matrices,
/// `stationary` where only the columns present cannot improve. Extreme eigenvalue by Lanczos.
template <typename Scalar>
UDV_EXPORT Certificate certify(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b,
                               const Factorization<Scalar>& factors,
                               const CertificateOptions& options);

}  // namespace udv
