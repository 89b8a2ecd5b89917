// SPDX-License-Identifier: MIT
// Phase retrieval: sprites of 16 x 16 pixels from Gaussian intensities, and coded diffraction.
//
// usage: bench_phase sprites FILE.idx3-ubyte [COUNT]   success and time, side by side
//        bench_phase steps FILE.idx3-ubyte             the paper's constant step: udu against bm
//        bench_phase coded [SIDE] [MASKS] [COUNT] [FIRST_SEED]   masks of modulus 1
//        bench_phase fourier [SIDE] [COUNT] [FIRST_SEED]   one pattern, with HIO and RAAR
//        bench_phase gauss SIZE RATIO COUNT [FIRST_SEED]         complex Gaussian x and rows
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

// Truncated Wirtinger flow (Chen, Candes, 2017) with its own constants.
template <typename Scalar>
udv::Vector<Scalar> truncated_flow(const udv::RankOneOperator<Scalar>& op,
                                   const udv::Reals<Scalar>& b) {
  constexpr double kLower = 0.3, kUpper = 5, kResidual = 5, kStep = 0.2;
  const udv::Reals<Scalar> kept = (b.array() < 9 * b.mean()).select(b, 0);
  udv::RowMatrix<Scalar> z = spectral<Scalar>(op, b, kept), fields, back(z.rows(), 1);
  for (int step = 0; step < 2500; ++step) {
    op.project(z, fields);
    const udv::Reals<Scalar> sizes = fields.col(0).cwiseAbs();
    const double norm = z.norm();
    const double mean = (sizes.cwiseAbs2() - b).cwiseAbs().mean();
    for (Index i = 0; i < b.size(); ++i) {
      const double ratio = sizes(i) / norm, gap = sizes(i) * sizes(i) - b(i);
      const bool used =
          ratio > kLower && ratio < kUpper && std::abs(gap) < kResidual * mean * ratio;
      fields(i, 0) *= used ? gap / (sizes(i) * sizes(i)) : 0;
    }
    op.back_project(fields, back);
    z -= (2 * kStep / static_cast<double>(b.size())) * back;
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
  return {{"udv (auto mode)", lifted("auto")},
          {"udu, same polish", lifted("udu")},
          {"bm, same polish", lifted("bm")},
          {"wirtinger flow", [](const auto& op, const auto& b,
                                std::uint64_t) { return wirtinger_flow<Scalar>(op, b); }},
          {"truncated wirtinger flow", [](const auto& op, const auto& b,
                                          std::uint64_t) { return truncated_flow<Scalar>(op, b); }},
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
  for (const double ratio : {4.0, 3.0, 2.5}) run_cell<Complex>(bytes, ratio, count);
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

double seconds_of(const std::function<void()>& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void show(std::uint64_t seed, const udv::PhaseRetrieval<Complex>& found,
          const udv::Vector<Complex>& truth, double seconds) {
  fmt::print("  seed {:>4}: error {:.1e}, residual {:.1e}, {:.2f} s, {} iterations, {}\n", seed,
             udv::phase_error<Complex>(found.x, truth), found.relative_residual, seconds,
             found.iterations, found.verdict());
  std::fflush(stdout);
}

// A smooth complex image.
udv::Vector<Complex> smooth_image(Index side) {
  udv::Vector<Complex> image(side * side);
  const double unit = 64.0 / static_cast<double>(side);
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c) {
      const double y = unit * static_cast<double>(r), x = unit * static_cast<double>(c);
      const double bump = std::exp(-((y - 24.0) * (y - 24.0) + (x - 40.0) * (x - 40.0)) / 200.0);
      image(r * side + c) = (0.3 + bump) * std::polar(1.0, 2 * bump + 0.01 * y);
    }
  return image;
}

// Random masks of modulus 1, other ones for each seed.
int run_coded(Index side, int masks_wanted, int count, std::uint64_t first_seed) {
  const udv::Vector<Complex> truth = smooth_image(side);
  int solved = 0;
  fmt::print("coded diffraction, {} x {}, {} masks\n", side, side, masks_wanted);
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(count);
       ++seed) {
    udv::Random random(seed, kStream);
    std::vector<udv::RowMatrix<Complex>> masks;
    for (int l = 0; l < masks_wanted; ++l) {
      masks.emplace_back(side, side);
      for (Index i = 0; i < side * side; ++i)
        masks.back().data()[i] = std::polar(1.0, 2 * M_PI * random.uniform());
    }
    const udv::CodedDiffractionOperator<Complex> op(masks);
    udv::RowMatrix<Complex> fields;
    op.project(udv::RowMatrix<Complex>(truth), fields);
    const udv::Vector<double> b = fields.col(0).cwiseAbs2();
    udv::PhaseRetrieval<Complex> found;
    const double seconds = seconds_of([&] { found = udv::retrieve_phase<Complex>(op, b); });
    show(seed, found, truth, seconds);
    solved += udv::phase_error<Complex>(found.x, truth) <= kSuccess;
  }
  fmt::print("  {} of {}\n", solved, count);
  return 0;
}

// Blocks and a gradient in a square of half the side of the grid.
udv::Vector<Complex> block_image(Index grid, udv::Random& random) {
  const Index side = grid / 2;
  udv::RowMatrix<Complex> image = udv::RowMatrix<Complex>::Zero(grid, grid);
  for (int block = 0; block < 20; ++block) {
    const Index top = random.below(side - 3), left = random.below(side - 3);
    const Index height = std::min(side - top, 3 + random.below(side / 2));
    const Index width = std::min(side - left, 3 + random.below(side / 2));
    image.block(top, left, height, width).array() += random.uniform();
  }
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c) image(r, c) += 0.05 * random.uniform();
  return Eigen::Map<const udv::Vector<Complex>>(image.data(), image.size());
}

// The classical iterations for one pattern with support and nonnegativity, 2000 steps from each of
// five starts: hybrid input-output (Fienup, 1982) and relaxed averaged alternating reflections
// (Luke, 2005), both with beta = 0.9, and 50 steps of error reduction at the end.
udv::Vector<Complex> classical(const udv::IntensityOperator<Complex>& fourier,
                               const udv::Vector<double>& b, const std::vector<bool>& support,
                               bool input_output) {
  constexpr double kBeta = 0.9;
  const udv::Vector<double> amplitudes = b.cwiseSqrt();
  udv::RowMatrix<Complex> fields, back(b.size(), 1);
  const auto measured = [&](const udv::Vector<Complex>& x) {
    fourier.project(udv::RowMatrix<Complex>(x), fields);
    for (Index i = 0; i < b.size(); ++i)
      fields(i, 0) *= amplitudes(i) / std::max(std::abs(fields(i, 0)), 1e-300);
    fourier.back_project(fields, back);
    return udv::Vector<Complex>(back.col(0));
  };
  const auto wanted = [&](const udv::Vector<Complex>& x) {
    udv::Vector<Complex> inside = udv::Vector<Complex>::Zero(x.size());
    for (Index j = 0; j < x.size(); ++j)
      if (support[static_cast<size_t>(j)]) inside(j) = std::max(0.0, x(j).real());
    return inside;
  };
  udv::Vector<Complex> best = udv::Vector<Complex>::Zero(b.size());
  double least = 1e300;
  for (std::uint64_t start = 0; start < 5; ++start) {
    udv::Random random(start, kStream);
    udv::Vector<Complex> x(b.size());
    random.fill_normal(x);
    for (int step = 0; step < 2000; ++step) {
      const udv::Vector<Complex> p = measured(x);
      if (!input_output) {
        x = kBeta * (wanted(2 * p - x) + x - p) + (1 - kBeta) * p;
        continue;
      }
      for (Index j = 0; j < x.size(); ++j)
        x(j) = support[static_cast<size_t>(j)] && p(j).real() > 0 ? p(j).real()
                                                                  : (x(j) - kBeta * p(j)).real();
    }
    for (int step = 0; step < 50; ++step) x = wanted(measured(x));
    const double residual = udv::intensity_residual<Complex>(fourier, b, x);
    if (residual < least) {
      least = residual;
      best = x;
    }
  }
  return best;
}

int run_fourier(Index grid, int count, std::uint64_t first_seed) {
  const udv::CodedDiffractionOperator<Complex> fourier(
      {udv::RowMatrix<Complex>::Constant(grid, grid, 1.0)});
  std::vector<bool> support(static_cast<size_t>(grid * grid));
  for (Index r = 0; r < grid / 2; ++r)
    for (Index c = 0; c < grid / 2; ++c) support[static_cast<size_t>(r * grid + c)] = true;
  fmt::print("one Fourier pattern of {} x {} samples, nonnegative image of {} x {}\n", grid, grid,
             grid / 2, grid / 2);
  for (const char* const name : {"udv", "HIO", "RAAR"}) {
    int solved = 0;
    std::vector<double> seconds, errors;
    for (int k = 0; k < count; ++k) {
      udv::Random random(first_seed + static_cast<std::uint64_t>(k), kStream);
      const udv::Vector<Complex> truth = block_image(grid, random);
      udv::RowMatrix<Complex> fields;
      fourier.project(udv::RowMatrix<Complex>(truth), fields);
      const udv::Vector<double> b = fields.col(0).cwiseAbs2();
      udv::Vector<Complex> x;
      seconds.push_back(seconds_of([&] {
        udv::PhaseOptions options;
        options.prior = {true, false, support};
        x = std::string(name) == "udv" ? udv::retrieve_phase<Complex>(fourier, b, options).x
                                       : classical(fourier, b, support, std::string(name) == "HIO");
      }));
      errors.push_back(udv::pattern_error<Complex>(x, truth, grid, grid));
      solved += errors.back() <= kSuccess;
    }
    std::sort(seconds.begin(), seconds.end());
    std::sort(errors.begin(), errors.end());
    fmt::print("  {:<6} {:>3} of {}   median error {:.1e}   median {:.2f} s   worst {:.2f} s\n",
               name, solved, count, errors[errors.size() / 2], seconds[seconds.size() / 2],
               seconds.back());
    std::fflush(stdout);
  }
  return 0;
}

int run_gauss(Index size, double ratio, int count, std::uint64_t first_seed) {
  const auto m = static_cast<Index>(std::lround(ratio * static_cast<double>(size)));
  int solved = 0;
  fmt::print("complex Gaussian rows, n = {}, m = {}n\n", size, ratio);
  for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(count);
       ++seed) {
    udv::Random random(seed, kStream);
    udv::RowMatrix<Complex> rows(m, size);
    udv::Vector<Complex> truth(size);
    random.fill_normal(rows);
    random.fill_normal(truth);
    const udv::RankOneOperator<Complex> op(rows);
    const udv::Vector<double> b = (rows * truth).cwiseAbs2();
    udv::PhaseRetrieval<Complex> found;
    const double seconds = seconds_of([&] { found = udv::retrieve_phase<Complex>(op, b); });
    show(seed, found, truth, seconds);
    solved += udv::phase_error<Complex>(found.x, truth) <= kSuccess;
  }
  fmt::print("  {} of {}\n", solved, count);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "coded";
  const auto number = [&](int at, double usual) { return argc > at ? std::stod(argv[at]) : usual; };
  const auto seed = static_cast<std::uint64_t>(number(5, 5));
  if (what == "coded")
    return run_coded(static_cast<Index>(number(2, 64)), static_cast<int>(number(3, 8)),
                     static_cast<int>(number(4, 1)), seed);
  if (what == "fourier")
    return run_fourier(static_cast<Index>(number(2, 64)), static_cast<int>(number(3, 5)),
                       static_cast<std::uint64_t>(number(4, 5)));
  if (what == "gauss")
    return run_gauss(static_cast<Index>(number(2, 256)), number(3, 2.5),
                     static_cast<int>(number(4, 10)), seed);
  if (argc < 3) {
    fmt::print(stderr, "usage: bench_phase sprites|steps FILE [COUNT] | coded | gauss | fourier\n");
    return 2;
  }
  if (what == "steps") return run_steps(argv[2]);
  return run_sprites(argv[2], argc > 3 ? std::stoi(argv[3]) : 50);
}
