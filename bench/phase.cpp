// SPDX-License-Identifier: MIT
// Phase retrieval: sprites of 16 x 16 pixels from Gaussian intensities, and coded diffraction.
//
// usage: bench_phase sprites FILE.idx3-ubyte [COUNT]   success and time, side by side
//        bench_phase steps FILE.idx3-ubyte             the paper's constant step: udu against bm
//        bench_phase coded                             64 x 64 image, 8 masks
#include "udv/recover/phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>

#include "core/lanczos.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/recover/operators/imaging.hpp"
#include "udv/recover/operators/rank_one.hpp"
#include "udv/recover/recover.hpp"

namespace {

using udv::Index;
using Clock = std::chrono::steady_clock;
using Complex = std::complex<double>;

constexpr double kSuccess = 1e-6;
constexpr Index kPixels = 256;
constexpr std::uint64_t kStream = 77;

// Sprite number `at` as values in [0, 1].
udv::Vector<double> sprite(const std::string& bytes, Index at) {
  udv::Vector<double> values(kPixels);
  for (Index i = 0; i < kPixels; ++i)
    values(i) =
        static_cast<unsigned char>(bytes[static_cast<size_t>(16 + at * kPixels + i)]) / 255.0;
  return values;
}

template <typename Scalar>
struct Instance {
  udv::Vector<Scalar> truth;
  udv::RowMatrix<Scalar> rows;
  udv::Reals<Scalar> b;
};

// A sprite with some light in it, and Gaussian rows.
template <typename Scalar>
Instance<Scalar> make_instance(const std::string& bytes, Index measurements, std::uint64_t seed) {
  udv::Random random(seed, kStream);
  const auto count = static_cast<Index>((bytes.size() - 16) / kPixels);
  udv::Vector<double> image;
  do {
    image = sprite(bytes, random.below(count));
  } while (image.sum() < 4);
  Instance<Scalar> made;
  made.truth = image.cast<Scalar>();
  made.rows.resize(measurements, kPixels);
  random.fill_normal(made.rows);
  made.b = (made.rows * made.truth).cwiseAbs2();
  return made;
}

// The leading eigenvector of W^* diag(weights) W with the length that the data tell.
template <typename Scalar>
udv::Vector<Scalar> spectral(const udv::RankOneOperator<Scalar>& op, const udv::Reals<Scalar>& b,
                             const udv::Reals<Scalar>& weights) {
  udv::Random random(0, kStream);
  const udv::Reals<Scalar> minus = -weights;
  const auto pairs = udv::smallest_eigenpairs<Scalar>(
      op.rows(),
      [&](const udv::Vector<Scalar>& x, udv::Vector<Scalar>& y) {
        udv::residual_product<Scalar>(op, minus, x, y);
      },
      1, 60, random);
  return pairs.vectors.col(0) * std::sqrt(op.trace_estimate(b));
}

// The weights (y - 1) / (y + sqrt(m / n) - 1) of Mondelli and Montanari (2019), y = b / mean(b).
template <typename Scalar>
udv::Reals<Scalar> optimal_weights(const udv::Reals<Scalar>& b, Index unknowns) {
  const auto y = (b / b.mean()).array();
  const double rate = std::sqrt(static_cast<double>(b.size()) / static_cast<double>(unknowns));
  return ((y - 1) / (y + rate - 1)).matrix();
}

// Wirtinger flow (Candes, Li, Soltanolkotabi, 2015): 2500 steps with its own schedule.
template <typename Scalar>
udv::Vector<Scalar> wirtinger_flow(const udv::RankOneOperator<Scalar>& op,
                                   const udv::Reals<Scalar>& b) {
  udv::RowMatrix<Scalar> z = spectral<Scalar>(op, b, b), fields, back(z.rows(), 1);
  const double start = z.squaredNorm();
  for (int step = 1; step <= 2500; ++step) {
    op.project(z, fields);
    udv::scale_rows<Scalar>(fields.col(0).cwiseAbs2() - b, fields);
    op.back_project(fields, back);
    const double mu = std::min(1 - std::exp(-step / 330.0), udv::kIsComplex<Scalar> ? 0.2 : 0.1);
    z -= (mu / (start * static_cast<double>(b.size()))) * back;
  }
  return z.col(0);
}

template <typename Scalar>
using Solver = std::function<udv::Vector<Scalar>(const udv::RankOneOperator<Scalar>&,
                                                 const udv::Reals<Scalar>&, std::uint64_t)>;

template <typename Scalar>
std::vector<std::pair<std::string, Solver<Scalar>>> solvers() {
  const auto lifted = [](const char* method) {
    return [method](const auto& op, const auto& b, std::uint64_t seed) {
      udv::PhaseOptions options;
      options.method = method;
      options.seed = seed;
      return udv::retrieve_phase<Scalar>(op, b, options).x;
    };
  };
  return {{"udv (auto mode)", lifted("udu")},
          {"bm, same polish", lifted("bm")},
          {"wirtinger flow", [](const auto& op, const auto& b,
                                std::uint64_t) { return wirtinger_flow<Scalar>(op, b); }},
          {"amplitude flow + LM, spectral", [](const auto& op, const auto& b, std::uint64_t) {
             auto x = spectral<Scalar>(op, b, optimal_weights<Scalar>(b, op.rows()));
             udv::polish_phase<Scalar>(op, b, x);
             return x;
           }}};
}

template <typename Scalar>
void run_cell(const std::string& bytes, double ratio, int count) {
  const auto m = static_cast<Index>(std::lround(ratio * kPixels));
  fmt::print("{} rows, m = {}n ({} instances)\n", udv::kIsComplex<Scalar> ? "complex" : "real",
             ratio, count);
  for (const auto& [name, solve] : solvers<Scalar>()) {
    std::vector<double> seconds;
    int solved = 0;
    for (int seed = 0; seed < count; ++seed) {
      const auto made = make_instance<Scalar>(bytes, m, 1000 + static_cast<std::uint64_t>(seed));
      const udv::RankOneOperator<Scalar> op(made.rows);
      const auto start = Clock::now();
      const auto x = solve(op, made.b, static_cast<std::uint64_t>(seed));
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      solved += udv::phase_error<Scalar>(x, made.truth) <= kSuccess;
    }
    std::sort(seconds.begin(), seconds.end());
    fmt::print("  {:<30} {:>3} of {}   median {:.3f} s   worst {:.2f} s\n", name, solved, count,
               seconds[seconds.size() / 2], seconds.back());
    std::fflush(stdout);
  }
}

int run_sprites(const std::string& path, int count) {
  const std::string bytes = udv::io::read_bytes(path);
  for (const double ratio : {4.0, 2.0, 1.75}) run_cell<double>(bytes, ratio, count);
  for (const double ratio : {4.0, 3.0}) run_cell<Complex>(bytes, ratio, count);
  return 0;
}

// The paper's comparison: U_0 of unit norm, constant step 1 / L, the same number of iterations.
int run_steps(const std::string& path) {
  const auto made = make_instance<double>(udv::io::read_bytes(path), 2 * kPixels, 1000);
  const auto problem = udv::quadratic_sensing<double>(made.rows, made.b);
  const double size = 10;  // tr X against the ball
  const double trace = made.truth.squaredNorm();
  // L of f over X near the scaled solution: the largest eigenvalue of A*A, by power iteration.
  udv::RowMatrix<double> X = udv::RowMatrix<double>::Identity(kPixels, kPixels);
  double lipschitz = 0;
  for (int step = 0; step < 30; ++step) {
    X /= X.norm();
    const udv::Vector<double> y = ((made.rows * X).cwiseProduct(made.rows)).rowwise().sum();
    X = made.rows.transpose() * y.asDiagonal() * made.rows;
    lipschitz = X.norm();
  }
  fmt::print(
      "one sprite, m = 2n real rows, r = n, step 1/L, |U_0| = 1\n"
      "  {:<8} {:>10} {:>8} {:>12} {:>12} {:>14}\n",
      "method", "iterations", "rank", "residual", "error", "sigma2/sigma1");
  for (const Index iterations : {1000, 10'000, 20'000})
    for (const char* method : {"udu", "bm"}) {
      udv::RecoverOptions options;
      options.method = method;
      options.rank_walk = false;
      options.step = 1 / lipschitz;
      options.alpha = 1;
      options.scale_rule = udv::ScaleRule::kValue;
      options.scale_value = size / trace;
      options.init_norm = 1;
      options.max_iterations = iterations;
      const auto found = udv::recover(problem, options);
      udv::Vector<double> x = found.U.col(0);
      const auto svd = udv::factored_eigen<double>(found.U, found.d);
      x = svd.U.col(0) * std::sqrt(svd.s(0));
      fmt::print("  {:<8} {:>10} {:>8} {:>12.2e} {:>12.2e} {:>14.1e}\n", method, iterations,
                 found.rank, found.relative_residual, udv::phase_error<double>(x, made.truth),
                 svd.s(1) / svd.s(0));
      std::fflush(stdout);
    }
  return 0;
}

// A smooth complex image under random masks of modulus 1.
int run_coded() {
  constexpr Index kSide = 64;
  udv::Random random(5, kStream);
  udv::Vector<Complex> truth(kSide * kSide);
  for (Index r = 0; r < kSide; ++r)
    for (Index c = 0; c < kSide; ++c) {
      const double bump = std::exp(-((r - 24.0) * (r - 24.0) + (c - 40.0) * (c - 40.0)) / 200.0);
      truth(r * kSide + c) = (0.3 + bump) * std::polar(1.0, 2 * bump + 0.01 * double(r));
    }
  std::vector<udv::RowMatrix<Complex>> masks;
  for (int l = 0; l < 8; ++l) {
    masks.emplace_back(kSide, kSide);
    for (Index i = 0; i < kSide * kSide; ++i)
      masks.back().data()[i] = std::polar(1.0, 2 * M_PI * random.uniform());
  }
  const udv::CodedDiffractionOperator<Complex> op(masks);
  udv::RowMatrix<Complex> fields;
  op.project(udv::RowMatrix<Complex>(truth), fields);
  const udv::Vector<double> b = fields.col(0).cwiseAbs2();
  const auto start = Clock::now();
  const auto found = udv::retrieve_phase<Complex>(op, b);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print(
      "coded diffraction, 64 x 64, 8 masks: error {:.1e}, residual {:.1e}, {:.2f} s, cut at {}\n",
      udv::phase_error<Complex>(found.x, truth), found.relative_residual, seconds,
      found.cut_iteration);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "coded";
  if (what == "coded") return run_coded();
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_phase sprites|steps FILE [COUNT] | coded\n");
    return 2;
  }
  if (what == "steps") return run_steps(argv[2]);
  return run_sprites(argv[2], argc > 3 ? std::stoi(argv[3]) : 50);
}
