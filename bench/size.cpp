// SPDX-License-Identifier: MIT
// Large completion problems, auto mode: time, memory, accuracy.
//
// usage: bench_size ROWS COLS RANK ENTRIES MAX_RANK [THREADS] [CONDITION] [NOISE]
#include <fmt/format.h>
#include <sys/resource.h>

#include <string>

#include "udv/core/parallel.hpp"
#include "udv/recover/recover.hpp"

int main(int argc, char** argv) {
  const auto number = [&](int a, double otherwise) {
    return argc > a ? std::stod(argv[a]) : otherwise;
  };
  udv::PlantedOptions planted_options;
  planted_options.rows = static_cast<udv::Index>(number(1, 2000));
  planted_options.cols = static_cast<udv::Index>(number(2, 2000));
  planted_options.symmetric = false;
  planted_options.rank = static_cast<udv::Index>(number(3, 10));
  planted_options.measurements = static_cast<udv::Index>(number(4, 400'000));
  planted_options.condition = number(7, 1);
  planted_options.noise = number(8, 0);
  udv::RecoverOptions options;
  options.max_rank = static_cast<udv::Index>(number(5, 50));
  udv::set_num_threads(static_cast<int>(number(6, 0)));

  udv::Planted planted = udv::planted_completion(planted_options);
  const udv::Problem problem = udv::completion(planted.entries);
  planted.entries = {};
  const udv::Recovery found = udv::recover(problem, options);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "{} x {}, rank {}, {} entries, {} threads: rank {}, relative residual {:.1e}, error "
      "{:.1e}, {:.2f} s, {} MiB\n",
      planted_options.rows, planted_options.cols, planted_options.rank,
      planted_options.measurements, udv::num_threads(), found.rank, found.relative_residual,
      planted.relative_error(found.U, found.d, found.V), found.seconds, usage.ru_maxrss / 1024);
}
