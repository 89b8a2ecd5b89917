// SPDX-License-Identifier: MIT
#pragma once

#include "io/json_file.hpp"
#include "udv/core/export.hpp"
#include "udv/jobs/run_folder.hpp"

namespace udv::jobs {

using Json = io::detail::OrderedJson;
using io::detail::list;
using io::detail::number;

/// The "format" of run.json that this version writes and reads.
inline constexpr int kRunFormat = 1;

/// The contents of run.json, made here alone: who wrote it and how, the results, warnings, further
/// figures and the files beside it. Replaces an earlier run in the folder.
UDV_EXPORT void write_run_json(RunFolder& folder, const io::RunInfo& info, const Json& results);

}  // namespace udv::jobs
