// SPDX-License-Identifier: MIT
// Fourier ptychography on simulated captures: faults one by one, error of the recovered sample.
//
// usage: bench_ptycho faults [seeds=2] [only=WORD]      error of the sample, fault by fault, and
// bars
//          first=0 is the first seed; background=0, gains=0, dynamics=0, hold=0, noise=gaussian
//          leave these out; oracle=1 knows pupil, gains and backgrounds
//        bench_ptycho geometry [cases=10] [only=WORD]   errors of the geometry found, no fit
//        bench_ptycho calibrated [cases=10] [only=WORD] the same with fits: error with the geometry
//          found over that with the right one; first=0 is the first seed
//        bench_ptycho table [seeds=2] [cases=3]         all of them
//        bench_ptycho field [side=256] [tile=96]        a field in tiles: errors, seams, seconds
//          counts=0, background=0, seed=0 describe the capture; out=DIR: found.npy, truth.npy;
//          data=FILE.npy writes the capture and its setup FILE.toml instead
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "arguments.hpp"
#include "support/capture.hpp"
#include "udv/core/random.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/recover/led_geometry.hpp"
#include "udv/recover/ptychography_field.hpp"

namespace {

using udv::Index;
using udv::bench::Arguments;
using udv::testing::Capture;
using udv::testing::CaptureFaults;
using Clock = std::chrono::steady_clock;

// Of all threads: what a machine that others use does not change.
double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

struct Setting {
  std::string name;
  double bar;  // largest error that is wanted; 0: none
  CaptureFaults faults;
};

std::vector<Setting> settings() {
  return {{"no aberration", 0, {.aberration = 0}},
          {"aberrated", 0.075, {}},
          {"background 0.5 %", 0.07, {.background = 0.005}},
          {"background 2 %", 0.08, {.background = 0.02}},
          {"20 hot pixels", 0.10, {.hot_pixels = 20}},
          {"20 dead pixels", 0.08, {.dead_pixels = 20}},
          {"3 % saturated", 0.08, {.saturated_share = 0.03}},
          {"30 % saturated", 0.10, {.saturated_share = 0.3}},
          {"1000 counts", 0.08, {.counts = 1000}},
          {"100 counts", 0.11, {.counts = 100}},
          {"30 counts", 0.15, {.counts = 30}},
          {"LEDs +-20 %", 0, {.brightness_spread = 0.2}},
          {"LEDs +-20 %, background 0.5 %", 0, {.background = 0.005, .brightness_spread = 0.2}},
          {"dark exposure 0.4, background 0.2 %", 0, {.background = 0.002, .dark_exposure = 0.4}}};
}

udv::PtychographyOptions options_of(const Arguments& arguments) {
  udv::PtychographyOptions options;
  options.background = arguments.number("background", 1) != 0;
  options.led_gains = arguments.number("gains", 1) != 0;
  options.dynamics = arguments.number("dynamics", 1) != 0;
  options.hold_slow_phases = arguments.number("hold", 1) != 0;
  if (arguments.word("pupil", "phase") == "polynomial")
    options.refine_pupil = udv::PupilRefinement::kPolynomial;
  if (arguments.word("noise", "auto") == "gaussian") options.noise = udv::PhotonNoise::kGaussian;
  if (arguments.number("oracle", 0) == 0) return options;
  options.refine_pupil = udv::PupilRefinement::kOff;
  options.dark_gain = options.background = options.led_gains = false;
  return options;
}

struct Outcome {
  double error = 1, residual = 1, user = 0;
  Index images = 0;
};

Outcome recover(const Capture& capture, const udv::Optics& optics,
                const udv::PtychographyOptions& options,
                const udv::RowMatrix<std::complex<double>>& pupil = {}) {
  const double start = user_seconds();
  const auto data = udv::ptychography_data(capture.images, optics,
                                           udv::illuminations(optics, capture.leds), true, pupil);
  const auto images = udv::split_images(data).used;
  const auto found = udv::recover_image(images, options);
  return {udv::testing::capture_error(capture, *images.op, found.x), found.amplitude_residual,
          user_seconds() - start, images.op->images()};
}

const char* verdict(double value, double bar) {
  return bar == 0 ? "" : value <= bar ? "met" : "MISSED";
}

int run_faults(const Arguments& arguments) {
  const auto seeds = arguments.number<std::uint64_t>("seeds", 2);
  const auto first = arguments.number<std::uint64_t>("first", 0);
  const bool oracle = arguments.number("oracle", 0) != 0;
  const std::string only = arguments.word("only", "");
  fmt::print("{:<36} {:>4} {:>8} {:>6} {:>7} {:>9} {:>6} {:>7}\n", "fault", "seed", "error", "bar",
             "", "residual", "images", "user s");
  for (const Setting& setting : settings()) {
    if (setting.name.find(only) == std::string::npos) continue;
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
      const Capture capture = udv::testing::simulate_capture(setting.faults, seed);
      const Outcome found =
          recover(capture, capture.nominal, options_of(arguments),
                  oracle ? capture.pupil : udv::RowMatrix<std::complex<double>>());
      fmt::print("{:<36} {:>4} {:>8.4f} {:>6.3g} {:>7} {:>9.4f} {:>6} {:>7.1f}\n", setting.name,
                 seed, found.error, setting.bar, verdict(found.error, setting.bar), found.residual,
                 found.images, found.user);
      std::fflush(stdout);
    }
  }
  return 0;
}

