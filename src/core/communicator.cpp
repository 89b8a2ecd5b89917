// SPDX-License-Identifier: MIT
#include "core/communicator.hpp"

#include <algorithm>

#include "core/require.hpp"

namespace udv {
namespace {

class Alone final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void all_gather(void*, const std::vector<Index>&) override {}
  void exchange(const void* send, const std::vector<Index>& send_bounds, void* receive,
                const std::vector<Index>&) override {
    std::copy_n(static_cast<const char*>(send), send_bounds.back(), static_cast<char*>(receive));
  }
  void sum(Index*, Index) override {}
  void broadcast(void*, Index) override {}
};

Communicator& alone() {
  static Alone alone;
  return alone;
}

thread_local Communicator* used = nullptr;

size_t at(Index i) {
  return static_cast<size_t>(i);
}

}  // namespace

void Communicator::meet() {
  Index nothing = 0;
  if (!is_alone()) sum(&nothing, 1);
}

Communicator& communicator() {
  return used != nullptr ? *used : alone();
}

WorkAlone::WorkAlone() : UseCommunicator(alone()) {}

UseCommunicator::UseCommunicator(Communicator& now) : before_(used) {
  used = &now;
}

UseCommunicator::~UseCommunicator() {
  used = before_;
}

std::string from_root(std::string text) {
  if (communicator().is_alone()) return text;
  text.resize(from_root(text.size()));
  communicator().broadcast(text.data(), static_cast<Index>(text.size()));
  return text;
}

std::vector<std::string> gathered(const std::string& text) {
  Communicator& all = communicator();
  const auto ranks = static_cast<Index>(all.size());
  std::vector<Index> sizes(at(ranks)), places, bounds{0};
  sizes[at(all.rank())] = static_cast<Index>(text.size());
  for (Index r = 0; r <= ranks; ++r) places.push_back(r * static_cast<Index>(sizeof(Index)));
  all.all_gather(sizes.data(), places);
  for (const Index size : sizes) bounds.push_back(bounds.back() + size);
  std::string joined(at(bounds.back()), '\0');
  std::copy(text.begin(), text.end(), joined.begin() + bounds[at(all.rank())]);
  all.all_gather(joined.data(), bounds);
  std::vector<std::string> texts;
  for (Index r = 0; r < ranks; ++r)
    texts.push_back(joined.substr(at(bounds[at(r)]), at(sizes[at(r)])));
  return texts;
}

void require_alike(const std::string& name, const std::string& seen, const std::string& expected) {
  const auto all = gathered(seen);
  for (std::size_t r = 1; r < all.size(); ++r)
    require<IoError>(all[r] == all[0], name, ": rank 0 sees ", all[0], ", rank ", r, " sees ",
                     all[r], ": ", expected, " expected");
}

Index LineShares::begin() const {
  return shared() ? bounds[at(communicator().rank())] : 0;
}

Index LineShares::end(Index lines) const {
  return shared() ? bounds[at(communicator().rank()) + 1] : lines;
}

void LineShares::gather(void* data, Index bytes_per_line) const {
  if (!shared()) return;
  std::vector<Index> bytes = bounds;
  for (Index& bound : bytes) bound *= bytes_per_line;
  communicator().all_gather(data, bytes);
}

LineShares fair_shares(const std::vector<Index>& weight_before, Index block) {
  LineShares shares;
  const auto ranks = static_cast<Index>(communicator().size());
  if (ranks == 1) return shares;
  const auto lines = static_cast<Index>(weight_before.size()) - 1;
  const Index blocks = (lines + block - 1) / block;
  const auto before = [&](Index b) { return weight_before[at(std::min(b * block, lines))]; };
  Index b = 0;
  for (Index r = 0; r <= ranks; ++r) {
    // The block whose start is nearest to a fair share of the weight.
    const double wanted = static_cast<double>(weight_before.back()) * static_cast<double>(r) /
                          static_cast<double>(ranks);
    while (b < blocks && static_cast<double>(before(b) + before(b + 1)) < 2 * wanted) ++b;
    if (r == ranks) b = blocks;
    shares.bounds.push_back(std::min(b * block, lines));
  }
  return shares;
}

}  // namespace udv
