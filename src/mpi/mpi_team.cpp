// SPDX-License-Identifier: MIT
// The only source that knows MPI. The program loads it where it was started by mpirun or srun.
#include <malloc.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "core/require.hpp"
#include "core/team.hpp"
#include "mpi/deadline.hpp"
#include "mpi/machine_memory.hpp"
#include "mpi/node_stage.hpp"

namespace udv {
namespace {

constexpr Index kMostBytes = Index{1} << 30;  // of one message: MPI counts with 32 bits
constexpr double kAwake = 2;                  // seconds that a rank waits without sleeping
constexpr double kStopped = 1;            // seconds between two looks of a process that was stopped
constexpr Index kStage = Index{2} << 20;  // bytes of a rank in memory that all of them see
constexpr double kJoin = 300;             // most seconds until all ranks have started
constexpr double kAtTheEnd = 10;          // times as long: rank 0 may have much to write
constexpr double kTurn = 3;      // seconds: of those that give up, the first ends the rest before
constexpr double kAbort = 10;    // seconds that the end of the job may take
constexpr int kLarge = 4 << 20;  // bytes of arrays that go back to the system when they are freed
constexpr int kLostRanks = 3;    // exit code: that of bad input

Index number_of(const char* variable, Index otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::atoll(text) : otherwise;
}

size_t at(Index i) {
  return static_cast<size_t>(i);
}

std::vector<int> counts_of(const std::vector<Index>& bounds) {
  std::vector<int> counts;
  for (size_t r = 0; r + 1 < bounds.size(); ++r)
    counts.push_back(static_cast<int>(bounds[r + 1] - bounds[r]));
  return counts;
}

std::vector<int> starts_of(const std::vector<Index>& bounds) {
  std::vector<int> starts;
  for (size_t r = 0; r + 1 < bounds.size(); ++r) starts.push_back(static_cast<int>(bounds[r]));
  return starts;
}

class MpiTeam final : public Team {
 public:
  explicit MpiTeam(const TeamRules& rules)
      : timeout_(rules.timeout_seconds), standard_error_(rules.standard_error), rank_(rules.rank) {
    ::mallopt(M_MMAP_THRESHOLD, kLarge);  // each rank has a share of the memory
    const double joining = std::min(timeout_, kJoin);
    const Deadline deadline(joining + turn(), kLostRanks, standard_error_,
                            waited("for all processes to join", joining));
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    speaker() = this;
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(&MpiTeam::fail, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    smallest_work_ = number_of("UDV_MPI_SMALLEST_WORK", smallest_work_);
    stage_ = std::make_unique<NodeStage>(number_of("UDV_MPI_STAGE", kStage));  // 0: messages alone
    memory_ = std::make_unique<MachineMemory>();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  Index smallest_work() const override { return smallest_work_; }

  void all_gather(void* data, const std::vector<Index>& bounds) override {
    auto* const bytes = static_cast<char*>(data);
    if (memory_->holds(data)) {
      memory_->bring(bytes, bounds, [this](MPI_Request& request) { wait(request); });
      return barrier(timeout_);
    }
    if (stage_->takes(bounds.back()))
      return stage_->all_gather(bytes, bounds, [this] { barrier(timeout_); });
    if (bounds.back() <= kMostBytes) {
      const std::vector<int> counts = counts_of(bounds), starts = starts_of(bounds);
      MPI_Request request;
      MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, bytes, counts.data(), starts.data(), MPI_BYTE,
                      MPI_COMM_WORLD, &request);
      return wait(request);
    }
    for (int r = 0; r < size_; ++r)
      for (Index from = bounds[at(r)]; from < bounds[at(r) + 1]; from += kMostBytes)
        send_to_all(bytes + from, std::min(kMostBytes, bounds[at(r) + 1] - from), r);
  }

  void exchange(const void* send, const std::vector<Index>& send_bounds, void* receive,
                const std::vector<Index>& receive_bounds) override {
    const auto* const out = static_cast<const char*>(send);
    auto* const in = static_cast<char*>(receive);
    for (int step = 0; step < size_; ++step) {
      const int to = (rank_ + step) % size_, from = (rank_ + size_ - step) % size_;
      Index sent = send_bounds[at(to)], got = receive_bounds[at(from)];
      const Index send_end = send_bounds[at(to) + 1], get_end = receive_bounds[at(from) + 1];
      while (sent < send_end || got < get_end) {
        const Index send_now = std::min(kMostBytes, send_end - sent);
        const Index get_now = std::min(kMostBytes, get_end - got);
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (get_now > 0)
          MPI_Irecv(in + got, static_cast<int>(get_now), MPI_BYTE, from, 0, MPI_COMM_WORLD,
                    &requests[0]);
        if (send_now > 0)
          MPI_Isend(out + sent, static_cast<int>(send_now), MPI_BYTE, to, 0, MPI_COMM_WORLD,
                    &requests[1]);
        wait(requests[0]);
        wait(requests[1]);
        sent += send_now;
        got += get_now;
      }
    }
  }

  void sum(Index* values, Index count) override {
    static_assert(sizeof(Index) == sizeof(std::int64_t));
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, static_cast<int>(count), MPI_INT64_T, MPI_SUM,
                   MPI_COMM_WORLD, &request);
    wait(request);
  }

