// SPDX-License-Identifier: MIT
#include "cli/support.hpp"
#include "udv/core/version.hpp"

namespace udv::cli {
namespace usage_test {

void expect_words(const Outcome& outcome, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  for (const auto& word : words) EXPECT_NE(outcome.out.find(word), std::string::npos) << word;
}

TEST(Help, OfTheProgramListsTheCommands) {
  expect_words(Cli().run("--help"), {"Usage: udv", "demo", "complete", "sense"});
}

TEST(Help, OfDemoListsTheFlagsOfEveryCommand) {
  expect_words(Cli().run("demo --help"),
               {"--out", "--seed", "--threads", "--config", "--resume", "--quiet", "--time-limit"});
}

TEST(Help, OfCompleteListsItsFlags) {
  expect_words(Cli().run("complete --help"),
               {"--symmetric", "--base", "--test", "--holdout", "--predict", "--center", "--noise",
                "--shrinkage", "--out", "--resume"});
}

TEST(Help, OfSenseListsItsFlags) {
  expect_words(Cli().run("sense --help"), {"--symmetric", "--shape", "--operator", "--out"});
}

TEST(Help, OfTheRecoveryCommandsListsTheMethodFlags) {
  const std::vector<std::string> flags = {
      "--method",    "--max-rank",       "--step",      "--alpha",  "--scale",
      "--init-norm", "--max-iterations", "--tolerance", "--polish", "--record"};
  expect_words(Cli().run("complete --help"), flags);
  expect_words(Cli().run("sense --help"), flags);
}

TEST(Help, AsAShortFlagSaysTheSame) {
  EXPECT_EQ(Cli().run("-h").out, Cli().run("--help").out);
}

TEST(Version, IsTheLibrarys) {
  EXPECT_EQ(Cli().run("--version").out, std::string(version()) + "\n");
}

TEST(Usage, HelpAndVersionAreWordsToo) {
  const Cli cli;
  EXPECT_EQ(cli.run("help").out, cli.run("--help").out);
  EXPECT_EQ(cli.run("help train").out, cli.run("train --help").out);
  EXPECT_EQ(cli.run("version").out, cli.run("--version").out);
  EXPECT_EQ(cli.run("help nothing").code, 2);
  EXPECT_EQ(cli.run("help").code, 0);
  expect_words(cli.run("help"), {"Examples:", "udv complete ratings.csv", "udv help COMMAND"});
  for (const char* command : {"complete", "train", "ptycho", "watch"}) {
    const std::string text = cli.run(std::string("help ") + command).out;
    EXPECT_NE(text.find("Example: udv " + std::string(command)), text.npos) << text;
    EXPECT_EQ(text.find("2147483648"), text.npos) << text;
  }
}

struct Usage {
  std::string name, arguments, word;
};

void PrintTo(const Usage& usage, std::ostream* stream) {
  *stream << usage.arguments;
}

class WrongUsage : public ::testing::TestWithParam<Usage> {};

TEST_P(WrongUsage, ExitsWithTwoSaysWhyAndWritesNothing) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  cli.write("symmetric.csv", triplets(small_symmetric().entries));
  cli.write("A.npy", io::npy_bytes({2, 2, 2}, std::vector<double>(8, 1).data()));
  cli.write("b.npy", io::npy_bytes({2}, std::vector<double>(2, 1).data()));
  const Outcome outcome = cli.run(GetParam().arguments);
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find(GetParam().word), std::string::npos) << outcome;
  EXPECT_FALSE(cli.exists("out"));
  EXPECT_FALSE(cli.exists("udv-runs"));
}

