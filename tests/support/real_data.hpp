// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace udv::testing {

/// A file or folder in $UDV_DATA; empty where it is not there.
inline std::filesystem::path data_file(const std::string& name) {
  const char* const folder = std::getenv("UDV_DATA");
  const auto path = std::filesystem::path(folder ? folder : "none") / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
}

}  // namespace udv::testing

/// Ends a test whose data are not there.
#define UDV_NEEDS(path, name) \
  if (path.empty()) GTEST_SKIP() << "skipped: needs " name " in $UDV_DATA"
