// SPDX-License-Identifier: MIT
// Rank grid: planted completion problems over kinds, sizes, ranks, sampling and conditioning, all
// solved by auto mode without options. Prints how often the exact rank and the matrix were found.
//
// usage: bench_rank_grid [--seeds N] [--first-seed S] [--noise SHARE] [--start nothing|dynamics]
//                        [--condition C] [--stress] [--verbose]
// --stress: entries 2 and 2.5 times the degrees of freedom, condition number 100, sizes to 200.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/recover.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace {

using udv::Index;

struct Settings {
  int seeds = 10, first_seed = 0;
  double noise = 0, only_condition = 0;
  udv::Start start = udv::Start::kNothing;
  bool stress = false, verbose = false;

  std::vector<double> sampling() const {  // entries per degree of freedom
    return stress ? std::vector<double>{2, 2.5} : std::vector<double>{3, 5};
  }
  std::vector<double> conditions() const {
    if (only_condition > 0) return {only_condition};
    return stress ? std::vector<double>{100} : std::vector<double>{1, 10};
  }
  udv::Index largest_size() const { return stress ? 200 : 300; }
};

struct Shape {
  Index rows, cols;
  bool symmetric;
};

constexpr Shape kShapes[] = {
    {50, 50, true},   {100, 100, true},  {200, 200, true},  {300, 300, true},  {50, 50, false},
    {50, 150, false}, {100, 100, false}, {100, 300, false}, {200, 200, false}, {300, 300, false}};
constexpr Index kRanks[] = {1, 2, 3, 5, 8, 10};
constexpr double kLargestShare = 0.6;  // cells with more of all entries known are left out

// One line of the result table.
struct Tally {
  int count = 0, rank_right = 0, solved = 0, identifiable = 0, solved_identifiable = 0;
  double log_ratio = 0, log_error = 0;  // error against the least-squares oracle; identifiable only
  double seconds = 0;
};

double dof(const Shape& shape, Index rank) {
  const auto k = static_cast<double>(rank);
  return shape.symmetric ? k * static_cast<double>(shape.rows) - k * (k - 1) / 2
                         : k * (static_cast<double>(shape.rows + shape.cols) - k);
}

double entries_of(const Shape& shape) {
  const auto p = static_cast<double>(shape.rows), q = static_cast<double>(shape.cols);
  return shape.symmetric ? p * (p + 1) / 2 : p * q;
}

udv::StackedFactors<double> truth(const udv::Planted& planted) {
  udv::StackedFactors<double> Z(planted.U.rows(), planted.V.rows(), planted.entries.symmetric,
                                planted.U.cols());
  Z.U() = planted.U;
  Z.V() = planted.V;
  return Z;
}

double error_of(const udv::Planted& planted, const udv::StackedFactors<double>& Z) {
  return planted.relative_error(Z.U(), udv::Vector<double>::Ones(Z.rank()), Z.V());
}

udv::FitOptions tight() {
  udv::FitOptions options;
  options.max_outer = 200;
  options.small_gain = 1e-6;
  return options;
}

// Can the matrix be told from the noise-free entries? A least-squares fit that starts 1 % beside
// the truth comes back to it only where no direction is free.
bool identifiable(const udv::Planted& clean, const udv::Problem& problem, std::uint64_t seed) {
  if (problem.op->undetermined(clean.U.cols()).any()) return false;
  udv::StackedFactors<double> Z = truth(clean);
  udv::Random random(seed, 99);
  for (Index i = 0; i < Z.Z.rows(); ++i)
    for (Index c = 0; c < Z.Z.cols(); ++c) Z.Z(i, c) *= 1 + 0.01 * random.normal();
  udv::fit_factors(*problem.op, problem.b, Z, tight());
  return error_of(clean, Z) <= 1e-6;
}

