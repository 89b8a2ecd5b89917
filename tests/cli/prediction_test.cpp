// SPDX-License-Identifier: MIT
#include <cmath>

#include "cli/support.hpp"

namespace udv::cli {
namespace prediction_test {

/// A line of predictions.csv.
struct Prediction {
  std::string row, column, value, determined;
};

std::vector<Prediction> predictions(const Cli& cli) {
  std::vector<Prediction> found;
  for (const auto& line : lines_of(cli.text("out/predictions.csv"))) {
    std::istringstream fields(line);
    Prediction p;
    std::getline(fields, p.row, ',');
    std::getline(fields, p.column, ',');
    std::getline(fields, p.value, ',');
    std::getline(fields, p.determined, ',');
    found.push_back(p);
  }
  return found;
}

double planted_at(const Planted& planted, Index i, Index j) {
  return planted.U.row(i).dot(planted.V.row(j));
}

Outcome complete(const Cli& cli, const std::string& flags) {
  return cli.run("complete data.csv --out out --quiet " + flags);
}

TEST(Predict, WritesValuesInTheOrderAndBaseOfTheRequest) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  cli.write("pairs.csv", "row,column\n30,25\n1,1\n7,3\n");
  ASSERT_EQ(complete(cli, "--predict pairs.csv").code, 0);
  const auto found = predictions(cli);
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].row + found[0].column + found[0].value, "rowcolumnvalue");
  EXPECT_EQ(found[1].row + " " + found[1].column, "30 25");
  EXPECT_NEAR(std::stod(found[1].value), planted_at(planted, 29, 24), kExact);
  EXPECT_NEAR(std::stod(found[2].value), planted_at(planted, 0, 0), kExact);
  EXPECT_NEAR(std::stod(found[3].value), planted_at(planted, 6, 2), kExact);
}

TEST(Predict, CountsFromZeroWhereTheDataDoes) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries, {.base = 0}));
  cli.write("pairs.csv", "29,24\n3,1\n");
  ASSERT_EQ(complete(cli, "--predict pairs.csv").code, 0);
  const auto found = predictions(cli);
  EXPECT_EQ(found[1].row + " " + found[1].column, "29 24");
  EXPECT_NEAR(std::stod(found[1].value), planted_at(planted, 29, 24), kExact);
}

TEST(Predict, SaysWhichValuesTheDataDetermine) {
  const Cli cli;
  // Rank 1 on rows 1..4 x columns 1..4, the same on 5..6 x 5..6; row 7 and column 7 are empty.
  std::string text;
  for (int i = 1; i <= 6; ++i)
    for (int j = 1; j <= 6; ++j)
      if ((i <= 4) == (j <= 4) && i + j != 2) text += fmt::format("{},{},{}\n", i, j, i * j);
  cli.write("data.csv", text);
  cli.write("pairs.csv", "1,1\n5,6\n1,5\n7,1\n1,7\n");
  ASSERT_EQ(complete(cli, "--shape 7,7 --predict pairs.csv").code, 0);
  const auto found = predictions(cli);
  std::string determined;
  for (const auto& p : found) determined += p.determined + " ";
  EXPECT_EQ(determined, "determined 1 1 0 0 0 ");
  EXPECT_NE(found[3].value, "") << "between two blocks: a guess";
  EXPECT_EQ(found[4].value, "") << "an empty row: nothing";
  EXPECT_EQ(found[5].value, "") << "an empty column: nothing";
}

TEST(Predict, NamesTheLinesWithoutEntries) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = complete(cli, "--shape 31,25");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("31"), std::string::npos) << outcome;
  EXPECT_NE(outcome.err.find("no entries"), std::string::npos) << outcome;
  EXPECT_EQ(cli.run_json()["undetermined"]["empty_rows"], Json::array({31}));
}

TEST(Predict, IsSymmetricForASymmetricMatrix) {
  const Cli cli;
  cli.write("data.csv", triplets(small_symmetric().entries));
  cli.write("pairs.csv", "3,9\n9,3\n");
  ASSERT_EQ(complete(cli, "--symmetric --predict pairs.csv").code, 0);
  const auto found = predictions(cli);
  EXPECT_NEAR(std::stod(found[1].value), std::stod(found[2].value), kExact);
}

TEST(TestData, GiveTheErrorOnEntriesThatWereNotUsed) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  cli.write("test.csv", fmt::format("1,1,{}\n2,5,{}\n", planted_at(planted, 0, 0) + 3,
                                    planted_at(planted, 1, 4) - 4));
  ASSERT_EQ(complete(cli, "--test test.csv").code, 0);
  // Errors 3 and 4: root mean square sqrt(25 / 2).
  EXPECT_NEAR(cli.run_json()["test_rmse"].get<double>(), std::sqrt(12.5), kExact);
}

TEST(TestData, InEmptyRowsAreLeftOutByName) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  cli.write("test.csv", fmt::format("31,1,100\n2,5,{}\n", planted_at(planted, 1, 4)));
  const Outcome outcome = complete(cli, "--shape 31,25 --test test.csv");
  EXPECT_NE(outcome.err.find("1 of 2 test entries"), std::string::npos) << outcome;
  EXPECT_LT(cli.run_json()["test_rmse"].get<double>(), kExact);
}

TEST(TestData, InAMatrixMarketFileCountFromOneWhateverTheDataDo) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries, {.base = 0}));
  cli.write("test.mtx", fmt::format("%%MatrixMarket matrix coordinate real general\n30 25 1\n"
                                    "1 1 {}\n",
                                    planted_at(planted, 0, 0)));
  const Outcome outcome = complete(cli, "--test test.mtx");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_LT(cli.run_json()["test_rmse"].get<double>(), kExact);
}