// How far the geometry found is from the truth.
struct GeometryErrors {
  double degrees, distance, millimetres;
  bool orientation;

  bool found() const {
    return orientation && degrees <= 0.6 && distance <= 0.03 && millimetres <= 0.2;
  }
};

GeometryErrors errors_of(const udv::Optics& found, const Capture& capture,
                         const CaptureFaults& faults) {
  const udv::Optics& truth = capture.truth;
  return {std::abs(found.rotation_degrees - truth.rotation_degrees),
          std::abs(found.led_distance_mm / truth.led_distance_mm - 1),
          std::hypot(found.x_offset_mm - truth.x_offset_mm, found.y_offset_mm - truth.y_offset_mm),
          found.mirrored == faults.mirrored && found.swapped == faults.swapped};
}

const std::vector<std::string>& geometry_faults() {
  static const std::vector<std::string> names{"rotation", "distance", "offset", "orientation",
                                              "all"};
  return names;
}

// What differs from the setup: one thing at a time, then all; everything: with background and hot
// pixels, too.
CaptureFaults wrong_geometry(const std::string& what, std::uint64_t seed) {
  udv::Random random(seed, 77);
  CaptureFaults faults{.background = 0.003, .counts = 2000};
  const auto sign = [&] { return random.uniform() < 0.5 ? -1.0 : 1.0; };
  const bool all = what == "all" || what == "everything";
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
  if (what == "defocus sign") faults.defocus_m = (20e-6 + 40e-6 * random.uniform()) * sign();
  if (what == "everything") {
    faults.counts = 0;
    faults.background = 0.005;
    faults.hot_pixels = 10;
  }
  return faults;
}

// "median / ninth of ten / largest"
std::string spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return fmt::format("{:.2f} / {:.2f} / {:.2f}", values[values.size() / 2],
                     values[(values.size() * 9 + 9) / 10 - 1], values.back());
}

int run_geometry(const Arguments& arguments) {
  const auto cases = arguments.number<std::uint64_t>("cases", 10);
  const auto first = arguments.number<std::uint64_t>("first", 0);
  const std::string only = arguments.word("only", "");
  fmt::print("{:<12} {:>8} {:>20} {:>20} {:>20}\n", "truth", "found", "degrees (0.6)",
             "distance % (3)", "offset mm (0.2)");
  for (const std::string& what : geometry_faults()) {
    if (what.find(only) == std::string::npos) continue;
    std::vector<double> degrees, distance, millimetres;
    int right = 0;
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
      const CaptureFaults faults = wrong_geometry(what, seed);
      const Capture capture = udv::testing::simulate_capture(faults, seed);
      const auto found = udv::find_led_geometry(capture.images, capture.nominal, capture.leds);
      const GeometryErrors errors = errors_of(found.optics, capture, faults);
      right += errors.found();
      degrees.push_back(errors.degrees);
      distance.push_back(100 * errors.distance);
      millimetres.push_back(errors.millimetres);
    }
    fmt::print("{:<12} {:>5}/{:<2} {:>20} {:>20} {:>20}\n", what, right, cases, spread(degrees),
               spread(distance), spread(millimetres));
    std::fflush(stdout);
  }
  return 0;
}

// The true geometry, in the words of a setup.
udv::Optics right_optics(const Capture& capture, const CaptureFaults& faults) {
  udv::Optics optics = capture.truth;
  optics.mirrored = faults.mirrored;
  optics.swapped = faults.swapped;
  return optics;
}

