// SPDX-License-Identifier: MIT
#include "udv/recover/operators/imaging.hpp"

#include <cmath>

#include "core/require.hpp"
#include "recover/kernels/band_fft.hpp"
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
                                         const std::vector<Transfer>& transfer, bool forward)
    : IntensityOperator<Scalar>(
          image_rows * image_cols,
          static_cast<Index>(windows.size()) * (transfer.empty() ? 0 : transfer[0].size())),
      image_rows_(image_rows),
      image_cols_(image_cols),
      map_(std::make_unique<WindowedFourier<Real>>(
          image_rows, image_cols, std::move(windows), cast<Scalar>(transfer),
          forward ? Fourier::kForward : Fourier::kInverse)) {
  // |w_i|^2 is the mean of |P|^2 over the window, the same for all pixels of an image.
  double total = 0;
  for (Index l = 0; l < images(); ++l) {
    const Transfer& P = transfer[transfer.size() == 1 ? 0 : static_cast<size_t>(l)];
    const double square = P.squaredNorm() / static_cast<double>(pixels());
    total += static_cast<double>(pixels()) * square * square;
  }
  const auto p = static_cast<double>(this->rows());
  mean_gain_ = total / (p * p);
  norm_bound_ = std::sqrt(total);
}

template <typename Scalar>
ImagingOperator<Scalar>::~ImagingOperator() = default;

template <typename Scalar>
Index ImagingOperator<Scalar>::images() const {
  return map_->images();
}

template <typename Scalar>
Index ImagingOperator<Scalar>::pixels() const {
  return map_->pixels();
}

template <typename Scalar>
void ImagingOperator<Scalar>::project(const ConstRows<Scalar>& U, RowMatrix<Scalar>& fields) const {
  map_->project(U, fields);
}

template <typename Scalar>
void ImagingOperator<Scalar>::back_project(const RowMatrix<Scalar>& fields,
                                           Rows<Scalar> out) const {
  map_->back_project(fields, out);
}

template <typename Scalar>
void ImagingOperator<Scalar>::residual_products(const ConstRows<Scalar>& U, const Reals<Scalar>& d,
                                                const ConstRows<Scalar>&, const Reals<Scalar>& b,
                                                Reals<Scalar>& z, Rows<Scalar> for_u,
                                                Rows<Scalar>) const {
  map_->residual_products(U, d, b, z, for_u);
}

template <typename Scalar>
double ImagingOperator<Scalar>::trace_estimate(const Reals<Scalar>& b) const {
  const auto light = map_->coverage(Reals<Scalar>::Ones(images()));
  return b.template cast<double>().sum() / static_cast<double>(light.maxCoeff());
}

template <typename Scalar>
Reals<Scalar> ImagingOperator<Scalar>::diagonal(const Reals<Scalar>& w) const {
  Reals<Scalar> means(images());
  for (Index l = 0; l < images(); ++l) means(l) = w.segment(l * pixels(), pixels()).mean();
  return map_->coverage(means);
}