void run_cell(const Shape& shape, Index rank, double sampling, double condition,
              const Settings& settings, std::map<std::string, Tally>& tallies) {
  for (int s = settings.first_seed; s < settings.first_seed + settings.seeds; ++s) {
    udv::PlantedOptions planted_options{
        shape.rows,
        shape.cols,
        shape.symmetric,
        rank,
        static_cast<Index>(std::lround(sampling * dof(shape, rank))),
        condition,
        settings.noise,
        static_cast<std::uint64_t>(s)};
    const udv::Planted planted = udv::planted_completion(planted_options);
    const udv::Problem problem = udv::completion(planted.entries);
    udv::RecoverOptions options;
    options.start = settings.start;
    options.record = udv::Recording::kNone;
    const udv::Recovery found = udv::recover(problem, options);
    const double error =
        planted.relative_error(found.U, found.d, shape.symmetric ? found.U : found.V);

    planted_options.noise = 0;
    const udv::Planted clean = udv::planted_completion(planted_options);
    const udv::Problem clean_problem = udv::completion(clean.entries);
    double oracle = 1e-6;
    if (settings.noise > 0) {
      udv::StackedFactors<double> Z = truth(planted);
      udv::fit_factors(*problem.op, problem.b, Z, tight());
      oracle = error_of(planted, Z);
    }
    const bool right = found.rank == rank;
    const bool solved = right && (settings.noise > 0 || error <= 1e-6);
    const bool known = solved && settings.noise == 0
                           ? true
                           : identifiable(clean, clean_problem, planted_options.seed);
    if (settings.verbose && known && !solved)
      fmt::print(
          "  missed: {} {}x{} rank {} {}x cond {} seed {}: rank {} error {:.1e} residual {:.1e}\n",
          shape.symmetric ? "sym" : "rect", shape.rows, shape.cols, rank, sampling, condition, s,
          found.rank, error, found.relative_residual);
    for (const std::string& key :
         {fmt::format("rank {:2}, {}x", rank, sampling), fmt::format("condition {:2}", condition),
          std::string(shape.symmetric ? "symmetric" : "rectangular"), std::string("~ all")}) {
      Tally& tally = tallies[key];
      ++tally.count;
      tally.rank_right += right;
      tally.solved += solved;
      tally.identifiable += known;
      tally.solved_identifiable += known && solved;
      tally.seconds += found.seconds;
      if (known && settings.noise > 0) {
        tally.log_ratio += std::log(std::max(error, 1e-300) / oracle);
        tally.log_error += std::log(std::max(error, 1e-300));
      }
    }
  }
}

void print_table(const std::map<std::string, Tally>& tallies, bool noisy) {
  fmt::print("{:<16} {:>6} {:>12} {:>12} {:>14} {:>9}{}\n", "group", "count", "rank right",
             noisy ? "identifiable" : "solved", noisy ? "error" : "solved of id.", "mean ms",
             noisy ? "   error / oracle" : "");
  for (const auto& [key, t] : tallies) {
    const double n = t.count, id = std::max(1, t.identifiable);
    if (noisy)
      fmt::print("{:<16} {:>6} {:>10.1f} % {:>12} {:>14.2e} {:>9.1f} {:>16.3f}\n", key, t.count,
                 100 * t.rank_right / n, t.identifiable, std::exp(t.log_error / id),
                 1000 * t.seconds / n, std::exp(t.log_ratio / id));
    else
      fmt::print("{:<16} {:>6} {:>10.1f} % {:>10.1f} % {:>6} of {:>4} {:>9.1f}\n", key, t.count,
                 100 * t.rank_right / n, 100 * t.solved / n, t.solved_identifiable, t.identifiable,
                 1000 * t.seconds / n);
  }
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int a = 1; a < argc; ++a) {
    const std::string flag = argv[a];
    const auto value = [&] { return std::string(a + 1 < argc ? argv[++a] : ""); };
    if (flag == "--seeds") settings.seeds = std::stoi(value());
    if (flag == "--first-seed") settings.first_seed = std::stoi(value());
    if (flag == "--noise") settings.noise = std::stod(value());
    if (flag == "--condition") settings.only_condition = std::stod(value());
    if (flag == "--start")
      settings.start = value() == "dynamics" ? udv::Start::kDynamics : udv::Start::kNothing;
    if (flag == "--stress") settings.stress = true;
    if (flag == "--verbose") settings.verbose = true;
  }
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = parse(argc, argv);
  udv::set_num_threads(1);
  std::map<std::string, Tally> tallies;
  for (const Shape& shape : kShapes)
    for (const Index rank : kRanks)
      for (const double sampling : settings.sampling())
        for (const double condition : settings.conditions()) {
          const bool left_out = sampling * dof(shape, rank) > kLargestShare * entries_of(shape) ||
                                shape.cols > settings.largest_size() ||
                                (rank == 1 && condition != 1);  // the same as condition 1
          if (!left_out) run_cell(shape, rank, sampling, condition, settings, tallies);
        }
  fmt::print("rank grid, noise {:g} %, seeds {} to {}, start from {}\n", 100 * settings.noise,
             settings.first_seed, settings.first_seed + settings.seeds - 1,
             settings.start == udv::Start::kNothing ? "nothing" : "dynamics");
  print_table(tallies, settings.noise > 0);
}
