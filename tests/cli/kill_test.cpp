// SPDX-License-Identifier: MIT
// Ordinary runs of one process that are killed (SIGKILL) behind a checkpoint: --resume ends with
// the bytes of a run that was never stopped.
#include "cli/support.hpp"
#include "cli/training_data.hpp"
#include "udv/core/random.hpp"

namespace udv::cli {
namespace kill_test {

using std::chrono::milliseconds;

/// A command, and the files that it leaves.
struct KilledCommand {
  std::string command;
  std::vector<std::string> files;
};

// Checkpoints at every point where the run may save one.
std::unique_ptr<Process> start_saving(const Cli& cli, const std::string& command) {
  std::vector<std::string> words{"/usr/bin/env", "UDV_SAVE_SECONDS=0", UDV_PROGRAM};
  std::istringstream rest(command);
  for (std::string word; rest >> word;) words.push_back(word);
  return cli.run_words(words);
}

// Kills it so long after its first checkpoint. False where it ended before.
bool kill_behind_checkpoint(const Cli& cli, const std::string& command, milliseconds more) {
  const auto process = start_saving(cli, command);
  process->catches(SIGINT);
  for (int i = 0; i < 20'000 && !cli.exists("out/checkpoint.bin") && !cli.exists("out/run.json");
       ++i)
    std::this_thread::sleep_for(milliseconds(1));
  std::this_thread::sleep_for(more);
  process->send(SIGKILL);
  return process->wait().code == 128 + SIGKILL;
}

void expect_same_bytes(const Cli& cli, const KilledCommand& what) {
  const std::string command = what.command + " --quiet --threads 2";
  const Outcome whole = cli.run(command + " --out whole");
  ASSERT_TRUE(whole.code == 0 || whole.code == 4) << whole;
  std::string resume;
  for (const int more : {0, 30}) {
    ASSERT_TRUE(kill_behind_checkpoint(cli, command + " --out out" + resume, milliseconds(more)))
        << "the run is too short for this test";
    ASSERT_TRUE(cli.exists("out/checkpoint.bin"));
    EXPECT_FALSE(cli.exists("out/run.json"));
    resume = " --resume";
  }
  const Outcome last = cli.run(command + " --out out --resume");
  EXPECT_EQ(last.code, whole.code) << last;
  EXPECT_EQ(last.err.find("no checkpoint"), std::string::npos) << last;
  for (const std::string& name : what.files)
    EXPECT_EQ(cli.text("out/" + name), cli.text("whole/" + name)) << name;
  for (const char* left : {"out/checkpoint.bin", "out/.udv-new", "out/.udv-lock", "out/live.json"})
    EXPECT_FALSE(cli.exists(left)) << left;
}

TEST(Killed, Completion) {
  const Cli cli;
  cli.write("data.csv", triplets(planted_completion({.rows = 700,
                                                     .cols = 600,
                                                     .symmetric = false,
                                                     .rank = 8,
                                                     .measurements = 35000,
                                                     .noise = 0.15,
                                                     .seed = 2})
                                     .entries));
  expect_same_bytes(cli, {"complete data.csv", {"U.npy", "d.npy", "V.npy"}});
}

TEST(Killed, Sensing) {
  const Cli cli;
  const Index n = 600, p = 24, q = 20;
  RowMatrix<double> A(n, p * q);
  Vector<double> b(n);
  Random random(11, 0);
  random.fill_normal(A);
  random.fill_normal(b);  // nothing fits: the fits take their time
  cli.write("A.npy", io::npy_bytes({n, p, q}, A.data()));
  cli.write("b.npy", io::npy_bytes({n}, b.data()));
  expect_same_bytes(
      cli, {"sense A.npy b.npy --polish off --max-iterations 4000", {"U.npy", "d.npy", "V.npy"}});
}

TEST(Killed, PhaseRetrieval) {
  const Cli cli;
  const Index n = 280, p = 100;
  RowMatrix<double> A(n, p);
  Vector<double> x(p);
  Random random(21, 0);
  random.fill_normal(A);
  random.fill_normal(x);
  const Vector<double> b = (A * x).cwiseAbs2();
  cli.write("A.npy", io::npy_bytes({n, p}, A.data()));
  cli.write("b.npy", io::npy_bytes({n}, b.data()));
  expect_same_bytes(cli, {"phase A.npy b.npy --polish off --max-iterations 1500", {"x.npy"}});
}

TEST(Killed, Training) {
  const Cli cli;
  cli.write("data.csv", training_table(1500));
  expect_same_bytes(cli, {"train data.csv --target y --drop kind --max-steps 3000",
                          {"model.safetensors", "test_predictions.csv"}});
}

TEST(Killed, Pruning) {
  const Cli cli;
  cli.write("data.csv", training_table(1500));
  ASSERT_EQ(cli.run("train data.csv --target y --drop kind --variant UDV-ReLU --hidden 64 "
                    "--max-steps 200 --out m --quiet")
                .code,
            0);
  expect_same_bytes(cli, {"prune m --data data.csv --max-drop 30% --finetune 30 --baseline",
                          {"model.safetensors"}});
}

}  // namespace kill_test
}  // namespace udv::cli
