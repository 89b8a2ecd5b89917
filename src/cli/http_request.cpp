// SPDX-License-Identifier: MIT
#include "cli/http_request.hpp"

#include <algorithm>

#include "core/parse.hpp"

namespace udv::cli {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "%41" is A; no NUL.
bool decode(std::string_view text, std::string& path) {
  path.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      path += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return false;
    const int first = hex_digit(text[i + 1]), second = hex_digit(text[i + 2]);
    if (first < 0 || second < 0 || first + second == 0) return false;
    path += static_cast<char>(16 * first + second);
    i += 2;
  }
  return true;
}

// "GET /path?query HTTP/1.1"
std::optional<HttpProblem> parse_first_line(std::string_view line, HttpRequest& request) {
  const std::size_t one = line.find(' '), two = line.rfind(' ');
  if (one == line.npos || two <= one) return HttpProblem{400};
  const std::string_view method = line.substr(0, one), version = line.substr(two + 1);
  std::string_view target = line.substr(one + 1, two - one - 1);
  if (!is_token(method) || has_control(line) || target.find(' ') != target.npos)
    return HttpProblem{400};
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return HttpProblem{505};
  if (target.size() > kLongestPath) return HttpProblem{414};
  target = target.substr(0, std::min(target.find('?'), target.find('#')));
  if (!target.starts_with('/') || !decode(target, request.path)) return HttpProblem{400};
  request.method = method;
  request.keep_alive = version == "HTTP/1.1";
  return std::nullopt;
}

// Those that are wanted; others need to look like headers alone.
std::optional<HttpProblem> take_header(std::string_view line, HttpRequest& request) {
  const std::size_t colon = line.find(':');
  if (colon == line.npos || !is_token(line.substr(0, colon)) || has_control(line))
    return HttpProblem{400};
  const std::string name = lower(line.substr(0, colon));
  const std::string value(trimmed(line.substr(colon + 1)));
  if (name == "transfer-encoding" || (name == "content-length" && value != "0"))
    return HttpProblem{413};
  if (name == "host") {
    if (!request.host.empty()) return HttpProblem{400};
    request.host = value;
  }
  if (name == "range") request.range = value;
  if (name == "connection" && lower(value).find("close") != std::string::npos)
    request.keep_alive = false;
  return std::nullopt;
}

}  // namespace

std::optional<HttpProblem> parse_request(std::string_view head, HttpRequest& request) {
  request = {};
  bool first = true;
  while (!head.empty()) {
    const std::size_t end = head.find("\r\n");
    if (end == head.npos) return HttpProblem{400};
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (line.empty())
      return first || !head.empty() ? std::optional(HttpProblem{400}) : std::nullopt;
    const auto problem = first ? parse_first_line(line, request) : take_header(line, request);
    if (problem) return problem;
    first = false;
  }
  return HttpProblem{400};  // no empty line
}

std::optional<ByteRange> parse_range(std::string_view range, std::uintmax_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!range.starts_with(kUnit)) return std::nullopt;
  range = trimmed(range.substr(kUnit.size()));
  const std::size_t dash = range.find('-');
  if (dash == range.npos || range.find(',') != range.npos) return std::nullopt;
  const std::string from(range.substr(0, dash)), to(range.substr(dash + 1));
  std::uint64_t first = 0, last = 0;
  if ((!from.empty() && !parse_all(from, first)) || (!to.empty() && !parse_all(to, last)) ||
      (from.empty() && to.empty()))
    return std::nullopt;
  if (from.empty()) {  // the last so many bytes
    const std::uintmax_t count = std::min<std::uintmax_t>(last, size);
    return ByteRange{size - count, count};
  }
  if (!to.empty() && last < first) return std::nullopt;
  if (first >= size) return ByteRange{0, 0};
  const std::uintmax_t end = to.empty() || last >= size ? size : last + 1;
  return ByteRange{first, end - first};
}

}  // namespace udv::cli
