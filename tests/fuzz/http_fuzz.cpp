// SPDX-License-Identifier: MIT
// The heads of requests to udv watch, and ranges.
#include "cli/http_request.hpp"
#include "input_file.hpp"

using namespace udv;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string_view text = fuzz::view(data, size);
  cli::HttpRequest request;
  const auto problem = cli::parse_request(text, request);
  if (!problem && (request.path.empty() || request.path[0] != '/')) __builtin_trap();
  for (const std::string_view range : {text, std::string_view(request.range)})
    for (const std::uintmax_t file : {std::uintmax_t{0}, std::uintmax_t{10}, ~std::uintmax_t{0}})
      if (const auto part = cli::parse_range(range, file))
        if (part->first > file || part->count > file - part->first) __builtin_trap();
  return 0;
}
