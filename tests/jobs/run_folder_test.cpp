// SPDX-License-Identifier: MIT
#include "udv/jobs/run_folder.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>

#include "io/temporary_files.hpp"
#include "jobs/folder_lock.hpp"
#include "jobs/run_json.hpp"
#include "jobs/run_reader.hpp"
#include "udv/core/options.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace run_folder_test {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

class RunFolders : public ::testing::Test {
 protected:
  fs::path folder() const { return place_ / "out"; }
  std::string text(const std::string& name) const { return io::read_bytes(folder() / name); }
  bool has(const std::string& name) const { return fs::exists(folder() / name); }

  static FolderRules forced() {
    FolderRules rules;
    rules.force = true;
    return rules;
  }
  void write(RunFolder& run, const std::string& name, const std::string& bytes) const {
    io::write_atomically(run.file(name), bytes);
  }
  void finish(RunFolder& run, const std::string& command) const {
    io::RunInfo info;
    info.command = command;
    write_run_json(run, info, {{"rank", 3}});
  }
  // A finished run with these files, each holding the name of the command.
  void earlier_run(const std::string& command, const Names& files) const {
    RunFolder run(folder(), forced());
    for (const std::string& name : files) write(run, name, command);
    finish(run, command);
  }
  // Everything in the folder, hidden files too.
  Names contents() const {
    Names names;
    for (const auto& entry : fs::directory_iterator(folder()))
      names.insert(entry.path().filename().string());
    return names;
  }

  io::TemporaryFolder place_;
};

TEST_F(RunFolders, ShowNothingBeforeTheEnd) {
  RunFolder run(folder(), forced());
  write(run, "U.npy", "u");
  EXPECT_FALSE(has("U.npy"));
  EXPECT_FALSE(has("run.json"));
  EXPECT_EQ(run.files(), Names{"U.npy"});
  finish(run, "complete");
  EXPECT_EQ(text("U.npy"), "u");
  EXPECT_TRUE(has("run.json"));
}

TEST_F(RunFolders, LeaveNoStagingFolderBehind) {
  earlier_run("complete", {"U.npy"});
  EXPECT_EQ(contents(), (Names{"U.npy", "run.json"}));
}

TEST_F(RunFolders, ListTheFilesOfTheRun) {
  RunFolder run(folder(), forced());
  write(run, "U.npy", "u");
  io::write_atomically(run.growing_file("results.csv"), "a,b\n");
  finish(run, "sweep");
  const Json json = io::detail::read_json(folder() / "run.json");
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["files"], (Json{"U.npy", "results.csv"}));
  EXPECT_EQ(json["command"], "sweep");
  EXPECT_EQ(json["seed"], 0);
  EXPECT_TRUE(json.contains("config"));
  EXPECT_TRUE(json.contains("warnings"));
}

TEST_F(RunFolders, ReplaceExactlyTheFilesOfTheEarlierRun) {
  earlier_run("complete", {"U.npy", "d.npy", "history.csv"});
  io::write_atomically(folder() / "report.html", "page");
  io::write_atomically(folder() / "mine.txt", "precious");
  io::write_atomically(folder() / "V.npy", "of somebody else");
  earlier_run("phase", {"x.npy", "history.csv"});
  EXPECT_EQ(contents(), (Names{"V.npy", "history.csv", "mine.txt", "run.json", "x.npy"}));
  EXPECT_EQ(text("history.csv"), "phase");
  EXPECT_EQ(text("mine.txt"), "precious");
  EXPECT_EQ(text("V.npy"), "of somebody else");
}

TEST_F(RunFolders, ThatAreNotFinishedLeaveTheEarlierRunAsItWas) {
  earlier_run("complete", {"U.npy"});
  const std::string before = text("run.json");
  {
    RunFolder run(folder(), forced());
    write(run, "U.npy", "half");
    write(run, "d.npy", "half");
  }
  EXPECT_EQ(contents(), (Names{"U.npy", "run.json"}));
  EXPECT_EQ(text("U.npy"), "complete");
  EXPECT_EQ(text("run.json"), before);
}

TEST_F(RunFolders, ForgetWhatAKilledRunWasWriting) {
  io::make_folder(folder() / ".udv-new");
  io::write_atomically(folder() / ".udv-new/U.npy", "of a killed run");
  earlier_run("phase", {"x.npy"});
  EXPECT_EQ(contents(), (Names{"run.json", "x.npy"}));
}

