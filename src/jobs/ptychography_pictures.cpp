// SPDX-License-Identifier: MIT
#include "jobs/ptychography_pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "udv/io/file.hpp"
#include "udv/io/gray_picture.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/tiff.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/phase_unwrapping.hpp"

namespace udv::jobs {
namespace {

using Complex = std::complex<float>;

constexpr const char* kSoFar[] = {"so-far-amplitude.png", "so-far-phase.png", "so-far-x.npy"};

// 0 is the least, 65535 the largest value.
void write_gray16(RunFolder& folder, io::RunInfo& info, const std::string& name,
                  const RowMatrix<double>& values) {
  const double low = values.minCoeff(), high = values.maxCoeff();
  const double scale = high > low ? 65535 / (high - low) : 0;
  RowMatrix<std::uint16_t> gray(values.rows(), values.cols());
  for (Index i = 0; i < values.size(); ++i)
    gray.data()[i] = static_cast<std::uint16_t>(std::lround(scale * (values.data()[i] - low)));
  io::write_png16(folder.file(name + "16.png"), gray);
  info.lists[name + "_range"] = {low, high};
}

// What black and white of the 8-bit picture stand for.
void note_shown_range(io::RunInfo& info, const std::string& name, const RowMatrix<double>& values) {
  std::vector<double> sorted(values.data(), values.data() + values.size());
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) {
    return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
  };
  info.lists[name + "_shown"] = {at(0.002), at(0.998)};
}

struct Colour {
  int red, green, blue;
};

// Left out red; others by their field, lighter or darker with the gain of their LED.
Colour colour_of(const LedInfo& led, const LedLight& light) {
  if (!led.left_out.empty()) return {220, 40, 40};
  if (light.gain < 0) return {70, 120, 220};  // predicted, not used
  const double usual = led.dark ? 110 : 200;
  const int level =
      static_cast<int>(std::clamp(usual * (led.dark ? 1.0 : light.gain), 60.0, 250.0));
  return {level, level, level};
}

io::RgbImage led_map(const Optics& optics, const std::vector<LedInfo>& leds,
                     const std::vector<LedLight>& lights) {
  constexpr Index kSide = 240, kHalf = 3;
  double reach = optics.numerical_aperture;
  for (const LedInfo& led : leds) reach = std::max(reach, led.light.na);
  io::RgbImage map{kSide, kSide, std::vector<std::uint8_t>(3 * kSide * kSide, 20)};
  const auto paint = [&](Index row, Index col, const Colour& colour) {
    std::uint8_t* const at = map.pixels.data() + 3 * (row * kSide + col);
    at[0] = static_cast<std::uint8_t>(colour.red);
    at[1] = static_cast<std::uint8_t>(colour.green);
    at[2] = static_cast<std::uint8_t>(colour.blue);
  };
  const auto place = [&](double cosine) {
    return static_cast<Index>(std::lround((0.5 - 0.46 * cosine / reach) * (kSide - 1)));
  };
  for (int degree = 0; degree < 720; ++degree) {  // the NA of the objective
    const double angle = degree * M_PI / 360, na = optics.numerical_aperture;
    paint(place(na * std::sin(angle)), place(na * std::cos(angle)), {90, 90, 140});
  }
  for (size_t l = 0; l < leds.size(); ++l)
    for (Index y = -kHalf; y <= kHalf; ++y)
      for (Index x = -kHalf; x <= kHalf; ++x)
        paint(place(leds[l].light.ky) + y, place(leds[l].light.kx) + x,
              colour_of(leds[l], lights[l]));
  return map;
}

std::string led_table(const std::vector<LedInfo>& leds, const std::vector<LedLight>& lights) {
  std::string text = "image,x,y,na,field,level,gain,background,left_out\n";
  const auto known = [](double value) { return value < 0 ? "" : fmt::format("{:.6g}", value); };
  for (size_t l = 0; l < leds.size(); ++l)
    text += fmt::format("{},{},{},{:.6g},{},{:.4g},{},{},{}\n", leds[l].image + 1,
                        leds[l].light.led.x, leds[l].light.led.y, leds[l].light.na,
                        leds[l].dark ? "dark" : "bright", leds[l].level, known(lights[l].gain),
                        known(lights[l].background), leds[l].left_out);
  return text;
}

}  // namespace

