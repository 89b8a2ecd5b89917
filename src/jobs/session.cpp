// SPDX-License-Identifier: MIT
#include "udv/jobs/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>

#include "core/communicator.hpp"
#include "core/parse.hpp"
#include "core/require.hpp"
#include "jobs/live_file.hpp"
#include "udv/core/checkpoint.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/expansion.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr double kMostThreads = 1024;
constexpr const char* kSaveVariable = "UDV_SAVE_SECONDS";

Listener& silence() {
  static Listener listener;
  return listener;
}

fs::path folder_of(const RunOptions& options, const std::string& subfolder) {
  const fs::path out = options.out;
  return subfolder.empty() ? out : out / subfolder;
}

std::unique_ptr<RunFolder> open_folder(const Session& session, const std::string& subfolder,
                                       const std::string& continues) {
  FolderRules rules = session.folder_rules();
  rules.continues = continues;
  return std::make_unique<RunFolder>(folder_of(session.options(), subfolder), rules);
}

// What the environment says, where it does.
double save_interval(double usual) {
  const char* const text = std::getenv(kSaveVariable);
  if (text == nullptr || *text == '\0') return usual;
  double seconds = 0;
  require(parse_all(text, seconds) && seconds >= 0, kSaveVariable, ": '", text,
          "' found, a number of seconds expected");
  return seconds;
}

std::string time_stamp() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d-%H%M%S", std::localtime(&now));
  return text;
}

}  // namespace

void describe(OptionTable& table, RunOptions& options) {
  table.group("Run");
  table.add("out", options.out, "Folder for the results")
      .called("FOLDER")
      .default_is("a new one in udv-runs")
      .keeps_numbers();
  table.add("seed", options.seed, "Seed of all random numbers");
  table.add("threads", options.threads, "Threads; results do not depend on it")
      .between(1, kMostThreads)
      .default_is("all cores")
      .keeps_numbers();
  table.add("resume", options.resume, "Resume from the checkpoint in the folder of the results")
      .keeps_numbers();
  table
      .add("force", options.force,
           "Allow a folder that is not empty: replace the run in it, or start again instead of "
           "resuming; other files are kept")
      .keeps_numbers();
  table.add("time-limit", options.time_limit, "Stop after this time and keep the best")
      .positive()
      .measured_in("seconds")
      .default_is("none")
      .keeps_numbers();
  io::add_max_expand(table, options.max_expand);
}

double ProgressTotal::share_done(const IterationRecord& record) const {
  const double by_count =
      iterations > 0 ? static_cast<double>(record.iteration) / static_cast<double>(iterations) : 0;
  const double by_time = seconds > 0 ? record.seconds / seconds : 0;
  return std::clamp(std::max(by_count, by_time), 0.0, 1.0);
}

Session::Session(RunOptions options, Listener* listener)
    : options_(std::move(options)), listener_(listener) {
  set_num_threads(options_.threads);
  io::set_max_expand(options_.max_expand);
}

Listener& Session::listener() {
  return listener_ != nullptr ? *listener_ : silence();
}

FolderRules Session::folder_rules() const {
  FolderRules rules;
  rules.resume = options_.resume;
  rules.force = options_.force;
  return rules;
}

EarlyFolder::EarlyFolder(Session& session, const std::string& subfolder,
                         const std::string& continues)
    : session_(session) {
  if (session.has_folder()) session.early_ = open_folder(session, subfolder, continues);
}

namespace {

// Everything that decides the numbers of a run.
std::string whole_fingerprint(const Session& session, const std::string& fingerprint) {
  return message("seed ", session.seed(), "; ", fingerprint);
}

// The payload of a checkpoint that belongs to this job with these settings.
std::string payload_of(const fs::path& path, const std::string& job,
                       const std::string& fingerprint) {
  try {
    Checkpoint checkpoint = checkpoint_from_bytes(io::read_bytes(path));
    check_belongs(checkpoint, job, fingerprint);
    return std::move(checkpoint.payload);
  } catch (const InvalidArgument& error) {
    throw IoError(message(path.string(), ": ", error.what()));
  }
}

}  // namespace

std::string EarlyFolder::state(const std::string& job, const std::string& fingerprint) const {
  if (!session_.options().resume || !session_.early_) return "";
  const fs::path path = session_.early_->checkpoint();
  return fs::exists(path) ? payload_of(path, job, whole_fingerprint(session_, fingerprint)) : "";
}

EarlyFolder::~EarlyFolder() {
  session_.early_.reset();
}

