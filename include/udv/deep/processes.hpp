// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "udv/core/error.hpp"
#include "udv/core/types.hpp"

// Nothing of LibTorch shows here: a program that uses this compiles quickly.
namespace udv::deep {

/// Another process of the training has ended or does not answer.
class LostProcess : public IoError {
 public:
  using IoError::IoError;
};

/// An error that rank 0 also finds and reports, so this process is silent.
class ReportedByRank0 : public IoError {
 public:
  using IoError::IoError;
};

/// Rank of this process, number of processes, and the address where they connect.
struct ProcessInfo {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among those of this machine
  std::string address;                 ///< of rank 0, or of torchrun's store
  int port = 0;
  bool store_is_open = false;  ///< torchrun has opened it; else rank 0 does
  std::string attempt = "0";   ///< torchrun counts its restarts
};

/// What the variables of torchrun say: WORLD_SIZE, RANK, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
/// MASTER_PORT. Nothing where WORLD_SIZE is not set or 1. Throws InvalidArgument naming a variable.
std::optional<ProcessInfo> process_info();

/// The processes that train one model together: c10d with gloo on CPUs and NCCL on GPUs. All of
/// them call the same functions in the same order. Every function throws LostProcess where another
/// process has ended, or has not answered for `timeout` seconds.
class Processes {
 public:
  /// Connects to the others. Throws IoError where they are of another version, or not all arrive in
  /// time; ranks other than 0 throw ReportedByRank0 then.
  Processes(const ProcessInfo& info, double timeout);
  /// Those that process_info() names; nullptr where there is only this one.
  static std::shared_ptr<Processes> from_environment(double timeout);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const { return info_.rank; }
  int size() const { return info_.size; }
  int local_rank() const { return info_.local_rank; }
  int local_size() const { return info_.local_size; }
  bool is_first() const { return info_.rank == 0; }

  /// This process's part of begin .. end - 1; parts differ by one at most.
  std::pair<Index, Index> share(Index begin, Index end) const;

  /// The texts of all processes, by rank.
  std::vector<std::string> gather(const std::string& text);
  /// The bytes of rank 0, in every process.
  std::string broadcast(const std::string& bytes);
  /// The largest of all numbers.
  int largest(int number);

  /// Runs an action in every process. Where some of them fail, all of them throw what the lowest
  /// such rank has thrown, with its rank.
  void run_on_all(const std::function<void()>& action);
  /// Throws IoError with the first line that differs between rank 0 and another rank.
  void check_equal(const std::string& what, const std::string& lines);

  /// Whether this process is the one that reports an error: rank 0 where run_on_all() threw, else
  /// the first one that asks.
  bool should_report();

  /// The collective operations on tensors.
  class Group;
  Group& group() { return *group_; }

 private:
  ProcessInfo info_;
  std::unique_ptr<Group> group_;
  bool agreed_ = false;  // all have thrown the same
};

/// The action alone where there is only one process.
void run_on_all(const std::shared_ptr<Processes>& processes, const std::function<void()>& action);

}  // namespace udv::deep
