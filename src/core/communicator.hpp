// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Processes that work on one computation together. All of them run the same program on the same
/// numbers and take the same decisions; each computes its share of the lines of a matrix and gets
/// the others' from their owners. All calls are collective: every rank makes them, in one order.
class UDV_EXPORT Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool is_root() const { return rank() == 0; }
  bool is_alone() const { return size() == 1; }
  /// Rank r knows the bytes bounds[r] .. bounds[r + 1] of `data`; then all ranks know all of them.
  /// In machine_memory() the ranks of one machine have nothing to copy.
  virtual void all_gather(void* data, const std::vector<Index>& bounds) = 0;
  /// The bytes send_bounds[r] .. send_bounds[r + 1] go to rank r, and receive_bounds[r] ..
  /// receive_bounds[r + 1] come from it.
  virtual void exchange(const void* send, const std::vector<Index>& send_bounds, void* receive,
                        const std::vector<Index>& receive_bounds) = 0;
  /// Sums over all ranks of `count` whole numbers, known to all.
  virtual void sum(Index* values, Index count) = 0;
  /// From rank 0 to all.
  virtual void broadcast(void* data, Index bytes) = 0;
  /// Zeros that the ranks of one machine share: what one writes, the others see after the next call
  /// that all of them make. Nothing where it is refused, on all ranks alike. Each frees it for
  /// itself.
  virtual std::shared_ptr<void> machine_memory(Index /*bytes*/) { return nullptr; }
  /// This rank among those of its machine.
  struct OfMachine {
    Index rank = 0, size = 1;
    Index begin(Index count) const { return count * rank / size; }  ///< of a fair share
    Index end(Index count) const { return count * (rank + 1) / size; }
  };
  virtual OfMachine of_machine() const { return {}; }
  /// All ranks have come here.
  void meet();
  /// Multiply-adds below which every rank computes all lines: sharing them would take longer.
  virtual Index smallest_work() const { return 1 << 20; }
};

/// Those of this thread: a process alone unless UseCommunicator is alive.
UDV_EXPORT Communicator& communicator();

/// Sets communicator() of this thread while alive.
class UDV_EXPORT UseCommunicator {
 public:
  explicit UseCommunicator(Communicator& used);
  ~UseCommunicator();
  UseCommunicator(const UseCommunicator&) = delete;
  UseCommunicator& operator=(const UseCommunicator&) = delete;

 private:
  Communicator* before_;
};

/// This process by itself for a while: what follows is not done by the others.
class UDV_EXPORT WorkAlone : public UseCommunicator {
 public:
  WorkAlone();
};

/// A number from rank 0, or a text.
template <typename Number>
Number from_root(Number value) {
  if (!communicator().is_alone()) communicator().broadcast(&value, sizeof(value));
  return value;
}
UDV_EXPORT std::string from_root(std::string text);

/// One text from each rank, known to all.
UDV_EXPORT std::vector<std::string> gathered(const std::string& text);

/// Throws IoError where ranks see different things under one name: "`name`: rank 0 sees ...".
UDV_EXPORT void require_alike(const std::string& name, const std::string& seen,
                              const std::string& expected);

/// Who computes which of some lines: rank r those from bounds[r] to bounds[r + 1].
struct UDV_EXPORT LineShares {
  std::vector<Index> bounds;  ///< empty: every rank computes all lines

  bool shared() const { return !bounds.empty(); }
  Index begin() const;
  Index end(Index lines) const;
  /// `data` holds lines of so many bytes; each rank knows its own, then all of them.
  void gather(void* data, Index bytes_per_line) const;
};

/// Shares of about equal weight in blocks of `block` lines; weight_before[i] is the weight of all
/// lines before i (lines + 1 numbers). No shares where one process is alone.
UDV_EXPORT LineShares fair_shares(const std::vector<Index>& weight_before, Index block = 1);

}  // namespace udv
