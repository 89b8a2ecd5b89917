// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <vector>

#include "udv/core/types.hpp"

namespace udv {

/// Large blocks of memory that the processes of one machine share. They have no name: nothing is
/// left of them when the processes end, however that happens, and no limit of /dev/shm holds.
class MachineMemory {
 public:
  /// Finds out who is on which machine. Collective.
  MachineMemory();
  ~MachineMemory() = default;
  MachineMemory(const MachineMemory&) = delete;
  MachineMemory& operator=(const MachineMemory&) = delete;

  using Gather = std::function<void(void*, const std::vector<Index>&)>;
  /// So many zeros, or nothing on all ranks where one of them cannot have them. Collective.
  std::shared_ptr<void> get(Index bytes, const Gather& all_gather);
  /// This rank among those of its machine, and how many they are.
  Index rank_here() const;
  Index ranks_here() const { return static_cast<Index>(here().size()); }
  /// Whether this address lies in a block that is still in use.
  bool holds(const void* data) const;
  /// Rank r has written the bytes bounds[r] .. bounds[r + 1] of `data`, which lies in a block:
  /// those of ranks on other machines come here. A barrier has to follow. Collective.
  void bring(char* data, const std::vector<Index>& bounds,
             const std::function<void(MPI_Request&)>& wait);

 private:
  struct Mapping;
  const std::vector<int>& here() const {
    return members_[static_cast<size_t>(machine_[static_cast<size_t>(rank_)])];
  }
  bool is_first() const { return first_of_machine_ == rank_; }
  int taker(int sender, int machine) const;

  int rank_ = 0, size_ = 1, first_of_machine_ = 0;
  std::vector<int> machine_;               // of each rank
  std::vector<std::vector<int>> members_;  // of each machine
  bool wanted_ = true;
  std::vector<std::weak_ptr<Mapping>> blocks_;
};

}  // namespace udv
