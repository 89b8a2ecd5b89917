// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace udv::cli {

/// Of the first line and all header lines together; a request that is longer is refused.
inline constexpr std::size_t kLongestHead = 8192;
inline constexpr std::size_t kLongestPath = 2048;

/// What this server wants to know of a request.
struct HttpRequest {
  std::string method, path;  ///< the path is decoded and has no query
  std::string host, range;   ///< empty where they are not given
  bool keep_alive = true;
};

/// A request that is not understood or not allowed: the status of its answer.
struct HttpProblem {
  int status = 400;
};

/// Reads a head: the first line and the header lines, with the empty line at the end. Fills
/// `request`, or says what is wrong: 400, 413 (a body), 414, 501, 505.
std::optional<HttpProblem> parse_request(std::string_view head, HttpRequest& request);

/// The bytes first .. first + count - 1 of a file.
struct ByteRange {
  std::uintmax_t first = 0, count = 0;
};

/// What "Range: bytes=..." asks of a file of this size. Nothing where the whole file is the answer:
/// no range, several ones, another unit, or one that makes no sense (RFC 9110, 14.2). A count of 0
/// where it cannot be satisfied (416).
std::optional<ByteRange> parse_range(std::string_view range, std::uintmax_t size);

}  // namespace udv::cli