/// What is told about a computation while it goes on.
class Run::Watch {
 public:
  Watch(Run& run, const ProgressTotal& total, const ProgressWords& words)
      : listener_(run.session_.listener()) {
    if (run.folder_)
      live_ = std::make_unique<LiveFile>(run.path(), run.info_.command, total, words);
    listener_.begin(total, words);
  }
  ~Watch() {
    if (live_ && listener_.interrupted()) live_->set_interrupted();
    listener_.end();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  Observer observer(double time_limit) {
    std::vector<Observer> observers{[this](const IterationRecord& record) {
      listener_.progress(record);
      return listener_.interrupted() ? Verdict::kInterrupt : Verdict::kContinue;
    }};
    if (live_) observers.push_back(live_->observer());
    if (time_limit > 0) observers.push_back(time_limit_from_now(time_limit));
    return combine(std::move(observers));
  }

 private:
  Listener& listener_;
  std::unique_ptr<LiveFile> live_;
};

Run::Run(Session& session, std::string job, std::map<std::string, Setting> config,
         std::string fingerprint)
    : Run(session, std::move(job), std::move(config), std::move(fingerprint), "") {}

Run::Run(Session& session, std::string job, std::map<std::string, Setting> config,
         std::string fingerprint, const std::string& subfolder, const std::string& continues)
    : session_(session),
      fingerprint_(whole_fingerprint(session, fingerprint)),
      continues_(continues) {
  info_.command = std::move(job);
  info_.config = std::move(config);
  info_.seed = session.seed();
  info_.config["threads"] = static_cast<std::int64_t>(num_threads());
  if (session.options().time_limit > 0) info_.config["time-limit"] = session.options().time_limit;
  if (session.has_folder()) take_folder(subfolder);
}

// The one that was taken early, where it is this one.
void Run::take_folder(const std::string& subfolder) {
  if (session_.early_ && session_.early_->path() == folder_of(session_.options(), subfolder))
    folder_ = std::move(session_.early_);
  else
    folder_ = open_folder(session_, subfolder, continues_);
  if (!folder_->is_locked())
    warn(path().string() +
         ": this file system has no locks: make sure that no other run writes to this folder");
}

Run::~Run() = default;

fs::path Run::path() const {
  return folder_ ? folder_->path() : fs::path();
}

void Run::warn(const std::string& text) {
  session_.listener().warning(text);
  info_.warnings.push_back(text);
}

bool Run::has_checkpoint() const {
  return folder_ && fs::exists(folder_->checkpoint());
}

void Run::remove_checkpoint() {
  std::error_code ignored;
  if (folder_) fs::remove(folder_->checkpoint(), ignored);
}

// The state in the checkpoint of this folder; empty where a run starts from the beginning.
std::string Run::state_to_resume() {
  if (!session_.options().resume || !folder_) return "";
  const fs::path path = folder_->checkpoint();
  if (!fs::exists(path)) {
    if (!continues_.empty() && fs::exists(folder_->path() / continues_)) return "";
    session_.listener().warning(path.string() +
                                ": no checkpoint found, starting from the beginning");
    return "";
  }
  return payload_of(path, info_.command, fingerprint_);
}

Hooks Run::hooks(const ProgressTotal& total, const ProgressWords& words) {
  Hooks hooks;
  hooks.resume = from_root(state_to_resume());
  stop_watching();
  watch_ = std::make_unique<Watch>(*this, total, words);
  hooks.observer = watch_->observer(session_.options().time_limit);
  hooks.save_every_seconds = save_interval(hooks.save_every_seconds);
  if (folder_) hooks.save = [this](const std::string& state) { save(state); };
  return hooks;
}

// A state that cannot be written is an error if the run ends here, else a warning.
void Run::save(const std::string& state) {
  try {
    const CheckpointFrame frame = checkpoint_frame(info_.command, fingerprint_, state);
    folder_->save_checkpoint({frame.head, state, frame.tail});
    warned_of_save_ = false;
  } catch (const IoError& error) {
    if (session_.interrupted()) throw;
    if (!std::exchange(warned_of_save_, true))
      warn(message(error.what(), "; the run continues, but cannot be resumed from here"));
  }
}

void Run::stop_watching() {
  watch_.reset();
}

std::string new_run_folder(const std::string& job) {
  const std::string base = "udv-runs/" + job + "-" + time_stamp();
  std::string folder = base;
  for (int n = 2; fs::exists(folder); ++n) folder = fmt::format("{}-{}", base, n);
  return folder;
}

}  // namespace udv::jobs
