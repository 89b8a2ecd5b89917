// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "variable_format.hpp"

namespace udv::io::detail {

/// The format's list() and read(), each in a child process with limits on memory and time where the
/// format leans on a library that trusts its files. The same answers and errors; where the library
/// crashes or does not end, that is an error of one line (IoError).
std::vector<Variable> list_isolated(const VariableFormat& format,
                                    const std::filesystem::path& path);
ComplexArray read_isolated(const VariableFormat& format, const std::filesystem::path& path,
                           const Variable& variable, std::optional<Slices> slices = {});

}  // namespace udv::io::detail
