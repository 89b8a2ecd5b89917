// SPDX-License-Identifier: MIT
#include "cli/http_server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>

#include "core/require.hpp"

namespace udv::cli {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

constexpr std::size_t kMostConnections = 900;
constexpr std::size_t kOtherFiles = 64;  // that a process has open besides connections
constexpr std::size_t kMostFollowers = 200;
constexpr int kMostWaiting = 4096;          // for the server to take their connection
constexpr auto kForHead = seconds(5);       // from the first byte of a request to its last
constexpr auto kForNext = seconds(10);      // until the next request of a connection
constexpr auto kForProgress = seconds(10);  // while an answer is not taken
constexpr double kLeastRate = 16 << 10;     // bytes in a second, on average after that time
constexpr auto kNewcomer = std::chrono::milliseconds(500);  // has done nothing wrong yet
constexpr auto kForRest = seconds(1);                       // of what comes after the answer
constexpr auto kStillHere = seconds(10);  // between two signs of life to a follower
constexpr int kTick = 100;                // milliseconds
constexpr std::size_t kPiece = 64 << 10;
constexpr int kSystemBuffer = 128 << 10;  // of each connection and direction, in the system

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 206:
      return "Partial Content";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 416:
      return "Range Not Satisfiable";
    case 431:
      return "Request Header Fields Too Large";
    case 503:
      return "Service Unavailable";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return status < 500 ? "Bad Request" : "Internal Server Error";
  }
}

// Within the limit of open files, which is raised where it may be: a connection may have a file.
std::size_t most_connections() {
  constexpr rlim_t kWanted = 2 * kMostConnections + kOtherFiles;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return kOtherFiles;
  if (files.rlim_cur < kWanted) {
    files.rlim_cur = std::min(kWanted, files.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &files);
    ::getrlimit(RLIMIT_NOFILE, &files);
  }
  if (files.rlim_cur >= kWanted) return kMostConnections;
  return files.rlim_cur > 3 * kOtherFiles ? (files.rlim_cur - kOtherFiles) / 2 : kOtherFiles;
}

}  // namespace

void add_security(HttpAnswer& answer, bool page) {
  const std::string content =
      page ? "img-src data: blob:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
             "connect-src 'self'; "
           : "sandbox; ";
  answer.headers.insert(
      answer.headers.end(),
      {{"Content-Security-Policy", "default-src 'none'; " + content +
                                       "base-uri 'none'; form-action 'none'; frame-ancestors "
                                       "'none'"},
       {"X-Content-Type-Options", "nosniff"},
       {"X-Frame-Options", "DENY"},
       {"Referrer-Policy", "no-referrer"},
       {"Cross-Origin-Resource-Policy", "same-origin"},
       {"Cross-Origin-Opener-Policy", "same-origin"},
       {"Cache-Control", "no-store"}});
}

/// A descriptor that is closed in the end.
class HttpServer::Handle {
 public:
  explicit Handle(int value = -1) : value_(value) {}
  ~Handle() { reset(); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  int get() const { return value_; }
  void reset(int value = -1) {
    if (value_ >= 0) ::close(value_);
    value_ = value;
  }

 private:
  int value_;
};

// kClosing: the answer is out, what still comes is thrown away. A connection that is closed before
// that may lose its answer.
enum class HttpServer::Phase { kReading, kSending, kFollowing, kClosing, kOver };

struct HttpServer::Connection {
  explicit Connection(int socket) : socket(socket) {}

  Handle socket;
  Phase phase = Phase::kReading;
  Clock::time_point since = Clock::now();  // the phase, or the last byte that went out
  std::string in;                          // at most kLongestHead
  std::string out;                         // head and text of an answer, or a piece of a file
  std::size_t sent = 0;                    // of `out`, then of `shown`
  Handle file;
  std::uintmax_t file_left = 0;
  bool keep_alive = false;
  Clock::time_point began = since;  // this answer, or this text for a follower
  std::uintmax_t taken = 0;         // bytes of it that went out
  // A text that connections share: what is on its way, and what a follower was shown before it.
  std::shared_ptr<const std::string> shown, seen;
  bool events = false;

