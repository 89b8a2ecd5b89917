// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace udv::io {

/// An .npy file with the given header text, version 1 unless told otherwise.
inline std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {static_cast<char>(version), '\0'};
  for (int k = 0; k < (version == 1 ? 2 : 4); ++k) {
    bytes += static_cast<char>(header.size() >> (8 * k) & 255);
  }
  return bytes + header + data;
}

inline std::string header(const std::string& descr, const std::string& shape,
                          const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

template <typename Number>
std::string little_endian(const std::vector<Number>& numbers) {
  std::string bytes(numbers.size() * sizeof(Number), '\0');
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

/// The bytes of each number in reverse.
inline std::string big_endian(std::string bytes, std::ptrdiff_t width) {
  for (auto at = bytes.begin(); at != bytes.end(); at += width) std::reverse(at, at + width);
  return bytes;
}

}  // namespace udv::io
