// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "cli/support.hpp"
#include "support/reference.hpp"

namespace udv::cli {
namespace tables_test {

double planted_at(const Planted& planted, Index i, Index j) {
  return planted.U.row(i).dot(planted.V.row(j));
}

std::string row_key(Index i) {
  return fmt::format("user {}", i);
}
std::string col_key(Index j) {
  return fmt::format("film {}, part \"{}\"", j / 2, j % 2);
}
std::string quoted(const std::string& key) {
  std::string text = "\"";
  for (const char c : key) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

std::string keyed(const Entries& entries, const std::string& header = "user,film,stars\n") {
  std::string text = header;
  for (size_t t = 0; t < entries.value.size(); ++t)
    text += fmt::format("{},{},{}\n", row_key(entries.row[t]), quoted(col_key(entries.col[t])),
                        entries.value[t]);
  return text;
}

std::string table(const Entries& entries) {
  std::vector<std::string> cells(static_cast<size_t>(entries.rows * entries.cols));
  for (size_t t = 0; t < entries.value.size(); ++t)
    cells[static_cast<size_t>(entries.row[t] * entries.cols + entries.col[t])] =
        fmt::format("{}", entries.value[t]);
  std::string text = "name";
  for (Index j = 0; j < entries.cols; ++j) text += "," + quoted(col_key(j));
  for (Index i = 0; i < entries.rows; ++i) {
    text += "\n" + row_key(i);
    for (Index j = 0; j < entries.cols; ++j)
      text += "," + cells[static_cast<size_t>(i * entries.cols + j)];
  }
  return text + "\n";
}

/// Fields of a CSV line; doubled quotes count as one.
std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields(1);
  bool inside = false;
  for (size_t k = 0; k < line.size(); ++k) {
    if (line[k] == '"' && inside && k + 1 < line.size() && line[k + 1] == '"')
      fields.back() += line[k++];
    else if (line[k] == '"')
      inside = !inside;
    else if (line[k] == ',' && !inside)
      fields.emplace_back();
    else
      fields.back() += line[k];
  }
  return fields;
}

std::vector<std::vector<std::string>> csv(const Cli& cli, const std::string& name) {
  std::vector<std::vector<std::string>> lines;
  for (const std::string& line : lines_of(cli.text(name))) lines.push_back(fields_of(line));
  return lines;
}

Outcome complete(const Cli& cli, const std::string& flags) {
  return cli.run("complete data.csv --out out --force --quiet " + flags);
}

TEST(Keys, AreKeptInTheRunAndUsedInPredictions) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", keyed(planted.entries));
  cli.write("pairs.csv",
            "user,film\nuser 29," + quoted(col_key(24)) + "\nuser 3," + quoted(col_key(7)) + "\n");
  const Outcome outcome = complete(cli, "--predict pairs.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(cli.run_json()["rank"], 2);
  EXPECT_EQ(csv(cli, "out/rows.csv").size(), 31u);
  EXPECT_EQ(csv(cli, "out/columns.csv").size(), 26u);
  const auto found = csv(cli, "out/predictions.csv");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1][0], row_key(29));
  EXPECT_EQ(found[1][1], col_key(24));
  EXPECT_NEAR(std::stod(found[1][2]), planted_at(planted, 29, 24), kExact);
  EXPECT_NEAR(std::stod(found[2][2]), planted_at(planted, 3, 7), kExact);
}

TEST(Keys, AreWhatWarningsCallRowsAndColumns) {
  const Cli cli;
  Entries entries = small_planted().entries;
  for (std::int32_t& col : entries.col) ++col;  // makes room for a column with one entry
  entries.row.push_back(0);
  entries.col.push_back(0);
  entries.value.push_back(1);
  cli.write("data.csv", keyed(entries));
  const Outcome outcome = complete(cli, "");
  EXPECT_NE(outcome.err.find("columns 'film 0, part \"0\"'"), std::string::npos) << outcome;
}

TEST(Keys, OfTestEntriesThatNobodyKnowsAreCounted) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", keyed(planted.entries));
  cli.write("test.csv", fmt::format("user,film,stars\nuser 0,{},{}\neve,{},3\n", quoted(col_key(0)),
                                    planted_at(planted, 0, 0) + 2, quoted(col_key(0))));
  const Outcome outcome = complete(cli, "--test test.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("test.csv: 1 of 2 test entries have keys without data"),
            std::string::npos)
      << outcome;
  EXPECT_NEAR(cli.run_json()["test_rmse"].get<double>(), 2, kExact);
}

