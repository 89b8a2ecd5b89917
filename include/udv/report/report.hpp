// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "udv/core/export.hpp"

namespace udv::jobs {
struct ReproduceResult;
}

namespace udv::report {

/// One self-contained HTML page of the runs in these folders, or in the folders below them: tables,
/// charts and pictures, nothing loaded from elsewhere. Written atomically. Damaged runs among
/// others are left out; what is left out is said on the page and returned, a line each. Throws
/// IoError where a folder has no run or the only one is damaged.
UDV_EXPORT std::vector<std::string> write_report(const std::filesystem::path& html,
                                                 const std::string& title,
                                                 const std::vector<std::filesystem::path>& folders);

/// The page of a reproduction: every claim with its checks, charts and commands. Written
/// atomically; throws as write_report.
UDV_EXPORT void write_reproduction(const std::filesystem::path& html,
                                   const jobs::ReproduceResult& result);

/// The page of runs as JSON (web/README.md), of a run that may still go on: what its live.json
/// tells is in it.
UDV_EXPORT std::string live_report(const std::string& title, const std::filesystem::path& folder);

/// The page that follows a run: it asks its server for /events. A plain page of the run as it
/// stands where this build has no charts.
UDV_EXPORT std::string watch_page(const std::string& title, const std::filesystem::path& folder);

/// False: this build has no charts, and reports are plain tables.
UDV_EXPORT bool has_charts();

}  // namespace udv::report
