// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <memory>

#include "core/sums.hpp"
#include "recover/device/gradient_model.hpp"
#include "udv/recover/factors/stacked_factors.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv::device {

/// Entries of a matrix on the device, by rows and by columns: what an EntriesOperator that works
/// there refers to. Real numbers only.
template <typename Scalar>
class EntriesOnDevice {
 public:
  /// Throws OptionError where the device has too little memory for these entries and the arrays of
  /// a gradient run with so many columns.
  EntriesOnDevice(const EntriesOperator<Scalar>& op, Index columns);
  ~EntriesOnDevice();
  EntriesOnDevice(const EntriesOnDevice&) = delete;
  EntriesOnDevice& operator=(const EntriesOnDevice&) = delete;

  Index rows() const { return rows_; }
  Index cols() const { return cols_; }
  Index lines(int side) const { return side == 0 ? rows_ : cols_; }
  Index size() const { return size_; }
  Index columns() const { return columns_; }  ///< for which there was memory
  const Pattern* pattern() const { return pattern_; }

  /// Throws OptionError where the device has too little memory for a search up to so many columns.
  static void require_model_memory(const EntriesOperator<Scalar>& op, Index columns);

  /// Numbers of the entries in the order of each side.
  template <typename T>
  void place(const T* by_entry, Array<T>* by_side) const {
    const Array<T> given(by_entry, size_);
    for (int side = 0; side < 2; ++side) {
      by_side[side].resize(size_);
      kernels<T>().place(pattern_, side, given.data(), by_side[side].data());
    }
  }

  /// Blocks of marked lines that entries connect, rows first; nothing where there is one block.
  std::vector<std::vector<Index>> connected_blocks(const std::vector<char>& marks) const;

  /// y_t = <left_i, right_j>, for arrays on the host.
  void products(const ConstRows<Scalar>& left, const ConstRows<Scalar>& right, Scalar* y) const;
  /// out_i (+)= scale sum_s z_s other_j for the lines of a side, for arrays on the host.
  void gather(int side, const Scalar* z, const ConstRows<Scalar>& other, Scalar scale, bool add,
              Rows<Scalar> out) const;

 private:
  Index rows_, cols_, size_, columns_;
  Pattern* pattern_ = nullptr;
};

/// The operator where it is one of real entries on the device; else nullptr.
template <typename Scalar>
const EntriesOperator<Scalar>* entries_on_device(const MeasurementOperator<Scalar>& op) {
  const auto* const entries = dynamic_cast<const EntriesOperator<Scalar>*>(&op);
  return entries && entries->device() ? entries : nullptr;
}

/// The Gauss-Newton model of entries at a stack Z = (U; V) that is on the device. The formulas are
/// those of EntriesLinearization. Keeps references.
template <typename Scalar>
class EntriesModel {
 public:
  EntriesModel(const EntriesOnDevice<Scalar>& entries, bool symmetric, const Array<Scalar>* weight,
               const DeviceMatrix<Scalar>& Z);

  void normal_product(const DeviceMatrix<Scalar>& P, DeviceMatrix<Scalar>& Y);
  double mean_diagonal() const;
  void factor_preconditioner(double damping);
  void precondition(const DeviceMatrix<Scalar>& R, DeviceMatrix<Scalar>& Y) const;

 private:
  Index packed() const { return packed_size(Z_.cols()); }

  const EntriesOnDevice<Scalar>& entries_;
  bool symmetric_;
  const Array<Scalar>* weight_;  // of each side; nullptr: all are 1
  const DeviceMatrix<Scalar>& Z_;
  DeviceMatrix<Scalar> pairs_;
  Array<Scalar> blocks_, factors_;
};

/// r(Z) = A(U V^T) - b on the device, as Levenberg-Marquardt sees it. Residuals are not stored: the
/// loops that need them make them again.
template <typename Scalar>
class EntriesResidual final : public GradientModel<Scalar> {
 public:
  using ThinMatrix = device::DeviceMatrix<Scalar>;
  using Residual = ResidualNorm;

  /// Keeps a reference to the operator, which is on the device, and to b for data_norm().
  EntriesResidual(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b);

  void residual(const ThinMatrix& Z, Residual& r) const;
  void gradient(const ThinMatrix& Z, const Residual& r, ThinMatrix& G) const;
  std::unique_ptr<EntriesModel<Scalar>> linearize(const ThinMatrix& Z) const;
  double data_norm() const { return std::sqrt(udv::squared_norm(*b_)); }
  /// Sums of w (b / sqrt(w) - mean - own_i - other_j) over the lines of a side, and their squares;
  /// biases and results on the host.
  void line_sums(int side, double mean, const double* own, const double* other, double* sums,
                 double* squares) const;

  double products(const ThinMatrix& Z, const Vector<double>& d, ThinMatrix& G) const override;
  /// The same with Z diag(d) as given.
  double products(const ThinMatrix& Z, const ThinMatrix& scaled, ThinMatrix& G) const;

 private:
  const Array<Scalar>* weights() const { return weight_[0].size() > 0 ? weight_ : nullptr; }

  const EntriesOperator<Scalar>& op_;
  const EntriesOnDevice<Scalar>& entries_;
  const Reals<Scalar>* b_;
  Array<Scalar> value_[2], weight_[2];  // by side: b / sqrt(w) and w
};

/// The same model for arrays on the host, each product with its transfers.
template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> linearize_on_device(const EntriesOperator<Scalar>& op,
                                                           const StackedFactors<Scalar>& Z);

}  // namespace udv::device
