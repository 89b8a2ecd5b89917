// SPDX-License-Identifier: MIT
// Fourier ptychography on simulated captures: faults one by one, error of the recovered sample.
//
// usage: bench_ptycho faults [seeds=2] [only=WORD]      error of the sample, fault by fault
//          first=0 is the first seed; background=0, gains=0, dynamics=0, noise=gaussian leave these
//          out
//        bench_ptycho geometry [cases=10]               errors of the geometry found, no fit
//        bench_ptycho chain [cases=5]                   wrong geometry, background, hot pixels
//        bench_ptycho field [side=256] [tile=96]        a field in tiles: errors, seams, seconds
//          counts=0, background=0, seed=0 describe the capture; out=DIR: found.npy, truth.npy
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "arguments.hpp"
#include "support/capture.hpp"
#include "udv/core/random.hpp"
#include "udv/io/npy.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/ptychography_field.hpp"

namespace {

using udv::Index;
using udv::testing::Capture;
using udv::testing::CaptureFaults;
using Clock = std::chrono::steady_clock;

struct Setting {
  std::string name;
  CaptureFaults faults;
};

std::vector<Setting> settings() {
  return {{"no aberration", {.aberration = 0}},
          {"aberrated", {}},
          {"background 0.5 %", {.background = 0.005}},
          {"background 2 %", {.background = 0.02}},
          {"20 hot pixels", {.hot_pixels = 20}},
          {"20 dead pixels", {.dead_pixels = 20}},
          {"3 % saturated", {.saturated_share = 0.03}},
          {"30 % saturated", {.saturated_share = 0.3}},
          {"1000 counts", {.counts = 1000}},
          {"100 counts", {.counts = 100}},
          {"30 counts", {.counts = 30}},
          {"LEDs +-20 %", {.brightness_spread = 0.2}},
          {"LEDs +-20 %, background 0.5 %", {.background = 0.005, .brightness_spread = 0.2}},
          {"dark exposure 0.4, background 0.2 %", {.background = 0.002, .dark_exposure = 0.4}}};
}

int run_faults(const udv::bench::Arguments& arguments) {
  const auto seeds = arguments.number<std::uint64_t>("seeds", 2);
  const auto first = arguments.number<std::uint64_t>("first", 0);
  const std::string only = arguments.word("only", "");
  udv::PtychographyOptions options;
  options.background = arguments.number("background", 1) != 0;
  options.led_gains = arguments.number("gains", 1) != 0;
  options.dynamics = arguments.number("dynamics", 1) != 0;
  if (arguments.word("pupil", "phase") == "polynomial")
    options.refine_pupil = udv::PupilRefinement::kPolynomial;
  const std::string noise = arguments.word("noise", "auto");
  if (noise == "gaussian") options.noise = udv::PhotonNoise::kGaussian;
  fmt::print("{:<38} {:>8} {:>8} {:>6}  {}\n", "fault", "error", "residual", "images", "seconds");
  for (const Setting& setting : settings()) {
    if (setting.name.find(only) == std::string::npos) continue;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
      const Capture capture = udv::testing::simulate_capture(setting.faults, seed);
      const auto lights = udv::illuminations(capture.nominal, capture.leds);
      const auto start = Clock::now();
      const auto data = udv::ptychography_data(capture.images, capture.nominal, lights);
      const auto images = udv::split_images(data).used;
      const auto found = udv::recover_image(images, options);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      fmt::print("{:<38} {:>8.4f} {:>8.4f} {:>6} {:>8.1f}\n", setting.name,
                 udv::testing::capture_error(capture, *images.op, found.x),
                 found.amplitude_residual, images.op->images(), seconds);
      std::fflush(stdout);
    }
  }
  return 0;
}

// How far the geometry found is from the truth.
struct GeometryErrors {
  double degrees, distance, millimetres;
  bool orientation;
};

GeometryErrors errors_of(const udv::Optics& found, const Capture& capture,
                         const CaptureFaults& faults) {
  const udv::Optics& truth = capture.truth;
  return {std::abs(found.rotation_degrees - truth.rotation_degrees),
          std::abs(found.led_distance_mm / truth.led_distance_mm - 1),
          std::hypot(found.x_offset_mm - truth.x_offset_mm, found.y_offset_mm - truth.y_offset_mm),
          found.mirrored == faults.mirrored && found.swapped == faults.swapped};
}

// What differs from the setup: one thing at a time, then all.
CaptureFaults wrong_geometry(const std::string& what, udv::Random& random) {
  CaptureFaults faults{.background = 0.003, .counts = 2000};
  const auto sign = [&] { return random.uniform() < 0.5 ? -1.0 : 1.0; };
  const bool all = what == "all";
  const double share = all ? 0.8 : 1;
  if (all || what == "rotation") faults.rotation_degrees = share * 10 * sign();
  if (all || what == "distance") faults.distance_factor = std::exp(share * 0.1 * sign());
  if (all || what == "offset") {
    const double angle = 6.28 * random.uniform();
    faults.x_offset_mm = share * std::cos(angle);
    faults.y_offset_mm = share * std::sin(angle);
  }
  if (all || what == "orientation") {
    const udv::Index which = random.below(4);
    faults.mirrored = which % 2 == 1;
    faults.swapped = which / 2 == 1;
  }
  return faults;
}

