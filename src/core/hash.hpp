// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace udv {

inline constexpr std::uint64_t kHashStart = 0xcbf29ce484222325;

/// FNV-1a with 64 bits, for keys and checksums; goes on from `hash`.
inline std::uint64_t fnv_hash(std::string_view bytes, std::uint64_t hash = kHashStart) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

/// The same kind of hash, eight bytes at a time: for large arrays.
inline std::uint64_t array_hash(const void* data, std::size_t size,
                                std::uint64_t hash = kHashStart) {
  const char* const bytes = static_cast<const char*>(data);
  std::size_t at = 0;
  for (; at + 8 <= size; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + at, 8);
    hash = (hash ^ word) * 0x100000001b3;
    hash ^= hash >> 29;  // high bits reach the low ones
  }
  return fnv_hash({bytes + at, size - at}, hash);
}

}  // namespace udv
