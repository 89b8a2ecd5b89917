// SPDX-License-Identifier: MIT
#include "cli/watch_server.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "cli/http_server.hpp"
#include "core/require.hpp"
#include "jobs/run_files.hpp"
#include "udv/io/file.hpp"
#include "udv/report/report.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Text = std::shared_ptr<const std::string>;

constexpr auto kLook = milliseconds(500);
constexpr int kLevels = 3;  // of folders below that of the runs

// 128 random bits.
std::string random_token() {
  unsigned char bytes[16];
  require<IoError>(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes,
                   "the system gives no random numbers");
  std::string token;
  for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

// The time does not depend on where they differ.
bool same_token(std::string_view one, std::string_view other) {
  unsigned difference = one.size() == other.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
    difference |= static_cast<unsigned char>(one[i]) ^ static_cast<unsigned char>(other[i]);
  return difference == 0;
}

const char* type_of(const fs::path& path) {
  const std::string extension = path.extension().string();
  if (extension == ".json") return "application/json";
  if (extension == ".csv" || extension == ".toml") return "text/plain; charset=utf-8";
  if (extension == ".png") return "image/png";
  return "application/octet-stream";
}

HttpAnswer refusal(int status, const std::string& text) {
  HttpAnswer answer;
  answer.status = status;
  answer.text = text;
  return answer;
}

}  // namespace

fs::path file_inside(const fs::path& folder, const std::string& name) {
  std::error_code failure;
  const fs::path wanted = fs::path(name).lexically_normal();
  if (name.empty() || name.find('\0') != name.npos || wanted.is_absolute()) return {};
  if (std::distance(wanted.begin(), wanted.end()) > kLevels + 1) return {};
  for (const fs::path& part : wanted)
    if (part.string().starts_with('.')) return {};
  const fs::path root = fs::canonical(folder, failure);
  if (failure) return {};
  const fs::path path = fs::canonical(root / wanted, failure);
  // A link is not the run's own, wherever it leads.
  if (failure || path != root / wanted || !fs::is_regular_file(path, failure)) return {};
  return jobs::is_file_of_run(path) ? path : fs::path();
}

bool is_own_host(const std::string& host, int port) {
  for (const char* name : {"127.0.0.1", "localhost"})
    if (host == fmt::format("{}:{}", name, port) || (port == 80 && host == name)) return true;
  return false;
}

/// Makes the report anew while somebody looks at it, beside the server: a large folder holds up
/// nobody.
class LiveText {
 public:
  LiveText(fs::path folder, std::string title)
      : folder_(std::move(folder)), title_(std::move(title)), maker_([this] { run(); }) {}
  ~LiveText() {
    stopping_ = true;
    maker_.join();
  }
  LiveText(const LiveText&) = delete;
  LiveText& operator=(const LiveText&) = delete;

  Text latest() {
    wanted_ = true;
    const std::lock_guard lock(guard_);
    return text_;
  }

 private:
  void run() {
    std::string last;
    while (!stopping_) {
      if (wanted_.exchange(false)) renew(last);
      for (int i = 0; i < 10 && !stopping_; ++i) std::this_thread::sleep_for(kLook / 10);
    }
  }

  // What goes wrong here, as too little memory, goes by: the text before it stays.
  void renew(std::string& last) {
    try {
      std::string now = report::live_report(title_, folder_);
      if (now != last) publish(now);
      last = std::move(now);
    } catch (const std::exception&) {
      wanted_ = true;
    }
  }

  void publish(const std::string& report) {
    const bool ended = report.find("\"state\":\"ended\"") != report.npos;
    auto text = std::make_shared<const std::string>(fmt::format(
        "event: report\ndata: {}\n\n{}", report, ended ? "event: end\ndata: {}\n\n" : ""));
    const std::lock_guard lock(guard_);
    text_ = std::move(text);
  }

  fs::path folder_;
  std::string title_;
  std::atomic<bool> stopping_{false}, wanted_{false};
  std::mutex guard_;
  Text text_;
  std::thread maker_;  // last: it uses all others
};

struct WatchServer::Parts {
  explicit Parts(const fs::path& folder)
      : folder(folder),
        title("udv watch " + folder.string()),
        token(random_token()),
        live(folder, title),
        server([this](const HttpRequest& request) { return answer(request); },
               [this] { return live.latest(); }) {}

  fs::path folder;
  std::string title, token;
  int port = 0;
  Text page_text;  // with charts it is the same for everybody and for all time
  LiveText live;
  HttpServer server;

  HttpAnswer answer(const HttpRequest& request) {
    bool page = false;
    HttpAnswer answer = content(request, page);
    add_security(answer, page);
    return answer;
  }

  // "/TOKEN/", "/TOKEN/events" and "/TOKEN/files/NAME".
  HttpAnswer content(const HttpRequest& request, bool& page) {
    if (!is_own_host(request.host, port)) return refusal(403, "another host was asked for\n");
    if (request.method != "GET" && request.method != "HEAD") return refusal(405, "only GET\n");
    const std::size_t end = request.path.find('/', 1);
    if (end == request.path.npos ||
        !same_token(std::string_view(request.path).substr(1, end - 1), token))
      return refusal(403, "the address that udv watch has printed is needed\n");
    const std::string rest = request.path.substr(end + 1), files = "files/";
    if (rest.starts_with(files)) return file(rest.substr(files.size()));
    HttpAnswer answer;
    if (rest.empty()) {
      page = true;
      answer.type = "text/html; charset=utf-8";
      answer.shared = page_for_all();
    } else if (rest == "events" && request.method == "GET") {
      answer.type = "text/event-stream";
      answer.follows = true;
    } else {
      return refusal(404, "not here\n");
    }
    return answer;
  }

  Text page_for_all() {
    if (!page_text || !report::has_charts())
      page_text = std::make_shared<const std::string>(report::watch_page(title, folder));
    return page_text;
  }

  HttpAnswer file(const std::string& name) const {
    HttpAnswer answer;
    answer.file = file_inside(folder, name);
    if (answer.file.empty()) return refusal(404, "not here\n");
    answer.type = type_of(answer.file);
    return answer;
  }
};

WatchServer::WatchServer(const fs::path& folder) {
  require<IoError>(fs::is_directory(folder), folder.string(), ": the folder of a run expected");
  parts_ = std::make_unique<Parts>(folder);
}

WatchServer::~WatchServer() = default;

int WatchServer::bind(int port) {
  return parts_->port = parts_->server.bind(port);
}

const std::string& WatchServer::token() const {
  return parts_->token;
}

void WatchServer::serve(const std::function<bool()>& done) {
  parts_->server.serve(done);
}

}  // namespace udv::cli
