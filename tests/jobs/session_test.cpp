// SPDX-License-Identifier: MIT
#include "udv/jobs/session.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"
#include "io/temporary_files.hpp"
#include "jobs/run_json.hpp"
#include "udv/core/checkpoint.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace session_test {

namespace fs = std::filesystem;

/// A front end that keeps what it was told and may want to stop.
struct Diary : Listener {
  void begin(const ProgressTotal& total, const ProgressWords&) override {
    events.push_back(message("begin ", total.iterations));
  }
  void progress(const IterationRecord& record) override {
    events.push_back(message("progress ", record.iteration));
    stop = stop || record.iteration == stop_at;
  }
  void end() override { events.push_back("end"); }
  void warning(const std::string& text) override { events.push_back("warning " + text); }
  void notice(const std::string& text) override { events.push_back("notice " + text); }
  bool interrupted() override { return stop; }

  std::vector<std::string> events;
  Index stop_at = -1;
  bool stop = false;
};

/// A computation that counts to `last`; its state is the number it has reached.
Index count_to(Index last, const Hooks& hooks) {
  Index n = hooks.resume.empty() ? 0 : std::stol(hooks.resume);
  for (; n < last; ++n) {
    IterationRecord record;
    record.iteration = n + 1;
    if (hooks.observer(record) == Verdict::kContinue) continue;
    if (hooks.save) hooks.save(std::to_string(n + 1));
    return n + 1;
  }
  return n;
}

class Sessions : public ::testing::Test {
 protected:
  Session session(const std::string& out, bool resume = false, bool force = false) {
    RunOptions options;
    options.force = force;
    if (!out.empty()) options.out = (folder_ / out).string();
    options.resume = resume;
    return Session(options, &diary_);
  }

  io::TemporaryFolder folder_;
  Diary diary_;
};

TEST_F(Sessions, TellTheFrontEndHowAComputationGoes) {
  Session session = this->session("");
  jobs::Run run(session, "count", {}, "to 3");
  EXPECT_EQ(count_to(3, run.hooks({3})), 3);
  run.stop_watching();
  run.warn("careful");
  session.notice("by the way");
  EXPECT_EQ(diary_.events,
            (std::vector<std::string>{"begin 3", "progress 1", "progress 2", "progress 3", "end",
                                      "warning careful", "notice by the way"}));
  EXPECT_EQ(run.info().warnings, std::vector<std::string>{"careful"});
}

TEST_F(Sessions, WithoutAFrontEndAreSilent) {
  Session session;
  jobs::Run run(session, "count", {}, "");
  EXPECT_EQ(count_to(5, run.hooks({5})), 5);
  EXPECT_FALSE(run.has_folder());
  EXPECT_TRUE(run.path().empty());
}

TEST_F(Sessions, WithoutAFolderWriteNothing) {
  Session session = this->session("");
  jobs::Run run(session, "count", {}, "");
  EXPECT_FALSE(run.hooks({1}).save);
  EXPECT_FALSE(run.has_checkpoint());
  EXPECT_TRUE(fs::is_empty(folder_ / ""));
}

TEST_F(Sessions, ResumeWhereAnInterruptStoppedThem) {
  diary_.stop_at = 2;
  {
    Session session = this->session("out");
    jobs::Run run(session, "count", {}, "to 5");
    EXPECT_EQ(count_to(5, run.hooks({5})), 2);
    EXPECT_TRUE(run.has_checkpoint());
  }
  EXPECT_FALSE(fs::exists(folder_ / "out/run.json"));
  EXPECT_FALSE(fs::exists(folder_ / "out/.udv-new"));
  diary_ = {};
  Session session = this->session("out", true);
  jobs::Run run(session, "count", {}, "to 5");
  EXPECT_EQ(count_to(5, run.hooks({5})), 5);
  EXPECT_EQ(diary_.events[1], "progress 3");
  run.remove_checkpoint();
  EXPECT_FALSE(run.has_checkpoint());
}

TEST_F(Sessions, StopAtTheTimeLimit) {
  RunOptions options;
  options.time_limit = 1e-9;
  Session session(options, &diary_);
  jobs::Run run(session, "count", {}, "");
  const Hooks hooks = run.hooks({5});
  IterationRecord record;
  record.seconds = 1;
  EXPECT_EQ(hooks.observer(record), Verdict::kTimeLimit);
}

