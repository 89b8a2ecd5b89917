// SPDX-License-Identifier: MIT
#pragma once

#include <arpa/inet.h>
#include <httplib.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

#undef _res  // of <resolv.h>; Eigen has parameters of this name

namespace udv::cli {

/// A connection to a port of this machine, for clients that do not behave.
class Socket {
 public:
  explicit Socket(int port) : handle_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(handle_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Socket() { ::close(handle_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  bool connected() const { return connected_; }
  /// As much of it as the other side takes.
  void send(const std::string& bytes) const {
    for (std::size_t sent = 0; sent < bytes.size();) {
      const auto count = ::send(handle_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
  /// What comes until the text has been seen, the other side ends or five seconds have passed.
  std::string receive_until(const std::string& wanted) const {
    std::string all;
    char bytes[4096];
    pollfd event{handle_, POLLIN, 0};
    while (all.find(wanted) == all.npos && ::poll(&event, 1, 5000) > 0) {
      const auto count = ::recv(handle_, bytes, sizeof bytes, 0);
      if (count <= 0) break;
      all.append(bytes, static_cast<std::size_t>(count));
    }
    return all;
  }

 private:
  int handle_;
  bool connected_ = false;
};

}  // namespace udv::cli
