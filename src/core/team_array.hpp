// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/communicator.hpp"

namespace udv {

/// Numbers that all processes know, zeros at first: once on each machine where that is wanted and
/// not refused, else once in each process. Where they are shared, the processes of a machine write
/// parts of them, and all meet before others read these and before what others read is overwritten.
template <typename T>
class TeamArray {
 public:
  TeamArray() = default;
  /// Collective where sharing is wanted.
  explicit TeamArray(Index size, bool share = false) : size_(size) {
    if (share && size > 0)
      shared_ = communicator().machine_memory(size * static_cast<Index>(sizeof(T)));
    if (!shared_) own_.resize(static_cast<size_t>(size));
  }
  /// Copies of shared numbers are shared ones; collective.
  TeamArray(const TeamArray& other) : TeamArray(other.size_, other.is_shared()) {
    const Index begin = first_of(size_), end = last_of(size_);
    std::copy(other.data() + begin, other.data() + end, data() + begin);
    if (other.is_shared()) communicator().meet();
  }
  TeamArray(TeamArray&& other) noexcept { swap(other); }
  TeamArray& operator=(TeamArray other) noexcept {
    swap(other);
    return *this;
  }
  ~TeamArray() = default;

  void swap(TeamArray& other) noexcept {
    std::swap(size_, other.size_);
    shared_.swap(other.shared_);
    own_.swap(other.own_);
  }
  void clear() { TeamArray().swap(*this); }
  bool is_shared() const { return shared_ != nullptr; }
  /// Of so many items this process writes those from the first to the last: all, where it has its
  /// own copy, else its share on its machine.
  Index first_of(Index items) const {
    return is_shared() ? communicator().of_machine().begin(items) : 0;
  }
  Index last_of(Index items) const {
    return is_shared() ? communicator().of_machine().end(items) : items;
  }
  Index size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return shared_ ? static_cast<T*>(shared_.get()) : own_.data(); }
  const T* data() const { return shared_ ? static_cast<const T*>(shared_.get()) : own_.data(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }

  /// Of numbers that are not shared: keeps the first ones.
  void shrink(Index size) {
    size_ = size;
    own_.resize(static_cast<size_t>(size));
  }
  /// The numbers, which are gone afterwards.
  std::vector<T> take() {
    if (shared_) own_.assign(begin(), end());
    std::vector<T> taken = std::move(own_);
    clear();
    return taken;
  }

 private:
  Index size_ = 0;
  std::shared_ptr<void> shared_;
  std::vector<T> own_;
};

}  // namespace udv
