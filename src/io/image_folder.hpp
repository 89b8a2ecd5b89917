// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

namespace udv::io::detail {

/// The one variable of a stack of images that has no names.
inline constexpr const char* kStackVariable = "images";

/// Natural order of names: "image2" before "image10".
bool comes_before(std::string_view a, std::string_view b);

}  // namespace udv::io::detail
