// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"
#include "udv/io/run_info.hpp"

namespace udv::io::detail {

using OrderedJson = nlohmann::ordered_json;

/// JSON has no infinity: null says that there is no finite value.
UDV_EXPORT OrderedJson number(double value);
UDV_EXPORT OrderedJson list(const Vector<double>& values);

UDV_EXPORT OrderedJson config_json(const std::map<std::string, Setting>& config);
/// Figures and lists of the caller, at the top level.
UDV_EXPORT void add_figures(const RunInfo& info, OrderedJson& run);

/// A JSON object from a file. Throws IoError naming path and byte where there is none.
UDV_EXPORT OrderedJson read_json(const std::filesystem::path& path);

/// What the JSON library has to say, without its own name for it.
UDV_EXPORT std::string problem_of(const nlohmann::json::exception& error);

/// As a file has it; text that is no UTF-8 is replaced.
UDV_EXPORT std::string json_text(const OrderedJson& json);
/// Written atomically; text that is no UTF-8 is replaced.
UDV_EXPORT void write_json(const std::filesystem::path& path, const OrderedJson& json);

}  // namespace udv::io::detail
