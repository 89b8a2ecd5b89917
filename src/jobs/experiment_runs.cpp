// SPDX-License-Identifier: MIT
#include "jobs/experiment_runs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "core/require.hpp"
#include "jobs/run_files.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"

extern char** environ;

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStamp = "command.txt";
constexpr const char* kLog = "log.txt";

// Exit codes of udv that this job understands; all others are failures.
constexpr int kDone = 0, kNotConverged = 4, kInterrupted = 130;

// All that fixes the numbers of a run.
std::string stamp_of(const ExperimentRun& run) {
  std::string text = message("udv ", version(), "\n");
  for (const std::string& word : run.command) text += word + " ";
  return text + "\n" + run.spec;
}

bool same_command(const ExperimentRun& run, const fs::path& folder) {
  const fs::path stamp = folder / kStamp;
  return fs::exists(stamp) && io::read_bytes(stamp) == stamp_of(run);
}

bool is_done(const ExperimentRun& run, const fs::path& folder) {
  return fs::exists(folder / kRunFile) && same_command(run, folder);
}

// Only what was made by us is removed.
void require_own(const fs::path& folder) {
  require<IoError>(!fs::exists(folder) || (fs::is_directory(folder) &&
                                           (fs::exists(folder / kStamp) || fs::is_empty(folder))),
                   folder.string(), ": no earlier run of udv reproduce, and in its way");
}

void remove_run(const fs::path& folder) {
  require_own(folder);
  fs::remove_all(folder);
}

// A clean folder for a run, or the one with its checkpoint.
void prepare(const ExperimentRun& run, const fs::path& folder) {
  if (!same_command(run, folder)) remove_run(folder);
  io::make_folder(folder);
  io::write_atomically(folder / kStamp, stamp_of(run));
  if (!run.spec.empty()) io::write_atomically(folder.string() + ".toml", run.spec);
}

std::vector<std::string> arguments_of(const ExperimentRun& run, const fs::path& folder,
                                      int threads) {
  std::vector<std::string> words{"udv"};
  words.insert(words.end(), run.command.begin(), run.command.end());
  words.insert(words.end(), {"--out", folder.string(), "--report", "off", "--quiet", "--threads",
                             std::to_string(threads)});
  words.push_back("--force");  // the folder is ours: prepare() has seen to it
  if (fs::exists(folder / "checkpoint.bin") || fs::exists(folder / "results.csv"))
    words.push_back("--resume");
  return words;
}

pid_t start_process(const fs::path& program, std::vector<std::string> words, const fs::path& log) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t process = 0;
  const int failure =
      posix_spawn(&process, program.c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  require<IoError>(failure == 0, program.string(), ": cannot be started: ", std::strerror(failure));
  return process;
}

/// A run in a process of its own.
class Child {
 public:
  Child(const fs::path& program, const ExperimentRun& run, fs::path folder, int threads)
      : name_(run.name), folder_(std::move(folder)) {
    prepare(run, folder_);
    process_ = start_process(program, arguments_of(run, folder_, threads), folder_ / kLog);
  }

  bool ended() {
    int status = 0;
    if (process_ == 0 || ::waitpid(process_, &status, WNOHANG) != process_) return process_ == 0;
    process_ = 0;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
  }
  void interrupt() { ::kill(process_, SIGINT); }

  // "" where the run left results.
  std::string error() const {
    const bool good = (code_ == kDone || code_ == kNotConverged) && fs::exists(folder_ / kRunFile);
    if (good || code_ == kInterrupted) return "";
    std::string log = io::read_bytes(folder_ / kLog);
    while (log.ends_with('\n')) log.pop_back();
    return fmt::format(
        "{}: {}", name_,
        log.empty() ? fmt::format("exit code {}", code_) : log.substr(log.rfind('\n') + 1));
  }

 private:
  std::string name_;
  fs::path folder_;
  pid_t process_ = 0;
  int code_ = 0;
};

/// The runs of one stage, as many at a time as there are threads.
class Stage {
 public:
  Stage(const Experiment& experiment, const RunsPlan& plan, int stage) : plan_(plan) {
    for (const ExperimentRun& run : experiment.runs)
      if (run.stage == stage && !is_done(run, plan.folder / run.name)) waiting_.push_back(&run);
    std::reverse(waiting_.begin(), waiting_.end());
    each_ = std::max(1, plan.threads / std::max(1, static_cast<int>(waiting_.size())));
  }

  bool running() const { return !waiting_.empty() || !children_.empty(); }

  void step(RunsResult& result, Index& done) {
    const bool stop = result.interrupted || !result.error.empty();
    if (stop) waiting_.clear();
    while (!waiting_.empty() && static_cast<int>(children_.size()) * each_ < plan_.threads) {
      const ExperimentRun& next = *waiting_.back();
      children_.emplace_back(plan_.program, next, plan_.folder / next.name, each_);
      waiting_.pop_back();
    }
    std::erase_if(children_, [&](Child& child) {
      if (!child.ended()) return false;
      if (result.error.empty()) result.error = child.error();
      ++done;
      return true;
    });
    if (!result.interrupted && plan_.interrupted()) {
      result.interrupted = true;
      for (Child& child : children_) child.interrupt();
    }
  }

 private:
  const RunsPlan& plan_;
  int each_ = 1;  ///< threads of one process
  std::vector<const ExperimentRun*> waiting_;
  std::vector<Child> children_;
};

}  // namespace

bool holds_runs(const fs::path& folder) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (fs::exists(entry.path() / kStamp, none)) return true;
  return false;
}

void forget_runs(const Experiment& experiment, const fs::path& folder) {
  for (const ExperimentRun& run : experiment.runs) remove_run(folder / run.name);
}

bool is_finished(const Experiment& experiment, const fs::path& folder) {
  return std::all_of(experiment.runs.begin(), experiment.runs.end(),
                     [&](const auto& run) { return is_done(run, folder / run.name); });
}

RunsResult run_commands(const Experiment& experiment, const RunsPlan& plan) {
  RunsResult result;
  Index done = 0;
  for (const ExperimentRun& run : experiment.runs)
    done += is_done(run, plan.folder / run.name) ? 1 : 0;
  // Before the first process starts: nobody would wait for it after an error.
  for (const ExperimentRun& run : experiment.runs) require_own(plan.folder / run.name);
  const int stages = experiment.runs.empty() ? 0 : experiment.runs.back().stage + 1;
  io::make_folder(plan.folder);
  for (int s = 0; s < stages && !result.interrupted && result.error.empty(); ++s) {
    Stage stage(experiment, plan, s);
    for (int tick = 0; stage.running(); ++tick) {
      stage.step(result, done);
      if (tick % 10 == 0) plan.progress(done);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
  plan.progress(done);
  return result;
}

}  // namespace udv::jobs
