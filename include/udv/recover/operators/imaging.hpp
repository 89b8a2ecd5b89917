// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/operators/intensity.hpp"
#include "udv/recover/optics.hpp"

namespace udv {

template <typename Real>
class WindowedFourier;
namespace device {
template <typename Real>
class ImagingOnDevice;
}  // namespace device

/// Intensities of images that are made by Fourier transforms. Scalar is a complex type.
/// Measurements are counted image by image, each row by row.
template <typename Scalar>
class UDV_EXPORT ImagingOperator : public IntensityOperator<Scalar> {
 public:
  using Real = RealOf<Scalar>;
  ~ImagingOperator() override;

  Index images() const;
  Index pixels() const;  ///< of one image
  /// Shape of the unknown as an image.
  Index image_rows() const { return image_rows_; }
  Index image_cols() const { return image_cols_; }
  /// The unknown as an image, and back; unitary.
  virtual Vector<Scalar> to_image(const Vector<Scalar>& x) const { return x; }
  virtual Vector<Scalar> from_image(const Vector<Scalar>& image) const { return image; }

  /// The same map on a CUDA device; nothing where the operator works on the host.
  const device::ImagingOnDevice<Real>* device() const { return device_.get(); }
  std::shared_ptr<const device::GradientModel<Real>> gradient_model(
      const Reals<Scalar>& b) const override;

  void apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d, const ConstRows<Scalar>& V,
             Reals<Scalar>& y) const override;
  void adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                     Rows<Scalar> out) const override;
  std::unique_ptr<Linearization<Scalar>> linearize(const StackedFactors<Scalar>& Z) const override;
  void project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const override;
  void back_project(const RowMatrix<Scalar>& fields, Rows<Scalar> out) const override;
  void residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                         const ConstRows<Scalar>& V, const Reals<Scalar>& b, Reals<Scalar>& z,
                         Rows<Scalar> for_u, Rows<Scalar> for_v) const override;
  /// sum(b) / (largest share of the light that one sample of the unknown sends into the images).
  double trace_estimate(const Reals<Scalar>& b) const override;
  Reals<Scalar> diagonal(const Reals<Scalar>& w) const override;
  /// The same for all pixels of an image: the transforms are unitary.
  Reals<Scalar> squared_rows(const Reals<Scalar>& c) const override;
  bool has_diagonal_gram() const override { return true; }
  double mean_gain() const override { return mean_gain_; }
  double norm_bound() const override { return norm_bound_; }

 protected:
  /// psi_l = F^-1 (P_l o window_l(x)) / sqrt(pixels), or F where `forward`. Where there are
  /// shifts, one per image, window_l(x) has the samples at k - shift_l, bilinear; windows do not
  /// touch the edges of x then.
  ImagingOperator(Index image_rows, Index image_cols, std::vector<Window> windows,
                  const std::vector<RowMatrix<std::complex<double>>>& transfer, bool forward,
                  const std::vector<SampleShift>& shifts = {});
  /// The same on the device; |P_l|^2 / pixels of each image.
  ImagingOperator(Index image_rows, Index image_cols,
                  std::shared_ptr<const device::ImagingOnDevice<Real>> images,
                  const std::vector<double>& squares);

 private:
  void set_gain(const std::vector<double>& squares);
  Reals<Scalar> coverage(const Reals<Scalar>& image_weights) const;

  Index image_rows_, image_cols_;
  std::unique_ptr<WindowedFourier<Real>> map_;
  std::shared_ptr<const device::ImagingOnDevice<Real>> device_;  // instead of map_
  double mean_gain_, norm_bound_;
};

/// Coded diffraction patterns of an image x: |F (m_l o x)|^2 / pixels for masks m_l of its size.
template <typename Scalar>
class UDV_EXPORT CodedDiffractionOperator final : public ImagingOperator<Scalar> {
 public:
  explicit CodedDiffractionOperator(std::vector<RowMatrix<std::complex<double>>> masks);
  std::shared_ptr<const MeasurementOperator<Scalar>> on_device(Index columns = 1) const override;

  std::string_view name() const override { return "coded_diffraction"; }
  /// By images: `which` must name all pixels of each image that it names, in order.
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;

 private:
  CodedDiffractionOperator(std::vector<RowMatrix<std::complex<double>>> masks, Index columns);

  std::vector<RowMatrix<std::complex<double>>> masks_;
};

/// Fourier ptychography: image l is |F^-1 (P o window_l(x))|^2 / pixels. The unknown x is the
/// centred spectrum of the sample, so that large transforms are never needed; the transform is
/// unitary and norms are those of the image.
template <typename Scalar>
class UDV_EXPORT PtychographyOperator final : public ImagingOperator<Scalar> {
 public:
  /// A spectrum of rows x cols samples; the pupil has the size of an image. Image l has the pupil
  /// support_l o |P| with the phase of P(k - shift_l), where there are such.
  PtychographyOperator(Index rows, Index cols, std::vector<Window> windows,
                       RowMatrix<std::complex<double>> pupil, ImagePupils own = {});

  std::string_view name() const override { return "ptychography"; }
  const std::vector<Window>& windows() const { return windows_; }
  const RowMatrix<std::complex<double>>& pupil() const { return pupil_; }
  /// What images have of their own.
  const ImagePupils& own_pupils() const { return *own_; }
  /// As image l has it.
  RowMatrix<std::complex<double>> pupil_of(Index l) const;
  Vector<Scalar> to_image(const Vector<Scalar>& x) const override;
  Vector<Scalar> from_image(const Vector<Scalar>& image) const override;
  /// By images, as for coded diffraction.
  std::unique_ptr<MeasurementOperator<Scalar>> subset(
      const std::vector<Index>& which) const override;
  /// The same with some of the images, or with another pupil.
  std::unique_ptr<PtychographyOperator> with_images(const std::vector<Index>& images) const;
  std::unique_ptr<PtychographyOperator> with_pupil(RowMatrix<std::complex<double>> pupil) const;
  std::shared_ptr<const MeasurementOperator<Scalar>> on_device(Index columns = 1) const override;

 private:
  using Own = std::shared_ptr<const ImagePupils>;

  /// On the device, with memory for so many columns; with the supports of `like`, where given.
  PtychographyOperator(Index rows, Index cols, std::vector<Window> windows,
                       RowMatrix<std::complex<double>> pupil, Own own, Index columns,
                       const PtychographyOperator* like);

  std::vector<Window> windows_;
  RowMatrix<std::complex<double>> pupil_;
  Own own_;
};

/// Images of a known sample as a function of the pupil: |F^-1 (q o P_l o window_l(x))|^2 / pixels
/// with a factor q on the pupil as the unknown. Where images have shifts, q has one sample more on
/// each side and image l has q(k - shift_l), bilinear: W^* W is not diagonal then.
template <typename Scalar>
class UDV_EXPORT PupilOperator final : public ImagingOperator<Scalar> {
 public:
  PupilOperator(const PtychographyOperator<Scalar>& op, const Vector<Scalar>& x);

  std::string_view name() const override { return "pupil"; }
  bool has_diagonal_gram() const override { return !between_samples_; }
  /// Samples of q on each side that the pupil does not have.
  static Index margin_of(const PtychographyOperator<Scalar>& op) {
    return op.own_pupils().shifts.empty() ? 0 : 1;
  }

 private:
  bool between_samples_;
};

}  // namespace udv
