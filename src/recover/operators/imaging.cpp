// SPDX-License-Identifier: MIT
#include "udv/recover/operators/imaging.hpp"

#include <cmath>

#include "core/require.hpp"
#include "recover/device/imaging_device.hpp"
#include "recover/kernels/band_fft.hpp"
#include "recover/operators/image_pupils.hpp"
#include "recover/operators/windowed_fourier.hpp"

namespace udv {
namespace {

using Transfer = RowMatrix<std::complex<double>>;

template <typename Scalar>
std::vector<RowMatrix<Scalar>> cast(const std::vector<Transfer>& list) {
  std::vector<RowMatrix<Scalar>> result;
  for (const Transfer& P : list) result.push_back(P.cast<Scalar>());
  return result;
}

// |P_l|^2 / pixels of every image: P_l is transfer l, or the only one through support l.
std::vector<double> squares_of(const std::vector<Transfer>& transfer,
                               const std::vector<RowMatrix<float>>& supports, Index images) {
  std::vector<double> squares;
  RowMatrix<double> light;
  for (size_t l = 0; l < static_cast<size_t>(images); ++l) {
    const Transfer& P = transfer[transfer.size() == 1 ? 0 : l];
    if (!supports.empty() && l == 0) light = P.cwiseAbs2();
    const double square = supports.empty()
                              ? P.squaredNorm()
                              : light.cwiseProduct(supports.at(l).cast<double>().cwiseAbs2()).sum();
    squares.push_back(square / static_cast<double>(P.size()));
  }
  return squares;
}

// Images whose pixels a list of measurements names, all of them and in order.
std::vector<Index> whole_images(const std::vector<Index>& which, Index pixels) {
  const auto count = static_cast<Index>(which.size());
  require(count > 0 && count % pixels == 0, "imaging: ", count,
          " measurements named, whole images of ", pixels, " expected");
  std::vector<Index> images;
  for (Index i = 0; i < count; ++i) {
    if (i % pixels == 0) images.push_back(which[static_cast<size_t>(i)] / pixels);
    require(which[static_cast<size_t>(i)] == images.back() * pixels + i % pixels,
            "imaging: measurement ", which[static_cast<size_t>(i)],
            " named, whole images in order expected");
  }
  return images;
}

// The array turned by half of its sides, so that frequency 0 moves from the corner to the middle
// (forward) or back.
template <typename Scalar>
RowMatrix<Scalar> shifted(const RowMatrix<Scalar>& from, bool forward) {
  const Index rows = from.rows(), cols = from.cols();
  const Index dr = forward ? rows / 2 : rows - rows / 2;
  const Index dc = forward ? cols / 2 : cols - cols / 2;
  RowMatrix<Scalar> to(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) to((r + dr) % rows, (c + dc) % cols) = from(r, c);
  return to;
}

}  // namespace

template <typename Scalar>
ImagingOperator<Scalar>::ImagingOperator(Index image_rows, Index image_cols,
                                         std::vector<Window> windows,
                                         const std::vector<Transfer>& transfer, bool forward,
                                         const std::vector<SampleShift>& shifts)
    : IntensityOperator<Scalar>(
          image_rows * image_cols,
          static_cast<Index>(windows.size()) * (transfer.empty() ? 0 : transfer[0].size())),
      image_rows_(image_rows),
      image_cols_(image_cols),
      map_(std::make_unique<WindowedFourier<Real>>(
          image_rows, image_cols, std::move(windows), cast<Scalar>(transfer),
          forward ? Fourier::kForward : Fourier::kInverse, shifts)) {
  set_gain(squares_of(transfer, {}, images()));
}

template <typename Scalar>
ImagingOperator<Scalar>::ImagingOperator(
    Index image_rows, Index image_cols, std::shared_ptr<const device::ImagingOnDevice<Real>> images,
    const std::vector<double>& squares)
    : IntensityOperator<Scalar>(image_rows * image_cols, images->measured()),
      image_rows_(image_rows),
      image_cols_(image_cols),
      device_(std::move(images)) {
  set_gain(squares);
}

// |w_i|^2 is the mean of |P|^2 over the window, the same for all pixels of an image.
template <typename Scalar>
void ImagingOperator<Scalar>::set_gain(const std::vector<double>& squares) {
  double total = 0;
  for (const double square : squares) total += static_cast<double>(pixels()) * square * square;
  const auto p = static_cast<double>(this->rows());
  mean_gain_ = total / (p * p);
  norm_bound_ = std::sqrt(total);
}

template <typename Scalar>
ImagingOperator<Scalar>::~ImagingOperator() = default;

template <typename Scalar>
Index ImagingOperator<Scalar>::images() const {
  return device_ ? device_->images() : map_->images();
}

template <typename Scalar>
Index ImagingOperator<Scalar>::pixels() const {
  return device_ ? device_->pixels() : map_->pixels();
}

template <typename Scalar>
void ImagingOperator<Scalar>::project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const {
  if (device_) return device::ImagingProducts<Scalar>(*device_).project(U, fields);
  map_->project(U, fields);
}

template <typename Scalar>
void ImagingOperator<Scalar>::back_project(const RowMatrix<Scalar>& fields,
                                           Rows<Scalar> out) const {
  if (device_) return device::ImagingProducts<Scalar>(*device_).back_project(fields, out);
  map_->back_project(fields, out);
}

template <typename Scalar>
void ImagingOperator<Scalar>::residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                                const ConstRows<Scalar>&, const Reals<Scalar>& b,
                                                Reals<Scalar>& z, Rows<Scalar> for_u,
                                                Rows<Scalar>) const {
  if (device_)
    return device::ImagingProducts<Scalar>(*device_).residual_products(U, d, b, z, for_u);
  map_->residual_products(U, d, b, z, for_u);
}

