// SPDX-License-Identifier: MIT
#include "page.hpp"

#include <ctime>

#include "udv/core/version.hpp"

// The two pages as they are, between two labels each.
#define UDV_EMBED(name, path)                                                     \
  __asm__(".pushsection .rodata\n.global udv_" #name "_begin\n.global udv_" #name \
          "_end\nudv_" #name "_begin:\n.incbin \"" path "\"\nudv_" #name          \
          "_end:\n.byte 0\n.popsection\n");                                       \
  extern "C" const char udv_##name##_begin[];                                     \
  extern "C" const char udv_##name##_end[];

UDV_EMBED(report_page, UDV_REPORT_PAGE)
UDV_EMBED(watch_page, UDV_WATCH_PAGE)

namespace udv::report {
namespace {

constexpr std::string_view kMarker = "__UDV_REPORT__";

// Inside a script element only "<" could end it; in JSON it has another spelling.
std::string script_text(const Json& document) {
  const std::string json = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string text;
  text.reserve(json.size());
  for (const char c : json)
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

std::string now() {
  const std::time_t time = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M", std::localtime(&time));
  return text;
}

}  // namespace

std::string_view report_template() {
  return {udv_report_page_begin, static_cast<size_t>(udv_report_page_end - udv_report_page_begin)};
}

std::string_view watch_template() {
  return {udv_watch_page_begin, static_cast<size_t>(udv_watch_page_end - udv_watch_page_begin)};
}

std::string page_of(const Json& document) {
  const std::string_view page = report_template();
  const size_t marker = page.rfind(kMarker);
  if (marker == page.npos) return plain_page(document);
  std::string text(page.substr(0, marker));
  text += script_text(document);
  text += page.substr(marker + kMarker.size());
  return text;
}

Json document_of(const std::string& title, std::vector<std::string> summary,
                 std::vector<Json> sections) {
  return {{"format", 1},
          {"title", title},
          {"udv", version()},
          {"made", now()},
          {"summary", std::move(summary)},
          {"sections", std::move(sections)}};
}

}  // namespace udv::report
