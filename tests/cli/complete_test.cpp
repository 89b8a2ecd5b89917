// SPDX-License-Identifier: MIT
#include <zlib.h>

#include <cmath>
#include <limits>

#include "cli/support.hpp"

namespace udv::cli {
namespace complete_test {

Outcome complete(const Cli& cli, const std::string& arguments) {
  return cli.run("complete " + arguments + " --out out --quiet");
}

std::string matrix_market(const Entries& entries, const std::string& symmetry) {
  std::string text = "%%MatrixMarket matrix coordinate real " + symmetry + "\n% planted\n" +
                     fmt::format("{} {} {}\n", entries.rows, entries.cols, entries.size());
  for (size_t t = 0; t < entries.value.size(); ++t) {
    auto [row, col] = std::pair(entries.row[t] + 1, entries.col[t] + 1);
    if (symmetry == "symmetric") std::swap(row, col);  // the lower triangle
    text += fmt::format("{} {} {}\n", row, col, entries.value[t]);
  }
  return text;
}

std::string npy_with_nan(const Entries& entries) {
  std::vector<double> values(static_cast<size_t>(entries.rows * entries.cols),
                             std::numeric_limits<double>::quiet_NaN());
  for (size_t t = 0; t < entries.value.size(); ++t)
    values[static_cast<size_t>(entries.row[t] * entries.cols + entries.col[t])] = entries.value[t];
  return io::npy_bytes({entries.rows, entries.cols}, values.data());
}

void write_gzip(const std::filesystem::path& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
}

TEST(CompleteReads, OneBasedCsvWithHeader) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries, {.header = "user,item,rating\n"}));
  expect_recovered(cli, complete(cli, "data.csv"), planted);
  EXPECT_EQ(cli.run_json()["config"]["base"], 1);
}

TEST(CompleteReads, ZeroBasedCsvWithoutHeader) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv", triplets(planted.entries, {.base = 0}));
  expect_recovered(cli, complete(cli, "data.csv"), planted);
  EXPECT_EQ(cli.run_json()["config"]["base"], 0);
}

TEST(CompleteReads, QuotedCsv) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.csv",
            triplets(planted.entries, {.header = "\"r\",\"c\",\"v\"\n", .quote = "\""}));
  expect_recovered(cli, complete(cli, "data.csv"), planted);
}

TEST(CompleteReads, Tsv) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.tsv", triplets(planted.entries, {.separator = "\t"}));
  expect_recovered(cli, complete(cli, "data.tsv"), planted);
}

TEST(CompleteReads, BlankSeparatedTextWithComments) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.txt", triplets(planted.entries, {.separator = "  ", .header = "# planted\n\n"}));
  expect_recovered(cli, complete(cli, "data.txt"), planted);
}

TEST(CompleteReads, GeneralMatrixMarket) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.mtx", matrix_market(planted.entries, "general"));
  expect_recovered(cli, complete(cli, "data.mtx"), planted);
}

TEST(CompleteReads, SymmetricMatrixMarketAsASymmetricProblem) {
  const Cli cli;
  const Planted planted = small_symmetric();
  cli.write("data.mtx", matrix_market(planted.entries, "symmetric"));
  expect_recovered(cli, complete(cli, "data.mtx --symmetric"), planted);
}

TEST(CompleteReads, SymmetricMatrixMarketAsARectangularProblem) {
  const Cli cli;
  const Planted planted = small_symmetric();
  cli.write("data.mtx", matrix_market(planted.entries, "symmetric"));
  expect_recovered(cli, complete(cli, "data.mtx"), planted);
  EXPECT_EQ(cli.run_json()["method"], "udv");
}

TEST(CompleteReads, NpyWithNanForTheUnknown) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("data.npy", npy_with_nan(planted.entries));
  expect_recovered(cli, complete(cli, "data.npy"), planted);
}

TEST(CompleteReads, GzippedCsv) {
  const Cli cli;
  const Planted planted = small_planted();
  write_gzip(cli.path("data.csv.gz"), triplets(planted.entries));
  expect_recovered(cli, complete(cli, "data.csv.gz"), planted);
}

TEST(CompleteReads, GzippedMatrixMarket) {
  const Cli cli;
  const Planted planted = small_planted();
  write_gzip(cli.path("data.mtx.gz"), matrix_market(planted.entries, "general"));
  expect_recovered(cli, complete(cli, "data.mtx.gz"), planted);
}

TEST(CompleteReads, FilesWithWindowsLineEndsAndByteOrderMark) {
  const Cli cli;
  const Planted planted = small_planted();
  std::string text = "\xEF\xBB\xBF";
  for (const auto& line : lines_of(triplets(planted.entries))) text += line + "\r\n";
  cli.write("data.csv", text);
  expect_recovered(cli, complete(cli, "data.csv"), planted);
}

