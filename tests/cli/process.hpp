// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace udv::cli {

/// How a program ended and what it said; a signal that killed it counts as 128 + its number.
struct Outcome {
  int code = -1;
  std::string out, err;
};

inline std::ostream& operator<<(std::ostream& stream, const Outcome& outcome) {
  return stream << "exit code " << outcome.code << "\nstandard output: " << outcome.out
                << "\nstandard error: " << outcome.err;
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A program that runs in a folder of its own choice, its output going to two files in `logs`.
/// Killed at the end of the scope, or after a minute, where it still runs.
class Process {
 public:
  Process(const std::vector<std::string>& command, const std::filesystem::path& folder,
          const std::filesystem::path& logs)
      : out_(logs / "stdout"), err_(logs / "stderr") {
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, out_.c_str(), kWrite, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), kWrite, 0600);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    std::vector<char*> words;
    for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    const int failed = posix_spawn(&id_, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed) throw std::runtime_error("cannot start " + command[0]);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    send(SIGKILL);
    if (id_ > 0) waitpid(id_, nullptr, 0);
  }

  void send(int signal) const {
    if (id_ > 0) kill(id_, signal);  // 0 would be ourselves
  }

  /// Returns once the program has a handler for the signal; false where it ends before.
  bool catches(int signal) const {
    for (; running(); std::this_thread::sleep_for(std::chrono::milliseconds(1)))
      if (caught_signals() >> (signal - 1) & 1) return true;
    return false;
  }

  /// What it has said so far.
  std::string output() const { return file_text(out_); }

  Outcome wait() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr std::chrono::minutes kLongest{10};
#else
    constexpr std::chrono::minutes kLongest{1};
#endif
    const auto deadline = std::chrono::steady_clock::now() + kLongest;
    int status = 0;
    while (waitpid(id_, &status, WNOHANG) == 0) {
      if (std::chrono::steady_clock::now() > deadline) send(SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    id_ = 0;
    const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return {code, file_text(out_), file_text(err_)};
  }

 private:
  static constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;

  bool running() const {
    siginfo_t info = {};
    waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == 0;
  }

  unsigned long long caught_signals() const {
    std::istringstream status(file_text("/proc/" + std::to_string(id_) + "/status"));
    std::string name, mask;
    while (status >> name && name != "SigCgt:") continue;
    status >> mask;
    return mask.empty() ? 0 : std::stoull(mask, nullptr, 16);
  }

  std::filesystem::path out_, err_;
  pid_t id_ = 0;
};

}  // namespace udv::cli
