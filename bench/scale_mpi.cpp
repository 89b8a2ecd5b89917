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
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

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
  std::shared_ptr<void> machine_memory(Index bytes) override {
    return inner_.machine_memory(bytes);
  }
  OfMachine of_machine() const override { return inner_.of_machine(); }
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
Entries planted_part(const Setup& setup, Index begin, Index end) {
  const RowMatrix<double> V = planted_columns(setup);
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
double error_of(const Setup& setup, const Recovery& found) {
  const RowMatrix<double> V = planted_columns(setup);
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

// The number that follows a word in a file of /proc, of kB there: MiB.
double mib_after(const char* file, const std::string& word) {
  std::ifstream in(file);
  for (std::string seen; in >> seen;)
    if (seen == word) {
      double kib = 0;
      in >> kib;
      return kib / 1024;
    }
  return 0;
}

/// Memory of this process, looked at every 20 ms: its own, and its part of what the ranks of a
/// machine share; all pages that it has ever touched at once, those of others among them.
class Memory {
 public:
  explicit Memory(int ranks)
      : ranks_(ranks), thread_([this](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            look();
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
        }) {}
  double fair() const { return fair_; }
  /// What the kernel calls the proportional set size, now; dear.
  void look_at_pss() { pss_ = std::max(pss_, mib_after("/proc/self/smaps_rollup", "Pss:")); }
  double pss() const { return pss_; }
  static double touched() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
  }

 private:
  void look() {
    const auto part = [](const char* word) { return mib_after("/proc/self/status", word); };
    const double now = part("RssAnon:") + part("RssFile:") + part("RssShmem:") / ranks_;
    fair_ = std::max(fair_.load(), now);
  }

  int ranks_;
  std::atomic<double> fair_ = 0;
  double pss_ = 0;
  std::jthread thread_;
};

double largest_of_ranks(double value) {
  double largest = 0;
  for (const std::string& text : gathered(fmt::format("{}", value)))
    largest = std::max(largest, std::stod(text));
  return largest;
}

double mean_of_ranks(double value) {
  double sum = 0;
  for (const std::string& text : gathered(fmt::format("{}", value))) sum += std::stod(text);
  return sum / communicator().size();
}

double median_step(const std::vector<double>& times) {
  std::vector<double> steps;
  for (size_t k = 1; k < times.size(); ++k) steps.push_back(times[k] - times[k - 1]);
  if (steps.empty()) return 0;
  std::nth_element(steps.begin(), steps.begin() + static_cast<Index>(steps.size() / 2),
                   steps.end());
  return steps[steps.size() / 2];
}

// The entries of all processes, each of which makes a part.
Problem planted_problem(const Setup& setup) {
  const int ranks = communicator().size(), rank = communicator().rank();
  const Index blocks = (setup.rows + kBlock - 1) / kBlock;
  Entries part = planted_part(setup, blocks * rank / ranks, blocks * (rank + 1) / ranks);
  return communicator().is_alone() ? completion(std::move(part)) : spread_completion(part);
}

/// Of the ends of sweeps.
struct Steps {
  std::vector<double> times;

  std::string text(double begin, double end) const {
    if (times.empty()) return "";
    std::string steps;
    for (size_t k = 1; k < times.size(); ++k)
      steps += fmt::format(" {:.2f}", times[k] - times[k - 1]);
    return fmt::format("{:.2f} s to the end of the first sweep, the others{} s, {:.2f} s after it",
                       times.front() - begin, steps, end - times.back());
  }
};

int run(const Setup& setup) {
  const double start = seconds_now();
  Problem problem = planted_problem(setup);
  const double built = seconds_now();
  Memory memory(communicator().size());
  Counting counting(communicator());
  const UseCommunicator use(counting);
  RecoverHooks hooks;
  Steps steps;
  hooks.observer = [&](const IterationRecord&) {
    memory.look_at_pss();
    steps.times.push_back(seconds_now());
    const bool enough = setup.sweeps > 0 && static_cast<Index>(steps.times.size()) >= setup.sweeps;
    return enough ? Verdict::kTimeLimit : Verdict::kContinue;
  };
  const Recovery found = recover(problem, RecoverOptions(), hooks);
  const double solved = seconds_now();
  memory.look_at_pss();
  const double fair = largest_of_ranks(memory.fair()), mean = mean_of_ranks(memory.fair());
  const double pss = largest_of_ranks(memory.pss()), touched = largest_of_ranks(memory.touched());
  if (!communicator().is_root()) return 0;
  fmt::print(
      "ranks {:2} threads {:2} entries {} made and sorted {:.1f} s solved {:.1f} s ({}; median of "
      "{} sweeps {:.3f} s); MiB a rank: {:.0f} at most, {:.0f} on average, PSS after sweeps "
      "{:.0f}, "
      "touched {:.0f}; rank {} sigma {:.4f} rmse {:.4f} checksum {:016x}; exchanged {:.2f} GB in "
      "{} "
      "calls, {:.1f} s\n",
      communicator().size(), num_threads(), setup.rows * setup.per_row, built - start,
      solved - built, steps.text(built, solved), steps.times.size(), median_step(steps.times), fair,
      mean, pss, touched, found.rank, found.noise_sigma, error_of(setup, found), checksum(found),
      counting.gigabytes, counting.calls, counting.seconds);
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
