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

// Dark field: the frequency 0 of the spectrum is not in the pupil of this window.
bool is_dark(const PtychographyData& data, const Window& window) {
  const Index r = data.rows / 2 - window.row, c = data.cols / 2 - window.col;
  return r < 0 || c < 0 || r >= data.pupil.rows() || c >= data.pupil.cols() ||
         data.pupil(r, c) == 0.0;
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
  data.optics = optics;
  data.rows = optics.upsampling * images.rows;
  data.cols = optics.upsampling * images.cols;
  data.windows = spectrum_windows(optics, images.rows, images.cols, lights);
  data.pupil = pupil(optics, images.rows, images.cols);
  data.exact = exact_pupils(optics, images.rows, images.cols, lights);
  if (known_pupil.size() > 0) {
    data.pupil = cut_at_na(known_pupil, optics);
    data.exact.pupil = cut_at_na(known_pupil, optics, kExactMargin);
  }
  data.amplitudes = amplitudes_of(images);
  for (size_t l = 0; l < lights.size(); ++l) {
    data.dark.push_back(is_dark(data, data.windows[l]));
    data.leds.push_back({data.used[l], lights[l], data.dark.back(), 0, ""});
  }
  return data;
}

PtychographyData ptychography_data(const ImageStack& images, const Optics& optics,
                                   const std::vector<Illumination>& lights, bool drop_bad,
                                   const RowMatrix<std::complex<double>>& known_pupil) {
  std::vector<Index> numbers(static_cast<size_t>(std::max<Index>(images.images, 0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  auto data = detail::numbered_data(images, optics, lights, std::move(numbers), known_pupil);
  detail::check_images(data, drop_bad, optics);
  return data;
}

}  // namespace udv