TEST_F(Sessions, WithoutACheckpointStartFromTheBeginningAndSaySo) {
  Session session = this->session("out", true);
  jobs::Run run(session, "count", {}, "");
  EXPECT_EQ(count_to(2, run.hooks({2})), 2);
  EXPECT_NE(diary_.events[0].find("no checkpoint"), std::string::npos) << diary_.events[0];
}

TEST_F(Sessions, RefuseACheckpointOfSomethingElse) {
  fs::create_directory(folder_ / "out");
  const std::string good = to_bytes({"count", "seed 0; to 5", "3"});
  for (const auto& [bytes, problem] : std::vector<std::pair<std::string, std::string>>{
           {good.substr(0, good.size() / 2), "damaged or cut short"},
           {"hello", "not a checkpoint"},
           {to_bytes({"train", "seed 0; to 5", "3"}), "job 'train'"},
           {to_bytes({"count", "seed 1; to 5", "3"}), "seed 1 found, seed 0 expected"},
           {to_bytes({"count", "seed 0; to 6", "3"}), "to 6 found, to 5 expected"}}) {
    folder_.write("out/checkpoint.bin", bytes);
    Session session = this->session("out", true);
    jobs::Run run(session, "count", {}, "to 5");
    const std::string error = folder_.error_of([&] { run.hooks({5}); });
    EXPECT_EQ(error.find("out/checkpoint.bin: "), 0u) << error;
    EXPECT_NE(error.find(problem), error.npos) << error;
  }
}

TEST_F(Sessions, AnInterruptedRunLeavesTheEarlierOne) {
  {
    Session session = this->session("out");
    jobs::Run run(session, "count", {{"last", std::int64_t{5}}}, "");
    io::write_atomically(run.folder().file("U.npy"), "first");
    write_run_json(run.folder(), run.info(), {{"rank", 1}});
  }
  const std::string before = io::read_bytes(folder_ / "out/run.json");
  diary_.stop_at = 1;
  {
    Session session = this->session("out", false, true);
    jobs::Run run(session, "count", {}, "");
    count_to(5, run.hooks({5}));
    io::write_atomically(run.folder().file("U.npy"), "second");
  }
  EXPECT_EQ(io::read_bytes(folder_ / "out/run.json"), before);
  EXPECT_EQ(io::read_bytes(folder_ / "out/U.npy"), "first");
}

TEST_F(Sessions, RefuseAFolderThatHoldsSomething) {
  const auto refusal = [&](const std::string& continues = "") -> std::string {
    Session session = this->session("out");
    try {
      jobs::Run run(session, "count", {}, "", "", continues);
    } catch (const OptionError& error) {
      return error.what();
    }
    return "";
  };
  const auto expect_both_ways = [](const std::string& error, const std::string& what) {
    for (const std::string& word : {what, std::string("resume"), std::string("force")})
      EXPECT_NE(error.find(word), error.npos) << error;
  };
  fs::create_directory(folder_ / "out");
  folder_.write("out/.hidden", "of an editor");
  EXPECT_EQ(refusal(), "");
  folder_.write("out/notes.txt", "precious");
  EXPECT_NE(refusal().find("notes.txt"), std::string::npos) << refusal();
  folder_.write("out/results.csv", "a,b\n");
  expect_both_ways(refusal("results.csv"), "results.csv");
  folder_.write("out/run.json", "{}");
  EXPECT_NE(refusal().find("finished run"), std::string::npos) << refusal();
  folder_.write("out/checkpoint.bin", "state");
  expect_both_ways(refusal(), "checkpoint");
  Session forced = this->session("out", false, true);
  { jobs::Run run(forced, "count", {}, ""); }
  EXPECT_EQ(io::read_bytes(folder_ / "out/notes.txt"), "precious");
  EXPECT_EQ(io::read_bytes(folder_ / "out/checkpoint.bin"), "state");
}

