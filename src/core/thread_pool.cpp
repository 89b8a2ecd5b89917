// SPDX-License-Identifier: MIT
#include "thread_pool.hpp"

#include <algorithm>

namespace udv {
namespace {

// Jobs follow each other within microseconds; a worker looks so often before it goes to sleep.
constexpr int kSpins = 4000;

inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::help(Job& job) {
  for (Index block = job.next++; block < job.blocks; block = job.next++) {
    try {
      job.body(block);
    } catch (...) {
      if (!job.failed.exchange(true)) job.error = std::current_exception();
    }
    ++job.finished;
  }
}

std::shared_ptr<ThreadPool::Job> ThreadPool::wait_for_job(const std::shared_ptr<Job>& last) {
  const unsigned seen = generation_;
  for (int spin = 0; spin < kSpins && generation_ == seen && !closing_; ++spin) pause();
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return closing_ || job_ != last; });
  return job_;
}

void ThreadPool::work() {
  std::shared_ptr<Job> job;
  while (!closing_) {
    job = wait_for_job(job);
    if (!closing_ && job) help(*job);
  }
}

void ThreadPool::run(Index blocks, int threads, const std::function<void(Index)>& body) {
  const auto job = std::make_shared<Job>(blocks, body);
  {
    const std::lock_guard lock(mutex_);
    while (static_cast<int>(workers_.size()) + 1 < threads)
      workers_.emplace_back([this] { work(); });
    job_ = job;
  }
  ++generation_;
  wake_.notify_all();
  help(*job);
  for (int spin = 0; job->finished < blocks; ++spin) {
    if (spin < kSpins)
      pause();
    else
      std::this_thread::yield();
  }
  if (job->error) std::rethrow_exception(job->error);
}

}  // namespace udv