void write_pictures(const std::filesystem::path& amplitude, const std::filesystem::path& phase,
                    const RowMatrix<Complex>& image) {
  io::write_png(amplitude, io::gray_picture(image.cwiseAbs().cast<double>()));
  io::write_png(phase, io::gray_picture(relative_phase(image)));
}

void write_image(RunFolder& folder, io::RunInfo& info, const RowMatrix<Complex>& image,
                 double pixel_m) {
  io::write_npy(folder.file("x.npy"), image);
  const RowMatrix<double> amplitude = image.cwiseAbs().cast<double>(),
                          phase = relative_phase(image);
  io::write_png(folder.file("amplitude.png"), io::gray_picture(amplitude));
  io::write_png(folder.file("phase.png"), io::gray_picture(phase));
  write_gray16(folder, info, "amplitude", amplitude);
  write_gray16(folder, info, "phase", phase);
  note_shown_range(info, "amplitude", amplitude);
  note_shown_range(info, "phase", phase);
  io::write_tiff(folder.file("amplitude.tif"), amplitude.cast<float>(), pixel_m);
  io::write_tiff(folder.file("phase.tif"), phase.cast<float>(), pixel_m);
  info.figures["pixel_um"] = 1e6 * pixel_m;
  info.figures["image_cols"] = std::int64_t{image.cols()};
  remove_image_so_far(folder);
}

void write_image_so_far(RunFolder& folder, const RowMatrix<Complex>& image) {
  if (!(image.norm() > 0)) return;
  write_pictures(folder.path() / kSoFar[0], folder.path() / kSoFar[1], image);
  io::write_npy(folder.path() / kSoFar[2], image);
}

void remove_image_so_far(const RunFolder& folder) {
  std::error_code not_there;
  for (const char* const name : kSoFar) std::filesystem::remove(folder.path() / name, not_there);
}

void judge_image(io::RunInfo& info, PtychographyJobResult& result) {
  result.vortices = count_vortices(result.image);
  result.phase_bowl = phase_bowl(result.image);
  info.figures["vortices"] = std::int64_t{result.vortices};
  info.figures["phase_bowl"] = result.phase_bowl;
}

RowMatrix<double> enlarged(const float* amplitudes, Index rows, Index cols, Index upsampling) {
  RowMatrix<double> picture(rows * upsampling, cols * upsampling);
  for (Index r = 0; r < picture.rows(); ++r)
    for (Index c = 0; c < picture.cols(); ++c)
      picture(r, c) = static_cast<double>(amplitudes[r / upsampling * cols + c / upsampling]);
  return picture;
}

void write_pupil(RunFolder& folder, const RowMatrix<std::complex<double>>& pupil) {
  io::write_npy(folder.file("pupil.npy"), pupil);
  RowMatrix<double> phase(pupil.rows(), pupil.cols());
  for (Index i = 0; i < pupil.size(); ++i) phase.data()[i] = std::arg(pupil.data()[i]);
  io::write_png(folder.file("pupil.png"), io::gray_picture(phase));
}

void write_leds(RunFolder& folder, const Optics& optics, const std::vector<LedInfo>& leds,
                const std::vector<LedLight>& lights) {
  io::write_png(folder.file("leds.png"), led_map(optics, leds, lights));
  io::write_atomically(folder.file("leds.csv"), led_table(leds, lights));
}

void note_leds(io::RunInfo& info, const PtychographyData& data) {
  for (const Index led : data.used) info.lists["leds"].push_back(std::int64_t{led + 1});
  for (const Index led : data.contradicting)
    info.lists["contradicting_leds"].push_back(std::int64_t{led + 1});
  for (const LedInfo& led : data.leds) {
    if (led.left_out.empty()) continue;
    info.lists["left_out_leds"].push_back(std::int64_t{led.image + 1});
    info.lists["left_out_reasons"].push_back(led.left_out);
  }
  info.figures["geometry"] = geometry_text(data.optics);
  info.figures["bad_pixels"] = static_cast<std::int64_t>(data.bad_pixels.size());
  info.figures["saturated_samples"] = std::int64_t{data.saturated};
}

}  // namespace udv::jobs
