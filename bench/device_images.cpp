// SPDX-License-Identifier: MIT
// bench_device_images [what=auto|paper] [device=cpu|cuda] [threads=N] [leds=15] [low=128]
// [upsampling=4] [first=N] [columns=20] [iterations=1000] [examine=0|1] [rounds=1]: Fourier
// ptychography of a sample made in memory, LEDs on a grid; auto mode, or the paper's algorithm with
// the time of an iteration.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>

#include "arguments.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/ptychography.hpp"
#include "udv/recover/recover.hpp"

namespace {

using namespace udv;
using Complex = std::complex<float>;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Cells in amplitude and phase, as an image.
Vector<Complex> sample(Index side) {
  Vector<Complex> image = Vector<Complex>::Ones(side * side);
  Random random(3, 99);
  for (Index cell = 0; cell < side / 2; ++cell) {
    const double y = static_cast<double>(side) * random.uniform();
    const double x = static_cast<double>(side) * random.uniform(),
                 radius = 4 + 8 * random.uniform();
    for (Index r = 0; r < side; ++r)
      for (Index c = 0; c < side; ++c) {
        const double far = std::hypot(static_cast<double>(r) - y, static_cast<double>(c) - x);
        if (far < radius) image(r * side + c) *= std::polar(0.85f, 0.5f);
      }
  }
  return image;
}

Optics optics(int upsampling) {
  Optics made;
  made.wavelength_m = 532e-9;
  made.numerical_aperture = 0.1;
  made.pixel_m = 1.845e-6;
  made.led_pitch_mm = 4;
  made.led_distance_mm = 90.88;
  made.upsampling = upsampling;
  return made;
}

// Images of an objective that is out of focus, with counting noise.
PtychographyImages capture(const bench::Arguments& given) {
  const auto leds = given.number<Index>("leds", 15), low = given.number<Index>("low", 128);
  const Optics with = optics(given.number("upsampling", 4));
  const auto lights = illuminations(with, raster_order(leds, leds));
  ImageStack plain{leds * leds, low, low, ImageKind::kIntensity, {}};
  plain.values.assign(static_cast<size_t>(leds * leds * low * low), 1.0);
  // Equal ones would be those of a camera at its limit.
  for (size_t i = 0; i < plain.values.size(); ++i) plain.values[i] += 1e-3 * double(i % 97);
  PtychographyImages images = split_images(ptychography_data(plain, with, lights, false)).used;
  const auto& op = images.exact ? *images.exact : *images.op;
  RowMatrix<std::complex<double>> pupil = op.pupil();
  for (Index r = 0; r < low; ++r)
    for (Index c = 0; c < low; ++c)
      pupil(r, c) *= std::polar(1.0, 8 *
                                         (std::pow(static_cast<double>(r - low / 2), 2) +
                                          std::pow(static_cast<double>(c - low / 2), 2)) /
                                         static_cast<double>(low * low));
  RowMatrix<Complex> fields;
  const Vector<Complex> x = op.from_image(sample(op.image_rows()));
  op.with_pupil(pupil)->project(RowMatrix<Complex>(x), fields);
  Random random(4, 98);
  for (Index i = 0; i < fields.rows(); ++i) {
    const double noisy = std::abs(fields(i, 0)) + 0.005 * random.normal();
    images.amplitudes(i) = static_cast<float>(std::max(0.0, noisy));
  }
  images.weights.resize(0);
  return images;
}

void keep_first(PtychographyImages& images, Index count) {
  std::vector<Index> kept(static_cast<size_t>(count));
  std::iota(kept.begin(), kept.end(), 0);
  images.op = images.op->with_images(kept);
  images.exact = images.exact ? images.exact->with_images(kept) : nullptr;
  images.amplitudes = images.amplitudes.head(count * images.op->pixels()).eval();
  images.dark.resize(kept.size());
}

void run_auto(const PtychographyImages& images, const bench::Arguments& given) {
  PtychographyOptions options;
  options.device = given.word("device", "cpu");
  options.examine = given.number("examine", 1) != 0;
  PtychographyResult found;
  for (int round = 0; round < given.number("rounds", 1); ++round) {
    const double seconds = seconds_of([&] { found = recover_image(images, options); });
    fmt::print(
        "{} {} threads: {} images of {} pixels -> {} x {}, auto: {:.2f} s, of that fits {:.2f}\n",
        options.device, num_threads(), images.op->images(), images.op->pixels(),
        images.op->image_rows(), images.op->image_cols(), seconds, found.seconds);
  }
  fmt::print("  amplitude residual {:.5f}, winner {}, exact {}, dark gain {:.4f}, {} steps, {}\n",
             found.amplitude_residual, found.winner, found.exact, found.dark_gain, found.iterations,
             to_string(found.certificate.verdict));
}

void run_paper(const PtychographyImages& images, const bench::Arguments& given) {
  const BasicProblem<Complex> problem{images.op, images.amplitudes.cwiseAbs2()};
  for (const char* const method : {"udu", "bm"}) {
    RecoverOptions options;
    options.device = given.word("device", "cpu");
    options.method = method;
    options.rank_walk = false;
    options.max_rank = given.number<Index>("columns", 20);
    options.step = 0.1;
    options.init_norm = 1;
    options.scale_rule = ScaleRule::kValue;
    options.scale_value = 2 / problem.b.norm();
    BasicRecovery<Complex> found;
    const auto timed = [&](Index iterations) {
      options.max_iterations = iterations;
      return seconds_of([&] { found = recover(problem, options); });
    };
    const auto iterations = given.number<Index>("iterations", 1000);
    timed(10);
    const double few = timed(100), many = timed(100 + iterations);
    fmt::print(
        "{}: {} images of {} pixels, {}, {} columns: {:.4f} ms an iteration, residual {:.5f}\n",
        options.device, images.op->images(), images.op->pixels(), method, options.max_rank,
        1e3 * (many - few) / static_cast<double>(iterations), found.relative_residual);
  }
}

int run(int argc, char** argv) {
  const bench::Arguments given(argc, argv, 1);
  set_num_threads(given.number("threads", 0));
  PtychographyImages images = capture(given);
  if (const auto count = given.number<Index>("first", 0); count > 0) keep_first(images, count);
  (given.word("what", "auto") == "paper" ? run_paper : run_auto)(images, given);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return udv::bench::guarded_main("bench_device_images", run, argc, argv);
}