TEST(Keys, ThatAreLargeNumbersCostOnlyWhatOccurs) {
  const Cli cli;
  std::string text;
  const Planted planted = small_planted();
  for (size_t t = 0; t < planted.entries.value.size(); ++t)
    text += fmt::format("{},{},{}\n", 1300000 * (planted.entries.row[t] + 1),
                        planted.entries.col[t], planted.entries.value[t]);
  cli.write("data.csv", text);
  const Outcome outcome = cli.run("complete data.csv --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("reach 39000000"), std::string::npos) << outcome;
  EXPECT_EQ(cli.run_json()["rows"], 30);
  EXPECT_EQ(csv(cli, "out/rows.csv")[1][1], "1300000");
}

TEST(Columns, AreChosenByFlagsAndGuessesAreTold) {
  const Cli cli;
  const Planted planted = small_planted();
  std::string text = "stars,what,who\n";
  for (size_t t = 0; t < planted.entries.value.size(); ++t)
    text += fmt::format("{},{},{}\n", planted.entries.value[t], planted.entries.col[t],
                        planted.entries.row[t]);
  cli.write("data.csv", text);
  ASSERT_EQ(complete(cli, "--row who --column WHAT --value 1").code, 0);
  EXPECT_EQ(cli.run_json()["rows"], 30);
  EXPECT_EQ(cli.run_json()["rank"], 2);
  cli.write("data.csv", "rating,item,user" + text.substr(text.find('\n')));
  const Outcome outcome = cli.run("complete data.csv --out out --force");
  EXPECT_NE(outcome.out.find("rows from 'user', columns from 'item', values from 'rating'"),
            std::string::npos)
      << outcome;
  EXPECT_EQ(cli.run_json()["rank"], 2);
}

TEST(Weights, LetPreciseEntriesDecide) {
  const Cli cli;
  const Planted planted = small_planted();
  std::string text = "row,col,value,std\n";
  for (size_t t = 0; t < planted.entries.value.size(); ++t) {
    const bool bad = t % 10 == 0;
    text += fmt::format("{},{},{},{}\n", planted.entries.row[t], planted.entries.col[t],
                        planted.entries.value[t] + (bad ? 1e-3 * std::sin(t) : 0), bad ? 1 : 1e-6);
  }
  cli.write("data.csv", text);
  cli.write("pairs.csv", "5,7\n");
  ASSERT_EQ(complete(cli, "--max-rank 2 --predict pairs.csv").code, 0);
  EXPECT_NEAR(std::stod(csv(cli, "out/predictions.csv")[1][2]), planted_at(planted, 5, 7), 1e-5);
}

TEST(Fill, WritesTheTableAsItCameInWithEveryValue) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", table(planted.entries));
  const Outcome outcome = complete(cli, "--fill full.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;
  const auto found = csv(cli, "full.csv"), given = csv(cli, "data.csv");
  ASSERT_EQ(found.size(), given.size());
  EXPECT_EQ(found[0], given[0]);
  for (size_t i = 1; i < found.size(); ++i) {
    ASSERT_EQ(found[i].size(), given[i].size());
    EXPECT_EQ(found[i][0], given[i][0]);
    for (size_t j = 1; j < found[i].size(); ++j) {
      if (given[i][j].empty())
        EXPECT_NEAR(std::stod(found[i][j]),
                    planted_at(planted, static_cast<Index>(i) - 1, static_cast<Index>(j) - 1),
                    kExact);
      else
        EXPECT_EQ(found[i][j], given[i][j]);
    }
  }
}

TEST(Fill, OfAnArrayIsAnArray) {
  const Cli cli;
  const Planted planted = small_planted();
  std::vector<double> values(30 * 25, std::numeric_limits<double>::quiet_NaN());
  for (size_t t = 0; t < planted.entries.value.size(); ++t)
    values[static_cast<size_t>(planted.entries.row[t] * 25 + planted.entries.col[t])] =
        planted.entries.value[t];
  cli.write("data.npy", io::npy_bytes({30, 25}, values.data()));
  ASSERT_EQ(cli.run("complete data.npy --out out --quiet --fill full.npy").code, 0);
  const RowMatrix<double> full = read_matrix(cli.path("full.npy"));
  const RowMatrix<double> truth = testing::product(planted.U, planted.V.transpose());
  ASSERT_EQ(full.rows(), 30);
  EXPECT_LT((full - truth).cwiseAbs().maxCoeff(), kExact);
}

TEST(Fill, OfTripletsHasTheirKeys) {
  const Cli cli;
  cli.write("data.csv", keyed(small_planted().entries));
  ASSERT_EQ(complete(cli, "--fill full.tsv").code, 0);
  const auto lines = lines_of(cli.text("full.tsv"));
  EXPECT_EQ(lines.size(), 31u);
  EXPECT_TRUE(lines[0].starts_with("user\t")) << lines[0];
}

TEST(Fill, SmoothsKnownEntriesWhereAsked) {
  const Cli cli;
  const Planted planted = small_planted(0.05);
  cli.write("data.csv", table(planted.entries));
  ASSERT_EQ(complete(cli, "--fill kept.csv").code, 0);
  ASSERT_EQ(complete(cli, "--fill smooth.csv --keep-known off").code, 0);
  const auto kept = csv(cli, "kept.csv"), smooth = csv(cli, "smooth.csv");
  const auto i = static_cast<size_t>(planted.entries.row[0]) + 1;
  const auto j = static_cast<size_t>(planted.entries.col[0]) + 1;
  EXPECT_EQ(std::stod(kept[i][j]), planted.entries.value[0]);
  EXPECT_NE(smooth[i][j], kept[i][j]);
}

TEST(Fill, LeavesWhatHasNoDataBlank) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  ASSERT_EQ(complete(cli, "--shape 31,25 --fill full.csv").code, 0);
  EXPECT_EQ(lines_of(cli.text("full.csv"))[31], "31" + std::string(25, ','));
}

