// SPDX-License-Identifier: MIT
// Runs that end short of an answer, and data without one.
#include <cmath>

#include "cli/support.hpp"

namespace udv::cli {
namespace outcome_test {

Outcome complete(const Cli& cli, const std::string& flags = "") {
  return cli.run("complete data.csv --out out --force " + flags);
}

/// A matrix of entries value(i, j), all known.
template <typename Value>
std::string full(int rows, int cols, const Value& value) {
  std::string text;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= cols; ++j) text += fmt::format("{},{},{}\n", i, j, value(i, j));
  return text;
}

/// Fixed pseudo-random signs: noise without any low-rank part.
double sign(int i, int j) {
  return (i * 7919 + j * 104729 + i * j * 31) * 2654435761u >> 16 & 1 ? 1 : -1;
}

TEST(Divergence, ExitsWithFourAndWritesTheHistory) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = complete(cli, "--polish off --step 1e6");
  EXPECT_EQ(outcome.code, 4) << outcome;
  EXPECT_GT(lines_of(cli.text("out/history.csv")).size(), 1u);
  EXPECT_EQ(cli.run_json()["stop_reason"], "diverged");
  EXPECT_EQ(cli.run_json()["certificate"]["verdict"], "not converged");
}

TEST(Divergence, DoesNotClaimAPerfectFit) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  complete(cli, "--polish off --step 1e6");
  for (const std::string key : {"objective", "relative_residual"}) {
    const Json value = cli.run_json()[key];
    EXPECT_TRUE(value.is_null() || value.get<double>() > 1) << key << " is " << value;
  }
}

TEST(IterationLimit, ExitsWithFourAndWritesTheResults) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = complete(cli, "--polish off --max-iterations 10");
  EXPECT_EQ(outcome.code, 4) << outcome;
  EXPECT_EQ(cli.run_json()["stop_reason"], "iteration limit");
  EXPECT_EQ(cli.run_json()["iterations"], 10);
  EXPECT_EQ(read_factors(cli).U.rows(), 30);
}

TEST(IterationLimit, BindsThePolishToo) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = complete(cli, "--max-iterations 3");
  EXPECT_EQ(outcome.code, 4) << outcome;
  EXPECT_EQ(cli.run_json()["stop_reason"], "iteration limit");
}

TEST(IterationLimit, BindsTheStartByDynamicsToo) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  EXPECT_EQ(complete(cli, "--start dynamics --max-iterations 10").code, 4);
  EXPECT_LE(cli.run_json()["iterations"], 10);
}

TEST(IterationLimit, ThatIsReachedAfterTheToleranceIsASuccess) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  const Outcome outcome =
      complete(cli, "--quiet --polish off --max-iterations 50000 --tolerance 1e-6");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_LE(cli.run_json()["relative_residual"].get<double>(), 1e-6);
  EXPECT_EQ(cli.run_json()["stop_reason"], "converged");
}

TEST(TooLargeAStep, ThatLosesEveryColumnIsNeitherASuccessNorNoise) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  for (const std::string step : {"7", "30", "50", "100"}) {
    const Outcome outcome = complete(cli, "--polish off --max-iterations 2000 --step " + step);
    EXPECT_EQ(outcome.code, 4) << "step " << step << "\n" << outcome;
    EXPECT_EQ(outcome.out.find("noise"), std::string::npos) << "step " << step << "\n" << outcome;
  }
}

TEST(StopReason, DoesNotContradictTheVerdict) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  complete(cli, "--max-rank 1");
  const Json run = cli.run_json();
  EXPECT_EQ(run["stop_reason"] == "converged", run["certificate"]["verdict"] != "not converged")
      << run["stop_reason"] << " but " << run["certificate"]["verdict"];
}

TEST(PureNoise, GivesRankZeroAndSaysSo) {
  const Cli cli;
  cli.write("data.csv", full(20, 15, sign));
  const Outcome outcome = complete(cli);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("nothing but noise"), std::string::npos) << outcome;
  ASSERT_TRUE(cli.exists("out/run.json"));
  EXPECT_EQ(cli.run_json()["rank"], 0);
  EXPECT_EQ(cli.run_json()["relative_residual"], 1);
}

TEST(PureNoise, IsPredictedByZero) {
  const Cli cli;
  cli.write("data.csv", full(20, 15, sign));
  cli.write("pairs.csv", "1,1\n");
  EXPECT_EQ(complete(cli, "--predict pairs.csv --quiet").code, 0);
  EXPECT_EQ(cli.text("out/predictions.csv"), "row,column,value,determined,std\n1,1,0,1,1\n");
}

TEST(PureNoise, IsReportedAsNoiseOfTheSizeOfTheData) {
  const Cli cli;
  cli.write("data.csv", full(20, 15, sign));
  EXPECT_EQ(complete(cli, "--quiet").code, 0);
  EXPECT_NEAR(cli.run_json()["noise_sigma"].get<double>(), 1, 0.1);
}

