// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace udv::cli {

/// Shows the folder of a run on 127.0.0.1 and nowhere else, to those who know a random token:
/// /TOKEN/ is the page, /TOKEN/events follows the run, /TOKEN/files/NAME is a file of the run.
/// Refuses requests for other hosts and all other files.
class WatchServer {
 public:
  explicit WatchServer(const std::filesystem::path& folder);
  ~WatchServer();

  /// The port that was taken; 0 asks for any. Throws IoError where it cannot be had.
  int bind(int port);
  const std::string& token() const;
  /// Serves until `done` says so; it is asked ten times a second.
  void serve(const std::function<bool()>& done);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// The file that `name` means inside `folder`; empty where it is outside, not there, hidden, a link
/// or no file that a run has written.
std::filesystem::path file_inside(const std::filesystem::path& folder, const std::string& name);

/// The host of a request is this machine by one of its own names.
bool is_own_host(const std::string& host, int port);

}  // namespace udv::cli