  void enter(Phase next) {
    phase = next;
    since = Clock::now();
  }
  void begin_answer() {
    began = Clock::now();
    taken = sent = 0;
  }
  /// Ends it at once: the system would go on sending what it has, for minutes.
  void cut() {
    const linger at_once{1, 0};
    ::setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    phase = Phase::kOver;
  }
  /// Bytes of this answer in a second.
  double rate(Clock::time_point now) const {
    const std::chrono::duration<double> passed = now - began;
    return static_cast<double>(taken) / std::max(passed.count(), 1e-3);
  }
  bool wants_to_send() const {
    return phase == Phase::kSending || (phase == Phase::kFollowing && (shown || sent < out.size()));
  }
};

struct HttpServer::Parts {
  Handler handler;
  Latest latest;
  Handle listener;
  std::list<Connection> connections;
  std::size_t followers = 0;
  bool pauses = false;  // nobody is let in: the system has no more for them
  const std::size_t most = most_connections();
  const std::size_t most_followers = std::min(kMostFollowers, most / 2);

  // ---- answers

  static std::string head_of(const HttpAnswer& answer, std::uintmax_t size, bool keep_alive) {
    std::string head = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\n", answer.status,
                                   reason(answer.status), answer.type);
    for (const auto& [name, value] : answer.headers) head += fmt::format("{}: {}\r\n", name, value);
    if (!answer.follows) head += fmt::format("Content-Length: {}\r\n", size);
    return head + fmt::format("Connection: {}\r\n\r\n", keep_alive ? "keep-alive" : "close");
  }

  static void refuse(Connection& c, int status) {
    HttpAnswer answer;
    answer.status = status;
    answer.text = std::string(reason(status)) + "\n";
    add_security(answer, false);
    c.keep_alive = false;
    send_text(c, answer, false);
  }

  static void send_text(Connection& c, const HttpAnswer& answer, bool head_only) {
    const std::string& text = answer.shared ? *answer.shared : answer.text;
    c.out = head_of(answer, text.size(), c.keep_alive);
    if (!head_only && answer.shared)
      c.shown = answer.shared;
    else if (!head_only)
      c.out += text;
    c.begin_answer();
    c.enter(Phase::kSending);
  }

