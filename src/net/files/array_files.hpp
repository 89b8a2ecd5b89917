// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "udv/net/data_source.hpp"

namespace udv::net {

/// True where the name is that of a text table.
bool is_table(const std::filesystem::path& path);

/// What a path holds besides tables; `test` is the folder's own test part, where it has one.
template <typename Real>
struct ArrayFiles {
  ArrayData<Real> main;
  std::optional<ArrayData<Real>> test;
};

/// Reads features and, where they are wanted and there are any, targets. `task` is "auto",
/// "regression" or "classification". Throws IoError naming the file.
template <typename Real>
ArrayFiles<Real> read_arrays(const std::filesystem::path& path, const std::string& targets,
                             const std::string& task, bool with_targets = true);

}  // namespace udv::net
