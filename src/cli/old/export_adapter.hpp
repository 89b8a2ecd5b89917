// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "cli/common.hpp"
#include "cli/exit_code.hpp"
#include "udv/net/adapter_file.hpp"

namespace udv::cli {

/// An adapter as it stands on disk: model.safetensors, or the two files of PEFT.
void write_adapter_files(const std::filesystem::path& folder, const net::Adapter& adapter,
                         net::AdapterKind kind, bool compact);

/// `format` is "peft", or "safetensors" for the native file.
ExitCode export_adapter(const std::string& path, const std::string& format, bool compact,
                        const CommonFlags& common);

}  // namespace udv::cli