TEST_F(Sessions, GoOnFromResultsWhereTheyCan) {
  fs::create_directory(folder_ / "out");
  folder_.write("out/results.csv", "a,b\n");
  Session session = this->session("out", true);
  jobs::Run run(session, "count", {}, "", "", "results.csv");
  EXPECT_EQ(run.hooks({1}).resume, "");
  EXPECT_EQ(diary_.events, std::vector<std::string>{"begin 1"});
}

TEST_F(Sessions, RefuseASecondRunInOneFolder) {
  Session session = this->session("out"), other = this->session("out", true, true);
  jobs::Run run(session, "count", {}, "");
  const std::string error = folder_.error_of([&] { jobs::Run second(other, "count", {}, ""); });
  EXPECT_NE(error.find("another run writes to this folder"), error.npos) << error;
}

TEST_F(Sessions, TakeTheirFolderEarly) {
  Session session = this->session("out");
  {
    const EarlyFolder early(session);
    EXPECT_TRUE(fs::exists(folder_ / "out"));
    Session other = this->session("out");
    EXPECT_THROW(EarlyFolder second(other), IoError);
  }
  EXPECT_FALSE(fs::exists(folder_ / "out")) << "no run was made";
  const EarlyFolder early(session);
  jobs::Run run(session, "count", {}, "");
  io::write_atomically(run.folder().file("U.npy"), "u");
  write_run_json(run.folder(), run.info(), {{"rank", 1}});
  EXPECT_TRUE(fs::exists(folder_ / "out/U.npy"));
  Session later = this->session("out");
  EXPECT_THROW(EarlyFolder third(later), IoError) << "the run still has it";
}

TEST_F(Sessions, GoOnWhereAStateCannotBeWritten) {
  Session session = this->session("out");
  jobs::Run run(session, "count", {}, "");
  const Hooks hooks = run.hooks({5});
  hooks.save("1");
  fs::remove(folder_ / "out/checkpoint.bin");
  fs::create_directory(folder_ / "out/checkpoint.bin");
  hooks.save("2");
  hooks.save("3");
  EXPECT_EQ(run.info().warnings.size(), 1u);
  diary_.stop = true;
  EXPECT_THROW(hooks.save("4"), IoError);
}

TEST_F(Sessions, RecordSettingsSeedAndThreads) {
  RunOptions options;
  options.out = (folder_ / "out").string();
  options.seed = 7;
  options.threads = 2;
  options.time_limit = 60;
  Session session(options);
  jobs::Run run(session, "count", {{"last", std::int64_t{5}}}, "to 5");
  EXPECT_EQ(run.fingerprint(), "seed 7; to 5");
  write_run_json(run.folder(), run.info(), {{"rank", 1}});
  const Json json = io::detail::read_json(folder_ / "out/run.json");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["config"]["last"], 5);
  EXPECT_EQ(json["config"]["threads"], 2);
  EXPECT_EQ(json["config"]["time-limit"], 60);
  set_num_threads(0);
}

TEST_F(Sessions, HaveRunsInFoldersOfTheirOwn) {
  Session session = this->session("out");
  jobs::Run run(session, "count", {}, "", "inner");
  EXPECT_EQ(run.path(), folder_ / "out/inner");
}

TEST(Progress, IsTheShareOfStepsOrOfTime) {
  IterationRecord record;
  record.iteration = 5;
  record.seconds = 30;
  EXPECT_EQ(ProgressTotal{}.share_done(record), 0);
  EXPECT_EQ((ProgressTotal{10, 0}).share_done(record), 0.5);
  EXPECT_EQ((ProgressTotal{10, 40}).share_done(record), 0.75);
  EXPECT_EQ((ProgressTotal{2, 0}).share_done(record), 1);
}

TEST(RunOptionTable, ChecksItsRanges) {
  RunOptions options;
  OptionTable table;
  describe(table, options);
  EXPECT_THROW(table.set("threads", "0"), OptionError);
  EXPECT_THROW(table.set("threads", "1025"), OptionError);
  EXPECT_THROW(table.set("time-limit", "0"), OptionError);
  EXPECT_THROW(table.set("seed", "-1"), OptionError);
  table.set("threads", "3");
  EXPECT_EQ(options.threads, 3);
}

}  // namespace session_test
}  // namespace udv::jobs