template <typename Scalar>
void ImagingOperator<Scalar>::apply(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                    const ConstRows<Scalar>& V, Reals<Scalar>& y) const {
  if (device_) return device::ImagingProducts<Scalar>(*device_).apply(U, d, V, y);
  IntensityOperator<Scalar>::apply(U, d, V, y);
}

template <typename Scalar>
void ImagingOperator<Scalar>::adjoint_times(const Reals<Scalar>& z, const ConstRows<Scalar>& V,
                                            Rows<Scalar> out) const {
  if (device_) return device::ImagingProducts<Scalar>(*device_).adjoint_times(z, V, out);
  IntensityOperator<Scalar>::adjoint_times(z, V, out);
}

template <typename Scalar>
std::unique_ptr<Linearization<Scalar>> ImagingOperator<Scalar>::linearize(
    const StackedFactors<Scalar>& Z) const {
  if (device_) return device::linearize_on_device(*this, Z);
  return IntensityOperator<Scalar>::linearize(Z);
}

template <typename Scalar>
std::shared_ptr<const device::GradientModel<RealOf<Scalar>>>
ImagingOperator<Scalar>::gradient_model(const Reals<Scalar>& b) const {
  if (!device_) return nullptr;
  return std::make_shared<device::ImagingResidual<Real>>(*device_, b);
}

template <typename Scalar>
Reals<Scalar> ImagingOperator<Scalar>::coverage(const Reals<Scalar>& image_weights) const {
  if (device_)
    return device::ImagingProducts<Scalar>(*device_).coverage(
        image_weights.template cast<double>());
  return map_->coverage(image_weights);
}

template <typename Scalar>
double ImagingOperator<Scalar>::trace_estimate(const Reals<Scalar>& b) const {
  const auto light = coverage(Reals<Scalar>::Ones(images()));
  return b.template cast<double>().sum() / static_cast<double>(light.maxCoeff());
}

template <typename Scalar>
Reals<Scalar> ImagingOperator<Scalar>::diagonal(const Reals<Scalar>& w) const {
  Reals<Scalar> means(images());
  for (Index l = 0; l < images(); ++l) means(l) = w.segment(l * pixels(), pixels()).mean();
  return coverage(means);
}

template <typename Scalar>
Reals<Scalar> ImagingOperator<Scalar>::squared_rows(const Reals<Scalar>& c) const {
  Reals<Scalar> squares(this->num_measurements());
  for (Index l = 0; l < images(); ++l) {
    const Real light = coverage(Reals<Scalar>::Unit(images(), l)).dot(c);
    squares.segment(l * pixels(), pixels()).setConstant(light / static_cast<Real>(pixels()));
  }
  return squares;
}

template <typename Scalar>
CodedDiffractionOperator<Scalar>::CodedDiffractionOperator(std::vector<Transfer> masks)
    : ImagingOperator<Scalar>(masks.empty() ? 0 : masks[0].rows(),
                              masks.empty() ? 0 : masks[0].cols(),
                              std::vector<Window>(masks.size()), masks, true),
      masks_(std::move(masks)) {}

