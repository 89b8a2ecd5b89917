// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// One line of a run's history: what every observer sees.
struct IterationRecord {
  Index iteration = 0;
  double seconds = 0;
  double objective = 0;  ///< 1/2 |A(X) - b|^2 in the caller's units
  Index rank = 0;        ///< live columns
  double norm_u = 0;     ///< |U|_F of the scaled problem
  double max_d = 0;
  double step = 0;  ///< gradient step, or the damping of a second-order step
  /// Sizes of the columns that are there, largest first, worked out when called: d_j |u_j| |v_j|,
  /// or the singular values of UD. To be used during the observer's call alone; may be nullptr.
  const std::function<Vector<double>()>* column_sizes = nullptr;
};

/// What an observer wants to happen next.
enum class Verdict { kContinue, kInterrupt, kTimeLimit };

/// Called once per iteration. Progress bars, histories, time limits and Ctrl-C are observers.
using Observer = std::function<Verdict(const IterationRecord&)>;

/// Calls all observers with each record; the first one that does not want to go on decides.
UDV_EXPORT Observer combine(std::vector<Observer> observers);

/// Ends a run after `seconds` of solving.
UDV_EXPORT Observer time_limit(double seconds);
/// Ends a run so many seconds from now, whatever earlier parts of it took.
UDV_EXPORT Observer time_limit_from_now(double seconds);

/// What a long computation tells its caller, and how it is resumed. A state is a text of bytes that
/// only the computation understands; resumed from it, the computation ends with the same bits as
/// one that was never stopped.
struct Hooks {
  Observer observer;
  /// Called with a state to resume from: when the observer stops the computation, and now and then.
  std::function<void(const std::string& state)> save;
  double save_every_seconds = 30;
  std::string resume;  ///< a state to resume from; empty: start from the beginning
};

}  // namespace udv
