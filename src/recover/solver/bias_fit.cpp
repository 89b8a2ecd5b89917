// SPDX-License-Identifier: MIT
#include "recover/solver/bias_fit.hpp"

#include <algorithm>
#include <cmath>

#include "recover/operators/measured_sums.hpp"

namespace udv {
namespace {

// Sums of z over each row, and over each column.
Vector<double> row_sums(const MeasurementOperator<double>& op, const Vector<double>& z) {
  RowMatrix<double> sums(op.rows(), 1);
  op.adjoint_times(z, RowMatrix<double>::Ones(op.cols(), 1), sums);
  return sums;
}

Vector<double> col_sums(const MeasurementOperator<double>& op, const Vector<double>& z) {
  RowMatrix<double> sums(op.cols(), 1);
  op.adjoint_transpose_times(z, RowMatrix<double>::Ones(op.rows(), 1), sums);
  return sums;
}

}  // namespace

double bias_parameters(Centering mode, Index p, Index q) {
  if (mode == Centering::kNone || mode == Centering::kAuto) return 0;
  const Index rows = has_rows(mode) ? p - 1 : 0;
  const Index cols = has_cols(mode) ? q - 1 : 0;
  return static_cast<double>(1 + rows + cols);
}

Vector<double> measured(const MeasurementOperator<double>& op, const Biases& biases) {
  RowMatrix<double> U = RowMatrix<double>::Ones(op.rows(), 2);
  RowMatrix<double> V = RowMatrix<double>::Ones(op.cols(), 2);
  if (biases.row.size() > 0)
    U.col(0) = biases.row.array() + biases.global;
  else
    U.col(0).setConstant(biases.global);
  if (biases.col.size() > 0)
    V.col(1) = biases.col;
  else
    V.col(1).setZero();
  Vector<double> y;
  op.apply(U, Vector<double>::Ones(2), V, y);
  return y;
}

BiasFit::BiasFit(const MeasurementOperator<double>& op, Centering mode) : op_(op), mode_(mode) {
  Biases one;
  one.global = 1;
  ones_ = measured(op, one);
  row_counts_ = row_sums(op, ones_);
  col_counts_ = col_sums(op, ones_);
  if (has_rows(mode)) biases.row.setZero(op.rows());
  if (has_cols(mode)) biases.col.setZero(op.cols());
}

double BiasFit::update(Vector<double>& bias, const Vector<double>& counts,
                       const Vector<double>& sums) {
  // The mean of the residual plus the present bias, which the residual lacks.
  double moved = 0;
  for (Index i = 0; i < bias.size(); ++i) {
    if (!(counts(i) > 0)) continue;
    const double next = (sums(i) + counts(i) * bias(i)) / counts(i);
    moved = std::max(moved, std::abs(next - bias(i)));
    bias(i) = next;
  }
  return moved;
}

double BiasFit::sweep(const Vector<double>& b) {
  if (mode_ == Centering::kNone) return 0;
  Vector<double> residual = b - measured(op_, biases);
  const double step = measured_dot(op_, residual, ones_) / measured_square(op_, ones_);
  biases.global += step;
  double moved = std::abs(step);
  if (has_rows(mode_)) {
    residual = b - measured(op_, biases);
    moved = std::max(moved, update(biases.row, row_counts_, row_sums(op_, residual)));
  }
  if (has_cols(mode_)) {
    residual = b - measured(op_, biases);
    moved = std::max(moved, update(biases.col, col_counts_, col_sums(op_, residual)));
  }
  return moved;
}

void BiasFit::converge(const Vector<double>& b, int max_sweeps, double tolerance) {
  const double smallest = tolerance * largest_measured(op_, b);
  for (int k = 0; k < max_sweeps; ++k)
    if (sweep(b) <= smallest) break;
}

}  // namespace udv
