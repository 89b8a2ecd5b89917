// SPDX-License-Identifier: MIT
#include "udv/recover/ptychography_data.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/require.hpp"
#include "recover/ptychography_numbered.hpp"
#include "udv/recover/ptychography.hpp"

namespace udv {
namespace {

// Fourth powers are added up in single precision.
constexpr double kLargestAmplitude = 1e8;
constexpr double kSaturatedShare = 0.01;  // of the pixels of an image at the largest value of all
constexpr double kDarkerThanBright = 0.7, kBrighterThanDark = 0.3;  // shares of a bright image

// Dark field: the frequency 0 of the spectrum is not in the pupil of this window.
bool is_dark(const PtychographyData& data, const Window& window) {
  const Index r = data.rows / 2 - window.row, c = data.cols / 2 - window.col;
  return r < 0 || c < 0 || r >= data.pupil.rows() || c >= data.pupil.cols() ||
         data.pupil(r, c) == 0.0;
}

std::string list_text(const std::vector<Index>& which) {
  std::string text;
  for (const Index l : which) text += (text.empty() ? "" : ", ") + std::to_string(l + 1);
  return text;
}

// Leaves out the images at these places of data.used.
void drop(PtychographyData& data, const std::vector<Index>& places) {
  const Index pixels = data.pupil.size();
  PtychographyData kept = data;
  kept.windows.clear();
  kept.exact.supports.clear();
  kept.dark.clear();
  kept.used.clear();
  Index count = 0;
  for (Index i = 0; i < static_cast<Index>(data.used.size()); ++i) {
    if (std::find(places.begin(), places.end(), i) != places.end()) continue;
    const auto at = static_cast<size_t>(i);
    kept.windows.push_back(data.windows[at]);
    if (!data.exact.supports.empty()) kept.exact.supports.push_back(data.exact.supports[at]);
    kept.dark.push_back(data.dark[at]);
    kept.used.push_back(data.used[at]);
    kept.amplitudes.segment(count++ * pixels, pixels) = data.amplitudes.segment(i * pixels, pixels);
  }
  kept.amplitudes.conservativeResize(count * pixels);
  data = std::move(kept);
}

// Places of images without light, and of those where many pixels have the largest value of all.
std::vector<Index> unusable(const PtychographyData& data) {
  const Index pixels = data.pupil.size();
  const float largest = data.amplitudes.maxCoeff();
  std::vector<Index> places;
  for (Index i = 0; i < static_cast<Index>(data.used.size()); ++i) {
    const auto image = data.amplitudes.segment(i * pixels, pixels).array();
    const auto full = static_cast<double>((image == largest).count());
    if (image.maxCoeff() == 0 || full > std::max(16.0, kSaturatedShare * double(pixels)))
      places.push_back(i);
  }
  return places;
}

std::vector<Index> numbers_of(const PtychographyData& data, const std::vector<Index>& places) {
  std::vector<Index> numbers;
  for (const Index i : places) numbers.push_back(data.used[static_cast<size_t>(i)]);
  return numbers;
}

// The amplitudes of all images. Throws on a pixel that makes no sense.
Vector<float> amplitudes_of(const ImageStack& stack) {
  Vector<float> amplitudes(static_cast<Index>(stack.values.size()));
  for (Index i = 0; i < amplitudes.size(); ++i) {
    const double value = stack.values[static_cast<size_t>(i)];
    require(std::isfinite(value) && value >= 0, "image ", i / (stack.rows * stack.cols) + 1,
            ", pixel (", i / stack.cols % stack.rows, ", ", i % stack.cols, ") is ", value,
            ", a number of at least 0 expected");
    amplitudes(i) =
        static_cast<float>(stack.kind == ImageKind::kAmplitude ? value : std::sqrt(value));
  }
  return amplitudes;
}

void check_brightness(double largest) {
  require(largest > 0, "all images are zero");
  require(largest > 1 / kLargestAmplitude && largest < kLargestAmplitude,
          "the largest magnitude is ", largest, ", between ", 1 / kLargestAmplitude, " and ",
          kLargestAmplitude, " expected");
}

void drop_unusable(PtychographyData& data, bool drop_bad) {
  const auto bad = unusable(data);
  if (bad.empty()) return;
  const std::string text =
      message("images ", list_text(numbers_of(data, bad)), " are all zero or saturated");
  require(drop_bad, text, "; the option drop-bad leaves them out");
  data.warnings.push_back(text + ": left out");
  drop(data, bad);
  require(!data.used.empty(), "no image is left");
}

void find_contradicting(PtychographyData& data, bool drop_bad) {
  const auto places = contradicting_images(data.amplitudes, data.pupil.size(), data.dark);
  if (places.empty()) return;
  data.contradicting = numbers_of(data, places);
  data.warnings.push_back(
      message("LEDs ", list_text(data.contradicting),
              " contradict the model (far too dark or too bright for their place)",
              drop_bad ? ": left out" : "; the option drop-bad leaves them out"));
  if (drop_bad) drop(data, places);
}

void check_shape(const ImageStack& images, size_t lights,
                 const RowMatrix<std::complex<double>>& pupil) {
  require(images.images > 0 && images.rows > 0 && images.cols > 0, "a stack of ", images.images,
          " images of ", images.rows, " x ", images.cols, " pixels found, one or more expected");
  require(static_cast<Index>(images.values.size()) == images.images * images.rows * images.cols,
          images.values.size(), " pixels found, ", images.images * images.rows * images.cols,
          " expected, ", images.images, " images of ", images.rows, " x ", images.cols);
  require(static_cast<Index>(lights) == images.images, lights, " lights found, ", images.images,
          " expected, one for each image");
  require(pupil.size() == 0 || (pupil.rows() == images.rows && pupil.cols() == images.cols),
          "a pupil of ", pupil.rows(), " x ", pupil.cols(), " found, ", images.rows, " x ",
          images.cols, " expected, as the images");
}

}  // namespace

PtychographyData detail::numbered_data(const ImageStack& images, const Optics& optics,
                                       const std::vector<Illumination>& lights,
                                       std::vector<Index> numbers,
                                       const RowMatrix<std::complex<double>>& known_pupil) {
  check_shape(images, lights.size(), known_pupil);
  PtychographyData data;
  data.used = std::move(numbers);
  data.rows = optics.upsampling * images.rows;
  data.cols = optics.upsampling * images.cols;
  data.windows = spectrum_windows(optics, images.rows, images.cols, lights);
  data.pupil = known_pupil.size() > 0 ? known_pupil : pupil(optics, images.rows, images.cols);
  if (known_pupil.size() == 0) data.exact = exact_pupils(optics, images.rows, images.cols, lights);
  data.amplitudes = amplitudes_of(images);
  for (const Window& window : data.windows) data.dark.push_back(is_dark(data, window));
  return data;
}

void detail::check_images(PtychographyData& data, bool drop_bad) {
  check_brightness(data.amplitudes.maxCoeff());
  drop_unusable(data, drop_bad);
  find_contradicting(data, drop_bad);
}

PtychographyData ptychography_data(const ImageStack& images, const Optics& optics,
                                   const std::vector<Illumination>& lights, bool drop_bad,
                                   const RowMatrix<std::complex<double>>& known_pupil) {
  std::vector<Index> numbers(static_cast<size_t>(std::max<Index>(images.images, 0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  auto data = detail::numbered_data(images, optics, lights, std::move(numbers), known_pupil);
  detail::check_images(data, drop_bad);
  return data;
}

std::vector<Index> contradicting_images(const Vector<float>& amplitudes, Index pixels,
                                        const std::vector<bool>& dark) {
  std::vector<double> bright;
  const auto count = static_cast<Index>(dark.size());
  for (Index l = 0; l < count; ++l)
    if (!dark[static_cast<size_t>(l)]) bright.push_back(mean_intensity(amplitudes, pixels, l));
  std::vector<Index> bad;
  if (bright.empty()) return bad;
  std::nth_element(bright.begin(), bright.begin() + static_cast<std::ptrdiff_t>(bright.size() / 2),
                   bright.end());
  const double typical = bright[bright.size() / 2];
  for (Index l = 0; l < count; ++l) {
    const double share = mean_intensity(amplitudes, pixels, l) / typical;
    if (dark[static_cast<size_t>(l)] ? share > kBrighterThanDark : share < kDarkerThanBright)
      bad.push_back(l);
  }
  return bad;
}

}  // namespace udv
