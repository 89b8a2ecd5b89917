// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace udv {

/// Things that threads borrow; what came back last goes out first, as it may still be in the cache.
/// What an exception interrupted is not kept.
template <typename Thing>
class Shelf {
  struct Back {
    Shelf* shelf;
    void operator()(Thing* thing) const {
      std::unique_ptr<Thing> owned(thing);
      if (std::uncaught_exceptions() > 0) return;
      const std::lock_guard lock(shelf->mutex_);
      shelf->things_.push_back(std::move(owned));
    }
  };

 public:
  /// Comes back by itself.
  std::unique_ptr<Thing, Back> borrow() {
    const std::lock_guard lock(mutex_);
    if (things_.empty()) things_.push_back(std::make_unique<Thing>());
    Thing* const thing = things_.back().release();
    things_.pop_back();
    return {thing, Back{this}};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thing>> things_;
};

}  // namespace udv
