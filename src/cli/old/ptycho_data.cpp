// SPDX-License-Identifier: MIT
#include "cli/ptycho_data.hpp"

#include <algorithm>
#include <cmath>

#include "cli/ptycho_setup.hpp"
#include "cli/recovery_command.hpp"
#include "udv/core/error.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/variables.hpp"
#include "udv/recover/ptychography.hpp"

namespace udv::cli {
namespace {

// Fourth powers are added up in single precision.
constexpr double kLargestAmplitude = 1e8;
constexpr double kSaturatedShare = 0.01;  // of the pixels of an image at the largest value of all

// All images as numbers, image by image.
struct Stack3 {
  Index images = 0, rows = 0, cols = 0;
  bool images_last = true;
  io::ComplexArray array;

  double value(Index l, Index r, Index c) const {
    const Index at = images_last ? (r * cols + c) * images + l : (l * rows + r) * cols + c;
    return array.values[static_cast<size_t>(at)].real();
  }
};

Stack3 read_images(const io::VariableFile& file, const DataSetup& setup) {
  Stack3 stack;
  stack.array = file.read(setup.variable);
  const std::string what = message(file.path().string(), ": variable '", setup.variable, "'");
  const auto& shape = stack.array.shape;
  require<IoError>(!stack.array.is_complex, what,
                   " is complex, amplitudes or intensities (real numbers) expected");
  require<IoError>(shape.size() == 3 && stack.array.size() > 0, what, " has shape ",
                   io::shape_text(shape), ", a stack of images with three axes expected");
  stack.images_last = setup.image_axis == ImageAxis::kLast;
  stack.images = stack.images_last ? shape[2] : shape[0];
  stack.rows = stack.images_last ? shape[0] : shape[1];
  stack.cols = stack.images_last ? shape[1] : shape[2];
  return stack;
}

double read_number(const io::VariableFile& file, const std::string& name) {
  const io::ComplexArray array = file.read(name);
  const std::string what = message(file.path().string(), ": variable '", name, "'");
  require<IoError>(array.size() == 1 && !array.is_complex, what, " has shape ",
                   io::shape_text(array.shape), ", one real number expected");
  require<IoError>(std::isfinite(array.values[0].real()), what, " is not finite");
  return array.values[0].real();
}

// The part of image l that is used, as amplitudes. Throws on a pixel that makes no sense.
Vector<float> amplitudes_of(const Stack3& stack, Index l, const Region& region,
                            const DataSetup& setup, const std::string& what) {
  Vector<float> result(region.rows * region.cols);
  for (Index r = 0; r < region.rows; ++r)
    for (Index c = 0; c < region.cols; ++c) {
      const double value = stack.value(l, region.row + r, region.col + c);
      require<IoError>(std::isfinite(value) && value >= 0, what, ": image ", l + 1, ", pixel (",
                       region.row + r, ", ", region.col + c, ") is ", value,
                       ", a number of at least 0 expected");
      result(r * region.cols + c) =
          static_cast<float>(setup.kind == ImageKind::kAmplitude ? value : std::sqrt(value));
    }
  return result;
}

RowMatrix<std::complex<double>> known_pupil(const io::VariableFile& file, const PtychoSetup& setup,
                                            const Optics& optics, Index rows, Index cols) {
  auto computed = pupil(optics, rows, cols);
  if (setup.pupil_variable.empty()) return computed;
  const io::ComplexArray array = file.read(setup.pupil_variable);
  const bool zero = std::all_of(array.values.begin(), array.values.end(),
                                [](const auto& value) { return value == 0.0; });
  if (zero) return computed;
  require<IoError>(array.shape == std::vector<Index>({rows, cols}), file.path().string(),
                   ": pupil '", setup.pupil_variable, "' has shape ", io::shape_text(array.shape),
                   ", ", rows, " x ", cols, " expected, as the images");
  return Eigen::Map<const RowMatrix<std::complex<double>>>(array.values.data(), rows, cols);
}

// Dark field: the frequency 0 of the spectrum is not in the pupil of this window.
bool is_dark(const PtychoData& data, const Window& window) {
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
void drop(PtychoData& data, const std::vector<Index>& places) {
  const Index pixels = data.pupil.size();
  PtychoData kept = data;
  kept.windows.clear();
  kept.dark.clear();
  kept.used.clear();
  Index count = 0;
  for (Index i = 0; i < static_cast<Index>(data.used.size()); ++i) {
    if (std::find(places.begin(), places.end(), i) != places.end()) continue;
    const auto at = static_cast<size_t>(i);
    kept.windows.push_back(data.windows[at]);
    kept.dark.push_back(data.dark[at]);
    kept.used.push_back(data.used[at]);
    kept.amplitudes.segment(count++ * pixels, pixels) = data.amplitudes.segment(i * pixels, pixels);
  }
  kept.amplitudes.conservativeResize(count * pixels);
  data = std::move(kept);
}

// Places of images without light, and of those where many pixels have the largest value of all.
std::vector<Index> unusable(const PtychoData& data) {
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

std::vector<Index> numbers_of(const PtychoData& data, const std::vector<Index>& places) {
  std::vector<Index> numbers;
  for (const Index i : places) numbers.push_back(data.used[static_cast<size_t>(i)]);
  return numbers;
}

void check_images(PtychoData& data, const std::string& what, bool drop_bad) {
  require<IoError>(data.amplitudes.maxCoeff() > 0, what, ": all images are zero");
  check_magnitude(what, data.amplitudes.maxCoeff(), kLargestAmplitude);
  const auto bad = unusable(data);
  if (!bad.empty()) {
    const std::string text =
        message("images ", list_text(numbers_of(data, bad)), " are all zero or saturated");
    require<IoError>(drop_bad, what, ": ", text, "; --drop-bad leaves them out");
    data.warnings.push_back(text + ": left out");
    drop(data, bad);
  }
  require<IoError>(!data.used.empty(), what, ": no image is left");
  const auto places = contradicting_images(data.amplitudes, data.pupil.size(), data.dark);
  if (places.empty()) return;
  data.contradicting = numbers_of(data, places);
  data.warnings.push_back(message("LEDs ", list_text(data.contradicting),
                                  " contradict the model (far too dark or too bright for their "
                                  "place)",
                                  drop_bad ? ": left out" : "; --drop-bad leaves them out"));
  if (drop_bad) drop(data, places);
}

}  // namespace

PtychoData read_ptycho_data(const std::string& data_path, const std::string& setup_path,
                            bool drop_bad) {
  const PtychoSetup setup = read_setup(setup_path);
  const io::VariableFile file(data_path);
  const Optics optics =
      resolve_optics(setup, [&](const std::string& name) { return read_number(file, name); });
  const Stack3 stack = read_images(file, setup.data);
  const std::string what = message(data_path, ": variable '", setup.data.variable, "'");
  const auto lights = illuminations(optics, led_places(setup.leds, stack.images));
  const Region region = image_region(setup.data, stack.rows, stack.cols);
  PtychoData data;
  data.used = used_images(setup.leds, lights);
  require<IoError>(!data.used.empty(), setup.leds.where, ": no image is used");
  data.rows = optics.upsampling * region.rows;
  data.cols = optics.upsampling * region.cols;
  std::vector<Illumination> used_lights;
  for (const Index l : data.used) used_lights.push_back(lights[static_cast<size_t>(l)]);
  data.windows = spectrum_windows(optics, region.rows, region.cols, used_lights);
  data.pupil = known_pupil(file, setup, optics, region.rows, region.cols);
  data.amplitudes.resize(data.pupil.size() * static_cast<Index>(data.used.size()));
  for (size_t i = 0; i < data.used.size(); ++i) {
    data.amplitudes.segment(static_cast<Index>(i) * data.pupil.size(), data.pupil.size()) =
        amplitudes_of(stack, data.used[i], region, setup.data, what);
    data.dark.push_back(is_dark(data, data.windows[i]));
  }
  check_images(data, what, drop_bad);
  return data;
}

}  // namespace udv::cli
