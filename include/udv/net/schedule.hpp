// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// The learning rate over the epochs 0 .. epochs - 1.
///   cosine    rate (1 + cos(pi e / epochs)) / 2
///   constant  rate
///   step      rate factor^floor(e / length)
struct UDV_EXPORT Schedule {
  std::string name = "cosine";
  double factor = 0.1;
  Index length = 30;

  double rate(double base, Index epoch, Index epochs) const;
  /// Throws InvalidArgument naming the field.
  void validate() const;
};

UDV_EXPORT std::string schedule_names();

}  // namespace udv::net