// A run that was killed while its files were moved: this many of them are in place.
TEST_F(RunFolders, AreMadeWholeAfterAKillWhileFilesMove) {
  for (const bool by_reading : {false, true})
    for (int moved = 0; moved < 4; ++moved) {
      fs::remove_all(folder());
      earlier_run("complete", {"U.npy", "d.npy"});
      const fs::path staging = folder() / ".udv-new";
      io::make_folder(staging);
      for (const char* name : {"V.npy", "d.npy", "run.json"})
        io::write_atomically(staging / name,
                             name == std::string("run.json") ? R"({"command":"new"})" : "new");
      io::write_atomically(staging / ".whole.json", R"({"files":["V.npy","d.npy","run.json"]})");
      if (moved > 0) fs::rename(folder() / "run.json", staging / ".earlier-run.json");
      if (moved > 1) fs::rename(staging / "d.npy", folder() / "d.npy");
      if (moved > 2) fs::rename(staging / "V.npy", folder() / "V.npy");
      if (moved > 2) fs::remove(folder() / "U.npy");
      if (moved > 2) fs::rename(staging / "run.json", folder() / "run.json");
      if (by_reading)
        EXPECT_EQ(read_run_folder(folder()).run["command"], "new");
      else
        EXPECT_THROW(RunFolder(folder(), {false, false, ""}), OptionError);
      EXPECT_EQ(contents(), (Names{"V.npy", "d.npy", "run.json"})) << moved;
      EXPECT_EQ(text("d.npy"), "new");
    }
}

TEST_F(RunFolders, OfAKilledRunAreNobodysElse) {
  io::make_folder(folder() / ".udv-new");
  io::write_atomically(folder() / ".udv-new/.growing.json", R"({"files":["spectra.csv"]})");
  io::write_atomically(folder() / "spectra.csv", "epoch\n");
  io::write_atomically(folder() / "live.json", "{}");
  RunFolder run(folder(), {false, false, ""});
  EXPECT_FALSE(has(".udv-new/.growing.json"));
}

TEST_F(RunFolders, ForgetTheCheckpointOfTheRunThatTheyReplace) {
  earlier_run("complete", {"U.npy"});
  io::write_atomically(folder() / "checkpoint.bin", "old");
  earlier_run("complete", {"U.npy"});
  EXPECT_FALSE(has("checkpoint.bin"));
  RunFolder run(folder(), forced());
  run.save_checkpoint({"sta", "te"});
  EXPECT_EQ(text("checkpoint.bin"), "state");
  EXPECT_EQ(run.files(), Names{});
  finish(run, "complete");
  EXPECT_EQ(text("checkpoint.bin"), "state");
}

TEST_F(RunFolders, AreReplacedOnlyWhereTheRulesSaySo) {
  earlier_run("complete", {"U.npy"});
  EXPECT_THROW(RunFolder{folder()}, OptionError);
  FolderRules rules;
  rules.updates = "sweep";
  EXPECT_THROW(RunFolder(folder(), rules), OptionError);
  EXPECT_EQ(text("U.npy"), "complete");
  rules.updates = "complete";
  EXPECT_NO_THROW(RunFolder(folder(), rules));
  const fs::path place = place_ / "mine";
  io::make_folder(place);
  io::write_atomically(place / "claims.md", "mine");
  EXPECT_THROW(RunFolder{place}, OptionError);
  rules.own = {"claims.md"};
  EXPECT_NO_THROW(RunFolder(place, rules));
}

TEST_F(RunFolders, ThatNothingIsWrittenToGoAgain) {
  { RunFolder run(folder() / "deep/down"); }
  EXPECT_FALSE(fs::exists(folder()));
  io::make_folder(folder());
  { RunFolder run(folder() / "inner"); }
  EXPECT_TRUE(fs::is_empty(folder())) << "it was there before";
}

TEST_F(RunFolders, GiveTheSpaceForACheckpointToTheFirstFile) {
  RunFolder run(folder());
  run.save_checkpoint({std::string(1000, 's')});
  ASSERT_TRUE(has(".udv-new/.reserve"));
  run.file("U.npy");
  EXPECT_FALSE(has(".udv-new/.reserve"));
  run.save_checkpoint({"state"});
  EXPECT_TRUE(has(".udv-new/.reserve"));
  run.staging();
  EXPECT_FALSE(has(".udv-new/.reserve"));
}

// One process may hold a lock twice: what counts is who opened the file.
TEST_F(RunFolders, AreLockedByAFileThatGoesWithTheLock) {
  io::make_folder(folder());
  io::write_atomically(folder() / ".udv-lock", "");  // of a killed run
  FolderLock other;
  {
    RunFolder run(folder());
    EXPECT_TRUE(run.is_locked());
    EXPECT_FALSE(other.take(folder()));
    EXPECT_TRUE(has(".udv-lock"));
  }
  EXPECT_FALSE(has(".udv-lock"));
  EXPECT_TRUE(other.take(folder()));
  EXPECT_TRUE(other.is_locked());
}

// A file system without locks is no other run.
TEST(FileLocks, SayWhyTheyFail) {
  EXPECT_EQ(result_of_lock(0, "file"), LockResult::kTaken);
  EXPECT_EQ(result_of_lock(EWOULDBLOCK, "file"), LockResult::kBusy);
  for (const int none : {ENOLCK, ENOSYS, EOPNOTSUPP})
    EXPECT_EQ(result_of_lock(none, "file"), LockResult::kNoLocks) << none;
  EXPECT_THROW(lock_file(-1, "file"), IoError);
}

