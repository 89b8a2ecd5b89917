// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "temporary_files.hpp"
#include "udv/io/variables.hpp"

namespace udv::io {

/// Bytes that no format starts with, the same in every run.
inline std::string random_bytes(std::size_t count) {
  std::mt19937 engine(1);
  std::string bytes;
  for (std::size_t k = 0; k < count; ++k) bytes += static_cast<char>(engine() >> 24);
  return bytes;
}

/// Reads each numeric variable; throws the last error once all were tried.
inline void read_everything(const std::filesystem::path& path) {
  const VariableFile file(path);
  std::optional<IoError> last;
  for (const Variable& variable : file.variables()) {
    try {
      if (variable.is_numeric) file.read(variable.name);
    } catch (const IoError& error) {
      last = error;
    }
  }
  if (last) throw *last;
}

/// Bytes spread over the file, each in turn with one bit, then with all bits turned: `read` may
/// return or throw IoError with a message of one line that names the file, no more.
template <typename Read>
void expect_survives_flipped_bytes(const std::string& name, const std::string& bytes,
                                   const Read& read) {
  constexpr std::size_t kPositions = 200;
  const TemporaryFolder folder;
  for (std::size_t at = 0; at < bytes.size(); at += bytes.size() / kPositions + 1) {
    for (const int mask : {1, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ mask);
      const auto path = folder.write(name, damaged);
      try {
        read(path);
      } catch (const IoError& error) {
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with(path.string() + ": ")) << text;
        EXPECT_EQ(text.find('\n'), text.npos) << text;
      }
    }
  }
}

}  // namespace udv::io
