// SPDX-License-Identifier: MIT
#include "recover/solver/bias_fit.hpp"

#include <algorithm>
#include <cmath>

#include "recover/device/entries_device.hpp"
#include "recover/operators/entry_shares.hpp"
#include "recover/operators/measured_sums.hpp"
#include "udv/core/parallel.hpp"

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

Vector<double> as_doubles(const std::vector<Index>& values) {
  return Eigen::Map<const Vector<Index>>(values.data(), static_cast<Index>(values.size()))
      .cast<double>();
}

// X = (row + global) 1^T + 1 col^T as two columns.
StackedFactors<double> as_columns(const Biases& biases, Index rows, Index cols) {
  StackedFactors<double> Z(rows, cols, false, 2);
  Z.U().col(0).setConstant(biases.global);
  if (biases.row.size() > 0) Z.U().col(0).array() = biases.row.array() + biases.global;
  Z.U().col(1).setOnes();
  Z.V().col(0).setOnes();
  if (biases.col.size() > 0) Z.V().col(1) = biases.col;
  return Z;
}

}  // namespace

// What biases leave of values that are on the device.
class DeviceBiases {
 public:
  DeviceBiases(const EntriesOperator<double>& op, const Vector<double>& b)
      : rows_(op.rows()), cols_(op.cols()), model_(op, b) {}

  struct Left {
    Vector<double> sums;  // of sqrt(w) (b - A(biases)), line by line
    double squares;
  };
  // Of the lines of a side.
  Left left(const Biases& biases, int side) const {
    const auto of = [](const Vector<double>& bias) {
      return bias.size() > 0 ? bias.data() : nullptr;
    };
    Left result{Vector<double>(side == 0 ? rows_ : cols_), 0};
    model_.line_sums(side, biases.global, of(side == 0 ? biases.row : biases.col),
                     of(side == 0 ? biases.col : biases.row), result.sums.data(), &result.squares);
    return result;
  }

 private:
  Index rows_, cols_;
  device::EntriesResidual<double> model_;
};

namespace {

// measured() of entries in the memory of the host, whose operator is on a device: nothing has to go
// there and come back.
Vector<double> measured_here(const EntriesOperator<double>& op, const Biases& biases) {
  constexpr Index kLines = 1024;
  const SparseLines rows = op.by_row();
  const Vector<double>& root = op.root_weights();
  Vector<double> y(op.num_measurements());
  parallel_blocks(rows.count, kLines, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const double own = biases.global + (biases.row.size() > 0 ? biases.row(i) : 0.0);
      for (auto s = rows.first[i]; s < rows.first[i + 1]; ++s) {
        const Index t = rows.entry[s];
        const double x = own + (biases.col.size() > 0 ? biases.col(rows.other[s]) : 0.0);
        y(t) = root.size() > 0 ? root(t) * x : x;
      }
    }
  });
  return y;
}

// b - A(biases)
Vector<double> rest_of(const MeasurementOperator<double>& op, const Vector<double>& b,
                       const Biases& biases) {
  Vector<double> rest = measured(op, biases);
  rest = b - rest;
  return rest;
}

// Entries whose numbers are counted instead of added up: one array of their size less.
const EntriesOperator<double>* many_plain_entries(const MeasurementOperator<double>& op) {
  const auto* const entries = dynamic_cast<const EntriesOperator<double>*>(&op);
  const bool plain = entries && !op.symmetric() && entries->root_weights().size() == 0;
  return plain && op.num_measurements() >= many_entries() ? entries : nullptr;
}

}  // namespace

double bias_parameters(Centering mode, Index p, Index q) {
  if (mode == Centering::kNone || mode == Centering::kAuto) return 0;
  const Index rows = has_rows(mode) ? p - 1 : 0;
  const Index cols = has_cols(mode) ? q - 1 : 0;
  return static_cast<double>(1 + rows + cols);
}

Vector<double> measured(const MeasurementOperator<double>& op, const Biases& biases) {
  if (const auto* const entries = device::entries_on_device(op); entries && !op.symmetric())
    return measured_here(*entries, biases);
  const StackedFactors<double> Z = as_columns(biases, op.rows(), op.cols());
  Vector<double> y;
  apply_stack<double>(op, Z, y);
  return y;
}

BiasFit::BiasFit(const MeasurementOperator<double>& op, Centering mode) : op_(op), mode_(mode) {
  const auto* const entries = device::entries_on_device(op);
  const auto* const plain = entries ? entries : many_plain_entries(op);
  if (plain && plain->root_weights().size() == 0) {
    row_counts_ = as_doubles(plain->row_sizes());
    col_counts_ = as_doubles(plain->col_sizes());
  } else if (entries) {
    // What nothing leaves of sqrt(w): w by rows and columns.
    const DeviceBiases counts(*entries, entries->root_weights());
    row_counts_ = counts.left({}, 0).sums;
    col_counts_ = counts.left({}, 1).sums;
  } else {
    Biases one;
    one.global = 1;
    ones_ = measured(op, one);
    row_counts_ = row_sums(op, ones_);
    col_counts_ = col_sums(op, ones_);
  }
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

double BiasFit::mean_left(const Vector<double>& b) const {
  if (device_) return device_->left(biases, 0).sums.sum() / row_counts_.sum();
  const Vector<double> rest = rest_of(op_, b, biases);
  if (ones_.size() > 0) return measured_dot(op_, rest, ones_) / measured_square(op_, ones_);
  const auto sum_of = [&rest](Index begin, Index end) {
    double sum = 0;
    for (Index t = begin; t < end; ++t) sum += rest(t);
    return sum;
  };
  return sum_over<double>(op_, sum_of) / static_cast<double>(op_.num_measurements());
}

Vector<double> BiasFit::rows_left(const Vector<double>& b) const {
  return device_ ? device_->left(biases, 0).sums : row_sums(op_, rest_of(op_, b, biases));
}

Vector<double> BiasFit::cols_left(const Vector<double>& b) const {
  return device_ ? device_->left(biases, 1).sums : col_sums(op_, rest_of(op_, b, biases));
}

double BiasFit::left(const Vector<double>& b) const {
  if (device_) return std::sqrt(device_->left(biases, 0).squares);
  return measured_stable_norm(op_, rest_of(op_, b, biases));
}

double BiasFit::sweep(const Vector<double>& b) {
  if (mode_ == Centering::kNone) return 0;
  const double step = mean_left(b);
  biases.global += step;
  double moved = std::abs(step);
  if (has_rows(mode_)) moved = std::max(moved, update(biases.row, row_counts_, rows_left(b)));
  if (has_cols(mode_)) moved = std::max(moved, update(biases.col, col_counts_, cols_left(b)));
  return moved;
}

void BiasFit::converge(const Vector<double>& b, int max_sweeps, double tolerance) {
  if (const auto* const entries = device::entries_on_device(op_))
    device_ = std::make_shared<DeviceBiases>(*entries, b);
  const double smallest = tolerance > 0 ? tolerance * largest_measured(op_, b) : 0;
  for (int k = 0; k < max_sweeps; ++k)
    if (sweep(b) <= smallest) break;
}

}  // namespace udv
