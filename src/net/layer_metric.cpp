// SPDX-License-Identifier: MIT
#include "net/layer_metric.hpp"

#include <Eigen/Cholesky>

#include "core/require.hpp"

namespace udv::net {
namespace {

constexpr double kDamping = 1e-3;  // of the mean diagonal: directions that no sample has

Matrix<double> damped_root(const std::string& name, const char* what,
                           const RowMatrix<double>& moments, Index size) {
  if (moments.size() == 0) return {};
  require(moments.rows() == size && moments.cols() == size, "calibration of ", name, ": ", what,
          " of ", moments.rows(), " numbers found, ", size, " expected");
  const double mean = moments.diagonal().mean();
  require(mean > 0, "calibration of ", name, ": ", what, " are all zero");
  Matrix<double> damped = (moments + moments.transpose()) / 2;
  damped.diagonal().array() += kDamping * mean;
  const Eigen::LLT<Matrix<double>> root(damped);
  require(root.info() == Eigen::Success, "calibration of ", name, ": ", what,
          " are no second moments: the matrix has a negative eigenvalue");
  return root.matrixL();
}

Matrix<double> transposed_times(const Matrix<double>& L, const Matrix<double>& X) {
  return L.size() == 0 ? X : Matrix<double>(L.triangularView<Eigen::Lower>().transpose() * X);
}

Matrix<double> transposed_solve(const Matrix<double>& L, const Matrix<double>& X) {
  return L.size() == 0 ? X : Matrix<double>(L.triangularView<Eigen::Lower>().transpose().solve(X));
}

}  // namespace

LayerMetric::LayerMetric(const std::string& name, Index out, Index in,
                         const Calibration& calibration) {
  const auto at = calibration.find(name);
  if (at == calibration.end()) return;
  left_ = damped_root(name, "gradients", at->second.gradients, out);
  right_ = damped_root(name, "inputs", at->second.inputs, in);
  measures_loss_ = left_.size() > 0 && right_.size() > 0;
}

Matrix<double> LayerMetric::into_left(const Matrix<double>& B) const {
  return transposed_times(left_, B);
}

Matrix<double> LayerMetric::into_right(const Matrix<double>& At) const {
  return transposed_times(right_, At);
}

Matrix<double> LayerMetric::from_left(const Matrix<double>& P) const {
  return transposed_solve(left_, P);
}

Matrix<double> LayerMetric::from_right(const Matrix<double>& Q) const {
  return transposed_solve(right_, Q);
}

}  // namespace udv::net