int run_calibrated(const Arguments& arguments) {
  const auto cases = arguments.number<std::uint64_t>("cases", 10);
  const auto first = arguments.number<std::uint64_t>("first", 0);
  const std::string only = arguments.word("only", "");
  udv::PtychographyOptions options = options_of(arguments);
  options.dynamics = false;
  fmt::print("{:<14} {:>4} {:>9} {:>9} {:>6}\n", "truth", "seed", "error", "right", "ratio");
  std::vector<std::string> names = geometry_faults();
  names.insert(names.end(), {"defocus sign", "everything"});
  for (const std::string& what : names) {
    if (what.find(only) == std::string::npos) continue;
    std::uint64_t within = 0;
    for (std::uint64_t seed = first; seed < first + cases; ++seed) {
      const CaptureFaults faults = wrong_geometry(what, seed);
      Capture capture = udv::testing::simulate_capture(faults, seed);
      if (what == "defocus sign") capture.nominal.defocus_m = -capture.truth.defocus_m;
      const auto calibrated =
          udv::calibrate(capture.images, capture.nominal, capture.leds, udv::Calibration::kAuto);
      const double error = recover(capture, calibrated.optics, options).error;
      const double right = recover(capture, right_optics(capture, faults), options).error;
      within += error <= 1.5 * right;
      fmt::print("{:<14} {:>4} {:>9.4f} {:>9.4f} {:>6.2f}{}\n", what, seed, error, right,
                 error / right,
                 what == "everything" ? fmt::format("  {} (0.08)", verdict(error, 0.08)) : "");
      std::fflush(stdout);
    }
    fmt::print("{:<14} within 1.5 times: {} of {}\n", what, within, cases);
  }
  return 0;
}

int run_table(const Arguments& arguments) {
  run_faults(arguments);
  run_geometry(arguments);
  return run_calibrated(arguments);
}

// The images as .npy and what a setup file says of them.
void write_capture(const udv::PtychographyField& field, const std::string& path) {
  std::vector<float> values(field.images.values.begin(), field.images.values.end());
  udv::io::write_atomically(
      path, udv::io::npy_bytes({field.images.images, field.images.rows, field.images.cols},
                               values.data()));
  const udv::Optics& o = field.optics;
  udv::io::write_atomically(
      path.substr(0, path.rfind('.')) + ".toml",
      fmt::format(
          "[optics]\nwavelength_nm = {}\nna = {}\nsample_pixel_um = {}\nled_pitch_mm = {}\n"
          "led_distance_mm = {}\nupsampling = {}\n[leds]\norder = \"raster\"\nrows = 8\ncols = 8\n"
          "[data]\nvariable = \"images\"\nkind = \"intensity\"\n",
          1e9 * o.wavelength_m, o.numerical_aperture, 1e6 * o.pixel_m, o.led_pitch_mm,
          o.led_distance_mm, o.upsampling));
}

int run_field(const Arguments& arguments) {
  const CaptureFaults faults{.aberration = arguments.number("aberration", 1.0),
                             .background = arguments.number("background", 0.0),
                             .counts = arguments.number("counts", 0.0)};
  const auto capture =
      udv::testing::simulate_field(faults, arguments.number<udv::Index>("side", 256),
                                   arguments.number<std::uint64_t>("seed", 0));
  if (const std::string data = arguments.word("data", ""); !data.empty()) {
    write_capture(capture.field, data);
    return 0;
  }
  udv::FieldOptions options;
  options.tiles.side = arguments.number<udv::Index>("tile", 96);
  options.tiles.overlap = arguments.number<udv::Index>("overlap", options.tiles.overlap);
  options.image.dynamics = arguments.number("dynamics", 1) != 0;
  const auto start = Clock::now();
  const double user = user_seconds();
  const auto found = udv::recover_field(capture.field, options);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double used = user_seconds() - user;
  const auto errors = udv::testing::field_errors(capture, found.grid, found.image);
  fmt::print(
      "{} tiles of {} x {}: {:.1f} s ({:.1f} s of all threads), residual {:.4f}, mismatch in "
      "overlaps "
      "{:.4f}, bend {:.3g}\n",
      found.tiles.size(), found.tiles[0].tile.rows, found.tiles[0].tile.cols, seconds, used,
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
  const Arguments arguments(argc, argv, std::min(argc, 2));
  if (what == "faults") return run_faults(arguments);
  if (what == "geometry") return run_geometry(arguments);
  if (what == "calibrated") return run_calibrated(arguments);
  if (what == "table") return run_table(arguments);
  if (what == "field") return run_field(arguments);
  fmt::print(stderr,
             "usage: bench_ptycho faults|geometry|calibrated|table|field [KEY=VALUE ...]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  return udv::bench::guarded_main("bench_ptycho", run, argc, argv);
}