INSTANTIATE_TEST_SUITE_P(
    Program, WrongUsage,
    ::testing::Values(Usage{"NoCommand", "", "subcommand"},
                      Usage{"UnknownCommand", "recover data.csv", "recover"},
                      Usage{"UnknownFlag", "complete data.csv --out out --fast", "--fast"},
                      Usage{"UnknownFlagOfDemo", "demo --out out --fast", "--fast"},
                      Usage{"UnknownFlagOfSense", "sense A.npy b.npy --out out --fast", "--fast"},
                      Usage{"FlagOfAnotherCommand", "sense A.npy b.npy --predict x", "--predict"},
                      Usage{"NoFile", "complete --out out", "file"},
                      Usage{"TwoFiles", "complete data.csv other.csv --out out", "other.csv"},
                      Usage{"NoMeasuredValues", "sense A.npy --out out", "b is required"},
                      Usage{"FlagWithoutItsValue", "complete data.csv --out", "--out"}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Values, WrongUsage,
    ::testing::Values(
        Usage{"MaxRankZero", "complete data.csv --out out --max-rank 0", "--max-rank"},
        Usage{"MaxRankNegative", "complete data.csv --out out --max-rank -3", "--max-rank"},
        Usage{"MaxRankFraction", "complete data.csv --out out --max-rank 1.5", "--max-rank"},
        Usage{"StepOfText", "complete data.csv --out out --step abc", "'abc' found"},
        Usage{"StepZero", "complete data.csv --out out --step 0", "step is 0"},
        Usage{"StepNegative", "complete data.csv --out out --step -1", "--step"},
        Usage{"StepNan", "complete data.csv --out out --step nan", "--step"},
        Usage{"AlphaZero", "complete data.csv --out out --alpha 0", "alpha is 0"},
        Usage{"ScaleOfText", "complete data.csv --out out --scale big", "'big' found"},
        Usage{"InitNormZero", "complete data.csv --out out --init-norm 0", "--init-norm"},
        Usage{"MaxIterationsZero", "complete data.csv --out out --max-iterations 0", "--max-iter"},
        Usage{"ToleranceNegative", "complete data.csv --out out --tolerance -1", "--tolerance"},
        Usage{"HoldoutAboveOne", "complete data.csv --out out --holdout 1.5", "--holdout"},
        Usage{"HoldoutOne", "complete data.csv --out out --holdout 1", "--holdout"},
        Usage{"NoiseNegative", "complete data.csv --out out --noise -1", "--noise"},
        Usage{"ThreadsZero", "complete data.csv --out out --threads 0", "--threads"},
        Usage{"SeedNegative", "complete data.csv --out out --seed -1", "--seed"},
        Usage{"SeedOfText", "complete data.csv --out out --seed x", "--seed"},
        Usage{"TimeLimitZero", "complete data.csv --out out --time-limit 0", "--time-limit"},
        Usage{"TimeLimitNan", "complete data.csv --out out --time-limit nan", "--time-limit"},
        Usage{"UnknownMethod", "complete data.csv --out out --method svd", "--method"},
        Usage{"UnknownPolish", "complete data.csv --out out --polish maybe", "--polish"},
        Usage{"UnknownRecord", "complete data.csv --out out --record all", "--record"},
        Usage{"UnknownCenter", "complete data.csv --out out --center mean", "--center"},
        Usage{"UnknownBase", "complete data.csv --out out --base 2", "--base"},
        Usage{"UnknownOperator", "sense A.npy b.npy --out out --operator x", "--operator"}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Typos, WrongUsage,
    ::testing::Values(Usage{"Command", "complte data.csv", "did you mean complete?"},
                      Usage{"SwappedLetters", "reprot runs", "did you mean report?"},
                      Usage{"Flag", "complete data.csv --out out --max-rnk 3",
                            "did you mean --max-rank?"},
                      Usage{"FlagWithItsValue", "complete data.csv --out out --max-rnk=3",
                            "did you mean --max-rank?"},
                      Usage{"Experiment", "reproduce tab-adm --out out", "did you mean tab-adam?"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Typo, ThatIsNearNothingGetsNoAdvice) {
  const Outcome command = Cli().run("zzzzzz"), flag = Cli().run("demo --zzzzzz");
  EXPECT_EQ(command.code, 2) << command;
  EXPECT_EQ(flag.code, 2) << flag;
  EXPECT_EQ((command.err + flag.err).find("did you mean"), std::string::npos) << command << flag;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, WrongUsage,
    ::testing::Values(
        Usage{"OneNumber", "complete data.csv --out out --shape 30", "--shape"},
        Usage{"ThreeNumbers", "complete data.csv --out out --shape 30,25,9", "--shape"},
        Usage{"Zero", "complete data.csv --out out --shape 0,25", "--shape"},
        Usage{"NotSquare", "complete symmetric.csv --symmetric --out out --shape 25,26", "--shape"},
        Usage{"OneNumberForSense", "sense A.npy b.npy --out out --shape 2", "--shape"}),
    [](const auto& instance) { return instance.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Together, WrongUsage,
    ::testing::Values(
        Usage{"NoiseAndHoldout", "complete data.csv --out out --noise 1 --holdout 0.1", "holdout"},
        Usage{"UduForARectangle", "complete data.csv --out out --method udu", "method udu"},
        Usage{"BmForARectangle", "complete data.csv --out out --method bm", "method bm"},
        Usage{"UdvForASymmetricMatrix", "complete symmetric.csv --symmetric --out out --method udv",
              "method udv"},
        Usage{"UduForRectangularSensing", "sense A.npy b.npy --out out --method udu", "method udu"},
        Usage{"CenterOfASymmetricMatrix",
              "complete symmetric.csv --symmetric --center rows --out out", "--center"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Shape, MayStandBeforeTheFile) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = cli.run("complete --shape 30,25 data.csv --out out --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
}

}  // namespace usage_test
}  // namespace udv::cli