TEST(NegativeDefiniteData, GiveZeroWhereAPositiveSemidefiniteMatrixIsAskedFor) {
  const Cli cli;
  cli.write("data.csv", full(8, 8, [](int i, int j) { return -i * j; }));
  const Outcome outcome = complete(cli, "--symmetric --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rank"], 0);
  EXPECT_EQ(cli.run_json()["certificate"]["verdict"], "global");
}

TEST(IndefiniteData, GiveTheNearestPositiveSemidefiniteMatrix) {
  const Cli cli;
  // Blocks of ones and of minus ones on the diagonal: eigenvalues 4 and -4.
  cli.write("data.csv", full(8, 8, [](int i, int j) {
              return (i <= 4) != (j <= 4) ? 0 : i <= 4 ? 1 : -1;
            }));
  const Outcome outcome = complete(cli, "--symmetric --quiet --shrinkage off");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rank"], 1);
  EXPECT_NEAR(cli.run_json()["spectrum"][0].get<double>(), 4, 1e-6);
}

TEST(IndefiniteData, AreToldAndRecoveredWhereAskedFor) {
  const Cli cli;
  cli.write("data.csv", full(8, 8, [](int i, int j) {
              return (i <= 4) != (j <= 4) ? 0 : i <= 4 ? 1 : -1;
            }));
  ASSERT_EQ(complete(cli, "--symmetric --quiet").code, 0);
  EXPECT_EQ(cli.run_json()["indefinite"], true);
  EXPECT_EQ(cli.run_json()["config"]["symmetric"], "psd");
  const Outcome outcome = complete(cli, "--symmetric indefinite --quiet");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rank"], 2);
  EXPECT_EQ(cli.run_json()["config"]["symmetric"], "indefinite");
  EXPECT_FALSE(cli.exists("out/V.npy"));
}

struct Tiny {
  std::string name, text;
};

void PrintTo(const Tiny& tiny, std::ostream* stream) {
  *stream << tiny.name;
}

class TinyData : public ::testing::TestWithParam<Tiny> {};