template <typename Scalar>
CodedDiffractionOperator<Scalar>::CodedDiffractionOperator(std::vector<Transfer> masks,
                                                           Index columns)
    : ImagingOperator<Scalar>(
          masks.at(0).rows(), masks[0].cols(),
          std::make_shared<device::ImagingOnDevice<RealOf<Scalar>>>(
              masks[0].rows(), masks[0].cols(), std::vector<Window>(masks.size()), masks,
              ImagePupils(), true, columns),
          squares_of(masks, {}, static_cast<Index>(masks.size()))),
      masks_(std::move(masks)) {}

template <typename Scalar>
std::shared_ptr<const MeasurementOperator<Scalar>> CodedDiffractionOperator<Scalar>::on_device(
    Index columns) const {
  return std::shared_ptr<CodedDiffractionOperator>(new CodedDiffractionOperator(masks_, columns));
}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> CodedDiffractionOperator<Scalar>::subset(
    const std::vector<Index>& which) const {
  std::vector<Transfer> kept;
  for (const Index l : whole_images(which, this->pixels()))
    kept.push_back(masks_[static_cast<size_t>(l)]);
  if (this->device())
    return std::unique_ptr<CodedDiffractionOperator>(
        new CodedDiffractionOperator(std::move(kept), 1));
  return std::make_unique<CodedDiffractionOperator>(std::move(kept));
}

template <typename Scalar>
PtychographyOperator<Scalar>::PtychographyOperator(Index rows, Index cols,
                                                   std::vector<Window> windows, Transfer pupil,
                                                   ImagePupils own)
    : ImagingOperator<Scalar>(rows, cols, windows, pupils_of_images(pupil, own), false),
      windows_(std::move(windows)),
      pupil_(std::move(pupil)),
      own_(std::make_shared<const ImagePupils>(std::move(own))) {}

template <typename Scalar>
PtychographyOperator<Scalar>::PtychographyOperator(Index rows, Index cols,
                                                   std::vector<Window> windows, Transfer pupil,
                                                   Own own, Index columns,
                                                   const PtychographyOperator* like)
    : ImagingOperator<Scalar>(
          rows, cols,
          std::make_shared<device::ImagingOnDevice<RealOf<Scalar>>>(
              rows, cols, windows, std::vector<Transfer>{pupil}, *own, false, columns,
              like ? like->device() : nullptr),
          squares_of({pupil}, own->supports, static_cast<Index>(windows.size()))),
      windows_(std::move(windows)),
      pupil_(std::move(pupil)),
      own_(std::move(own)) {}

template <typename Scalar>
std::shared_ptr<const MeasurementOperator<Scalar>> PtychographyOperator<Scalar>::on_device(
    Index columns) const {
  return std::shared_ptr<PtychographyOperator>(
      new PtychographyOperator(this->image_rows(), this->image_cols(), windows_, pupil_, own_,
                               columns, this->device() ? this : nullptr));
}

template <typename Scalar>
Transfer PtychographyOperator<Scalar>::pupil_of(Index l) const {
  return pupil_of_image(pupil_, *own_, l);
}

template <typename Scalar>
Vector<Scalar> PtychographyOperator<Scalar>::to_image(const Vector<Scalar>& x) const {
  using Real = RealOf<Scalar>;
  const Index rows = this->image_rows(), cols = this->image_cols();
  const Real gain = 1 / std::sqrt(static_cast<Real>(x.size()));
  const RowMatrix<Scalar> spectrum =
      shifted<Scalar>(Eigen::Map<const RowMatrix<Scalar>>(x.data(), rows, cols), false);
  const BandFft<Real> fft(rows, cols, {0, rows}, Fourier::kInverse);
  auto scratch = fft.scratch();
  for (Index c = 0; c < cols; ++c)
    for (Index r = 0; r < rows; ++r)
      set_number(scratch.spectrum.data() + c * fft.spectrum_stride(), r, gain * spectrum(r, c));
  fft.read_spectrum(scratch);
  Vector<Real> strips(fft.image_size());
  for (Index c = 0; c < cols; c += kLanes<Real>)
    fft.write_strip(scratch, c, fft.strip(strips.data(), c));
  Vector<Scalar> image(x.size());
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) image(r * cols + c) = fft.pixel(strips.data(), r, c);
  return image;
}

