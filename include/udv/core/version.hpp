// SPDX-License-Identifier: MIT
#pragma once

namespace udv {

/// "major.minor.patch" of the library that is linked.
const char* version();

}  // namespace udv