TEST(Complete, GivesTheSameBytesForEveryFormat) {
  const Cli cli;
  const Planted planted = small_planted();
  cli.write("a.csv", triplets(planted.entries, {.base = 0}));
  cli.write("b.npy", npy_with_nan(planted.entries));
  cli.write("c.mtx", matrix_market(planted.entries, "general"));
  for (const std::string name : {"a.csv", "b.npy", "c.mtx"})
    ASSERT_EQ(cli.run("complete " + name + " --quiet --out out-" + name).code, 0);
  EXPECT_EQ(cli.text("out-a.csv/U.npy"), cli.text("out-b.npy/U.npy"));
  EXPECT_EQ(cli.text("out-a.csv/U.npy"), cli.text("out-c.mtx/U.npy"));
}

TEST(Complete, DoesNotMindTheOrderOfTheLines) {
  const Cli cli;
  const std::string text = triplets(small_planted().entries);
  auto lines = lines_of(text);
  std::reverse(lines.begin(), lines.end());
  std::string reversed;
  for (const auto& line : lines) reversed += line + "\n";
  cli.write("a.csv", text);
  cli.write("b.csv", reversed);
  ASSERT_EQ(cli.run("complete a.csv --quiet --out a").code, 0);
  ASSERT_EQ(cli.run("complete b.csv --quiet --out b").code, 0);
  EXPECT_EQ(cli.text("a/U.npy"), cli.text("b/U.npy"));
}

TEST(Complete, SymmetricFindsAPositiveSemidefiniteMatrix) {
  const Cli cli;
  const Planted planted = small_symmetric();
  cli.write("data.csv", triplets(planted.entries));
  expect_recovered(cli, complete(cli, "data.csv --symmetric"), planted);
  EXPECT_EQ(cli.run_json()["method"], "udu");
  EXPECT_FALSE(cli.exists("out/V.npy"));
}

TEST(Complete, SymmetricTakesBothTriangles) {
  const Cli cli;
  const Planted planted = small_symmetric();
  Entries both = planted.entries;
  for (size_t t = 0; t < planted.entries.value.size(); ++t) {
    if (both.row[t] == both.col[t]) continue;
    both.row.push_back(planted.entries.col[t]);
    both.col.push_back(planted.entries.row[t]);
    both.value.push_back(planted.entries.value[t]);
  }
  cli.write("data.csv", triplets(both));
  expect_recovered(cli, complete(cli, "data.csv --symmetric"), planted);
  EXPECT_EQ(cli.run_json()["measurements"], planted.entries.size());
}

TEST(Complete, FindsTheAnswerByEveryMethod) {
  const Planted rectangular = small_planted(), symmetric = small_symmetric();
  for (const std::string method : {"uv", "udv", "bm", "udu"}) {
    const Cli cli;
    const bool square = method == "bm" || method == "udu";
    const Planted& planted = square ? symmetric : rectangular;
    cli.write("data.csv", triplets(planted.entries));
    const std::string flags = square ? " --symmetric" : "";
    expect_recovered(cli, complete(cli, "data.csv --method " + method + flags), planted);
    EXPECT_EQ(cli.run_json()["method"], method);
  }
}

TEST(Complete, TakesTheShapeFromTheFlag) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  EXPECT_EQ(complete(cli, "data.csv --shape 32,27").code, 0);
  EXPECT_EQ(cli.run_json()["rows"], 32);
  EXPECT_EQ(cli.run_json()["cols"], 27);
}

TEST(Complete, WarnsOnceOfARepeatedEntryAndNamesTheFileOnce) {
  const Cli cli;
  const std::string text = triplets(small_planted().entries);
  cli.write("data.csv", text + lines_of(text)[0] + "\n");
  const Outcome outcome = complete(cli, "data.csv");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome;
  EXPECT_NE(outcome.err.find("warning: data.csv: 1 repeated line"), std::string::npos) << outcome;
}

TEST(Complete, MakesAFolderOfItsOwnWithoutOut) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = cli.run("complete data.csv");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("udv-runs/complete-"), std::string::npos) << outcome;
  EXPECT_EQ(cli.files("udv-runs").count("run.json"), 1u);
}

TEST(Complete, PrintsASummary) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  const Outcome outcome = cli.run("complete data.csv --out out");
  for (const std::string word :
       {"30 x 25, 300 measurements", "udv", "rank               2",
        "certified: the only rank-2 matrix that fits the data", "results            out"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome;
  EXPECT_EQ(outcome.err, "");
}

}  // namespace complete_test
}  // namespace udv::cli
