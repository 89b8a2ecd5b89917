// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace udv::io::detail {

/// The most bytes that a file of `packed` bytes may unpack to (ExpansionLimit).
std::uintmax_t most_unpacked(std::uintmax_t packed);

/// Throws IoError that starts with `where` where `unpacked` is more than that.
void require_expansion(const std::string& where, std::uintmax_t packed, std::uintmax_t unpacked);

}  // namespace udv::io::detail
