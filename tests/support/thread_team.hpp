// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>
#include <vector>

#include "core/communicator.hpp"
#include "udv/core/parallel.hpp"

namespace udv::test {

/// Ranks that are threads of one process, and share work however little there is.
class ThreadTeam {
 public:
  /// Runs body() on so many ranks at once, each on one thread of its own.
  static void run(int ranks, const std::function<void()>& body) {
    const int before = num_threads();
    set_num_threads(1);  // the pool of threads is for one caller
    ThreadTeam team(ranks);
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
      threads.emplace_back([&, r] {
        Member member(team, r);
        const UseCommunicator use(member);
        body();
      });
    for (std::thread& thread : threads) thread.join();
    set_num_threads(before);
  }

 private:
  class Member final : public Communicator {
   public:
    Member(ThreadTeam& team, int rank) : team_(team), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(team_.data_.size()); }
    Index smallest_work() const override { return 0; }

    void all_gather(void* data, const std::vector<Index>& bounds) override {
      show(data, bounds);
      for (size_t r = 0; r < team_.data_.size(); ++r)
        if (static_cast<int>(r) != rank_)
          copy(team_.data_[r], bounds[r], bounds[r + 1] - bounds[r], data, bounds[r]);
      team_.wait_.arrive_and_wait();
    }
    void exchange(const void* send, const std::vector<Index>& send_bounds, void* receive,
                  const std::vector<Index>& receive_bounds) override {
      show(const_cast<void*>(send), send_bounds);
      for (size_t r = 0; r < team_.data_.size(); ++r) {
        const auto from = (*team_.bounds_[r])[static_cast<size_t>(rank_)];
        copy(team_.data_[r], from, receive_bounds[r + 1] - receive_bounds[r], receive,
             receive_bounds[r]);
      }
      team_.wait_.arrive_and_wait();
    }
    void sum(Index* values, Index count) override {
      show(values, {});
      std::vector<Index> sums(static_cast<size_t>(count), 0);
      for (const char* const data : team_.data_)
        for (Index i = 0; i < count; ++i)
          sums[static_cast<size_t>(i)] += reinterpret_cast<const Index*>(data)[i];
      team_.wait_.arrive_and_wait();
      std::copy(sums.begin(), sums.end(), values);
    }
    void broadcast(void* data, Index bytes) override {
      show(data, {});
      if (rank_ > 0) copy(team_.data_[0], 0, bytes, data, 0);
      team_.wait_.arrive_and_wait();
    }

   private:
    void show(void* data, const std::vector<Index>& bounds) {
      team_.data_[static_cast<size_t>(rank_)] = static_cast<char*>(data);
      team_.bounds_[static_cast<size_t>(rank_)] = &bounds;
      team_.wait_.arrive_and_wait();
    }
    static void copy(const char* from, Index at, Index size, void* to, Index place) {
      std::copy_n(from + at, size, static_cast<char*>(to) + place);
    }

    ThreadTeam& team_;
    int rank_;
  };

  explicit ThreadTeam(int ranks)
      : wait_(ranks), data_(static_cast<size_t>(ranks)), bounds_(static_cast<size_t>(ranks)) {}

  std::barrier<> wait_;
  std::vector<char*> data_;
  std::vector<const std::vector<Index>*> bounds_;
};

}  // namespace udv::test
