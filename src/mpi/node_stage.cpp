// SPDX-License-Identifier: MIT
#include "mpi/node_stage.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace udv {
namespace {

bool all_on_one_machine() {
  MPI_Comm machine;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  int here = 0, all = 0;
  MPI_Comm_size(machine, &here);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_free(&machine);
  return here == all;
}

Index least_of_all(Index own) {
  static_assert(sizeof(Index) == sizeof(std::int64_t));
  MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  return own;
}

}  // namespace

NodeStage::NodeStage(Index bytes_per_rank)
    : piece_(least_of_all(all_on_one_machine() ? bytes_per_rank / 2 : 0)) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  if (piece_ <= 0) return;
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  char* own = nullptr;
  const int status = MPI_Win_allocate_shared(static_cast<MPI_Aint>(2 * piece_), 1, MPI_INFO_NULL,
                                             MPI_COMM_WORLD, &own, &window_);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  if (least_of_all(status == MPI_SUCCESS ? 1 : 0) == 0) {
    window_ = MPI_WIN_NULL;
    return;
  }
  for (int r = 0; r < size_; ++r) {
    MPI_Aint bytes = 0;
    int unit = 1;
    char* start = nullptr;
    MPI_Win_shared_query(window_, r, &bytes, &unit, &start);
    slots_.push_back(start);
  }
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
}

bool NodeStage::takes(Index bytes) const {
  constexpr Index kWorthIt = Index{1} << 18;
  return usable() && bytes >= std::min(2 * piece_, kWorthIt);
}

void NodeStage::free() {
  if (!usable()) return;
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

// The half of a rank's slot that this turn uses.
char* NodeStage::slot(int rank) const {
  return slots_[static_cast<size_t>(rank)] + (turn_ % 2) * piece_;
}

void NodeStage::all_gather(char* data, const std::vector<Index>& bounds,
                           const std::function<void()>& barrier) {
  const auto begin = [&](int r) { return bounds[static_cast<size_t>(r)]; };
  Index longest = 0;
  for (int r = 0; r < size_; ++r) longest = std::max(longest, begin(r + 1) - begin(r));
  for (Index from = 0; from < longest; from += piece_, ++turn_) {
    const auto bytes = [&](int r) {
      return static_cast<size_t>(std::clamp(begin(r + 1) - begin(r) - from, Index{0}, piece_));
    };
    std::memcpy(slot(rank_), data + begin(rank_) + from, bytes(rank_));
    MPI_Win_sync(window_);
    barrier();
    MPI_Win_sync(window_);
    // Each begins with its neighbour, so that not all of them read one slot.
    for (int step = 1; step < size_; ++step) {
      const int r = (rank_ + step) % size_;
      std::memcpy(data + begin(r) + from, slot(r), bytes(r));
    }
  }
}

}  // namespace udv
