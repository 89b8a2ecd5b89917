// SPDX-License-Identifier: MIT
#include "udv/core/observer.hpp"

#include <chrono>
#include <utility>

namespace udv {

Observer combine(std::vector<Observer> observers) {
  return [observers = std::move(observers)](const IterationRecord& record) {
    Verdict verdict = Verdict::kContinue;
    for (const Observer& observer : observers) {
      const Verdict wanted = observer(record);
      if (verdict == Verdict::kContinue) verdict = wanted;
    }
    return verdict;
  };
}

Observer time_limit(double seconds) {
  return [seconds](const IterationRecord& record) {
    return record.seconds > seconds ? Verdict::kTimeLimit : Verdict::kContinue;
  };
}

Observer time_limit_from_now(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  return [end](const IterationRecord&) {
    return Clock::now() < end ? Verdict::kContinue : Verdict::kTimeLimit;
  };
}

}  // namespace udv
