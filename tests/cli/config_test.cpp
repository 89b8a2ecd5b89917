// SPDX-License-Identifier: MIT
#include "cli/support.hpp"

namespace udv::cli {
namespace config_test {

Outcome complete_with(const Cli& cli, const std::string& toml, const std::string& flags = "") {
  cli.write("data.csv", triplets(small_planted().entries));
  cli.write("run.toml", toml);
  return cli.run("complete data.csv --config run.toml --out out " + flags);
}

TEST(Config, GivesTheSettingsOfARun) {
  const Cli cli;
  const Outcome outcome =
      complete_with(cli, "max-rank = 5\nseed = 3\nquiet = true\ntolerance = 1e-9\n");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(cli.run_json()["seed"], 3);
  EXPECT_EQ(cli.run_json()["config"]["max-rank"], 5);
}

TEST(Config, LosesAgainstAFlag) {
  const Cli cli;
  complete_with(cli, "seed = 3\n", "--seed 4");
  EXPECT_EQ(cli.run_json()["seed"], 4);
}

TEST(Config, MayStandAnywhere) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  cli.write("run.toml", "seed = 3\n");
  EXPECT_EQ(cli.run("complete --seed 4 --config=run.toml data.csv --out a").code, 0);
  EXPECT_EQ(cli.run_json("a")["seed"], 4);
}

TEST(Config, TakesAListForAShape) {
  const Cli cli;
  const Outcome outcome = complete_with(cli, "shape = [32, 27]\n");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rows"], 32);
}

TEST(Config, ShapeLosesAgainstTheFlag) {
  const Cli cli;
  const Outcome outcome = complete_with(cli, "shape = [3, 2]\n", "--shape 32,27");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["cols"], 27);
}

TEST(Config, SwitchesAFlagOff) {
  const Cli cli;
  EXPECT_EQ(complete_with(cli, "symmetric = false\n").code, 0);
  EXPECT_EQ(cli.run_json()["config"]["symmetric"], "off");
}

TEST(Config, GivesTheFilesOfARun) {
  const Cli cli;
  cli.write("pairs.csv", "1,1\n");
  complete_with(cli, "predict = \"pairs.csv\"\n");
  EXPECT_TRUE(cli.exists("out/predictions.csv"));
}

TEST(Config, ThatIsNotTomlNamesFileAndLine) {
  const Cli cli;
  expect_refused(cli, complete_with(cli, "seed = 3\nmax-rank =\n"), 3, {"run.toml:2", "value"});
}

TEST(Config, WithATableNamesFileAndLine) {
  const Cli cli;
  expect_refused(cli, complete_with(cli, "seed = 3\n[method]\nstep = 1\n"), 3, {"run.toml:2"});
}

TEST(Config, ThatIsMissingIsRefused) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  expect_refused(cli, cli.run("complete data.csv --config no.toml --out out"), 3, {"no.toml"});
}

// One line that names file, line and key; nothing written.
void expect_named(const Cli& cli, const Outcome& outcome, const std::string& line) {
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_EQ(outcome.err, "udv: " + line + "\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_FALSE(cli.exists("out"));
  EXPECT_FALSE(cli.exists("udv-runs"));
}

TEST(Config, WithAMisspelledKeyNamesItAndTheNearestRightOne) {
  const Cli cli;
  expect_named(cli, complete_with(cli, "seed = 3\nmax-rnk = 5\n"),
               "run.toml:2: max-rnk: no such setting; did you mean max-rank?");
}

TEST(Config, WithAKeyThatIsNearNoOtherOnlyNamesIt) {
  const Cli cli;
  expect_named(cli, complete_with(cli, "aeroplane = true\n"),
               "run.toml:1: aeroplane: no such setting");
}

TEST(Config, WithAValueOutOfRangeNamesTheValueAndTheRange) {
  const Cli cli;
  const Outcome outcome = complete_with(cli, "seed = 3\nthreads = 0\n");
  expect_named(cli, outcome,
               "run.toml:2: threads: '0' found, a whole number from 1 to 1024 expected");
}

TEST(Config, WithAWordThatIsNoChoiceNamesTheChoices) {
  const Cli cli;
  const Outcome outcome = complete_with(cli, "method = \"svd\"\n");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_NE(outcome.err.find("run.toml:1: method: 'svd' found"), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find("udv"), std::string::npos) << outcome;
}

TEST(Config, WithTrueForAWordDoesNotSwallowTheNextArgument) {
  const Cli cli;
  const Outcome outcome = complete_with(cli, "polish = true\n");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_EQ(outcome.err.find("data.csv"), std::string::npos) << outcome;
}

TEST(Config, WithAnEmptyListDoesNotSwallowTheNextArgument) {
  const Cli cli;
  const Outcome outcome = complete_with(cli, "threads = []\n");
  EXPECT_EQ(outcome.code, 3) << outcome;
  EXPECT_EQ(outcome.err.find("data.csv"), std::string::npos) << outcome;
}

TEST(Config, WorksForEveryCommand) {
  const Cli cli;
  cli.write("run.toml", "aeroplane = true\n");
  for (const char* command :
       {"demo", "complete data.csv", "sense A.npy b.npy", "phase A.npy b.npy", "ptycho data.mat",
        "train data.csv", "sweep spec.toml", "planted completion", "reproduce all"}) {
    const Outcome outcome = cli.run(std::string(command) + " --config run.toml");
    EXPECT_EQ(outcome.code, 3) << command << outcome;
    EXPECT_NE(outcome.err.find("run.toml:1: aeroplane"), std::string::npos) << outcome;
    EXPECT_FALSE(cli.exists("udv-runs")) << command;
  }
}

}  // namespace config_test
}  // namespace udv::cli