TEST(Holdout, FindsTheRankOfNoisyDataAndReportsTheHeldOutError) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted(0.05).entries));
  ASSERT_EQ(complete(cli, "--holdout 0.1").code, 0);
  const Json run = cli.run_json();
  EXPECT_EQ(run["rank"], 2);
  EXPECT_EQ(run["measurements"], 300);  // the answer is fitted to all of them
  EXPECT_GT(run["test_rmse"].get<double>(), 0.01);
  EXPECT_LT(run["test_rmse"].get<double>(), 0.5);
}

TEST(Noise, GivenStopsAtTheDiscrepancy) {
  const Cli cli;
  const Planted planted = small_planted(0.05);
  cli.write("data.csv", triplets(planted.entries));
  ASSERT_EQ(complete(cli, "--noise 0.07").code, 0);
  EXPECT_EQ(cli.run_json()["rank"], 2);
  EXPECT_EQ(cli.run_json()["noise_sigma"], 0.07);
}

TEST(Noise, IsEstimatedWhereItIsNotGiven) {
  const Cli cli;
  cli.write("data.csv", triplets(planted_completion({.rows = 60,
                                                     .cols = 50,
                                                     .symmetric = false,
                                                     .rank = 2,
                                                     .measurements = 1500,
                                                     .noise = 0.1,
                                                     .seed = 3})
                                     .entries));
  ASSERT_EQ(complete(cli, "").code, 0);
  const Json run = cli.run_json();
  EXPECT_EQ(run["rank"], 2);
  // Entries have a root mean square of sqrt(2), and 1284 degrees of freedom give 2 %.
  EXPECT_NEAR(run["noise_sigma"].get<double>() / (0.1 * std::sqrt(2.0)), 1, 0.25);
}

/// Biases on top of a planted matrix of rank 1: rank 3 in all, so every mode has an exact answer.
struct Ratings {
  Planted planted = planted_completion(
      {.rows = 40, .cols = 30, .symmetric = false, .rank = 1, .measurements = 700, .seed = 6});

  double at(Index i, Index j) const {
    const auto row = static_cast<double>(i), col = static_cast<double>(j);
    return 7 + std::sin(row) + std::cos(2 * col) + planted_at(planted, i, j);
  }

  void write(const Cli& cli) const {
    Entries entries = planted.entries;
    for (size_t t = 0; t < entries.value.size(); ++t)
      entries.value[t] = at(entries.row[t], entries.col[t]);
    cli.write("data.csv", triplets(entries));
  }
};

class Center : public ::testing::TestWithParam<std::string> {};

TEST_P(Center, PredictsInTheUnitsOfTheData) {
  const Cli cli;
  const Ratings ratings;
  ratings.write(cli);
  cli.write("pairs.csv", "1,1\n11,13\n40,30\n");
  const Outcome outcome = complete(cli, "--predict pairs.csv --center " + GetParam());
  ASSERT_EQ(outcome.code, 0) << outcome;
  const auto found = predictions(cli);
  EXPECT_NEAR(std::stod(found[1].value), ratings.at(0, 0), 10 * kExact);
  EXPECT_NEAR(std::stod(found[2].value), ratings.at(10, 12), 10 * kExact);
  EXPECT_NEAR(std::stod(found[3].value), ratings.at(39, 29), 10 * kExact);
  EXPECT_EQ(cli.exists("out/center.npz"), GetParam() != "none");
}

INSTANTIATE_TEST_SUITE_P(Mode, Center,
                         ::testing::Values("auto", "none", "global", "rows", "cols", "both"),
                         [](const auto& instance) { return instance.param; });

TEST(Centering, IsChosenAndTold) {
  const Cli cli;
  Ratings().write(cli);
  ASSERT_EQ(complete(cli, "").code, 0);
  const Json run = cli.run_json();
  EXPECT_EQ(run["config"]["center"], "auto");
  EXPECT_EQ(run["center"], "both");
  EXPECT_NEAR(run["offset"].get<double>(), 7, 1);
  EXPECT_EQ(run["rank"], 1);
}

TEST(Centering, OfBothLeavesOnlyTheInteractionOfACompleteMatrix) {
  const Cli cli;
  std::string text;
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 18; ++j)
      text += fmt::format("{},{},{}\n", i, j, 7 + i + 0.3 * j + (i % 4) * (j % 3));
  cli.write("data.csv", text);
  ASSERT_EQ(complete(cli, "--center both").code, 0);
  EXPECT_EQ(cli.run_json()["rank"], 1);
}

TEST(Centering, RefusesDataThatTheMeansExplainAltogether) {
  const Cli cli;
  std::string text;
  for (int i = 1; i <= 9; ++i)
    for (int j = 1; j <= 8; ++j) text += fmt::format("{},{},{}\n", i, j, 0.1 * i + 0.3 * j);
  cli.write("data.csv", text);
  expect_refused(cli, complete(cli, "--center both"), 3, {"data.csv", "center"});
}

TEST(Centering, RefusesAConstantMatrix) {
  const Cli cli;
  std::string text;
  for (int i = 1; i <= 9; ++i)
    for (int j = 1; j <= 8; ++j) text += fmt::format("{},{},0.1\n", i, j);
  cli.write("data.csv", text);
  expect_refused(cli, complete(cli, "--center global"), 3, {"data.csv", "center"});
}

}  // namespace prediction_test
}  // namespace udv::cli
