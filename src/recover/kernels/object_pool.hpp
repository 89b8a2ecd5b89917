// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace udv {

/// Objects that threads borrow; what came back last goes out first, as it may still be in the
/// cache. What an exception interrupted is not kept.
template <typename Object>
class ObjectPool {
  struct GiveBack {
    ObjectPool* pool;
    void operator()(Object* object) const {
      std::unique_ptr<Object> owned(object);
      if (std::uncaught_exceptions() > 0) return;
      const std::lock_guard lock(pool->mutex_);
      pool->free_.push_back(std::move(owned));
    }
  };

 public:
  /// Comes back by itself.
  std::unique_ptr<Object, GiveBack> borrow() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) free_.push_back(std::make_unique<Object>());
    Object* const object = free_.back().release();
    free_.pop_back();
    return {object, GiveBack{this}};
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Object>> free_;
};

}  // namespace udv
