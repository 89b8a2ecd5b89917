// SPDX-License-Identifier: MIT
// bench_device [rows=N] [per-row=N] [rank=K] [noise=S] [device=cpu|cuda] [threads=N] [float32=0|1]
// [polish=0|1] [offsets=0|1] [equal-noise=0|1] [max-iterations=N]: a completion made in memory and
// solved; prints times, rank and errors.
#include "recover/device/device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "arguments.hpp"
#include "udv/core/parallel.hpp"
#include "udv/recover/recover.hpp"

namespace {

using namespace udv;

// Numbers of a row that depend on nothing else.
class RowNumbers {
 public:
  explicit RowNumbers(std::uint64_t row) : state_(row * 0x9e3779b97f4a7c15 + 1) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double uniform() { return (static_cast<double>(next() >> 11) + 0.5) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * M_PI * uniform()); }

 private:
  std::uint64_t state_;
};

RowMatrix<double> factor(Index lines, Index rank, std::uint64_t seed) {
  RowMatrix<double> U(lines, rank);
  parallel_blocks(lines, 1024, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      RowNumbers numbers(seed + static_cast<std::uint64_t>(i));
      for (Index c = 0; c < rank; ++c) U(i, c) = numbers.normal();
    }
  });
  return U;
}

Entries entries_of(const RowMatrix<double>& U, const RowMatrix<double>& V, Index per_row,
                   double sigma) {
  Entries e{U.rows(), V.rows(), false, {}, {}, {}};
  const auto size = static_cast<size_t>(U.rows() * per_row);
  e.row.resize(size);
  e.col.resize(size);
  e.value.resize(size);
  parallel_blocks(U.rows(), 256, [&](Index begin, Index end) {
    std::vector<std::int32_t> cols;
    for (Index i = begin; i < end; ++i) {
      RowNumbers numbers(77777 + static_cast<std::uint64_t>(i) * 3);
      cols.clear();
      while (static_cast<Index>(cols.size()) < per_row) {  // distinct and sorted
        while (static_cast<Index>(cols.size()) < per_row)
          cols.push_back(
              static_cast<std::int32_t>(numbers.next() % static_cast<std::uint64_t>(V.rows())));
        std::sort(cols.begin(), cols.end());
        cols.erase(std::unique(cols.begin(), cols.end()), cols.end());
      }
      for (Index n = 0; n < per_row; ++n) {
        const auto t = static_cast<size_t>(i * per_row + n);
        e.row[t] = static_cast<std::int32_t>(i);
        e.col[t] = cols[static_cast<size_t>(n)];
        e.value[t] = U.row(i).dot(V.row(e.col[t])) + sigma * numbers.normal();
      }
    }
  });
  return e;
}

// Root mean square error of X at random places, relative to X.
double relative_error(const Recovery& r, const RowMatrix<double>& U, const RowMatrix<double>& V) {
  double wrong = 0, all = 0;
  RowNumbers numbers(5);
  for (int n = 0; n < 1000000; ++n) {
    const auto i = static_cast<Index>(numbers.next() % static_cast<std::uint64_t>(U.rows()));
    const auto j = static_cast<Index>(numbers.next() % static_cast<std::uint64_t>(V.rows()));
    double x = r.biases.global + (r.U.row(i).cwiseProduct(r.d.transpose())).dot(r.V.row(j));
    if (r.biases.row.size() > 0) x += r.biases.row(i);
    if (r.biases.col.size() > 0) x += r.biases.col(j);
    const double truth = U.row(i).dot(V.row(j));
    wrong += (x - truth) * (x - truth);
    all += truth * truth;
  }
  return std::sqrt(wrong / all);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments given(argc, argv, 1);
  auto clock = [start = std::chrono::steady_clock::now()]() mutable {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start).count();
    start = now;
    return seconds;
  };
  set_num_threads(given.number("threads", 0));
  const auto rows = given.number<Index>("rows", 100000), rank = given.number<Index>("rank", 10);
  const auto per_row = given.number<Index>("per-row", 100);
  const auto noise = given.number("noise", 0.1);
  const RowMatrix<double> U = factor(rows, rank, 1), V = factor(rows, rank, 1u << 30);
  Entries entries = entries_of(U, V, per_row, noise * std::sqrt(static_cast<double>(rank)));
  const double made = clock();
  const Problem problem = completion(std::move(entries));
  const double read = clock();
  RecoverOptions options;
  options.device = given.word("device", "cpu");
  options.float32 = given.number("float32", 0) != 0;
  options.rank_walk = given.number("polish", 1) != 0;
  if (given.number("offsets", 1) == 0) options.center = Centering::kNone;
  if (given.number("equal-noise", 0) != 0) options.noise_model = NoiseModel::kGaussian;
  options.max_iterations = given.number<Index>("max-iterations", 0);
  if (!options.rank_walk) options.max_rank = 2 * rank;
  if (options.device == "cuda") device::module();
  const double started = clock();
  // At once: a solve that a time limit ends has said what came before it.
  fmt::print(
      "{} {} threads: {} entries of {} x {}, rank {}, noise {}: {:.2f} s to make, {:.2f} s to "
      "sort, {:.2f} s to start the device",
      options.device, num_threads(), rows * per_row, rows, rows, rank, noise, made, read, started);
  std::fflush(stdout);
  const Recovery r = recover(problem, options);
  const double solved = clock();
  fmt::print(", {:.2f} s to solve\n", solved);
  fmt::print(
      "  rank {}, sigma {:.5f}, relative error {:.5f}, residual {:.3e}, iterations {}, models",
      r.rank, r.noise_sigma, relative_error(r, U, V), r.relative_residual, r.iterations);
  for (const auto& model : r.models)
    fmt::print(" ({}, {} columns, {} sweeps, bound {:.6e})", static_cast<int>(model.center),
               model.rank, model.sweeps, model.bound);
  fmt::print("\n");
}
