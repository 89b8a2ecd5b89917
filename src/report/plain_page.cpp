// SPDX-License-Identifier: MIT
#include "page.hpp"

namespace udv::report {
namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  return safe;
}

std::string text_of(const Json& value) {
  if (value.is_object()) return text_of(value.value("text", Json("")));
  return escaped(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string element(const char* name, const std::string& inside) {
  return std::string("<") + name + ">" + inside + "</" + name + ">\n";
}

std::string row(const char* cell, const Json& values) {
  std::string text;
  for (const Json& value : values) text += element(cell, text_of(value));
  return element("tr", text);
}

std::string table(const Json& header, const Json& rows) {
  std::string text = header.is_null() ? "" : row("th", header);
  for (const Json& values : rows) text += row("td", values);
  return element("table", text);
}

std::string block_text(const Json& block) {
  const std::string kind = block.value("kind", "");
  std::string body;
  if (kind == "facts") body = table(nullptr, block["items"]);
  if (kind == "table") body = table(block["columns"], block["rows"]);
  if (kind == "text") body = element("p", text_of(block["text"]));
  if (body.empty()) return "";
  const std::string title = block.value("title", "");
  return (title.empty() ? "" : element("h3", escaped(title))) + body;
}

std::string section_text(const Json& section) {
  std::string text = element("h2", text_of(section["title"]));
  for (const char* key : {"status", "claim", "rule", "note"})
    if (section.contains(key)) text += element("p", key + (": " + text_of(section[key])));
  if (section.contains("checks")) {
    Json rows = Json::array();
    for (const Json& check : section["checks"])
      rows.push_back({check["name"], check["ours"], check["wanted"], check.value("paper", ""),
                      check.value("ok", false) ? "yes" : "no"});
    text += table({"check", "ours", "wanted", "paper", "holds"}, rows);
  }
  for (const Json& block : section["blocks"]) text += block_text(block);
  return text;
}

constexpr const char* kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;display:block;overflow-x:auto}"
    "td,th{padding:.2rem .6rem;border-bottom:1px solid #8884;text-align:left}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}}";

}  // namespace

std::string plain_page(const Json& document) {
  std::string body = element("h1", text_of(document["title"]));
  body += element("p",
                  "This build of udv has no charts: it was made without Node.js. The tables and "
                  "figures are complete.");
  for (const Json& line : document["summary"]) body += element("p", text_of(line));
  for (const Json& section : document["sections"]) body += section_text(section);
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta name=\"viewport\" content=\"width=device-width\">" +
         element("title", text_of(document["title"])) + element("style", kStyle) + "</head>" +
         element("body", body) + "</html>\n";
}

}  // namespace udv::report
