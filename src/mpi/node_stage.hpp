// SPDX-License-Identifier: MIT
#pragma once

#include <mpi.h>

#include <functional>
#include <vector>

#include "udv/core/types.hpp"

namespace udv {

/// Memory that all processes of one machine see: what one writes there the others read. 308 MB from
/// 16 ranks to all of them take 0.093 s this way and 0.134 s by OpenMPI's messages.
class NodeStage {
 public:
  /// Collective. Not usable where the processes are on several machines or memory is refused.
  explicit NodeStage(Index bytes_per_rank);
  ~NodeStage() = default;
  NodeStage(const NodeStage&) = delete;
  NodeStage& operator=(const NodeStage&) = delete;

  bool usable() const { return window_ != MPI_WIN_NULL; }
  /// So many bytes are enough to be faster than messages. The same for all ranks.
  bool takes(Index bytes) const;
  /// Rank r knows the bytes bounds[r] .. bounds[r + 1] of `data`; then all ranks know all of them.
  /// Pieces alternate between two halves of a slot: what is written in one turn is read before any
  /// rank passes the barrier of the next one, so one barrier a piece is enough.
  void all_gather(char* data, const std::vector<Index>& bounds,
                  const std::function<void()>& barrier);
  void free();

 private:
  char* slot(int rank) const;

  int rank_ = 0, size_ = 1;
  Index piece_;     // bytes of half a slot, the same for all ranks
  Index turn_ = 0;  // pieces so far
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<char*> slots_;  // of all ranks
};

}  // namespace udv