TEST_P(TinyData, IsSolvedWithFiniteNumbers) {
  const Cli cli;
  cli.write("data.csv", GetParam().text);
  const Outcome outcome = complete(cli, "--quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  ASSERT_TRUE(cli.exists("out/run.json")) << outcome;
  const Factors found = read_factors(cli);
  EXPECT_TRUE(found.U.allFinite() && found.d.allFinite() && found.V.allFinite());
  for (const std::string key : {"objective", "relative_residual", "rank_gap", "noise_sigma"})
    EXPECT_TRUE(cli.run_json()[key].is_number()) << key << " is " << cli.run_json()[key];
}

INSTANTIATE_TEST_SUITE_P(
    Matrix, TinyData,
    ::testing::Values(Tiny{"OneEntry", "4,5,2\n"}, Tiny{"TwoEntries", "4,5,2\n1,2,3\n"},
                      Tiny{"TwoByTwo", "1,1,1\n1,2,2\n2,1,2\n"},
                      Tiny{"TwoByTwoComplete", "1,1,1\n1,2,2\n2,1,2\n2,2,9\n"},
                      Tiny{"Constant", full(6, 5, [](int, int) { return 3; })},
                      Tiny{"Identity", full(6, 6, [](int i, int j) { return i == j ? 1 : 0; })},
                      Tiny{"Diagonal", "1,1,1\n2,2,1\n3,3,1\n4,4,1\n"},
                      Tiny{"TwoColumns", full(9, 2, [](int i, int j) { return i * j; })},
                      Tiny{"Signs", full(9, 9, sign)},
                      Tiny{
                          "OneOutlier",
                          full(9, 9, [](int i, int j) { return i == 4 && j == 5 ? 1e6 : i * j; })}),
    [](const auto& instance) { return instance.param.name; });

class Magnitude : public ::testing::TestWithParam<int> {};

TEST_P(Magnitude, OfTheDataDoesNotMatter) {
  const Cli cli;
  const double unit = std::pow(10.0, GetParam());
  Planted planted = small_planted();
  for (double& value : planted.entries.value) value *= unit;
  cli.write("data.csv", triplets(planted.entries));
  ASSERT_EQ(complete(cli, "--quiet").code, 0);
  const Json run = cli.run_json();
  EXPECT_EQ(run["rank"], 2);
  EXPECT_LT(run["relative_residual"].get<double>(), kExact);
  EXPECT_TRUE(run["objective"].is_number());
}

INSTANTIATE_TEST_SUITE_P(PowerOfTen, Magnitude, ::testing::Values(-120, -30, -3, 3, 30, 120),
                         [](const auto& instance) {
                           const int power = instance.param;
                           return (power < 0 ? "Minus" : "Plus") + std::to_string(std::abs(power));
                         });

TEST(FullyKnownMatrix, IsItsOwnCompletion) {
  const Cli cli;
  cli.write("data.csv", full(12, 9, [](int i, int j) { return i + 2.5 * j; }));
  EXPECT_EQ(complete(cli, "--quiet").code, 0);
  EXPECT_EQ(cli.run_json()["rank"], 2);
  EXPECT_NEAR(read_factors(cli).at(3, 4), 4 + 2.5 * 5, kExact);
}

TEST(ManySeparateBlocks, AreWarnedOfInAFewLinesAndListedInRunJson) {
  const Cli cli;
  std::string text;
  for (int i = 1; i <= 500; ++i) text += fmt::format("{},{},{}\n", i, i, i);
  cli.write("data.csv", text);
  const Outcome outcome = complete(cli, "--quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_LE(lines_of(outcome.err).size(), 20u);
  EXPECT_EQ(cli.run_json()["undetermined"]["blocks"].size(), 499u);
}

/// Data that leave most of the matrix open: the run says so, in run.json and in words.
struct OpenData {
  std::string name, file, text;
  double determined_share;
};

void PrintTo(const OpenData& open, std::ostream* stream) {
  *stream << open.text;
}

class DataThatDetermineLittle : public ::testing::TestWithParam<OpenData> {};

TEST_P(DataThatDetermineLittle, AreSolvedWithAnAnswerThatIsNotUnique) {
  const Cli cli;
  cli.write(GetParam().file, GetParam().text);
  const Outcome outcome = cli.run("complete " + GetParam().file + " --out out");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const Json certificate = cli.run_json()["certificate"];
  EXPECT_EQ(certificate["unique"], false);
  EXPECT_NEAR(certificate["determined_share"].get<double>(), GetParam().determined_share, 1e-12);
  EXPECT_NE(outcome.out.find("fits the data exactly, but"), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find("not determined"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.out.find("certified"), std::string::npos) << outcome;
}

const std::string kMarket = "%%MatrixMarket matrix coordinate real general\n";

INSTANTIATE_TEST_SUITE_P(
    Completion, DataThatDetermineLittle,
    ::testing::Values(
        OpenData{"OneRow", "a.mtx", kMarket + "4 5 3\n2 1 1.5\n2 3 -2\n2 5 4\n", 3.0 / 20},
        OpenData{"OneColumn", "a.mtx", kMarket + "4 5 3\n1 2 1.5\n3 2 -2\n4 2 4\n", 3.0 / 20},
        OpenData{"OneEntry", "a.mtx", kMarket + "4 5 1\n2 3 7\n", 1.0 / 20},
        OpenData{"OneRowOfATable", "a.csv", ",a,b,c\nx,1,2,3\ny,,,\nz,,,\n", 3.0 / 9},
        OpenData{"Diagonal", "a.csv", "1,1,2\n2,2,3\n3,3,4\n", 3.0 / 9},
        OpenData{"ConstantDiagonal", "a.csv", "1,1,4\n2,2,4\n3,3,4\n", 3.0 / 9}),
    [](const auto& info) { return info.param.name; });

TEST(AsManyEntriesAsParameters, ConfirmNoRank) {
  // A path through all rows and columns: any values fit rank 1, and they are of very different
  // size.
  const Cli cli;
  std::string text;
  for (int i = 1; i <= 15; ++i)
    text += fmt::format("{},{},{}\n{},{},{}\n", i, i, std::pow(-7.0, i % 5), i, i + 1, i % 3 + 0.1);
  cli.write("data.csv", text);
  const Outcome outcome = complete(cli);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_TRUE(cli.run_json()["certificate"]["unique"].is_null());
  EXPECT_EQ(outcome.out.find("nothing but noise"), std::string::npos) << outcome;
  EXPECT_EQ(outcome.out.find("certified"), std::string::npos) << outcome;
}

TEST(ConstantData, AreCertifiedAsRankOne) {
  const Cli cli;
  cli.write("data.csv", full(8, 6, [](int, int) { return 4; }));
  const Outcome outcome = complete(cli);
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rank"], 1);
  EXPECT_EQ(cli.run_json()["certificate"]["unique"], true);
}

TEST(ManyEmptyRows, AreWarnedOfInOneLineAndListedInRunJson) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries) + "100000,25,1\n");
  const Outcome outcome = complete(cli, "--quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("99969 in all, listed in run.json"), std::string::npos) << outcome;
  EXPECT_EQ(cli.run_json()["undetermined"]["empty_rows"].size(), 99969u);
}

}  // namespace outcome_test
}  // namespace udv::cli
