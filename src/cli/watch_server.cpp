// SPDX-License-Identifier: MIT
#include "cli/watch_server.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "core/require.hpp"
#include "udv/io/file.hpp"
#include "udv/report/report.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;
using httplib::Request;
using httplib::Response;
using httplib::Server;
using std::chrono::milliseconds;

constexpr auto kLook = milliseconds(500);
constexpr auto kKeepAlive = std::chrono::seconds(10);
constexpr int kWatchers = 16;
constexpr std::uintmax_t kLargestFile = 64u << 20;

const char* type_of(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".json") return "application/json";
  if (extension == ".csv" || extension == ".toml") return "text/plain; charset=utf-8";
  if (extension == ".png") return "image/png";
  return "application/octet-stream";
}

}  // namespace

fs::path file_inside(const fs::path& folder, const std::string& name) {
  std::error_code failure;
  if (name.empty() || name.find('\0') != name.npos || fs::path(name).is_absolute()) return {};
  const fs::path root = fs::canonical(folder, failure);
  if (failure) return {};
  const fs::path path = fs::canonical(root / name, failure);
  if (failure || !fs::is_regular_file(path, failure)) return {};
  const fs::path inside = path.lexically_relative(root);
  return inside.empty() || *inside.begin() == ".." ? fs::path() : path;
}

bool is_own_host(const std::string& host, int port) {
  for (const char* name : {"127.0.0.1", "localhost"})
    if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
  return false;
}

struct WatchServer::Parts {
  fs::path folder;
  std::string title;
  int port = 0;
  Server server;
  std::atomic<bool> stopping{false};
  std::atomic<int> watchers{0};
  std::mutex looking;
  std::string text;
  std::chrono::steady_clock::time_point looked_at{};

  // The report as it is now, made anew at most twice a second for all watchers together.
  std::string look() {
    const std::lock_guard lock(looking);
    const auto now = std::chrono::steady_clock::now();
    if (text.empty() || now - looked_at >= kLook) {
      text = report::live_report(title, folder);
      looked_at = now;
    }
    return text;
  }

  // Sends the report whenever it has changed; false ends the connection.
  bool follow(httplib::DataSink& sink) {
    std::string sent;
    auto last = std::chrono::steady_clock::now();
    const auto send = [&](const std::string& bytes) {
      last = std::chrono::steady_clock::now();
      return sink.write(bytes.data(), bytes.size());
    };
    while (!stopping) {
      const std::string now = look();
      const bool ended = now.find("\"state\":\"ended\"") != now.npos;
      if (now != sent) {
        if (!send(fmt::format("event: report\ndata: {}\n\n", now))) return false;
        if (ended && !send("event: end\ndata: {}\n\n")) return false;
        sent = now;
      } else if (std::chrono::steady_clock::now() - last > kKeepAlive &&
                 !send(": still here\n\n")) {
        return false;
      }
      for (int i = 0; i < 5 && !stopping; ++i) std::this_thread::sleep_for(kLook / 5);
    }
    sink.done();
    return false;
  }

  void answer_events(Response& response) {
    if (++watchers > kWatchers) {
      --watchers;
      response.status = 503;
      response.set_content("too many watchers\n", "text/plain");
      return;
    }
    response.set_chunked_content_provider(
        "text/event-stream", [this](size_t, httplib::DataSink& sink) { return follow(sink); },
        [this](bool) { --watchers; });
  }

  void answer_file(const std::string& name, Response& response) {
    const fs::path path = file_inside(folder, name);
    std::error_code failure;
    const auto size = path.empty() ? 0 : fs::file_size(path, failure);
    response.status = path.empty() || failure ? 404 : size > kLargestFile ? 413 : 200;
    if (response.status == 200)
      response.set_content(io::read_bytes(path), type_of(path));
    else
      response.set_content("not here\n", "text/plain");
  }

  Server::HandlerResponse check(const Request& request, Response& response) {
    const bool own = is_own_host(request.get_header_value("Host"), port);
    const bool reads = request.method == "GET" || request.method == "HEAD";
    if (own && reads) return Server::HandlerResponse::Unhandled;
    response.status = own ? 405 : 403;
    response.set_content(own ? "only GET\n" : "another host was asked for\n", "text/plain");
    return Server::HandlerResponse::Handled;
  }

  void set_up() {
    server.new_task_queue = [] { return new httplib::ThreadPool(kWatchers + 4); };
    server.set_keep_alive_timeout(2);
    server.set_payload_max_length(1024);
    server.set_default_headers({{"X-Content-Type-Options", "nosniff"},
                                {"Cache-Control", "no-store"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Resource-Policy", "same-origin"}});
    server.set_pre_routing_handler(
        [this](const Request& request, Response& response) { return check(request, response); });
    server.Get("/", [this](const Request&, Response& response) {
      response.set_content(report::watch_page(title, folder), "text/html; charset=utf-8");
    });
    server.Get("/events", [this](const Request&, Response& response) { answer_events(response); });
    server.Get("/files/(.*)", [this](const Request& request, Response& response) {
      answer_file(request.matches[1].str(), response);
    });
    server.set_exception_handler([](const Request&, Response& response, std::exception_ptr) {
      response.status = 500;
      response.set_content("the folder cannot be read\n", "text/plain");
    });
  }
};

WatchServer::WatchServer(const fs::path& folder) : parts_(std::make_unique<Parts>()) {
  require<IoError>(fs::is_directory(folder), folder.string(), ": the folder of a run expected");
  parts_->folder = folder;
  parts_->title = "udv watch " + folder.string();
  parts_->set_up();
}

WatchServer::~WatchServer() = default;

int WatchServer::bind(int port) {
  constexpr const char* kHere = "127.0.0.1";
  Server& server = parts_->server;
  const int taken =
      port == 0 ? server.bind_to_any_port(kHere) : (server.bind_to_port(kHere, port) ? port : -1);
  require<IoError>(taken > 0, "port ", port, " of 127.0.0.1 cannot be had");
  return parts_->port = taken;
}

void WatchServer::serve(const std::function<bool()>& done) {
  std::thread listener([this] { parts_->server.listen_after_bind(); });
  while (!done()) std::this_thread::sleep_for(milliseconds(100));
  parts_->stopping = true;
  parts_->server.stop();
  listener.join();
}

}  // namespace udv::cli
