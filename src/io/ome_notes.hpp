// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string_view>

namespace udv::io::detail {

/// The number of the first attribute name="number" in the notes of a TIFF file (OME-XML); nothing
/// where none is a finite number. Linear in their length.
std::optional<double> number_attribute(std::string_view notes, std::string_view name);

}  // namespace udv::io::detail