  void broadcast(void* data, Index bytes) override {
    for (Index from = 0; from < bytes; from += kMostBytes)
      send_to_all(static_cast<char*>(data) + from, std::min(kMostBytes, bytes - from), 0);
  }

  std::shared_ptr<void> machine_memory(Index bytes) override {
    return memory_->get(
        bytes, [this](void* data, const std::vector<Index>& bounds) { all_gather(data, bounds); });
  }

  OfMachine of_machine() const override { return {memory_->rank_here(), memory_->ranks_here()}; }

  void finish() override {
    barrier(kAtTheEnd * timeout_);
    const Deadline deadline(timeout_ + turn(), kLostRanks, standard_error_,
                            waited("for the others to end", timeout_));
    stage_->free();
    MPI_Finalize();
  }

  [[noreturn]] void abort(int exit_code) override {
    const Deadline deadline(kAbort, exit_code, standard_error_, "");
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

  std::string library() const override {
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int size = 0;
    MPI_Get_library_version(text, &size);
    return text;
  }

 private:
  void barrier(double timeout) {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    wait(request, timeout);
  }

  void send_to_all(char* data, Index bytes, int root) {
    MPI_Request request;
    MPI_Ibcast(data, static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD, &request);
    wait(request);
  }

  // Others may need the core that this rank waits on; and one that never comes must not hold all.
  void wait(MPI_Request& request) { wait(request, timeout_); }
  void wait(MPI_Request& request, double timeout) {
    using Clock = std::chrono::steady_clock;
    double waited = 0;  // seconds, without those in which this process itself was stopped
    Clock::time_point before = Clock::now();
    for (int done = 0;;) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return;
      const Clock::time_point now = Clock::now();
      const double since = std::chrono::duration<double>(now - before).count();
      waited += since < kStopped ? since : 0;
      before = now;
      if (waited > timeout) give_up(waited);
      if (waited < kAwake)
        sched_yield();
      else
        ::usleep(100);
    }
  }

  // The errors of MPI itself.
  static MpiTeam*& speaker() {
    static MpiTeam* team = nullptr;
    return team;
  }
  static void fail(MPI_Comm*, int* error, ...) {
    char why[MPI_MAX_ERROR_STRING];
    int size = 0;
    MPI_Error_string(*error, why, &size);
    speaker()->end_job(message(speaker()->name(), ": MPI failed: ", why, "\n"));
  }

  std::string waited(const char* for_what, double seconds) const {
    return message(name(), " has waited ", static_cast<Index>(seconds), " s ", for_what,
                   ", and ends the job; --resume continues from the last checkpoint\n");
  }

  std::string name() const {
    char host[256] = "";
    ::gethostname(host, sizeof(host) - 1);
    return message("udv: rank ", rank_, " on ", host);
  }

  double turn() const { return kTurn * std::min(rank_, 10); }

  [[noreturn]] void give_up(double seconds) { end_job(waited("for the others", seconds)); }

  [[noreturn]] void end_job(const std::string& line) {
    std::this_thread::sleep_for(std::chrono::duration<double>(turn()));
    say(standard_error_, line);
    abort(kLostRanks);
  }

  double timeout_;
  int standard_error_;
  int rank_, size_ = 1;
  Index smallest_work_ = 1 << 20;
  std::unique_ptr<NodeStage> stage_;
  std::unique_ptr<MachineMemory> memory_;
};

}  // namespace
}  // namespace udv

#define UDV_OF_MODULE extern "C" __attribute__((visibility("default")))

UDV_OF_MODULE const int udv_team_version;
const int udv_team_version = udv::kTeamVersion;

UDV_OF_MODULE udv::Team* udv_join_team(const udv::TeamRules& rules) {
  static udv::MpiTeam team(rules);
  return &team;
}
