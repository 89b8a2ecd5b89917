// SPDX-License-Identifier: MIT
#include "cli/support.hpp"

namespace udv::cli {
namespace demo_test {

void expect_table(const Outcome& outcome) {
  EXPECT_EQ(outcome.code, 0) << outcome;
  for (const std::string word : {"method", "rank", "\u03c3\u2084/\u03c3\u2081", "relative error",
                                 "iterations", "seconds", "bm", "udu", "results in out"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome;
}

TEST(Demo, ComparesBmWithUduInATableAndOnDisk) {
  const Cli cli;
  expect_table(cli.run("demo --out out"));
  for (const std::string method : {"bm", "udu"})
    for (const std::string name : {"/run.json", "/U.npy", "/d.npy", "/history.csv"})
      EXPECT_TRUE(cli.exists("out/" + method + name)) << method << name;
  const Json bm = cli.run_json("out/bm"), udu = cli.run_json("out/udu");
  EXPECT_EQ(udu["rank"], 3);
  EXPECT_GT(bm["rank"], 3);
  EXPECT_LT(udu["relative_error"], 1e-6);
  EXPECT_GT(bm["relative_error"], 1e-3);
}

TEST(Demo, LeavesFilesOfOthersAlone) {
  const Cli cli;
  std::filesystem::create_directory(cli.path("out"));
  cli.write("out/report.html", "precious");
  const Outcome outcome = cli.run("demo --out out");
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_NE(outcome.err.find("report.html"), std::string::npos) << outcome;
  EXPECT_EQ(cli.text("out/report.html"), "precious");
  EXPECT_FALSE(cli.exists("out/bm"));
}

TEST(Demo, ResumesInItsOwnFolder) {
  const Cli cli;
  ASSERT_EQ(cli.run("demo --quiet --out out --time-limit 0.05").code, 0);
  EXPECT_EQ(cli.run("demo --quiet --out out").code, 2);
  EXPECT_EQ(cli.run("demo --quiet --out out --resume --time-limit 0.05").code, 0);
}

TEST(Demo, HeedsItsTimeLimit) {
  const Cli cli;
  cli.run("demo --quiet --out out --time-limit 0.05");
  EXPECT_EQ(cli.run_json("out/bm")["stop_reason"], "time limit");
}

}  // namespace demo_test
}  // namespace udv::cli
