// SPDX-License-Identifier: MIT
// Fourier ptychography on simulated captures: faults one by one, error of the recovered sample.
//
// usage: bench_ptycho faults [seeds=2] [only=WORD]      error of the sample, fault by fault
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "arguments.hpp"
#include "support/capture.hpp"
#include "udv/recover/ptychography.hpp"

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
  const std::string only = arguments.word("only", "");
  fmt::print("{:<38} {:>8} {:>8} {:>6}  {}\n", "fault", "error", "residual", "images", "seconds");
  for (const Setting& setting : settings()) {
    if (setting.name.find(only) == std::string::npos) continue;
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      const Capture capture = udv::testing::simulate_capture(setting.faults, seed);
      const auto lights = udv::illuminations(capture.nominal, capture.leds);
      const auto start = Clock::now();
      const auto data = udv::ptychography_data(capture.images, capture.nominal, lights, true);
      const auto images = udv::split_images(data).used;
      const auto found = udv::recover_image(images);
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      fmt::print("{:<38} {:>8.4f} {:>8.4f} {:>6} {:>8.1f}\n", setting.name,
                 udv::testing::capture_error(capture, *images.op, found.x),
                 found.amplitude_residual, images.op->images(), seconds);
      std::fflush(stdout);
    }
  }
  return 0;
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "faults";
  const udv::bench::Arguments arguments(argc, argv, std::min(argc, 2));
  if (what == "faults") return run_faults(arguments);
  fmt::print(stderr, "usage: bench_ptycho faults [seeds=2] [only=WORD]\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  return udv::bench::guarded_main("bench_ptycho", run, argc, argv);
}
