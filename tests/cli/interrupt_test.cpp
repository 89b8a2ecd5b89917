// SPDX-License-Identifier: MIT
#include <cmath>

#include "cli/support.hpp"

namespace udv::cli {
namespace interrupt_test {

using std::chrono::milliseconds;

bool has_temporary_files(const Cli& cli) {
  for (const auto& [name, bytes] : cli.files("out"))
    if (name.ends_with(".tmp") || name.starts_with(".")) return true;
  return false;
}

/// A run that is interrupted after each of the times (in ms) and resumed, then left to end by
/// itself.
struct Interrupted {
  int interruptions = 0;
  Outcome last;
};

Interrupted run_with_interruptions(const Cli& cli, const std::string& command,
                                   const std::vector<int>& times) {
  Interrupted run;
  for (const int time : times) {
    const auto process =
        cli.start(command + " --out out" + (run.interruptions > 0 ? " --resume" : ""));
    process->catches(SIGINT);
    std::this_thread::sleep_for(milliseconds(time));
    process->send(SIGINT);
    run.last = process->wait();
    if (run.last.code != 130) return run;  // it was faster
    ++run.interruptions;
    EXPECT_TRUE(cli.exists("out/checkpoint.bin")) << run.last;
    EXPECT_FALSE(cli.exists("out/run.json")) << "a run without an answer";
    EXPECT_FALSE(has_temporary_files(cli));
  }
  run.last = cli.run(command + " --out out --resume");
  return run;
}

// Interrupted after shares of the time of the whole run: machines differ.
void expect_same_as_uninterrupted(const Planted& planted, const std::string& flags,
                                  const std::vector<double>& shares) {
  const Cli cli;
  cli.write("data.csv", triplets(planted.entries));
  const std::string command = "complete data.csv --quiet " + flags;
  const auto start = std::chrono::steady_clock::now();
  const Outcome whole = cli.run(command + " --out whole --threads 1");
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  std::vector<int> times;
  for (const double share : shares) times.push_back(static_cast<int>(share * took.count()));
  const Interrupted run = run_with_interruptions(cli, command + " --threads 2", times);
  EXPECT_GE(run.interruptions, 1) << "the run is too short for this test";
  EXPECT_EQ(run.last.code, whole.code) << run.last;
  for (const std::string name : {"U.npy", "d.npy", "V.npy"})
    EXPECT_EQ(cli.text("out/" + name), cli.text("whole/" + name)) << name;
  EXPECT_FALSE(cli.exists("out/checkpoint.bin"));
  EXPECT_FALSE(has_temporary_files(cli));
}

/// Takes a good half of a second.
Planted noisy() {
  return planted_completion({.rows = 700,
                             .cols = 600,
                             .symmetric = false,
                             .rank = 8,
                             .measurements = 35000,
                             .noise = 0.15,
                             .seed = 2});
}

TEST(Interrupt, EarlyAndResumeGivesTheSameBytes) {
  expect_same_as_uninterrupted(noisy(), "", {0});
}

TEST(Interrupt, InTheMiddleAndResumeGivesTheSameBytes) {
  expect_same_as_uninterrupted(noisy(), "", {0.15});
}

TEST(Interrupt, AgainAndAgainGivesTheSameBytes) {
  expect_same_as_uninterrupted(noisy(), "", {0.02, 0.06, 0.1, 0.15});
}

TEST(Interrupt, OfASymmetricRunAndResumeGivesTheSameBytes) {
  expect_same_as_uninterrupted(
      planted_completion(
          {.rows = 700, .cols = 700, .rank = 8, .measurements = 30000, .noise = 0.1, .seed = 5}),
      "--symmetric", {0.12});
}

TEST(Interrupt, OfADynamicsStartAndResumeGivesTheSameBytes) {
  expect_same_as_uninterrupted(noisy(), "--start dynamics", {0.03, 0.1, 0.15});
}

TEST(Interrupt, OfAGradientRunAndResumeGivesTheSameBytes) {
  expect_same_as_uninterrupted(noisy(), "--polish off --max-rank 20 --max-iterations 1500",
                               {0.03, 0.15});
}

TEST(Interrupt, OfAHeldOutRunAndResumeGivesTheSameBytes) {
  expect_same_as_uninterrupted(noisy(), "--holdout 0.1", {0.12});
}

TEST(Interrupt, SaysHowToGoOn) {
  const Cli cli;
  cli.write("data.csv", triplets(noisy().entries));
  const auto process = cli.start("complete data.csv --out out");
  process->catches(SIGINT);
  process->send(SIGINT);
  const Outcome outcome = process->wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_NE(outcome.err.find("--out out --resume"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.out, "");
}

TEST(Interrupt, ByTermHangupOrUserDoesTheSame) {
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1}) {
    const Cli cli;
    cli.write("data.csv", triplets(noisy().entries));
    const auto process = cli.start("complete data.csv --out out");
    process->catches(signal);
    process->send(signal);
    EXPECT_EQ(process->wait().code, 130) << signal;
    EXPECT_TRUE(cli.exists("out/checkpoint.bin")) << signal;
  }
}

TEST(Interrupt, ByTwoSignalsEndsAtOnce) {
  const Cli cli;
  cli.write("data.csv", triplets(noisy().entries));
  const auto process = cli.start("complete data.csv --out out --polish off");
  process->catches(SIGTERM);
  std::this_thread::sleep_for(milliseconds(20));
  // Two different ones: two of a kind may be delivered as one.
  process->send(SIGINT);
  process->send(SIGTERM);
  EXPECT_EQ(process->wait().code, 130);
  EXPECT_FALSE(cli.exists("out/run.json"));
}

TEST(Interrupt, EndsTheDemoToo) {
  const Cli cli;
  const auto process = cli.start("demo --out out");
  process->catches(SIGINT);
  std::this_thread::sleep_for(milliseconds(50));
  process->send(SIGINT);
  EXPECT_EQ(process->wait().code, 130);
}

/// A time limit of nothing leaves a checkpoint after the first step.
void write_checkpoint(const Cli& cli) {
  cli.write("data.csv", triplets(small_planted().entries));
  ASSERT_EQ(cli.run("complete data.csv --out out --quiet --time-limit 1e-9").code, 4);
  ASSERT_TRUE(cli.exists("out/checkpoint.bin"));
}

TEST(Resume, AfterATimeLimitGivesTheSameBytes) {
  const Cli cli;
  write_checkpoint(cli);
  ASSERT_EQ(cli.run("complete data.csv --out out --quiet --resume").code, 0);
  ASSERT_EQ(cli.run("complete data.csv --out whole --quiet").code, 0);
  EXPECT_EQ(cli.text("out/U.npy"), cli.text("whole/U.npy"));
  EXPECT_FALSE(cli.exists("out/checkpoint.bin"));
}

TEST(Resume, HasTheWholeTimeLimitAgain) {
  const Cli cli;
  cli.write("data.csv", triplets(noisy().entries));
  const std::string command =
      "complete data.csv --out out --quiet --polish off --max-rank 20 --time-limit 0.2";
  ASSERT_EQ(cli.run(command).code, 4);
  const int before = cli.run_json()["iterations"];
  ASSERT_EQ(cli.run(command + " --resume").code, 4);
  EXPECT_GT(cli.run_json()["iterations"].get<int>(), 1.2 * before);
}

/// Offsets and noise, explained by variational Bayes alone; takes a good half of a second.
Entries noisy_with_offsets() {
  Entries entries = planted_completion({.rows = 2000,
                                        .cols = 1500,
                                        .symmetric = false,
                                        .rank = 6,
                                        .measurements = 120000,
                                        .noise = 0.3,
                                        .seed = 4})
                        .entries;
  for (size_t t = 0; t < entries.value.size(); ++t)
    entries.value[t] += 5 + std::sin(entries.row[t]) + std::cos(3.0 * entries.col[t]);
  return entries;
}

// Sweeps of the search in the checkpoint; 0: there is none.
int sweeps_in_checkpoint(const Cli& cli) {
  const std::string words = "Bayes sweeps", text = cli.run("inspect out/checkpoint.bin").out;
  const size_t place = text.find(words);
  return place == text.npos ? 0 : std::stoi(text.substr(place + words.size()));
}

// What a run has found, without times.
Json figures(const Cli& cli, const std::string& out) {
  Json json = cli.run_json(out);
  for (const char* const name : {"seconds", "config", "iterations_per_second"}) json.erase(name);
  return json;
}

// Cut off again and again, by time limits and once by SIGKILL: no sweep is done twice.
TEST(Resume, OfASearchByBayesKeepsItsSweeps) {
  const Cli cli;
  cli.write("data.csv", triplets(noisy_with_offsets()));
  const std::string command = "complete data.csv --start bayes --quiet --report off --out ";
  ASSERT_EQ(cli.run(command + "whole --threads 1").code, 0);
  const double limit = cli.run_json("whole")["seconds"].get<double>() / 8;
  const std::string limited = fmt::format("{}out --threads 2 --time-limit {:.6f}", command, limit);
  Outcome last = cli.run(limited);
  int legs = 1;
  for (int sweeps = 0; last.code == 4 && legs < 100; ++legs) {
    const int now = sweeps_in_checkpoint(cli);
    EXPECT_GT(now, sweeps) << "leg " << legs;
    sweeps = now;
    if (legs == 2) {
      const auto killed = cli.start(command + "out --threads 1 --resume");
      std::this_thread::sleep_for(milliseconds(static_cast<int>(1000 * limit)));
      killed->send(SIGKILL);
      EXPECT_NE(killed->wait().code, 0);
      EXPECT_GE(sweeps_in_checkpoint(cli), sweeps);
    }
    last = cli.run(limited + " --resume");
  }
  EXPECT_EQ(last.code, 0) << last;
  EXPECT_GE(legs, 3);
  for (const std::string name : {"U.npy", "d.npy", "V.npy", "center.npz"})
    EXPECT_EQ(cli.text("out/" + name), cli.text("whole/" + name)) << name;
  EXPECT_EQ(figures(cli, "out"), figures(cli, "whole"));
  EXPECT_FALSE(cli.exists("out/checkpoint.bin"));
}

TEST(Resume, WithOtherDataIsRefusedAndChangesNothing) {
  const Cli cli;
  write_checkpoint(cli);
  const auto before = cli.files("out");
  cli.write("other.csv", triplets(small_planted(0.1).entries));
  const Outcome outcome = cli.run("complete other.csv --out out --resume");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("checkpoint"), std::string::npos) << outcome;
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome;
  EXPECT_EQ(cli.files("out"), before);
}

