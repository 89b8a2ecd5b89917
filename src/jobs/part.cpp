// SPDX-License-Identifier: MIT
#include "jobs/part.hpp"

#include "core/parse.hpp"
#include "udv/core/options.hpp"

namespace udv::jobs {
namespace {

constexpr Index kMostParts = 1'000'000;

}  // namespace

Part read_part(const std::string& text) {
  Part part;
  if (text.empty()) return part;
  const size_t slash = text.find('/');
  const bool read = slash != text.npos && parse_all(text.substr(0, slash), part.number) &&
                    parse_all(text.substr(slash + 1), part.count);
  if (!read || part.count < 1 || part.count > kMostParts || part.number < 1 ||
      part.number > part.count)
    throw OptionError("part", "'" + text + "' found, I/N with I from 1 to N expected");
  return part;
}

}  // namespace udv::jobs
