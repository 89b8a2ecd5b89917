// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "udv/io/entries_io.hpp"

namespace udv::io {

/// A large text file of triplets with whole numbers as indices, read by several processes: each
/// one parses the lines that begin in its part of the bytes, and holds their entries; sizes, base
/// and remarks are those of the whole file. Nothing where the file has to be read as a whole: it
/// is small or packed, has keys or weights, or something is wrong with it that only a reader of
/// all lines can describe. Throws IoError where the processes see files of different sizes.
/// Collective.
std::optional<EntriesFile> read_shared_entries(const std::filesystem::path& path,
                                               const EntriesOptions& options);

}  // namespace udv::io
