// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "blocks.hpp"

namespace udv::report {

/// Built from web/ and embedded; empty where the build had no Node.js.
std::string_view report_template();
std::string_view watch_template();

/// The page of a report; plain tables where there is no template.
std::string page_of(const Json& document);

/// Tables and facts alone, and a line that says why.
std::string plain_page(const Json& document);

/// {"format", "title", "udv", "made", "summary", "sections"}
Json document_of(const std::string& title, std::vector<std::string> summary,
                 std::vector<Json> sections);

}  // namespace udv::report
