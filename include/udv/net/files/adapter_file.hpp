// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

#include "udv/core/export.hpp"
#include "udv/net/adapter.hpp"

namespace udv::net {

enum class AdapterKind {
  kNone,
  kNative,  ///< a safetensors file of udv, or a folder with it as model.safetensors
  kPeft,    ///< a folder with adapter_config.json
};

/// What lies there; kNone also where nothing can be read.
UDV_EXPORT AdapterKind adapter_kind(const std::filesystem::path& path);

/// Writes NAME.A (r x in), NAME.d (r) and NAME.B (out x r) of every block, with method and base
/// model as JSON in the metadata `udv_adapter`. Atomically. Throws IoError naming the path.
UDV_EXPORT void write_adapter(const std::filesystem::path& path, const Adapter& adapter);

/// Reads any AdapterKind, blocks in the order of their names (2 before 10). Throws IoError naming
/// the file where there is no adapter, a tensor is missing, of another shape or not finite.
UDV_EXPORT Adapter read_adapter(const std::filesystem::path& path);

}  // namespace udv::net
