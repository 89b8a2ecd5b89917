// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace udv::io::detail {

/// The unpacked bytes of a gzip file of one or more members. Throws IoError that starts with
/// `name` where the bytes are no gzip data, are damaged, or end early.
std::string gunzip(const std::string& name, std::string_view packed);

/// The same for one zlib stream, as other formats have it inside; what follows it is ignored.
std::string inflate_zlib(const std::string& name, std::string_view packed);

}  // namespace udv::io::detail