TEST_F(RunFolders, ReplaceFoldersAsAWhole) {
  for (const char* inside : {"a.txt", "b.txt"}) {
    RunFolder run(folder(), forced());
    io::make_folder(run.file("adapter"));
    io::write_atomically(run.file("adapter") / inside, inside);
    finish(run, "lora");
  }
  EXPECT_FALSE(has("adapter/a.txt"));
  EXPECT_TRUE(has("adapter/b.txt"));
}

TEST_F(RunFolders, KeepAFileThatGrewDuringTheEarlierRunToo) {
  for (const char* line : {"first\n", "second\n"}) {
    RunFolder run(folder(), forced());
    const fs::path csv = run.growing_file("results.csv");
    io::write_atomically(csv, (fs::exists(csv) ? io::read_bytes(csv) : "") + line);
    finish(run, "sweep");
  }
  EXPECT_EQ(text("results.csv"), "first\nsecond\n");
}

TEST_F(RunFolders, NeverFollowNamesOutOfTheFolder) {
  place_.write("outside.txt", "precious");
  io::make_folder(folder() / "below");
  io::write_atomically(folder() / "below/deep.txt", "precious");
  io::write_atomically(
      folder() / "run.json",
      R"({"format":1,"files":["../outside.txt","below/deep.txt","..",".","",3,null]})");
  earlier_run("phase", {"x.npy"});
  EXPECT_EQ(io::read_bytes(place_ / "outside.txt"), "precious");
  EXPECT_EQ(text("below/deep.txt"), "precious");
}

TEST_F(RunFolders, RemoveKnownFilesOfRunsBeforeFormatOne) {
  io::make_folder(folder());
  io::write_atomically(folder() / "run.json", R"({"command":"complete"})");
  io::write_atomically(folder() / "V.npy", "old");
  io::write_atomically(folder() / "mine.txt", "precious");
  earlier_run("phase", {"x.npy"});
  EXPECT_EQ(contents(), (Names{"mine.txt", "run.json", "x.npy"}));
}

TEST_F(RunFolders, WithADamagedRunJsonLoseNothingElse) {
  io::make_folder(folder());
  io::write_atomically(folder() / "run.json", "{\"files\": [");
  io::write_atomically(folder() / "U.npy", "whose?");
  earlier_run("phase", {"x.npy"});
  EXPECT_EQ(contents(), (Names{"U.npy", "run.json", "x.npy"}));
}

TEST_F(RunFolders, ThatCannotBeMadeAreNamed) {
  place_.write("out", "a file");
  EXPECT_NE(place_.error_of([&] { RunFolder run(folder(), forced()); }).find("out"),
            std::string::npos);
}

TEST_F(RunFolders, GiveTheModelOfARun) {
  io::make_folder(folder());
  EXPECT_EQ(model_path(folder().string()), folder() / "model.safetensors");
  EXPECT_EQ(model_path("other.safetensors"), "other.safetensors");
}

TEST_F(RunFolders, AreReadAgain) {
  RunFolder run(folder(), forced());
  write(run, "history.csv", "iteration,objective\n1,2.5\n2,nothing\n");
  finish(run, "complete");
  const RunContents contents = read_run_folder(folder());
  EXPECT_EQ(contents.run["rank"], 3);
  EXPECT_EQ(contents.files(), (std::vector<std::string>{"history.csv", "run.json"}));
  EXPECT_EQ(contents.full_history().at("iteration"), (std::vector<double>{1, 2}));
  EXPECT_TRUE(std::isnan(contents.full_history().at("objective")[1]));
  EXPECT_TRUE(contents.live.is_null());
}

TEST_F(RunFolders, OfAnUnknownFormatAreRefused) {
  io::make_folder(folder());
  io::write_atomically(folder() / "run.json", R"({"format":2})");
  EXPECT_EQ(place_.error_of([&] { read_run_folder(folder()); }),
            "out/run.json: format 2 found, 1 expected");
}

TEST_F(RunFolders, ThatAreNotFinishedShowTheirLiveHistory) {
  io::make_folder(folder());
  io::write_atomically(folder() / "live.json",
                       R"({"history":{"iteration":[1,2],"rank":[9,null]}})");
  const RunContents contents = read_run_folder(folder());
  EXPECT_TRUE(contents.run.empty());
  EXPECT_EQ(contents.full_history().at("iteration"), (std::vector<double>{1, 2}));
}

TEST_F(RunFolders, AreFoundBelowAFolder) {
  for (const char* name : {"b", "a/one", "a/two", ".hidden"}) {
    io::make_folder(folder() / name);
    io::write_atomically(folder() / name / "run.json", "{}");
  }
  std::vector<std::string> names;
  for (const FoundRun& run : find_run_folders(folder())) names.push_back(run.name);
  EXPECT_EQ(names, (std::vector<std::string>{"a/one", "a/two", "b"}));
  EXPECT_NE(place_.error_of([&] { find_run_folders(place_ / "nowhere"); }).find("folder of runs"),
            std::string::npos);
  io::make_folder(place_ / "empty");
  EXPECT_NE(place_.error_of([&] { find_run_folders(place_ / "empty"); }).find("no run.json"),
            std::string::npos);
}

}  // namespace run_folder_test
}  // namespace udv::jobs