template <typename Scalar>
Reals<Scalar> ImagingOperator<Scalar>::squared_rows(const Reals<Scalar>& c) const {
  Reals<Scalar> squares(this->num_measurements());
  for (Index l = 0; l < images(); ++l) {
    const Real light = map_->coverage(Reals<Scalar>::Unit(images(), l)).dot(c);
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
std::unique_ptr<MeasurementOperator<Scalar>> CodedDiffractionOperator<Scalar>::subset(
    const std::vector<Index>& which) const {
  std::vector<Transfer> kept;
  for (const Index l : whole_images(which, this->pixels()))
    kept.push_back(masks_[static_cast<size_t>(l)]);
  return std::make_unique<CodedDiffractionOperator>(std::move(kept));
}

namespace {

// The value between the four samples about (row, col), of those that have light.
std::complex<double> between_samples(const Transfer& pupil, double row, double col) {
  const auto top = static_cast<Index>(std::floor(row)), left = static_cast<Index>(std::floor(col));
  const double down = row - static_cast<double>(top), right = col - static_cast<double>(left);
  std::complex<double> sum = 0;
  for (const Index r : {top, top + 1})
    for (const Index c : {left, left + 1})
      if (r >= 0 && c >= 0 && r < pupil.rows() && c < pupil.cols())
        sum += (r == top ? 1 - down : down) * (c == left ? 1 - right : right) * pupil(r, c);
  return sum;
}

// |P| o support, with the phase of P(k - shift).
Transfer seen_through(const Transfer& pupil, const PupilDisc& disc) {
  const RowMatrix<float>& support = disc.support;
  require(support.rows() == pupil.rows() && support.cols() == pupil.cols(),
          "imaging: a support is ", support.rows(), " x ", support.cols(), ", ", pupil.rows(),
          " x ", pupil.cols(), " expected, as the pupil");
  Transfer seen = pupil.cwiseProduct(support.cast<std::complex<double>>());
  if (disc.down == 0 && disc.right == 0) return seen;
  for (Index r = 0; r < seen.rows(); ++r)
    for (Index c = 0; c < seen.cols(); ++c) {
      if (seen(r, c) == 0.0) continue;
      const std::complex<double> moved = between_samples(pupil, static_cast<double>(r) - disc.down,
                                                         static_cast<double>(c) - disc.right);
      const double size = std::abs(moved);
      if (size > 0) seen(r, c) = std::abs(seen(r, c)) / size * moved;
    }
  return seen;
}

std::vector<Transfer> pupils_of(const Transfer& pupil, const std::vector<PupilDisc>& discs) {
  if (discs.empty()) return {pupil};
  std::vector<Transfer> pupils;
  for (const PupilDisc& disc : discs) pupils.push_back(seen_through(pupil, disc));
  return pupils;
}

}  // namespace

template <typename Scalar>
PtychographyOperator<Scalar>::PtychographyOperator(Index rows, Index cols,
                                                   std::vector<Window> windows, Transfer pupil,
                                                   std::vector<PupilDisc> discs)
    : ImagingOperator<Scalar>(rows, cols, windows, pupils_of(pupil, discs), false),
      windows_(std::move(windows)),
      pupil_(std::move(pupil)),
      discs_(std::move(discs)) {}

template <typename Scalar>
Transfer PtychographyOperator<Scalar>::pupil_of(Index l) const {
  return discs_.empty() ? pupil_ : seen_through(pupil_, discs_.at(static_cast<size_t>(l)));
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
  std::vector<Window> kept;
  std::vector<PupilDisc> discs;
  for (const Index l : images) {
    kept.push_back(windows_.at(static_cast<size_t>(l)));
    if (!discs_.empty()) discs.push_back(discs_[static_cast<size_t>(l)]);
  }
  return std::make_unique<PtychographyOperator>(this->image_rows(), this->image_cols(),
                                                std::move(kept), pupil_, std::move(discs));
}

template <typename Scalar>
std::unique_ptr<PtychographyOperator<Scalar>> PtychographyOperator<Scalar>::with_pupil(
    Transfer pupil) const {
  return std::make_unique<PtychographyOperator>(this->image_rows(), this->image_cols(), windows_,
                                                std::move(pupil), discs_);
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
    : ImagingOperator<Scalar>(op.pupil().rows(), op.pupil().cols(),
                              std::vector<Window>(op.windows().size()), seen_spectra(op, x),
                              false) {}

#define UDV_INSTANTIATE(Scalar)                    \
  template class ImagingOperator<Scalar>;          \
  template class CodedDiffractionOperator<Scalar>; \
  template class PtychographyOperator<Scalar>;     \
  template class PupilOperator<Scalar>;
UDV_INSTANTIATE(std::complex<float>)
UDV_INSTANTIATE(std::complex<double>)

}  // namespace udv
