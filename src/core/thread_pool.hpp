// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "udv/core/types.hpp"

namespace udv {

/// Workers that help the caller with the blocks of one job. The caller works too and takes every
/// block that no worker has claimed: on a busy machine a job is never slower than a plain loop by
/// more than one block, unlike with teams that meet at barriers.
class ThreadPool {
 public:
  ~ThreadPool();

  /// Runs body(0) ... body(blocks - 1) on up to `threads` threads, the caller among them.
  /// The first exception of a body is thrown again here, after all blocks have ended.
  void run(Index blocks, int threads, const std::function<void(Index)>& body);

 private:
  struct Job {
    Job(Index count, const std::function<void(Index)>& work) : blocks(count), body(work) {}
    const Index blocks;
    const std::function<void(Index)>& body;  // touched only while a claimed block is unfinished
    std::atomic<Index> next{0};
    std::atomic<Index> finished{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;
  };

  static void help(Job& job);
  void work();
  std::shared_ptr<Job> wait_for_job(const std::shared_ptr<Job>& last);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::shared_ptr<Job> job_;
  std::atomic<unsigned> generation_{0};
  std::atomic<bool> closing_{false};
  std::vector<std::thread> workers_;
};

}  // namespace udv
