// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_gauge.hpp"

#include <cmath>

#include "core/small_solves.hpp"

namespace udv {

BayesGauge::BayesGauge(BayesSums& rows, BayesSums& cols, double& mean)
    : rows_(rows), cols_(cols), mean_(mean), D_(rows.moment.rows() - 1) {
  H_rows_ = H_cols_ = Matrix<double>::Identity(D_ + 1, D_ + 1);
}

void BayesGauge::apply(const Matrix<double>& step, BayesSums& side, Matrix<double>& H) {
  side.moment = congruence(step, side.moment);
  side.means = congruence(step, side.means);
  H = small_product(step, H);
}

void BayesGauge::center(BayesSums& side, Matrix<double>& H) {
  const double average = side.means(0, 1) / side.means(0, 0);
  Matrix<double> step = Matrix<double>::Identity(D_ + 1, D_ + 1);
  step(1, 0) = -average;
  apply(step, side, H);
  mean_ += average;
}

// With fixed prior variances the bound is quadratic in d, and renewing them afterwards raises it
// further: (sum E u u^T / prior_b + lines diag(1 / prior_v)) d = sum v / prior_v - sum E b u /
// prior_b.
void BayesGauge::shift(const Vector<double>& bias_prior, const Vector<double>& other_prior,
                       BayesSums& bias_side, Matrix<double>& H_bias, BayesSums& other,
                       Matrix<double>& H) {
  const Index K = D_ - 1;
  if (K == 0) return;
  const Matrix<double>& A = bias_side.moment;
  const Vector<double> precision = other_prior.tail(K).cwiseInverse();
  Matrix<double> system = A.bottomRightCorner(K, K) / bias_prior(0);
  system.diagonal() += other.moment(0, 0) * precision;
  const Vector<double> right =
      other.moment.col(0).tail(K).cwiseProduct(precision) - A.col(1).tail(K) / bias_prior(0);
  const Vector<double> d = symmetric_solve(system, right);
  if (!d.allFinite()) return;
  Matrix<double> to_bias = Matrix<double>::Identity(D_ + 1, D_ + 1), away = to_bias;
  to_bias.row(1).tail(K) = d.transpose();
  away.col(0).tail(K) = -d;
  apply(to_bias, bias_side, H_bias);
  apply(away, other, H);
}

void BayesGauge::shift_to_rows(const Vector<double>& row_prior, const Vector<double>& col_prior) {
  shift(row_prior, col_prior, rows_, H_rows_, cols_, H_cols_);
}

void BayesGauge::shift_to_cols(const Vector<double>& row_prior, const Vector<double>& col_prior) {
  shift(col_prior, row_prior, cols_, H_cols_, rows_, H_rows_);
}

// With A = sum E u u^T, B = sum E v v^T = L L^T and L^T A L = Q diag(s) Q^T:
// R = L Q diag(s^-1/4) (p/q)^1/4 makes both R^T A R and R^-1 B R^-T diagonal multiples of s^1/2.
void BayesGauge::rotate() {
  const Index K = D_ - 1;
  if (K == 0) return;
  const auto [L, positive] = cholesky(cols_.moment.bottomRightCorner(K, K));
  if (!positive) return;
  const SymmetricEigen eigen =
      symmetric_eigen(congruence(L.transpose(), rows_.moment.bottomRightCorner(K, K)));
  const Vector<double> s = eigen.values.reverse();
  if (!(s.minCoeff() > 0)) return;
  const double balance =
      std::pow(static_cast<double>(rows_.lines) / static_cast<double>(cols_.lines), 0.25);
  const Vector<double> quarter = s.array().sqrt().sqrt() / balance;
  const Matrix<double> Q = eigen.Q.rowwise().reverse();
  const Matrix<double> R = small_product(L, Q) * quarter.cwiseInverse().asDiagonal();
  // R^-1 = diag(quarter) Q^T L^-1
  const Matrix<double> inverse =
      quarter.asDiagonal() * small_product(Q.transpose(), lower_inverse(L));
  Matrix<double> row_step = Matrix<double>::Identity(D_ + 1, D_ + 1), col_step = row_step;
  row_step.bottomRightCorner(K, K) = R.transpose();
  col_step.bottomRightCorner(K, K) = inverse;
  apply(row_step, rows_, H_rows_);
  apply(col_step, cols_, H_cols_);
  const double log_det =
      L.diagonal().array().log().sum() - quarter.array().log().sum();  // of R, up to a sign
  rows_.log_det += 2 * static_cast<double>(rows_.lines) * log_det;
  cols_.log_det -= 2 * static_cast<double>(cols_.lines) * log_det;
}

}  // namespace udv
