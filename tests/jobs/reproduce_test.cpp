// SPDX-License-Identifier: MIT
#include "udv/jobs/reproduce.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "jobs/folder_lock.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace reproduce_test {

namespace fs = std::filesystem;

// Stands for udv: writes what it was told into the folder after --out. "solve RANK" ends with a
// run.json, "wait" with a checkpoint once it is interrupted, "fail" with a message.
constexpr const char* kProgram = R"(#!/bin/sh
kind=$1 rank=$2 all="$*"
while [ $# -gt 1 ]; do [ "$1" = --out ] && out=$2; shift; done
# Before the call is told: the interrupt may come at once.
[ "$kind" = wait ] && trap 'echo state >"$out/checkpoint.bin"; exit 130' INT
echo "$all" >>"$out/calls.txt"
case $kind in
  solve) echo "{\"rank\":$rank,\"seconds\":2}" >"$out/run.json" ;;
  wait) while :; do sleep 0.01; done ;;
  fail) echo "no such thing"; exit 3 ;;
esac
)";

/// Wants to stop once all runs of an experiment have started.
struct Impatient : Listener {
  bool interrupted() override { return !waits_for.empty() && fs::exists(waits_for); }
  fs::path waits_for;
};

class ReproduceJob : public ::testing::Test {
 protected:
  ReproduceJob() {
    const fs::path program = folder_.write("program", kProgram);
    fs::permissions(program, fs::perms::owner_all);
    options_.program = program;
    set_num_threads(2);
  }
  ~ReproduceJob() override { set_num_threads(0); }

  // Two runs of one command; the claim is that the rank is 2.
  std::string experiment(const std::string& command, const std::string& more = "") {
    return folder_
        .write("e.toml", "title = \"T\"\nwhere = \"W\"\nclaim = \"C\"\n" + more +
                             "[values]\nseed = [\"0\", \"1\"]\n[[runs]]\nover = [\"seed\"]\n"
                             "name = \"run-{seed}\"\ncommand = \"" +
                             command +
                             " --seed {seed}\"\n[[checks]]\ntext = \"rank\"\nfigure = \"rank\"\n"
                             "equals = 2\n")
        .string();
  }
  ReproduceResult reproduce(const std::string& name) {
    RunOptions run;
    run.out = (folder_ / "out").string();
    run.threads = 2;
    Session session(run, &listener_);
    return jobs::reproduce({{name}}, options_, session);
  }
  std::string calls(const std::string& run) const {
    return io::read_bytes(folder_ / "out/e" / run / "calls.txt");
  }

  io::TemporaryFolder folder_;
  ReproduceOptions options_;
  Impatient listener_;
};

TEST_F(ReproduceJob, RunsTheCommandsAndChecksTheClaim) {
  std::vector<std::string> told;
  options_.finished = [&](const Reproduced& one) { told.push_back(one.experiment.name); };
  const ReproduceResult result = reproduce(experiment("solve 2"));
  EXPECT_EQ(result.outcome, Outcome::kDone);
  ASSERT_EQ(result.experiments.size(), 1u);
  EXPECT_EQ(result.experiments[0].outcome.status, ClaimStatus::kSeen);
  EXPECT_EQ(result.experiments[0].outcome.seconds, 4);
  EXPECT_EQ(result.count(ClaimStatus::kSeen), 1);
  EXPECT_EQ(told, std::vector<std::string>{"e"});
  EXPECT_EQ(calls("run-1"), "solve 2 --seed 1 --out " + (folder_ / "out/e/run-1").string() +
                                " --report off --quiet --threads 1 --force\n");
  const std::string claims = io::read_bytes(folder_ / "out/claims.md");
  EXPECT_NE(claims.find("**seen** (W, `e`): C"), claims.npos) << claims;
}

TEST_F(ReproduceJob, ShowsAClaimThatDoesNotHold) {
  const ReproduceResult result = reproduce(experiment("solve 3"));
  EXPECT_EQ(result.outcome, Outcome::kDone);
  EXPECT_EQ(result.experiments[0].outcome.status, ClaimStatus::kNotSeen);
  EXPECT_EQ(result.experiments[0].outcome.checks[0].ours, "3");
}