  // The whole file or the part that was asked for.
  static void send_file(Connection& c, HttpAnswer answer, const HttpRequest& request) {
    c.file.reset(::open(answer.file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    const off_t end = c.file.get() < 0 ? -1 : ::lseek(c.file.get(), 0, SEEK_END);
    if (end < 0) return refuse(c, 404);
    const auto size = static_cast<std::uintmax_t>(end);
    ByteRange part{0, size};
    answer.headers.emplace_back("Accept-Ranges", "bytes");
    if (const auto range = parse_range(request.range, size)) {
      part = *range;
      answer.status = part.count > 0 ? 206 : 416;
      answer.headers.emplace_back("Content-Range",
                                  part.count > 0 ? fmt::format("bytes {}-{}/{}", part.first,
                                                               part.first + part.count - 1, size)
                                                 : fmt::format("bytes */{}", size));
    }
    ::lseek(c.file.get(), static_cast<off_t>(part.first), SEEK_SET);
    c.out = head_of(answer, part.count, c.keep_alive);
    c.begin_answer();
    c.file_left = request.method == "HEAD" ? 0 : part.count;
    c.enter(Phase::kSending);
  }

  void answer_request(Connection& c, const HttpRequest& request) {
    HttpAnswer answer;
    try {
      answer = handler(request);
    } catch (const std::exception&) {
      answer = {};
      answer.status = 500;
      answer.text = "the folder cannot be read\n";
      add_security(answer, false);
    }
    c.keep_alive = request.keep_alive;
    if (!answer.file.empty()) return send_file(c, std::move(answer), request);
    if (!answer.follows) return send_text(c, answer, request.method == "HEAD");
    if (followers >= most_followers) end_oldest_follower();
    ++followers;
    c.events = true;
    c.keep_alive = false;
    c.out = head_of(answer, 0, false);
    c.begin_answer();
    c.enter(Phase::kFollowing);
  }

  // ---- reading and writing

  // What has come may hold a whole head.
  void take_request(Connection& c) {
    const std::size_t end = c.in.find("\r\n\r\n");
    if (end == c.in.npos) {
      if (c.in.size() >= kLongestHead) refuse(c, 431);
      return;
    }
    HttpRequest request;
    const auto problem = parse_request(std::string_view(c.in).substr(0, end + 4), request);
    c.in.erase(0, end + 4);
    if (problem)
      refuse(c, problem->status);
    else
      answer_request(c, request);
  }

  void receive(Connection& c) {
    char bytes[kPiece];
    const std::size_t room = c.phase == Phase::kReading ? kLongestHead - c.in.size() : sizeof bytes;
    const ssize_t count = ::recv(c.socket.get(), bytes, room, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return c.enter(Phase::kOver);
    if (c.phase != Phase::kReading) return;  // nothing that anybody waits for
    if (c.in.empty()) c.since = Clock::now();
    c.in.append(bytes, static_cast<std::size_t>(count));
    take_request(c);
  }

  // False where the other side is gone.
  static bool write_some(Connection& c, const std::string& text) {
    const ssize_t count =
        ::send(c.socket.get(), text.data() + c.sent, text.size() - c.sent, MSG_NOSIGNAL);
    if (count < 0) return errno == EAGAIN || errno == EINTR;
    c.sent += static_cast<std::size_t>(count);
    c.taken += static_cast<std::uintmax_t>(count);
    if (count > 0) c.since = Clock::now();
    return true;
  }

  // The next piece of the file in `out`; false where there is none.
  static bool next_piece(Connection& c) {
    if (c.file_left == 0) return false;
    c.out.resize(std::min<std::uintmax_t>(kPiece, c.file_left));
    const ssize_t count = ::read(c.file.get(), c.out.data(), c.out.size());
    if (count <= 0) {  // it has become shorter: the other side sees that bytes are missing
      c.enter(Phase::kOver);
      return true;
    }
    c.out.resize(static_cast<std::size_t>(count));
    c.file_left -= static_cast<std::uintmax_t>(count);
    c.sent = 0;
    return true;
  }

  // Head and text, or head, then pieces of a file or the shared text.
  void send_more(Connection& c) {
    const std::string& text = c.out.empty() && c.shown ? *c.shown : c.out;
    if (!write_some(c, text)) return c.enter(Phase::kOver);
    if (c.sent < text.size()) return;
    if (!c.out.empty() && c.shown) {
      c.out.clear();
      c.sent = 0;
      return;
    }
    if (next_piece(c)) return;
    c.file.reset();
    c.shown.reset();
    c.out.clear();
    if (!c.keep_alive) {
      ::shutdown(c.socket.get(), SHUT_WR);
      return c.enter(Phase::kClosing);
    }
    c.enter(Phase::kReading);
    if (!c.in.empty()) take_request(c);
  }

  void follow(Connection& c) {
    if (c.sent < c.out.size() && !c.shown) {
      if (!write_some(c, c.out)) c.enter(Phase::kOver);
      if (c.sent == c.out.size()) {
        c.out.clear();
        c.sent = 0;
      }
    } else if (c.shown) {
      if (!write_some(c, *c.shown)) return c.enter(Phase::kOver);
      if (c.sent == c.shown->size()) {
        c.seen = std::move(c.shown);
        c.sent = 0;
      }
    }
  }

  // ---- time

  // A new text, or a sign of life, to a follower that has taken all before.
  void tell(Connection& c) {
    if (c.phase != Phase::kFollowing || c.shown || !c.out.empty()) return;
    const auto now = latest();
    if (now && now != c.seen) {
      c.shown = now;
    } else if (Clock::now() - c.since > kStillHere) {
      c.out = ": still here\n\n";
    } else {
      return;
    }
    c.begin_answer();
    c.since = c.began;
  }

  void check_time(Connection& c, Clock::time_point now) const {
    const auto passed = now - c.since;
    if (c.phase == Phase::kReading && passed > (c.in.empty() ? kForNext : kForHead))
      c.phase = Phase::kOver;
    if (c.phase == Phase::kClosing && passed > kForRest) c.phase = Phase::kOver;
    if (c.wants_to_send() && (passed > kForProgress || is_too_slow(c, now))) c.cut();
  }

  // A few bytes now and then are no progress.
  static bool is_too_slow(const Connection& c, Clock::time_point now) {
    return now - c.began > kForProgress && c.rate(now) < kLeastRate;
  }

  void remove_ended() {
    for (auto c = connections.begin(); c != connections.end();) {
      if (c->phase != Phase::kOver) {
        ++c;
        continue;
      }
      if (c->events) --followers;
      c = connections.erase(c);
    }
  }

  // ---- the loop

  // Who makes way for somebody new: the lowest first. Whoever came or asked just now is not to
  // suffer for those who say nothing or do not take their answers.
  static int claim_of(const Connection& c, Clock::time_point now) {
    switch (c.phase) {
      case Phase::kOver:
      case Phase::kClosing:
        return 0;
      case Phase::kReading:
        return now - c.since > kNewcomer ? 1 : 3;
      case Phase::kSending:
        return now - c.began > kNewcomer ? 2 : 4;
      default:
        return 5;
    }
  }

  // Of two with the same claim: the slower one that takes an answer, else the one that has been
  // silent for longer.
  static bool goes_before(const Connection& one, const Connection& other, Clock::time_point now) {
    const int claim = claim_of(one, now), other_claim = claim_of(other, now);
    if (claim != other_claim) return claim < other_claim;
    if (one.phase == Phase::kSending && other.phase == Phase::kSending &&
        one.rate(now) != other.rate(now))
      return one.rate(now) < other.rate(now);
    return one.since < other.since;
  }

  void make_room() {
    if (connections.size() < most) return;
    const auto now = Clock::now();
    const auto last = std::min_element(connections.begin(), connections.end(),
                                       [&](const Connection& one, const Connection& other) {
                                         return goes_before(one, other, now);
                                       });
    if (last->events) --followers;
    if (last->wants_to_send()) last->cut();
    connections.erase(last);
  }

  // The first that does not take what it is sent, else the first of all. A browser comes back by
  // itself.
  void end_oldest_follower() {
    Connection* oldest = nullptr;
    const auto now = Clock::now();
    for (Connection& c : connections) {
      if (c.phase != Phase::kFollowing) continue;
      const bool stuck = c.wants_to_send() && now - c.since > kNewcomer;
      if (!oldest || stuck) oldest = &c;
      if (stuck) break;
    }
    if (!oldest) return;
    --followers;
    oldest->events = false;
    oldest->cut();
  }

  void accept_all() {
    for (int i = 0; i < 256; ++i) {
      const int socket = ::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (socket < 0) {
        pauses = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        return;
      }
      make_room();
      connections.emplace_back(socket);
    }
  }

  void step() {
    // Asked again after the pause: a listener that is readable all the time would keep it busy.
    std::vector<pollfd> events{{listener.get(), static_cast<short>(pauses ? 0 : POLLIN), 0}};
    pauses = false;
    for (const Connection& c : connections) {
      const bool reads = c.phase != Phase::kSending;
      events.push_back(
          {c.socket.get(),
           static_cast<short>((reads ? POLLIN : 0) | (c.wants_to_send() ? POLLOUT : 0)), 0});
    }
    ::poll(events.data(), events.size(), kTick);
    const auto now = Clock::now();
    auto event = events.begin() + 1;
    for (Connection& c : connections) {
      const short what = (event++)->revents;
      if (what & (POLLERR | POLLNVAL)) c.enter(Phase::kOver);
      if (c.phase != Phase::kOver && (what & (POLLIN | POLLHUP))) receive(c);
      if (what & POLLOUT) {
        if (c.phase == Phase::kSending) send_more(c);
        if (c.phase == Phase::kFollowing) follow(c);
      }
      tell(c);
      check_time(c, now);
    }
    remove_ended();
    if (events.front().revents & POLLIN) accept_all();
  }
};

HttpServer::HttpServer(Handler handler, Latest latest) : parts_(std::make_unique<Parts>()) {
  parts_->handler = std::move(handler);
  parts_->latest = std::move(latest);
}

HttpServer::~HttpServer() = default;

int HttpServer::bind(int port) {
  Handle& listener = parts_->listener;
  listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int yes = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  // Connections inherit them. The system's own limits are megabytes for each that takes no answer.
  for (const int buffer : {SO_SNDBUF, SO_RCVBUF})
    ::setsockopt(listener.get(), SOL_SOCKET, buffer, &kSystemBuffer, sizeof kSystemBuffer);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const bool taken = listener.get() >= 0 && ::bind(listener.get(), any, size) == 0 &&
                     ::listen(listener.get(), kMostWaiting) == 0 &&
                     ::getsockname(listener.get(), any, &size) == 0;
  require<IoError>(taken, "port ", port, " of 127.0.0.1 cannot be had: ", std::strerror(errno));
  return ntohs(address.sin_port);
}

void HttpServer::serve(const std::function<bool()>& done) {
  while (!done()) parts_->step();
  parts_->connections.clear();
}

}  // namespace udv::cli
