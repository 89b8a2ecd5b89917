// SPDX-License-Identifier: MIT
#include <csignal>
#include <set>
#include <thread>

#include "cli/training_data.hpp"

namespace udv::cli {
namespace sweep_test {

const std::string kSpec =
    "dataset = \"HPART\"\n"
    "preset = \"paper\"\n"
    "data = \"data.csv\"\n"
    "target = \"y\"\n"
    "drop = \"kind\"\n"
    "epochs = 4\n"
    "variants = [\"UDV\", \"UV\"]\n"
    "optimizers = [\"adam\", \"mbgd\"]\n"
    "learning-rates = [1e-3, 1e-2]\n"
    "seeds = 3\n";

void write(const Cli& cli, const std::string& spec = kSpec) {
  cli.write("data.csv", training_table(120));
  cli.write("sweep.toml", spec);
}

std::multiset<std::string> keys(const Cli& cli) {
  std::multiset<std::string> found;
  const auto lines = lines_of(cli.text("out/results.csv"));
  for (size_t i = 1; i < lines.size(); ++i) found.insert(lines[i].substr(0, 16));
  return found;
}

TEST(SweepCommand, RunsEveryCellOnceAndPrintsTheTable) {
  const Cli cli;
  write(cli);
  const Outcome outcome = cli.run("sweep sweep.toml --out out");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(keys(cli).size(), 24u);
  const Json run = cli.run_json();
  EXPECT_EQ(run["format"], 1);
  EXPECT_EQ(run["config"]["variants"], "UDV,UV");
  EXPECT_EQ(run["files"], (Json{"model.safetensors", "results.csv", "sweep.toml"}));
  for (const char* word : {"adam", "mbgd", "UDV", "paper", "1.304e-03", "*", "24 of them now"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << outcome;
  const Outcome refused = cli.run("sweep sweep.toml --out out");
  EXPECT_EQ(refused.code, 2) << refused;
  EXPECT_NE(refused.err.find("resume"), std::string::npos) << refused;
  const Outcome again = cli.run("sweep sweep.toml --out out --resume");
  EXPECT_NE(again.out.find("0 of them now"), std::string::npos) << again;
  EXPECT_EQ(keys(cli).size(), 24u);
  const Outcome summary = cli.run("sweep out --summary");
  EXPECT_EQ(summary.code, 0);
  EXPECT_EQ(outcome.out.find(summary.out), 0u) << summary;
}

TEST(SweepCommand, GoesOnAfterAnInterruptAndATornLine) {
  const Cli cli;
  write(cli, kSpec + "batch = 4\n");
  std::string spec = cli.text("sweep.toml");
  spec.replace(spec.find("epochs = 4"), 10, "epochs = 4000");
  cli.write("sweep.toml", spec);
  auto process = cli.start("sweep sweep.toml --out out --quiet");
  std::this_thread::sleep_for(std::chrono::milliseconds(400));
  process->send(SIGINT);
  const Outcome stopped = process->wait();
  EXPECT_EQ(stopped.code, 130) << stopped;
  const auto before = keys(cli);
  EXPECT_LT(before.size(), 24u);
  EXPECT_TRUE(std::filesystem::exists(cli.path("out/checkpoint.bin")));
  cli.write("out/results.csv", cli.text("out/results.csv") + "0123456789abcdef,01234567,done,UD");
  EXPECT_EQ(cli.run("sweep sweep.toml --out out --quiet --resume").code, 0);
  const auto after = keys(cli);
  EXPECT_EQ(after.size(), 24u);
  EXPECT_EQ(std::set<std::string>(after.begin(), after.end()).size(), 24u);
  for (const auto& key : before) EXPECT_EQ(after.count(key), 1u);
  EXPECT_FALSE(std::filesystem::exists(cli.path("out/checkpoint.bin")));
}

// All that is not a time.
std::set<std::string> results_of(const Cli& cli, const std::string& folder) {
  std::set<std::string> rows;
  for (const std::string& line : lines_of(cli.text(folder + "/results.csv"))) {
    const size_t validation = line.rfind(','), seconds = line.rfind(',', validation - 1);
    rows.insert(line.substr(0, seconds) + line.substr(validation));
  }
  return rows;
}

TEST(SweepCommand, PartsMakeTheSameSweep) {
  const Cli cli;
  write(cli);
  ASSERT_EQ(cli.run("sweep sweep.toml --out whole").code, 0);
  const Outcome first = cli.run("sweep sweep.toml --out out --part 1/2");
  EXPECT_EQ(first.code, 0) << first;
  EXPECT_NE(first.out.find("12 of 24 runs finished, 12 of them now"), first.out.npos) << first;
  const Outcome second = cli.run("sweep sweep.toml --out out --part 2/2");
  EXPECT_NE(second.out.find("24 runs, 12 of them now"), second.out.npos) << second;
  EXPECT_EQ(results_of(cli, "out"), results_of(cli, "whole"));
  EXPECT_EQ(cli.text("out/model.safetensors"), cli.text("whole/model.safetensors"));
  EXPECT_EQ(cli.run_json("out")["cells"], cli.run_json("whole")["cells"]);
  // A part that is done is not done again without being asked.
  EXPECT_EQ(cli.run("sweep sweep.toml --out out --part 2/2").code, 2);
  EXPECT_EQ(cli.run("sweep sweep.toml --out out --part 2/2 --resume").code, 0);
}

TEST(SweepCommand, PartsOfTwoMachinesArePutTogether) {
  const Cli cli;
  write(cli);
  ASSERT_EQ(cli.run("sweep sweep.toml --out a --part 1/2").code, 0);
  ASSERT_EQ(cli.run("sweep sweep.toml --out b --part 2/2").code, 0);
  const Outcome merged = cli.run("sweep sweep.toml --merge a b --out out");
  EXPECT_EQ(merged.code, 0) << merged;
  EXPECT_NE(merged.out.find("24 runs, 0 of them now"), merged.out.npos) << merged;
  EXPECT_EQ(keys(cli).size(), 24u);
  ASSERT_EQ(cli.run("sweep sweep.toml --out whole").code, 0);
  EXPECT_EQ(cli.text("out/model.safetensors"), cli.text("whole/model.safetensors"));
}

TEST(SweepCommand, NamesWhatIsWrongWithParts) {
  const Cli cli;
  write(cli);
  for (const char* part : {"0/2", "3/2", "2", "a/b", "1/0"}) {
    const Outcome refused = cli.run(std::string("sweep sweep.toml --out out --part ") + part);
    EXPECT_EQ(refused.code, 2) << refused;
    EXPECT_NE(refused.err.find("I/N"), refused.err.npos) << refused;
  }
  const Outcome nothing = cli.run("sweep sweep.toml --out out --merge empty");
  EXPECT_EQ(nothing.code, 3) << nothing;
  EXPECT_NE(nothing.err.find("empty: no results"), nothing.err.npos) << nothing;
  // Another result of the same run is a contradiction, not a choice.
  ASSERT_EQ(cli.run("sweep sweep.toml --out a --part 1/12").code, 0);
  std::string text = cli.text("a/results.csv");
  const size_t line = text.find("done");
  std::filesystem::create_directory(cli.path("b"));
  cli.write("b/results.csv", text.replace(line, 4, "diverged"));
  const Outcome doubled = cli.run("sweep sweep.toml --out out --merge a b");
  EXPECT_EQ(doubled.code, 3) << doubled;
  EXPECT_NE(doubled.err.find("another result"), doubled.err.npos) << doubled;
}

TEST(SweepCommand, ADivergedRunIsARow) {
  const Cli cli;
  write(cli,
        "data = \"data.csv\"\ntarget = \"y\"\ndrop = \"kind\"\nepochs = 3\nvariants = [\"UV\"]\n"
        "optimizers = [\"mbgd\"]\nlearning-rates = [1e9]\nseeds = [4]\n");
  const Outcome outcome = cli.run("sweep sweep.toml --out out");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(cli.text("out/results.csv").find(",diverged,UV,mbgd,1000000000,0,4,0,"),
            std::string::npos)
      << cli.text("out/results.csv");
  EXPECT_NE(outcome.out.find("diverged (1)"), std::string::npos) << outcome;
}

TEST(SweepCommand, LeavesFilesOfOthersAlone) {
  const Cli cli;
  write(cli);
  std::filesystem::create_directory(cli.path("out"));
  const std::string notes = "my,precious,data\n1,2,3\n4,5,6";
  cli.write("out/results.csv", notes);
  cli.write("out/sweep.toml", "mine = 1\n");
  EXPECT_EQ(cli.run("sweep sweep.toml --out out").code, 2);
  for (const std::string flag : {"--resume", "--force"})
    EXPECT_EQ(cli.run("sweep sweep.toml --out out " + flag).code, 3) << flag;
  EXPECT_EQ(cli.text("out/results.csv"), notes);
  EXPECT_EQ(cli.text("out/sweep.toml"), "mine = 1\n");
}

TEST(SweepCommand, MergesIntoNothingButASweep) {
  const Cli cli;
  write(cli);
  ASSERT_EQ(cli.run("sweep sweep.toml --out a --part 1/2 --quiet").code, 0);
  cli.write("entries.csv", triplets(small_planted().entries));
  ASSERT_EQ(cli.run("complete entries.csv --out run --quiet").code, 0);
  std::filesystem::create_directory(cli.path("mine"));
  cli.write("mine/sweep.toml", "mine = 1\n");
  for (const std::string out : {"run", "mine"}) {
    const auto before = cli.files(out);
    for (const std::string how : {"--merge a", "--part 2/2"}) {
      const Outcome outcome = cli.run("sweep sweep.toml --out " + out + " " + how);
      EXPECT_EQ(outcome.code, 2) << outcome;
      EXPECT_NE(outcome.err.find(out + " holds"), std::string::npos) << outcome;
      EXPECT_EQ(cli.files(out), before) << how;
    }
  }
  // Its own folder is brought up to date, again and again.
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(cli.run("sweep sweep.toml --merge a --out merged --quiet").code, 0);
  EXPECT_EQ(cli.run("sweep sweep.toml --merge a --out run --force --quiet").code, 0);
  EXPECT_EQ(cli.run_json("run")["command"], "sweep");
}

TEST(SweepCommand, PartsThatEndTogetherBothArrive) {
  const Cli cli;
  write(cli);
  const auto one = cli.start("sweep sweep.toml --out out --part 1/2 --quiet --threads 1");
  const auto two = cli.start("sweep sweep.toml --out out --part 2/2 --quiet --threads 1");
  const Outcome first = one->wait(), second = two->wait();
  EXPECT_EQ(first.code, 0) << first;
  EXPECT_EQ(second.code, 0) << second;
  EXPECT_EQ(keys(cli).size(), 24u);
}

TEST(SweepCommand, RunsAgainForOtherDataOrSettings) {
  const Cli cli;
  write(cli);
  EXPECT_EQ(cli.run("sweep sweep.toml --out out --quiet").code, 0);
  cli.write("data.csv", training_table(120, 9));
  const Outcome outcome = cli.run("sweep sweep.toml --out out --resume");
  EXPECT_NE(outcome.out.find("24 of them now"), std::string::npos) << outcome;
  EXPECT_EQ(keys(cli).size(), 48u);
  const Outcome summary = cli.run("sweep out --summary");
  EXPECT_NE(summary.out.find("24 rows of sweeps with other settings"), std::string::npos)
      << summary;
}

TEST(SweepCommand, NamesWhatIsWrongWithItsFile) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"variants = [\"UDV\", \"UDW\"]", "variant 'UDW' found"},
      {"variants = []", "an empty list found"},
      {"seeds = [1, 1]", "seed 1 found twice"},
      {"seeds = 0", "a number from 1"},
      {"learning-rates = [\"fast\"]", "'fast' found, a number expected"},
      {"lr = 1e-3", "a sweep has lists"},
      {"speed = 3", "sweep.toml:4: speed: no such setting"},
      {"learning-rate = [1e-3]", "did you mean learning-rates?"},
      {"learning-rates = [nan]", "learning rate nan found, a number expected"},
      {"batch = [1, 2]", "batch: '1,2' found"},
      {"init = \"foo\"", "initialisation 'foo'"},
      {"epochs = ", "sweep.toml:"}};
  for (const auto& [line, words] : cases) {
    const Cli cli;
    write(cli, "data = \"data.csv\"\ntarget = \"y\"\ndrop = \"kind\"\n" + line + "\n");
    expect_refused(cli, cli.run("sweep sweep.toml --out out"), 3, {words});
  }
  const Cli cli;
  expect_refused(cli, cli.run("sweep nothing.toml --out out"), 3, {"nothing.toml"});
}

}  // namespace sweep_test
}  // namespace udv::cli
