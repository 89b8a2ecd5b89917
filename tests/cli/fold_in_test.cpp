// SPDX-License-Identifier: MIT
#include "cli/support.hpp"

namespace udv::cli {
namespace fold_in_test {

double planted_at(const Planted& planted, Index i, Index j) {
  return planted.U.row(i).dot(planted.V.row(j));
}

/// Rows from `first` on as triplets with keys.
std::string rows_from(const Planted& planted, Index first, Index last, const char* header) {
  std::string text = header;
  const Entries& e = planted.entries;
  for (size_t t = 0; t < e.value.size(); ++t)
    if (e.row[t] >= first && e.row[t] < last)
      text += fmt::format("user {},film {},{}\n", e.row[t], e.col[t], e.value[t]);
  return text;
}

/// A completion of the first 25 rows in `run`; the other five are new.
Planted write_run(const Cli& cli) {
  const Planted planted = small_planted();
  cli.write("data.csv", rows_from(planted, 0, 25, "user,film,stars\n"));
  cli.write("new.csv", rows_from(planted, 25, 30, "user,film,stars\n"));
  const Outcome outcome = cli.run("complete data.csv --out run --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json("run")["rank"], 2);
  return planted;
}

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

TEST(FoldIn, PredictsNewRowsByTheirKeys) {
  const Cli cli;
  const Planted planted = write_run(cli);
  cli.write("pairs.csv", "who,what\nuser 27,film 3\nuser 25,film 24\n");
  const Outcome outcome = cli.run("fold-in run new.csv --out out --predict pairs.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("5 new rows"), std::string::npos) << outcome;
  const auto lines = lines_of(cli.text("out/predictions.csv"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "row,column,value,determined,std");
  const auto first = fields_of(lines[1]), second = fields_of(lines[2]);
  EXPECT_EQ(first[0] + " " + first[1] + " " + first[3], "user 27 film 3 1");
  EXPECT_NEAR(std::stod(first[2]), planted_at(planted, 27, 3), 100 * kExact);
  EXPECT_NEAR(std::stod(second[2]), planted_at(planted, 25, 24), 100 * kExact);
  EXPECT_EQ(cli.run_json()["command"], "fold-in");
  EXPECT_EQ(cli.run_json()["rows"], 5);
}

TEST(FoldIn, FillsATableWithTheColumnsOfTheRun) {
  const Cli cli;
  const Planted planted = write_run(cli);
  ASSERT_EQ(cli.run("fold-in run new.csv --out out --quiet --fill full.npy --recommend 2").code, 0);
  const RowMatrix<double> full = read_matrix(cli.path("full.npy"));
  EXPECT_EQ(full.rows(), 5);
  EXPECT_EQ(full.cols(), 25);
  EXPECT_EQ(lines_of(cli.text("out/recommendations.csv")).size(), 11u);
}

TEST(FoldIn, TakesNumbersWhereTheRunHasNumbers) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries));
  ASSERT_EQ(cli.run("complete data.csv --out run --quiet").code, 0);
  std::string text;
  for (Index j : {0, 5, 9, 11}) text += fmt::format("77,{},{}\n", j + 1, planted_at(planted, 4, j));
  cli.write("new.csv", text);
  cli.write("pairs.csv", "77,25\n");
  const Outcome outcome = cli.run("fold-in run new.csv --out out --quiet --predict pairs.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;
  const auto fields = fields_of(lines_of(cli.text("out/predictions.csv"))[1]);
  EXPECT_EQ(fields[0] + " " + fields[1], "77 25");
  EXPECT_NEAR(std::stod(fields[2]), planted_at(planted, 4, 24), 100 * kExact);
}

TEST(FoldIn, ReadsTablesAndLeavesUnknownColumnsOut) {
  const Cli cli;
  const Planted planted = write_run(cli);
  cli.write("new.csv", fmt::format("name,film 3,film 7,film 9,other\nann,{},{},,5\n",
                                   planted_at(planted, 2, 3), planted_at(planted, 2, 7)));
  const Outcome outcome = cli.run("fold-in run new.csv --out out --layout table --fill full.csv");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("new.csv: 1 of 3 entries lie in columns"), std::string::npos)
      << outcome;
  EXPECT_TRUE(lines_of(cli.text("full.csv"))[0].starts_with("name,film ")) << outcome;
}

TEST(FoldIn, WarnsOfRowsWithTooFewEntries) {
  const Cli cli;
  write_run(cli);
  cli.write("new.csv", "user,film,stars\neve,film 3,1\n");
  const Outcome outcome = cli.run("fold-in run new.csv --out out --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("1 of 1 new rows have too few entries"), std::string::npos) << outcome;
}

TEST(FoldIn, IsRefusedWithoutACompletion) {
  const Cli cli;
  write_run(cli);
  expect_refused(cli, cli.run("fold-in nothing new.csv --out out"), 3, {"nothing", "completion"});
  std::filesystem::create_directory(cli.path("empty"));
  expect_refused(cli, cli.run("fold-in empty new.csv --out out"), 3, {"empty", "completion"});
  EXPECT_EQ(cli.run("fold-in run new.csv --out run").code, 3);
  EXPECT_EQ(cli.run_json("run")["command"], "complete");
}

TEST(FoldIn, NamesTheLineOfABadFile) {
  const Cli cli;
  write_run(cli);
  cli.write("new.csv", "user,film,stars\neve,film 3,x\n");
  expect_refused(cli, cli.run("fold-in run new.csv --out out"), 3, {"new.csv:2:", "'x'"});
}

}  // namespace fold_in_test
}  // namespace udv::cli
