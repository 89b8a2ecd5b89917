// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// Epoch and step of a training, counted from 0.
struct TrainingPosition {
  Index epoch = 0, epochs = 1, step = 0, steps = 1;
};

/// The learning rate over a run.
///   cosine       rate (1 + cos(pi e / epochs)) / 2 in epoch e
///   constant     rate
///   step         rate factor^floor(e / length) in epoch e
///   root         rate sqrt(100 / (t + 100)) at step t: needs no end
///   cosine-step  rate (1 + cos(pi t / steps)) / 2 at step t
struct UDV_EXPORT Schedule {
  std::string name = "cosine";
  double factor = 0.1;
  Index length = 30;

  double rate(double base, const TrainingPosition& at) const;
  /// Of the first step of an epoch, for schedules that count epochs.
  double rate(double base, Index epoch, Index epochs) const;
  /// Throws InvalidArgument naming the field.
  void validate() const;
};

UDV_EXPORT std::string schedule_names();

}  // namespace udv::net
