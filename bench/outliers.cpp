// SPDX-License-Identifier: MIT
// Planted completion problems with gross errors, heavy-tailed noise, or neither: is the rank right,
// is the answer as good as a least-squares fit that knows rank and errors, is an alarm false?
//
// usage: bench_outliers [seeds=20] [first=0] [size=200]
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/recover.hpp"
#include "udv/recover/solver/levenberg_marquardt.hpp"

namespace {

using namespace udv;

// What is done to the entries of a planted matrix.
struct Damage {
  std::string name;
  double noise = 0;       // standard deviation of Gaussian noise, as a share of the rms entry
  double share = 0;       // of the entries that are replaced
  double amplitude = 10;  // of the errors, in rms entries
  bool one_sided = false;
  double rows = 1;  // the errors are in this share of the rows
  // Other noise: a draw with variance 1 (or heavy tails), times `noise`.
  std::function<double(Random&)> draw;
};

// good: as good as the oracle everywhere; honest: in all that is not called undetermined.
struct Outcome {
  bool rank_right = false, good = false, honest = false, named = false;
};

double student(Random& random, int freedom) {
  double squares = 0;
  for (int i = 0; i < freedom; ++i) squares += std::pow(random.normal(), 2);
  return random.normal() / std::sqrt(squares / freedom);
}

double laplace(Random& random) {
  const double u = random.uniform() - 0.5;
  return -std::copysign(std::log(1 - 2 * std::abs(u)), u) / std::sqrt(2.0);
}

// Replaces entries, adds noise; the numbers of the errors are left in `wrong`.
Entries damaged(const Planted& planted, const Damage& damage, Random& random,
                std::vector<bool>& wrong) {
  Entries entries = planted.entries;
  double squares = 0;
  for (const double value : entries.value) squares += value * value;
  const double rms = std::sqrt(squares / static_cast<double>(entries.value.size()));
  const auto bad_rows =
      static_cast<Index>(std::lround(damage.rows * static_cast<double>(entries.rows)));
  wrong.assign(entries.value.size(), false);
  for (size_t t = 0; t < entries.value.size(); ++t) {
    entries.value[t] += damage.noise * rms * (damage.draw ? damage.draw(random) : random.normal());
    if (entries.row[t] >= bad_rows || random.uniform() >= damage.share / damage.rows) continue;
    const double error = damage.amplitude * rms * random.normal();
    entries.value[t] = damage.one_sided ? std::abs(error) : error;
    wrong[t] = true;
  }
  return entries;
}

// A least-squares fit from the truth, at the true rank, without the wrong entries.
RowMatrix<double> oracle_answer(const Planted& planted, const Entries& entries,
                                const std::vector<bool>& wrong) {
  Entries kept{entries.rows, entries.cols, false, {}, {}, {}};
  for (size_t t = 0; t < entries.value.size(); ++t) {
    if (wrong[t]) continue;
    kept.row.push_back(entries.row[t]);
    kept.col.push_back(entries.col[t]);
    kept.value.push_back(entries.value[t]);
  }
  const Problem problem = completion(kept);
  StackedFactors<double> Z(entries.rows, entries.cols, false, planted.U.cols());
  Z.U() = planted.U;
  Z.V() = planted.V;
  fit_factors(*problem.op, problem.b, Z, FitOptions{});
  return Z.U() * Z.V().transpose();
}

Outcome solve(const PlantedOptions& options, const Damage& damage) {
  const Planted planted = planted_completion(options);
  Random random(options.seed, 4711);
  std::vector<bool> wrong;
  const Entries entries = damaged(planted, damage, random, wrong);
  const Recovery found = recover(completion(entries));
  const RowMatrix<double> X = planted.U * planted.V.transpose();
  RowMatrix<double> mine = found.U * found.d.asDiagonal() * found.V.transpose() - X;
  RowMatrix<double> best = oracle_answer(planted, entries, wrong) - X;
  const auto is_good = [&] {
    const double allowed = damage.noise > 0 ? 1.1 * best.norm() : 1e-6 * X.norm();
    return found.rank == options.rank && mine.norm() <= allowed && found.center == Centering::kNone;
  };
  Outcome outcome;
  outcome.rank_right = found.rank == options.rank;
  outcome.named = !found.outliers.empty();
  outcome.good = is_good();
  const Undetermined& open = found.undetermined;
  for (const auto* lines : {&open.rows, &open.empty_rows})
    for (const Index i : *lines) mine.row(i).setZero(), best.row(i).setZero();
  for (const auto* lines : {&open.cols, &open.empty_cols})
    for (const Index j : *lines) mine.col(j).setZero(), best.col(j).setZero();
  outcome.honest = is_good();
  return outcome;
}

void measure(const Damage& damage, PlantedOptions options, double sampling, int seeds, int first,
             bool heavy) {
  options.measurements = static_cast<Index>(std::lround(
      sampling * static_cast<double>(options.rank * (options.rows + options.cols - options.rank))));
  int rank = 0, good = 0, honest = 0, named = 0;
  for (int s = 0; s < seeds; ++s) {
    options.seed = static_cast<std::uint64_t>(first + s);
    const Outcome outcome = solve(options, damage);
    rank += outcome.rank_right;
    good += outcome.good;
    honest += outcome.honest;
    named += outcome.named;
  }
  fmt::print("{}, rank {}, {}x sampled: rank right in {} of {}, {}named in {}\n", damage.name,
             options.rank, sampling, rank, seeds,
             heavy ? ""
                   : fmt::format("as good as the oracle in {} (in {} but for lines it calls "
                                 "undetermined), ",
                                 good, honest),
             named);
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv, 1);
  const int seeds = arguments.number("seeds", 20), first = arguments.number("first", 0);
  set_num_threads(1);
  PlantedOptions options;
  options.rows = options.cols = arguments.number<Index>("size", 200);
  options.symmetric = false;
  std::vector<Damage> errors;
  for (const double noise : {0.0, 0.01}) {
    const std::string with = noise > 0 ? ", 1 % noise" : "";
    for (const double share : {0.01, 0.05, 0.1, 0.2})
      for (const bool one : {false, true})
        errors.push_back({fmt::format("{:.0f} % {} errors{}", 100 * share,
                                      one ? "one-sided" : "symmetric", with),
                          noise,
                          share,
                          10,
                          one,
                          1,
                          {}});
    for (const double amplitude : {1.0, 1000.0})
      errors.push_back({fmt::format("20 % errors of {} times the signal{}", amplitude, with),
                        noise,
                        0.2,
                        amplitude,
                        false,
                        1,
                        {}});
    errors.push_back(
        {"a quarter wrong in a fifth of the rows" + with, noise, 0.05, 10, false, 0.2, {}});
    errors.push_back({"half wrong in a fifth of the rows" + with, noise, 0.1, 10, false, 0.2, {}});
  }
  for (const Damage& damage : errors)
    for (const Index rank : {3, 5})
      for (const double sampling : {4.0, 5.0}) {
        options.rank = rank;
        measure(damage, options, sampling, seeds, first, false);
      }
  options.rank = 3;
  for (const int freedom : {2, 3})
    for (const double noise : {0.01, 0.1})
      measure({fmt::format("t{} noise, {:.0f} %", freedom, 100 * noise), noise, 0, 0, false, 1,
               [freedom](Random& random) { return student(random, freedom); }},
              options, 5, seeds, first, true);
  const std::vector<Damage> clean{{"clean", 0, 0, 0, false, 1, {}},
                                  {"Gaussian noise, 1 %", 0.01, 0, 0, false, 1, {}},
                                  {"Gaussian noise, 30 %", 0.3, 0, 0, false, 1, {}},
                                  {"Laplace noise, 10 %", 0.1, 0, 0, false, 1, laplace},
                                  {"uniform noise, 10 %", 0.1, 0, 0, false, 1, [](Random& random) {
                                     return std::sqrt(12.0) * (random.uniform() - 0.5);
                                   }}};
  for (const Damage& damage : clean) measure(damage, options, 5, 5 * seeds, first, false);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return udv::bench::guarded_main("bench_outliers", run, argc, argv);
}
