// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/core/options.hpp"
#include "udv/jobs/run_folder.hpp"

namespace udv::jobs {

/// Settings of every job.
struct RunOptions {
  std::string out;         ///< folder of the results; empty: nothing is written
  std::uint64_t seed = 0;  ///< of all random numbers
  int threads = 0;         ///< 0: all cores; results do not depend on it
  bool resume = false;     ///< resume from the checkpoint in `out`
  bool force = false;      ///< replace what is in `out`
  double time_limit = 0;   ///< seconds; 0: none
  double max_expand = 0;   ///< GiB that a packed file may unpack to; 0: 16, and 1,000-fold
};
UDV_EXPORT void describe(OptionTable& table, RunOptions& options);

/// How a job ended; a failure is an exception.
enum class Outcome {
  kDone,
  kLimited,      ///< diverged or reached a limit; results are written all the same
  kInterrupted,  ///< a checkpoint was written where there is a folder; no results
};

/// How far a computation goes: so many iterations or so many seconds; 0 where that is not known.
struct UDV_EXPORT ProgressTotal {
  Index iterations = 0;
  double seconds = 0;

  /// Between 0 and 1; 0 where nobody knows.
  double share_done(const IterationRecord& record) const;
};

/// What the figures of a record are called.
struct ProgressWords {
  const char* iteration = "iteration";
  const char* objective = "objective";
  const char* rank = "rank";
};

/// What a front end does while a job runs: a terminal draws a bar, a notebook another one.
class UDV_EXPORT Listener {
 public:
  virtual ~Listener() = default;
  virtual void begin(const ProgressTotal&, const ProgressWords&) {}
  virtual void progress(const IterationRecord&) {}
  virtual void end() {}
  virtual void warning(const std::string&) {}
  /// Something worth knowing before a long computation.
  virtual void notice(const std::string&) {}
  /// True once the user wants to stop.
  virtual bool interrupted() { return false; }
};

/// What all jobs share: threads, seed, limits, the front end and where results go.
class UDV_EXPORT Session {
 public:
  explicit Session(RunOptions options = {}, Listener* listener = nullptr);

  const RunOptions& options() const { return options_; }
  std::uint64_t seed() const { return options_.seed; }
  bool has_folder() const { return !options_.out.empty(); }
  bool interrupted() const { return listener_ != nullptr && listener_->interrupted(); }
  Listener& listener();
  void notice(const std::string& text) { listener().notice(text); }
  /// What these options mean for a folder that holds something.
  FolderRules folder_rules() const;

 private:
  friend class Run;
  friend class EarlyFolder;
  RunOptions options_;
  Listener* listener_;
  std::unique_ptr<RunFolder> early_;
};

/// Takes the folder of a run before anything long is done, so that what is in its way is told at
/// once. The next Run in this folder gets it; where there is none, all is as it was before.
class UDV_EXPORT EarlyFolder {
 public:
  /// The arguments are those of the Run. Throws what it would throw about its folder.
  explicit EarlyFolder(Session& session, const std::string& subfolder = "",
                       const std::string& continues = "");
  ~EarlyFolder();
  /// The state in its checkpoint, which must be of this job with these settings, as the Run gets
  /// them. Empty where nothing is resumed.
  std::string state(const std::string& job, const std::string& fingerprint) const;
  EarlyFolder(const EarlyFolder&) = delete;
  EarlyFolder& operator=(const EarlyFolder&) = delete;

 private:
  Session& session_;
};

/// One job while it runs: its folder, its checkpoint, its observers and its warnings. Everything
/// that can be wrong with the input is found before one is made.
class UDV_EXPORT Run {
 public:
  /// What run.json records and a checkpoint is held against. The fingerprint says everything that
  /// decides the numbers besides the seed; settings are those of a job's option table.
  Run(Session& session, std::string job, std::map<std::string, Setting> config,
      std::string fingerprint);
  /// The same in a folder of its own inside that of the session, where that is not empty. A run
  /// that is resumed without a checkpoint goes on from the results that `continues` names.
  Run(Session& session, std::string job, std::map<std::string, Setting> config,
      std::string fingerprint, const std::string& subfolder, const std::string& continues = "");
  ~Run();
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Observers, time limit, interrupts and checkpoints for a computation that starts now. The
  /// environment variable UDV_SAVE_SECONDS says how often checkpoints are written; default 30.
  Hooks hooks(const ProgressTotal& total, const ProgressWords& words = {});
  /// Ends what hooks() began: the progress bar and the live file.
  void stop_watching();
  /// The result of a computation with hooks of this run. What it says about the state that it
  /// resumes from is told with the name of the checkpoint (IoError).
  template <typename Compute>
  auto compute(const Hooks& hooks, const Compute& computation) {
    try {
      auto result = computation();
      stop_watching();
      return result;
    } catch (const InvalidArgument& error) {
      if (hooks.resume.empty()) throw;
      throw IoError(folder_->checkpoint().string() + ": " + error.what());
    }
  }

  /// Told to the front end and kept for run.json.
  void warn(const std::string& text);

  bool has_folder() const { return folder_ != nullptr; }
  /// Only where there is a folder.
  RunFolder& folder() { return *folder_; }
  /// Empty where there is no folder.
  std::filesystem::path path() const;
  /// The checkpoint file is there.
  bool has_checkpoint() const;
  void remove_checkpoint();

  Session& session() { return session_; }
  const std::string& fingerprint() const { return fingerprint_; }
  /// What run.json says besides the results: command, settings, seed, warnings.
  io::RunInfo& info() { return info_; }

 private:
  class Watch;
  void take_folder(const std::string& subfolder);
  std::string state_to_resume();
  void save(const std::string& state);

  Session& session_;
  io::RunInfo info_;
  std::string fingerprint_, continues_;
  bool warned_of_save_ = false;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<Watch> watch_;
};

/// A new folder "udv-runs/JOB-TIME" for results that nobody gave a place.
UDV_EXPORT std::string new_run_folder(const std::string& job);

}  // namespace udv::jobs
