// SPDX-License-Identifier: MIT
#pragma once

#include <sstream>
#include <string>

#include "udv/core/error.hpp"

namespace udv {

/// Joins its arguments into one message.
template <typename... Parts>
std::string message(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// Throws `Error` with the joined message unless the condition holds.
template <typename Error = InvalidArgument, typename... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) throw Error(message(parts...));
}

}  // namespace udv
