// SPDX-License-Identifier: MIT
// A large noisy completion by one process or by several (mpirun -n N): time, memory, bytes that
// were exchanged, and a checksum of the answer. Each process makes the planted entries of its part
// of the rows; they are the same for any number of processes.
//
// usage: [mpirun -n N] bench_scale_mpi ROWS COLS ENTRIES_PER_ROW RANK NOISE THREADS [SWEEPS]
//
// With SWEEPS the run ends after so many sweeps of variational Bayes: the same work for any number
// of processes, where one of them alone would take too long.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>

#include "cli/team.hpp"
#include "core/communicator.hpp"
#include "core/hash.hpp"
#include "recover/spread_completion.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/recover.hpp"

namespace udv {
namespace {

constexpr Index kBlock = 1024;  // rows that one stream of random numbers makes

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Counts what goes through another communicator.
class Counting final : public Communicator {
 public:
  explicit Counting(Communicator& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Index smallest_work() const override { return inner_.smallest_work(); }
  void all_gather(void* data, const std::vector<Index>& bounds) override {
    count(bounds.back(), [&] { inner_.all_gather(data, bounds); });
  }
  void exchange(const void* send, const std::vector<Index>& send_bounds, void* receive,
                const std::vector<Index>& receive_bounds) override {
    count(receive_bounds.back(),
          [&] { inner_.exchange(send, send_bounds, receive, receive_bounds); });
  }
  void sum(Index* values, Index n) override {
    count(8 * n, [&] { inner_.sum(values, n); });
  }
  void broadcast(void* data, Index bytes) override {
    count(bytes, [&] { inner_.broadcast(data, bytes); });
  }

  double gigabytes = 0, seconds = 0;
  Index calls = 0;

 private:
  template <typename Call>
  void count(Index bytes, const Call& call) {
    const double start = seconds_now();
    call();
    seconds += seconds_now() - start;
    gigabytes += 1e-9 * static_cast<double>(bytes);
    ++calls;
  }
  Communicator& inner_;
};

struct Setup {
  Index rows, cols, per_row, rank;
  double noise;
  Index sweeps;
};

RowMatrix<double> planted_columns(const Setup& setup) {
  RowMatrix<double> V(setup.cols, setup.rank);
  Random(1, 1).fill_normal(V);
  return V / std::sqrt(static_cast<double>(setup.rank));
}

RowMatrix<double> planted_rows(const Setup& setup, Index block) {
  RowMatrix<double> U(std::min(kBlock, setup.rows - block * kBlock), setup.rank);
  Random(2, static_cast<std::uint64_t>(block)).fill_normal(U);
  return U;
}

// The entries of some blocks of rows.
Entries planted_part(const Setup& setup, const RowMatrix<double>& V, Index begin, Index end) {
  Entries entries{setup.rows, setup.cols, false, {}, {}, {}};
  std::vector<std::int32_t> places;
  for (Index block = begin; block < end; ++block) {
    const RowMatrix<double> U = planted_rows(setup, block);
    Random random(3, static_cast<std::uint64_t>(block));
    for (Index i = 0; i < U.rows(); ++i) {
      places.clear();
      while (static_cast<Index>(places.size()) < setup.per_row) {
        const Index missing = setup.per_row - static_cast<Index>(places.size());
        for (Index n = 0; n < missing; ++n)
          places.push_back(static_cast<std::int32_t>(random.below(setup.cols)));
        std::sort(places.begin(), places.end());
        places.erase(std::unique(places.begin(), places.end()), places.end());
      }
      for (const std::int32_t j : places) {
        entries.row.push_back(static_cast<std::int32_t>(block * kBlock + i));
        entries.col.push_back(j);
        entries.value.push_back(U.row(i).dot(V.row(j)) + setup.noise * random.normal());
      }
    }
  }
  return entries;
}

// Root mean square error at places that are hardly ever among the entries.
double error_of(const Setup& setup, const RowMatrix<double>& V, const Recovery& found) {
  Random random(4, 1);
  double squares = 0;
  Index count = 0;
  for (Index block = 0; block * kBlock < setup.rows; block += 17) {
    const RowMatrix<double> U = planted_rows(setup, block);
    for (Index i = 0; i < U.rows(); i += 5, ++count) {
      const Index j = random.below(setup.cols);
      squares += std::pow(found.predict(block * kBlock + i, j) - U.row(i).dot(V.row(j)), 2);
    }
  }
  return std::sqrt(squares / static_cast<double>(count));
}

std::uint64_t checksum(const Recovery& found) {
  std::uint64_t hash = kHashStart;
  for (const auto* const X : {&found.U, &found.V})
    hash = array_hash(X->data(), static_cast<size_t>(X->size()) * sizeof(double), hash);
  return array_hash(found.d.data(), static_cast<size_t>(found.d.size()) * sizeof(double), hash);
}

double peak_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double largest_of_ranks(double value) {
  double largest = 0;
  for (const std::string& text : gathered(fmt::format("{}", value)))
    largest = std::max(largest, std::stod(text));
  return largest;
}

double median_step(const std::vector<double>& times) {
  std::vector<double> steps;
  for (size_t k = 1; k < times.size(); ++k) steps.push_back(times[k] - times[k - 1]);
  if (steps.empty()) return 0;
  std::nth_element(steps.begin(), steps.begin() + static_cast<Index>(steps.size() / 2),
                   steps.end());
  return steps[steps.size() / 2];
}

int run(const Setup& setup) {
  const int ranks = communicator().size();
  const Index blocks = (setup.rows + kBlock - 1) / kBlock;
  const double start = seconds_now();
  const RowMatrix<double> V = planted_columns(setup);
  Entries part = planted_part(setup, V, blocks * communicator().rank() / ranks,
                              blocks * (communicator().rank() + 1) / ranks);
  const double made = seconds_now();
  const bool alone = communicator().is_alone();
  const Index entries = setup.rows * setup.per_row;
  Problem problem;
  if (alone) {
    problem = completion(std::move(part));
  } else {
    problem = spread_completion(part);
    part = {};
  }
  const double built = seconds_now();
  Counting counting(communicator());
  const UseCommunicator use(counting);
  RecoverHooks hooks;
  std::vector<double> times;  // of the ends of sweeps
  hooks.observer = [&](const IterationRecord&) {
    times.push_back(seconds_now());
    const bool enough = setup.sweeps > 0 && static_cast<Index>(times.size()) >= setup.sweeps;
    return enough ? Verdict::kTimeLimit : Verdict::kContinue;
  };
  const Recovery found = recover(problem, RecoverOptions(), hooks);
  const double solved = seconds_now();
  const double sweep = median_step(times);
  const double peak = largest_of_ranks(peak_mib());
  if (communicator().is_root())
    fmt::print(
        "ranks {:2} threads {:2} entries {} made {:.1f} s built {:.1f} s solved {:.1f} s peak "
        "{:.0f} "
        "MiB a rank; {} sweeps, median {:.3f} s; rank {} sigma {:.4f} rmse {:.4f} checksum "
        "{:016x}; exchanged {:.2f} GB in {} calls, {:.1f} s\n",
        ranks, num_threads(), entries, made - start, built - made, solved - built, peak,
        times.size(), sweep, found.rank, found.noise_sigma, error_of(setup, V, found),
        checksum(found), counting.gigabytes, counting.calls, counting.seconds);
  return 0;
}

}  // namespace
}  // namespace udv

int main(int argc, char** argv) {
  const auto number = [&](int a, double otherwise) {
    return argc > a ? std::stod(argv[a]) : otherwise;
  };
  const udv::Setup setup{static_cast<udv::Index>(number(1, 1e5)),
                         static_cast<udv::Index>(number(2, 1e5)),
                         static_cast<udv::Index>(number(3, 50)),
                         static_cast<udv::Index>(number(4, 10)),
                         number(5, 0.1),
                         static_cast<udv::Index>(number(7, 0))};
  udv::set_num_threads(static_cast<int>(number(6, 1)));
  std::string program = argv[0], command = "complete";
  char* words[] = {program.data(), command.data(), nullptr};
  udv::cli::TeamMember member;
  const int joined = member.join(words);
  return member.leave(joined == 0 ? udv::run(setup) : joined);
}
