// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/io/keys.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv::jobs {

/// What the folder of a completion says of its answer.
struct CompletionRun {
  Recovery answer;   ///< factors, offsets, noise and lines without data
  io::Keys columns;  ///< keys of the columns, or their numbers
  bool has_keys = false;
};

/// Throws IoError naming folder or file where there is no finished completion or it is damaged.
CompletionRun read_completion(const std::filesystem::path& folder);

}  // namespace udv::jobs
