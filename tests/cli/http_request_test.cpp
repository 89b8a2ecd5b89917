// SPDX-License-Identifier: MIT
#include "cli/http_request.hpp"

#include <gtest/gtest.h>

namespace udv::cli {
namespace http_request_test {

constexpr const char* kHost = "Host: localhost:1\r\n";

std::string get(const std::string& target, const std::string& headers = kHost) {
  return "GET " + target + " HTTP/1.1\r\n" + headers + "\r\n";
}

int status_of(const std::string& head) {
  HttpRequest request;
  const auto problem = parse_request(head, request);
  return problem ? problem->status : 200;
}

TEST(HttpRequest, IsRead) {
  HttpRequest request;
  ASSERT_FALSE(
      parse_request(get("/a%20b/c?x=/y", "hOST:  me:80 \r\nRange: bytes=1-2\r\n"), request));
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/a b/c");
  EXPECT_EQ(request.host, "me:80");
  EXPECT_EQ(request.range, "bytes=1-2");
  EXPECT_TRUE(request.keep_alive);
  ASSERT_FALSE(parse_request(get("/", "Connection: Close\r\n"), request));
  EXPECT_FALSE(request.keep_alive);
  EXPECT_EQ(request.host, "");
}

TEST(HttpRequest, OfAnotherKindIsRefused) {
  EXPECT_EQ(status_of(get("/")), 200);
  for (const char* head : {"",
                           "\r\n",
                           "\r\n\r\n",
                           "GET\r\n\r\n",
                           "GET /\r\n\r\n",
                           "GET / HTTP/1.1\r\n",
                           "GET  / HTTP/1.1\r\n\r\n",
                           "GET /a b HTTP/1.1\r\n\r\n",
                           "G\x01T / HTTP/1.1\r\n\r\n",
                           "GET a HTTP/1.1\r\n\r\n",
                           "GET http://a/ HTTP/1.1\r\n\r\n",
                           "GET /%zz HTTP/1.1\r\n\r\n",
                           "GET /%00 HTTP/1.1\r\n\r\n",
                           "GET /%4 HTTP/1.1\r\n\r\n",
                           "GET /% HTTP/1.1\r\n\r\n",
                           "GET / HTTP/1.1\r\nnothing\r\n\r\n",
                           "GET / HTTP/1.1\r\n: x\r\n\r\n",
                           "GET / HTTP/1.1\r\na b: x\r\n\r\n",
                           "GET / HTTP/1.1\r\n a: x\r\n\r\n",
                           "GET / HTTP/1.1\nHost: x\n\n",
                           "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
                           "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n"})
    EXPECT_EQ(status_of(head), 400) << head;
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(status_of(get("/" + std::string(3000, 'a'))), 414);
  EXPECT_EQ(status_of(get("/", "Content-Length: 5\r\n")), 413);
  EXPECT_EQ(status_of(get("/", "Content-Length: 0\r\n")), 200);
  EXPECT_EQ(status_of(get("/", "Transfer-Encoding: chunked\r\n")), 413);
}

struct RangeCase {
  const char* text;
  std::uintmax_t first, count;
};

TEST(HttpRange, IsOnePartOfTheFile) {
  for (const auto& [text, first, count] :
       {RangeCase{"bytes=0-0", 0, 1}, RangeCase{"bytes=2-5", 2, 4}, RangeCase{"bytes=2-", 2, 8},
        RangeCase{"bytes=-3", 7, 3}, RangeCase{"bytes=-30", 0, 10}, RangeCase{"bytes=5-500", 5, 5},
        RangeCase{"bytes=9-9", 9, 1}}) {
    const auto range = parse_range(text, 10);
    ASSERT_TRUE(range) << text;
    EXPECT_EQ(range->first, first) << text;
    EXPECT_EQ(range->count, count) << text;
  }
  for (const char* beyond : {"bytes=10-", "bytes=10-20", "bytes=-0"}) {
    const auto range = parse_range(beyond, 10);
    ASSERT_TRUE(range) << beyond;
    EXPECT_EQ(range->count, 0u) << beyond;
  }
}

TEST(HttpRange, ThatIsNoneOrManyIsTheWholeFile) {
  for (const char* text :
       {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-2", "lines=1-2", "bytes=0-1,3-4",
        "bytes=1", "bytes=1-2-3", "bytes= ", "bytes=99999999999999999999-"})
    EXPECT_FALSE(parse_range(text, 10)) << text;
}

}  // namespace http_request_test
}  // namespace udv::cli