TEST(Fill, ThatWouldBeHugeIsRefusedBeforeAnythingIsSolved) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  expect_refused(cli, complete(cli, "--shape 90000,90000 --fill full.npy"), 3,
                 {"full.npy", "65 GB", "at most 2 GB", "yes"});
  EXPECT_FALSE(cli.exists("full.npy"));
}

TEST(Fill, NeverReplacesTheInputNorNeedsAFolderThatIsNotThere) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  expect_refused(cli, complete(cli, "--fill data.csv"), 3, {"data.csv", "the input itself"});
  expect_refused(cli, complete(cli, "--fill no/full.csv"), 3, {"no/full.csv", "no folder"});
}

TEST(Keys, DoNotStandInTheWayOfATestArray) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", table(planted.entries));
  const RowMatrix<double> truth = testing::product(planted.U, planted.V.transpose());
  cli.write("test.npy", io::npy_bytes({30, 25}, truth.data()));
  ASSERT_EQ(complete(cli, "--test test.npy").code, 0);
  EXPECT_LT(cli.run_json()["test_rmse"].get<double>(), kExact);
  cli.write("test.npy", io::npy_bytes({25, 30}, truth.data()));
  const Outcome outcome = complete(cli, "--test test.npy");
  EXPECT_EQ(outcome.code, 3) << outcome;
}

TEST(Fill, OfAnUnknownKindIsRefused) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = complete(cli, "--fill full.xls");
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_NE(outcome.err.find("--fill"), std::string::npos) << outcome;
}

TEST(Recommend, NamesTheBestUnknownColumnsOfEachRow) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", keyed(planted.entries));
  ASSERT_EQ(complete(cli, "--recommend 3").code, 0);
  const auto found = csv(cli, "out/recommendations.csv");
  ASSERT_EQ(found.size(), 91u);
  EXPECT_EQ(found[0],
            (std::vector<std::string>{"row", "rank", "column", "value", "determined", "std"}));
  const RowMatrix<double> X = testing::product(planted.U, planted.V.transpose());
  const auto known = [&](Index j) {
    for (size_t t = 0; t < planted.entries.value.size(); ++t)
      if (planted.entries.row[t] == planted.entries.row[0] && planted.entries.col[t] == j)
        return true;
    return false;
  };
  double best = -1e9;
  for (Index j = 0; j < 25; ++j)
    if (!known(j)) best = std::max(best, X(planted.entries.row[0], j));
  EXPECT_EQ(found[1][0], row_key(planted.entries.row[0]));
  EXPECT_NEAR(std::stod(found[1][3]), best, kExact);
  EXPECT_EQ(found[1][4], "1");
}

TEST(Recommend, ServesOnlyTheRowsThatAreListed) {
  const Cli cli;
  cli.write("data.csv", keyed(small_planted().entries));
  cli.write("rows.txt", "user 7\nuser 2\n");
  ASSERT_EQ(complete(cli, "--recommend 2 --rows rows.txt").code, 0);
  const auto found = csv(cli, "out/recommendations.csv");
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[1][0], "user 7");
  EXPECT_EQ(found[3][0], "user 2");
}

}  // namespace tables_test
}  // namespace udv::cli
