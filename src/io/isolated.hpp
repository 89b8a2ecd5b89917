// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "variable_format.hpp"

namespace udv::io::detail {

/// The format's list() and read(), each in a child process with limits on memory and time where the
/// format leans on a library that trusts its files. The same answers and errors; where the library
/// crashes or does not end, that is an error of one line (IoError).
std::vector<Variable> list_isolated(const VariableFormat& format,
                                    const std::filesystem::path& path);
ComplexArray read_isolated(const VariableFormat& format, const std::filesystem::path& path,
                           const Variable& variable, std::optional<Slices> slices = {});

/// The text that `work` makes of the file in such a child process; not much longer than the file.
std::string text_isolated(const std::filesystem::path& path,
                          const std::function<std::string()>& work);

}  // namespace udv::io::detail
