// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/io/keys.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv::jobs {

/// What the folder of a completion says of its answer.
struct CompletionRun {
  Recovery answer;     ///< factors, offsets, noise and lines without data
  bool noisy = false;  ///< no fit was exact
  int base = 0;        ///< how rows and columns are counted
  io::Keys columns;    ///< keys of the columns, or their numbers
  io::Keys rows;       ///< keys of the rows; empty where they have numbers
  bool has_keys = false;
  std::vector<std::string> inputs;  ///< files of its entries
};

/// Throws IoError naming folder or file where there is no finished completion or it is damaged.
CompletionRun read_completion(const std::filesystem::path& folder);

}  // namespace udv::jobs
