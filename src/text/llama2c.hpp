// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "udv/core/export.hpp"
#include "udv/text/llama_config.hpp"

// The first format of llama2.c: 7 int32, then single precision arrays without names.
namespace udv::text {

inline constexpr size_t kLlama2cHeader = 7 * sizeof(std::int32_t);

/// The sizes in the header of a model, whose bytes these are. Throws IoError that starts with
/// `name` where they make no sense, or where there are fewer bytes than they ask for.
UDV_EXPORT LlamaConfig llama2c_config(const std::string& name, std::string_view bytes);

}  // namespace udv::text
