// SPDX-License-Identifier: MIT
#include "cli/support.hpp"

namespace udv::cli {
namespace settings_test {

const std::string kPaper =
    " --step 0.1 --alpha 1 --scale unit --init-norm 0.01 --polish off --max-iterations 2000";

void write_small(const Cli& cli) {
  cli.write("data.csv", triplets(small_planted().entries));
}

void expect_same_numbers(const Cli& cli, const std::string& a, const std::string& b) {
  for (const std::string name : {"/U.npy", "/d.npy", "/V.npy"})
    EXPECT_EQ(cli.text(a + name), cli.text(b + name)) << a << " and " << b << name;
}

TEST(Threads, DoNotChangeABit) {
  const Cli cli;
  cli.write("data.csv", triplets(large_planted().entries));
  for (const std::string n : {"1", "2", "5"})
    ASSERT_EQ(cli.run("complete data.csv --quiet --out t" + n + " --threads " + n).code, 0);
  expect_same_numbers(cli, "t1", "t2");
  expect_same_numbers(cli, "t1", "t5");
}

TEST(Threads, DoNotChangeABitOfAGradientRun) {
  const Cli cli;
  cli.write("data.csv", triplets(large_planted().entries));
  for (const std::string n : {"1", "2", "5"})
    ASSERT_EQ(cli.run("complete data.csv --quiet --polish off --max-rank 20 --max-iterations 200"
                      " --out t" +
                      n + " --threads " + n)
                  .code,
              4);
  expect_same_numbers(cli, "t1", "t2");
  expect_same_numbers(cli, "t1", "t5");
}

TEST(Threads, MayBeManyMoreThanCores) {
  const Cli cli;
  cli.write("data.csv", triplets(large_planted().entries));
  const Outcome outcome = cli.run("complete data.csv --quiet --out out --threads 1000");
  EXPECT_EQ(outcome.code, 0) << outcome;
}

TEST(Seed, GivesTheSameNumbersAgain) {
  const Cli cli;
  write_small(cli);
  for (const std::string out : {"a", "b"})
    ASSERT_EQ(cli.run("complete data.csv --quiet --seed 5 --out " + out).code, 0);
  expect_same_numbers(cli, "a", "b");
}

TEST(Seed, DecidesWhereAGradientRunStarts) {
  const Cli cli;
  write_small(cli);
  for (const std::string seed : {"5", "6"})
    cli.run("complete data.csv --quiet --polish off --max-iterations 5 --seed " + seed + " --out " +
            seed);
  EXPECT_NE(cli.text("5/U.npy"), cli.text("6/U.npy"));
}

TEST(Quiet, PrintsNothing) {
  const Cli cli;
  write_small(cli);
  const Outcome outcome = cli.run("complete data.csv --out out --quiet");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.out + outcome.err, "");
}

TEST(Record, EveryKeepsEveryIterationOfAGradientRun) {
  const Cli cli;
  write_small(cli);
  cli.run("complete data.csv --out out --quiet --record every" + kPaper);
  EXPECT_EQ(lines_of(cli.text("out/history.csv")).size(), 2001u);
  EXPECT_TRUE(cli.exists("out/columns.npz"));
}

TEST(Record, LogKeepsTheFirstHundredAndFewerLater) {
  const Cli cli;
  write_small(cli);
  cli.run("complete data.csv --out out --quiet --record log" + kPaper);
  const auto lines = lines_of(cli.text("out/history.csv"));
  EXPECT_EQ(lines[100].substr(0, 4), "100,");
  EXPECT_EQ(lines.back().substr(0, 5), "2000,");
  EXPECT_LT(lines.size(), 400u);
}

TEST(Record, NoneKeepsNoHistory) {
  const Cli cli;
  write_small(cli);
  cli.run("complete data.csv --out out --quiet --record none" + kPaper);
  EXPECT_EQ(lines_of(cli.text("out/history.csv")).size(), 1u);
  EXPECT_FALSE(cli.exists("out/columns.npz"));
}

TEST(Record, DoesNotChangeTheNumbers) {
  const Cli cli;
  write_small(cli);
  cli.run("complete data.csv --out a --quiet --record every" + kPaper);
  cli.run("complete data.csv --out b --quiet --record none" + kPaper);
  expect_same_numbers(cli, "a", "b");
}

TEST(PaperAlgorithm, KeepsTheSettingsToTheLetter) {
  const Cli cli;
  cli.write("data.csv", triplets(small_symmetric().entries));
  cli.run("complete data.csv --symmetric --out out --quiet --record every" + kPaper);
  const Json run = cli.run_json();
  EXPECT_EQ(run["step"], 0.1);
  EXPECT_EQ(run["alpha"], 1);
  EXPECT_EQ(run["iterations"], 2000);
  double squares = 0;
  for (const double value : small_symmetric().entries.value) squares += value * value;
  // One division and one square root: a few eps.
  EXPECT_NEAR(run["scale"].get<double>() * std::sqrt(squares), 1, 1e-14);
  const auto first = lines_of(cli.text("out/history.csv"))[1];
  EXPECT_EQ(first.substr(first.rfind(',') + 1), "0.10000000000000001");
}

TEST(PaperAlgorithm, FindsTheRankWithADiagonalFactorOnly) {
  const Cli cli;
  const Planted planted = planted_completion({});
  cli.write("data.csv", triplets(planted.entries));
  for (const std::string method : {"udu", "bm"})
    cli.run("complete data.csv --symmetric --quiet --method " + method + " --out " + method +
            " --step 0.1 --alpha 1 --scale unit --init-norm 0.01 --polish off"
            " --max-iterations 10000");
  EXPECT_EQ(cli.run_json("udu")["rank"], 3);
  EXPECT_GT(cli.run_json("bm")["rank"], 3);
}

TEST(Start, FromTheDynamicsFindsTheSameMatrix) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  expect_recovered(cli, cli.run("complete data.csv --out out --quiet --start dynamics"), planted);
}

TEST(MaxRank, MayExceedTheMatrix) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  expect_recovered(cli, cli.run("complete data.csv --out out --quiet --max-rank 1000"), planted);
}

TEST(MaxRank, IsNeverExceeded) {
  const Cli cli;
  write_small(cli);
  cli.run("complete data.csv --out out --quiet --max-rank 1");
  EXPECT_EQ(cli.run_json()["rank"], 1);
  EXPECT_EQ(read_factors(cli).U.cols(), 1);
}

TEST(TimeLimit, KeepsWhatThereIsAndExitsWithFour) {
  const Cli cli;
  write_small(cli);
  const Outcome outcome = cli.run("complete data.csv --out out --time-limit 1e-9");
  EXPECT_EQ(outcome.code, 4) << outcome;
  EXPECT_EQ(cli.run_json()["stop_reason"], "time limit");
  EXPECT_TRUE(cli.exists("out/U.npy"));
  EXPECT_TRUE(cli.exists("out/history.csv"));
}

TEST(TimeLimit, ThatIsNotReachedChangesNothing) {
  const Cli cli;
  write_small(cli);
  EXPECT_EQ(cli.run("complete data.csv --out a --quiet").code, 0);
  EXPECT_EQ(cli.run("complete data.csv --out b --quiet --time-limit 60").code, 0);
  expect_same_numbers(cli, "a", "b");
}

}  // namespace settings_test
}  // namespace udv::cli
