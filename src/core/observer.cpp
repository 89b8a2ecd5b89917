// SPDX-License-Identifier: MIT
#include "udv/core/observer.hpp"

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

}  // namespace udv
