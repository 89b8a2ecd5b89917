// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"

namespace udv {

/// "major.minor.patch" of the library that is linked.
UDV_EXPORT const char* version();

}  // namespace udv