TEST_F(ReproduceJob, RunsNothingTwiceUnlessFreshOrChanged) {
  reproduce(experiment("solve 2"));
  const std::string once = calls("run-0");
  reproduce(experiment("solve 2"));
  EXPECT_EQ(calls("run-0"), once);
  options_.fresh = true;
  reproduce(experiment("solve 2"));
  EXPECT_EQ(calls("run-0"), once) << "the folder was made anew";
  options_.fresh = false;
  EXPECT_EQ(reproduce(experiment("solve 3")).count(ClaimStatus::kNotSeen), 1);
}

TEST_F(ReproduceJob, TellsWhatFailed) {
  const ReproduceResult result = reproduce(experiment("fail"));
  EXPECT_EQ(result.outcome, Outcome::kLimited);
  const std::string note = result.experiments[0].outcome.note;
  EXPECT_NE(note.find("failed: run-"), note.npos) << note;
  EXPECT_NE(note.find("no such thing"), note.npos) << note;
}

TEST_F(ReproduceJob, SaysWhatIsMissing) {
  options_.data = (folder_ / "data").string();
  EXPECT_EQ(reproduce(experiment("solve 2", "needs = [\"a.csv\"]\n")).experiments[0].outcome.note,
            "needs a.csv in " + options_.data);
  EXPECT_EQ(reproduce(experiment("solve 2", "component = \"deep\"\n")).experiments[0].outcome.note,
            "needs the component deep");
  folder_.write("udv-deep", "");  // beside the program
  EXPECT_EQ(reproduce(experiment("solve 2", "component = \"deep\"\n")).count(ClaimStatus::kSeen),
            1);
}

TEST_F(ReproduceJob, PassesAnInterruptOnAndResumesFromTheCheckpoints) {
  listener_.waits_for = folder_ / "out/e/run-1/calls.txt";
  const ReproduceResult result = reproduce(experiment("wait"));
  EXPECT_EQ(result.outcome, Outcome::kInterrupted);
  EXPECT_TRUE(result.experiments.empty());
  EXPECT_TRUE(fs::exists(folder_ / "out/e/run-1/checkpoint.bin"));
  EXPECT_FALSE(fs::exists(folder_ / "out/claims.md"));
  EXPECT_FALSE(fs::exists(folder_ / "out/.udv-new"));
  fs::remove(folder_ / "out/e/run-1/calls.txt");
  EXPECT_EQ(reproduce(experiment("wait")).outcome, Outcome::kInterrupted);
  EXPECT_NE(calls("run-1").find("--resume"), std::string::npos);
}

TEST_F(ReproduceJob, RefusesBeforeAnythingIsWritten) {
  EXPECT_THROW(reproduce("fig99"), OptionError);
  EXPECT_THROW(reproduce((folder_ / "no.toml").string()), IoError);
  folder_.write("bad.toml", "title = 3\n");
  EXPECT_THROW(reproduce((folder_ / "bad.toml").string()), IoError);
  Session session;
  EXPECT_THROW(jobs::reproduce({}, options_, session), OptionError);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(ReproduceJob, RefusesAnExperimentThatAnotherProcessRuns) {
  fs::create_directories(folder_ / "out/e");
  FolderLock other;
  ASSERT_TRUE(other.take(folder_ / "out/e"));
  EXPECT_THROW(reproduce(experiment("solve 2")), IoError);
}

TEST_F(ReproduceJob, LeavesFoldersOfOthersAlone) {
  fs::create_directories(folder_ / "out/e/run-0");
  folder_.write("out/e/run-0/mine.txt", "precious");
  EXPECT_THROW(reproduce(experiment("solve 2")), IoError);
  EXPECT_EQ(io::read_bytes(folder_ / "out/e/run-0/mine.txt"), "precious");
}

TEST(BuiltInExperiments, ListFiguresByNumberFirst) {
  const std::vector<Experiment> experiments = built_in_experiments({});
  ASSERT_GE(experiments.size(), 24u);
  EXPECT_EQ(experiments[0].name, "fig1-init");
}

}  // namespace reproduce_test
}  // namespace udv::jobs
