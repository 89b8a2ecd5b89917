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

/// What is wrong is told by rank 0, which finds the same.
class ToldByFirst : public IoError {
 public:
  using IoError::IoError;
};

/// Which of several processes this one is, and where they meet.
struct ProcessPlace {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  ///< among those of this machine
  std::string address;                 ///< of rank 0, or of torchrun's store
  int port = 0;
  bool store_is_there = false;  ///< torchrun has opened it; else rank 0 does
  std::string attempt = "0";    ///< torchrun counts its restarts
};

/// What the variables of torchrun say: WORLD_SIZE, RANK, LOCAL_RANK, LOCAL_WORLD_SIZE, MASTER_ADDR,
/// MASTER_PORT. Nothing where WORLD_SIZE is not set or 1. Throws InvalidArgument naming a variable.
std::optional<ProcessPlace> process_place();

/// The processes that train one model together: c10d with gloo on CPUs and NCCL on GPUs. All of
/// them call the same functions in the same order. Every function throws LostProcess where another
/// process has ended, or has not answered for `timeout` seconds.
class Processes {
 public:
  /// Meets the others. Throws IoError where they are of another version, or not all arrive in time;
  /// ranks other than 0 throw ToldByFirst then.
  Processes(const ProcessPlace& place, double timeout);
  /// Those that process_place() names; nullptr where there is only this one.
  static std::shared_ptr<Processes> from_environment(double timeout);
  ~Processes();
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  int local_rank() const { return place_.local_rank; }
  int local_size() const { return place_.local_size; }
  bool first() const { return place_.rank == 0; }

  /// This process's part of begin .. end - 1; parts differ by one at most.
  std::pair<Index, Index> share(Index begin, Index end) const;

  /// The texts of all processes, by rank.
  std::vector<std::string> gather(const std::string& text);
  /// The bytes of rank 0.
  std::string from_first(const std::string& bytes);
  /// The largest of all numbers.
  int largest(int number);

  /// Runs an action in every process. Where some of them fail, all of them throw what the lowest
  /// such rank has thrown, with its rank.
  void together(const std::function<void()>& action);
  /// Throws IoError with the first line that differs between rank 0 and another rank.
  void check_equal(const std::string& what, const std::string& lines);

  /// Whether this process is the one that tells what has gone wrong: rank 0 where together() threw,
  /// else the first one that asks.
  bool speaks();

  /// The collective operations on tensors.
  class Group;
  Group& group() { return *group_; }

 private:
  ProcessPlace place_;
  std::unique_ptr<Group> group_;
  bool agreed_ = false;  // all have thrown the same
};

/// The action alone where there is only one process.
void together(const std::shared_ptr<Processes>& processes, const std::function<void()>& action);

}  // namespace udv::deep
