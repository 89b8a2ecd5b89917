// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

#include "udv/core/export.hpp"

namespace udv {

/// An argument that makes no sense; the message names it, its value and what was expected.
class UDV_EXPORT InvalidArgument : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// A file that cannot be read or written; the message starts with its path and position.
class UDV_EXPORT IoError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace udv