template <typename Scalar>
Vector<Scalar> PtychographyOperator<Scalar>::from_image(const Vector<Scalar>& image) const {
  using Real = RealOf<Scalar>;
  const Index rows = this->image_rows(), cols = this->image_cols();
  const Real gain = 1 / std::sqrt(static_cast<Real>(image.size()));
  const BandFft<Real> fft(rows, cols, {0, rows}, Fourier::kInverse);
  auto scratch = fft.scratch();
  Vector<Real> strips = Vector<Real>::Zero(fft.image_size());
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c) fft.set_pixel(strips.data(), r, c, gain * image(r * cols + c));
  for (Index c = 0; c < cols; c += kLanes<Real>)
    fft.read_strip(fft.strip(strips.data(), c), c, scratch);
  fft.write_spectrum(scratch);
  RowMatrix<Scalar> spectrum(rows, cols);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < cols; ++c)
      spectrum(r, c) = get_number(scratch.back.data() + c * fft.spectrum_stride(), r);
  const RowMatrix<Scalar> centred = shifted<Scalar>(spectrum, true);
  return Eigen::Map<const Vector<Scalar>>(centred.data(), centred.size());
}

template <typename Scalar>
std::unique_ptr<PtychographyOperator<Scalar>> PtychographyOperator<Scalar>::with_images(
    const std::vector<Index>& images) const {
  const Index rows = this->image_rows(), cols = this->image_cols();
  std::vector<Window> kept;
  for (const Index l : images) kept.push_back(windows_.at(static_cast<size_t>(l)));
  if (!this->device())
    return std::make_unique<PtychographyOperator>(rows, cols, std::move(kept), pupil_,
                                                  own_->of(images));
  return std::unique_ptr<PtychographyOperator>(
      new PtychographyOperator(rows, cols, std::move(kept), pupil_,
                               std::make_shared<const ImagePupils>(own_->of(images)), 1, nullptr));
}

template <typename Scalar>
std::unique_ptr<PtychographyOperator<Scalar>> PtychographyOperator<Scalar>::with_pupil(
    Transfer pupil) const {
  const Index rows = this->image_rows(), cols = this->image_cols();
  if (!this->device())
    return std::make_unique<PtychographyOperator>(rows, cols, windows_, std::move(pupil), *own_);
  require(pupil.rows() == pupil_.rows() && pupil.cols() == pupil_.cols() && pupil.allFinite(),
          "imaging: a pupil of ", pupil.rows(), " x ", pupil.cols(), ", ", pupil_.rows(), " x ",
          pupil_.cols(), " finite numbers expected");
  return std::unique_ptr<PtychographyOperator>(
      new PtychographyOperator(rows, cols, windows_, std::move(pupil), own_, 1, this));
}

template <typename Scalar>
std::unique_ptr<MeasurementOperator<Scalar>> PtychographyOperator<Scalar>::subset(
    const std::vector<Index>& which) const {
  return with_images(whole_images(which, this->pixels()));
}

namespace {

// P o window_l(x) for every image.
template <typename Scalar>
std::vector<Transfer> seen_spectra(const PtychographyOperator<Scalar>& op,
                                   const Vector<Scalar>& x) {
  const Eigen::Map<const RowMatrix<Scalar>> spectrum(x.data(), op.image_rows(), op.image_cols());
  std::vector<Transfer> seen;
  for (Index l = 0; l < op.images(); ++l) {
    const Window& window = op.windows()[static_cast<size_t>(l)];
    const Transfer P = op.pupil_of(l);
    seen.push_back(P.cwiseProduct(spectrum.block(window.row, window.col, P.rows(), P.cols())
                                      .template cast<std::complex<double>>()));
  }
  return seen;
}

}  // namespace

template <typename Scalar>
PupilOperator<Scalar>::PupilOperator(const PtychographyOperator<Scalar>& op,
                                     const Vector<Scalar>& x)
    : ImagingOperator<Scalar>(
          op.pupil().rows() + 2 * margin_of(op), op.pupil().cols() + 2 * margin_of(op),
          std::vector<Window>(op.windows().size(), {margin_of(op), margin_of(op)}),
          seen_spectra(op, x), false, op.own_pupils().shifts),
      between_samples_(margin_of(op) > 0) {}

#define UDV_INSTANTIATE(Scalar)                    \
  template class ImagingOperator<Scalar>;          \
  template class CodedDiffractionOperator<Scalar>; \
  template class PtychographyOperator<Scalar>;     \
  template class PupilOperator<Scalar>;
UDV_INSTANTIATE(std::complex<float>)
UDV_INSTANTIATE(std::complex<double>)

}  // namespace udv