TEST(Resume, WithOtherOptionsIsRefused) {
  const Cli cli;
  write_checkpoint(cli);
  const Outcome outcome = cli.run("complete data.csv --out out --resume --tolerance 1e-3");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("other options"), std::string::npos) << outcome;
}

class DamagedCheckpoint : public ::testing::TestWithParam<std::string> {};

TEST_P(DamagedCheckpoint, IsRefusedByNameAndChangesNothing) {
  const Cli cli;
  write_checkpoint(cli);
  std::string bytes = cli.text("out/checkpoint.bin");
  if (GetParam() == "Empty") bytes.clear();
  if (GetParam() == "CutShort") bytes.pop_back();
  if (GetParam() == "Changed") bytes[bytes.size() / 2] ^= 1;
  if (GetParam() == "Lengthened") bytes += "x";
  if (GetParam() == "Text") bytes = "not a checkpoint\n";
  cli.write("out/checkpoint.bin", bytes);
  const auto before = cli.files("out");
  const Outcome outcome = cli.run("complete data.csv --out out --resume");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("out/checkpoint.bin"), std::string::npos) << outcome;
  EXPECT_EQ(cli.files("out"), before);
}

INSTANTIATE_TEST_SUITE_P(By, DamagedCheckpoint,
                         ::testing::Values("Empty", "CutShort", "Changed", "Lengthened", "Text"),
                         [](const auto& instance) { return instance.param; });

TEST(Resume, WithoutACheckpointStartsAnewAndSaysSo) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  const Outcome outcome = cli.run("complete data.csv --out out --quiet --resume");
  expect_recovered(cli, outcome, planted);
  EXPECT_NE(outcome.err.find("starting from the beginning"), std::string::npos) << outcome;
}

TEST(Resume, TwiceGivesTheSameBytes) {
  const Cli cli;
  write_checkpoint(cli);
  ASSERT_EQ(cli.run("complete data.csv --out out --quiet --resume").code, 0);
  const std::string U = cli.text("out/U.npy");
  EXPECT_EQ(cli.run("complete data.csv --out out --quiet --resume").code, 2) << "it is finished";
  ASSERT_EQ(cli.run("complete data.csv --out out --quiet --resume --force").code, 0);
  EXPECT_EQ(cli.text("out/U.npy"), U);
}

}  // namespace interrupt_test
}  // namespace udv::cli
