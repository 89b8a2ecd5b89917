// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "recover/device/gradient_model.hpp"
#include "udv/recover/operators/imaging.hpp"

namespace udv::device {

/// The linear map W of imaging by Fourier transforms on the device, as WindowedFourier has it: what
/// an ImagingOperator that works there refers to. Spectra are lines of 2 k real numbers; fields
/// W U lie column by column.
template <typename Real>
class ImagingOnDevice {
 public:
  /// One transfer function, or one for each image; or one and what each image has of its own, with
  /// the supports of `supports_of` where given. Throws OptionError where the device has too little
  /// memory for `columns` columns at once.
  ImagingOnDevice(Index rows, Index cols, const std::vector<Window>& windows,
                  const std::vector<RowMatrix<std::complex<double>>>& transfer,
                  const ImagePupils& own, bool forward, Index columns,
                  const ImagingOnDevice* supports_of = nullptr);
  ~ImagingOnDevice();
  ImagingOnDevice(const ImagingOnDevice&) = delete;
  ImagingOnDevice& operator=(const ImagingOnDevice&) = delete;

  /// The images of a known spectrum as a function of a factor on the transfer function, which has
  /// one sample more on each side where images have shifts.
  std::unique_ptr<ImagingOnDevice> seen(const DeviceMatrix<Real>& spectrum) const;

  Index size() const { return rows_ * cols_; }
  Index images() const { return images_; }
  Index pixels() const { return low_rows_ * low_cols_; }
  Index measured() const { return images_ * pixels(); }

  /// fields = W U
  void project(const DeviceMatrix<Real>& U, Array<Real>& fields) const;
  /// out = W^* fields. The fields are lost.
  void back_project(Array<Real>& fields, DeviceMatrix<Real>& out) const;
  /// sum_l w_l |P_l|^2 where its window lies.
  void coverage(const Vector<double>& image_weights, Array<Real>& out) const;

 private:
  ImagingOnDevice(const ImagingOnDevice& from, Imaging* imaging);

  Index rows_, cols_, low_rows_, low_cols_, images_;
  bool moved_ = false;  // images have shifts
  std::shared_ptr<const Array<float>> supports_;
  Imaging* imaging_ = nullptr;
};

/// One gradient of intensities: A*(r) U = W^* (r o W U).
template <typename Real>
class ImagingResidual final : public GradientModel<Real> {
 public:
  /// Keeps a reference to the images.
  ImagingResidual(const ImagingOnDevice<Real>& images, const Vector<Real>& b);
  double products(const DeviceMatrix<Real>& Z, const Vector<double>& d,
                  DeviceMatrix<Real>& G) const override;

 private:
  const ImagingOnDevice<Real>& images_;
  Array<Real> b_;
  mutable Array<Real> fields_, residual_;
};

/// What an operator of images does with arrays of the host: they go to the device and come back.
template <typename Scalar>
class ImagingProducts {
 public:
  using Real = RealOf<Scalar>;
  explicit ImagingProducts(const ImagingOnDevice<Real>& images) : images_(images) {}

  void project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const;
  void back_project(const RowMatrix<Scalar>& fields, Rows<Scalar> out) const;
  void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
             Reals<Scalar>& y) const;
  void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V, Rows<Scalar> out) const;
  void residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const Reals<Scalar>& b,
                         Reals<Scalar>& z, Rows<Scalar> out) const;
  Reals<Scalar> coverage(const Vector<double>& image_weights) const;

 private:
  /// Back projection of fields on the device, which change; `out` is on the host.
  void sum_windows(Array<Real>& fields, Rows<Scalar> out) const;

  const ImagingOnDevice<Real>& images_;
};

/// The Gauss-Newton model of intensities, as IntensityLinearization has it, with W U on the device.
template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> linearize_on_device(const ImagingOperator<Scalar>& op,
                                                           const StackedFactors<Scalar>& Z);

}  // namespace udv::device
