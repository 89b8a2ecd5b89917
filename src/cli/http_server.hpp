// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/http_request.hpp"

namespace udv::cli {

/// An answer: a text, a file (or a part of it), or a stream of events.
struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string text;
  std::shared_ptr<const std::string> shared;  ///< sent instead of the text, from one copy for all
  std::filesystem::path file;                 ///< sent instead of the text, piece by piece
  std::vector<std::pair<std::string, std::string>> headers;
  bool follows = false;  ///< events are sent until either side ends it
};

/// Headers that every answer has: nothing runs in what is sent but the page itself, nobody shows it
/// in a frame, no address goes elsewhere.
void add_security(HttpAnswer& answer, bool page);

/// A small server for one machine: one thread, one buffer of a few kilobytes for each connection,
/// at most so many connections, and a time limit on everything. Those that are slow or say nothing
/// make way for others; nobody waits for somebody else.
class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;
  /// The text that followers are shown now; they get each new one. Null: none yet.
  using Latest = std::function<std::shared_ptr<const std::string>()>;

  HttpServer(Handler handler, Latest latest);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// The port of 127.0.0.1 that was taken; 0 asks for any. Throws IoError where it cannot be had.
  int bind(int port);
  /// Serves until `done` says so; it is asked ten times a second at least.
  void serve(const std::function<bool()>& done);

 private:
  class Handle;
  enum class Phase;
  struct Connection;
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace udv::cli