int run_geometry(const udv::bench::Arguments& arguments) {
  const auto cases = arguments.number<std::uint64_t>("cases", 10);
  fmt::print("{:<12} {:>12} {:>16} {:>16} {:>16}\n", "truth", "orientation", "degrees",
             "distance %", "offset mm");
  for (const std::string what : {"rotation", "distance", "offset", "orientation", "all"}) {
    std::vector<double> degrees, distance, millimetres;
    int right = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
      udv::Random random(seed, 77);
      const CaptureFaults faults = wrong_geometry(what, random);
      const Capture capture = udv::testing::simulate_capture(faults, seed);
      const auto found = udv::find_led_geometry(capture.images, capture.nominal, capture.leds);
      const GeometryErrors errors = errors_of(found.optics, capture, faults);
      right += errors.orientation;
      degrees.push_back(errors.degrees);
      distance.push_back(100 * errors.distance);
      millimetres.push_back(errors.millimetres);
    }
    const auto spread = [](std::vector<double> values) {
      std::sort(values.begin(), values.end());
      return fmt::format("{:.2f} / {:.2f} / {:.2f}", values[values.size() / 2],
                         values[values.size() * 8 / 10], values.back());
    };
    fmt::print("{:<12} {:>9}/{} {:>18} {:>18} {:>18}\n", what, right, cases, spread(degrees),
               spread(distance), spread(millimetres));
    std::fflush(stdout);
  }
  return 0;
}

int run_chain(const udv::bench::Arguments& arguments) {
  const auto cases = arguments.number<std::uint64_t>("cases", 5);
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    udv::Random random(seed, 78);
    CaptureFaults faults = wrong_geometry("all", random);
    faults.counts = 0;
    faults.background = 0.005;
    faults.hot_pixels = 10;
    const Capture capture = udv::testing::simulate_capture(faults, seed);
    const auto start = Clock::now();
    const auto calibrated =
        udv::calibrate(capture.images, capture.nominal, capture.leds, udv::Calibration::kAuto);
    const auto data = udv::ptychography_data(capture.images, calibrated.optics,
                                             udv::illuminations(calibrated.optics, capture.leds));
    const auto images = udv::split_images(data).used;
    const auto found = udv::recover_image(images);
    fmt::print("case {}: error {:.4f}, residual {:.4f}, {} images, {:.1f} s\n", seed,
               udv::testing::capture_error(capture, *images.op, found.x), found.amplitude_residual,
               images.op->images(), std::chrono::duration<double>(Clock::now() - start).count());
    for (const std::string& warning : data.warnings) fmt::print("  {}\n", warning);
    for (const std::string& warning : calibrated.warnings) fmt::print("  {}\n", warning);
    std::fflush(stdout);
  }
  return 0;
}

int run_field(const udv::bench::Arguments& arguments) {
  const CaptureFaults faults{.aberration = arguments.number("aberration", 1.0),
                             .background = arguments.number("background", 0.0),
                             .counts = arguments.number("counts", 0.0)};
  const auto capture =
      udv::testing::simulate_field(faults, arguments.number<udv::Index>("side", 256),
                                   arguments.number<std::uint64_t>("seed", 0));
  udv::FieldOptions options;
  options.tiles.side = arguments.number<udv::Index>("tile", 96);
  options.tiles.overlap = arguments.number<udv::Index>("overlap", options.tiles.overlap);
  options.image.dynamics = arguments.number("dynamics", 1) != 0;
  const auto start = Clock::now();
  const auto found = udv::recover_field(capture.field, options);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const auto errors = udv::testing::field_errors(capture, found.grid, found.image);
  fmt::print(
      "{} tiles of {} x {}: {:.1f} s, residual {:.4f}, mismatch in overlaps {:.4f}, bend {:.3g}\n",
      found.tiles.size(), found.tiles[0].tile.rows, found.tiles[0].tile.cols, seconds,
      found.amplitude_residual(), found.seams.mismatch, found.seams.bend);
  if (const std::string out = arguments.word("out", ""); !out.empty()) {
    udv::io::write_npy(out + "/found.npy", found.image);
    udv::io::write_npy(out + "/truth.npy", capture.sample);
  }
  fmt::print("error {:.4f}, where tiles meet {:.4f}, elsewhere {:.4f}\n", errors.error,
             errors.seams, errors.inside);
  fmt::print("steps of the phase error: {:.4f} where tiles meet, {:.4f} elsewhere\n",
             errors.steps_at_seams, errors.steps);
  for (size_t t = 0; t < found.tiles.size(); ++t) {
    const auto& tile = found.tiles[t];
    const auto& factor = found.seams.factors[t];
    fmt::print("  tile {}: residual {:.4f}{}, phase {:.3f}, tilt {:.5f} {:.5f}, gain {:.4f}\n", t,
               std::sqrt(tile.error_square / tile.data_square),
               tile.by_itself ? " (by itself)" : "", factor.phase, factor.down, factor.right,
               factor.gain);
  }
  return 0;
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "faults";
  const udv::bench::Arguments arguments(argc, argv, std::min(argc, 2));
  if (what == "faults") return run_faults(arguments);
  if (what == "geometry") return run_geometry(arguments);
  if (what == "chain") return run_chain(arguments);
  if (what == "field") return run_field(arguments);
  fmt::print(stderr, "usage: bench_ptycho faults|geometry|chain|field [KEY=VALUE ...]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  return udv::bench::guarded_main("bench_ptycho", run, argc, argv);
}
