// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <barrier>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/communicator.hpp"
#include "udv/core/parallel.hpp"

namespace udv::test {

/// Ranks that are threads of one process, and share work however little there is.
class ThreadTeam {
 public:
  /// Runs body() on so many ranks at once, each on one thread of its own. Those of a machine share
  /// memory; on no machine it is refused.
  static void run(int ranks, const std::function<void()>& body, int machines = 1) {
    const int before = num_threads();
    set_num_threads(1);  // the pool of threads is for one caller
    ThreadTeam team(ranks, machines);
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
      for (int r = 0; r < size(); ++r)
        if (r != rank_ && !(is_shared(data) && (machine(r) == machine(rank_) || !takes_from(r))))
          copy(team_.data_[at(r)], bounds[at(r)], bounds[at(r) + 1] - bounds[at(r)], data,
               bounds[at(r)]);
      team_.wait_.arrive_and_wait();
    }
    std::shared_ptr<void> machine_memory(Index bytes) override {
      if (team_.machines_ == 0) return nullptr;
      if (rank_ < team_.machines_)
        team_.made_[at(rank_)] = std::make_shared<std::vector<char>>(static_cast<size_t>(bytes));
      team_.wait_.arrive_and_wait();
      const auto block = team_.made_[at(machine(rank_))];
      blocks_.push_back(block);
      team_.wait_.arrive_and_wait();
      if (rank_ < team_.machines_) team_.made_[at(rank_)] = nullptr;
      return {block, block->data()};
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
    OfMachine of_machine() const override {
      const int count = std::max(1, team_.machines_);
      return {rank_ / count, (size() - rank_ % count + count - 1) / count};
    }

   private:
    static size_t at(int i) { return static_cast<size_t>(i); }
    int machine(int rank) const { return rank % team_.machines_; }
    // The first rank of a machine takes what others elsewhere have written.
    bool takes_from(int rank) const {
      return rank_ < team_.machines_ && machine(rank) != machine(rank_);
    }
    bool is_shared(const void* data) const {
      const auto* const address = static_cast<const char*>(data);
      return std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
        const auto alive = block.lock();
        return alive && address >= alive->data() && address < alive->data() + alive->size();
      });
    }
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
    std::vector<std::weak_ptr<std::vector<char>>> blocks_;  // that the others of a machine see
  };

  ThreadTeam(int ranks, int machines)
      : machines_(std::min(machines, ranks)),
        wait_(ranks),
        data_(static_cast<size_t>(ranks)),
        bounds_(static_cast<size_t>(ranks)),
        made_(static_cast<size_t>(machines_)) {}

  int machines_;
  std::barrier<> wait_;
  std::vector<char*> data_;
  std::vector<const std::vector<Index>*> bounds_;
  std::vector<std::shared_ptr<std::vector<char>>> made_;  // on each machine
};

}  // namespace udv::test
