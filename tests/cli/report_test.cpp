// SPDX-License-Identifier: MIT
#include "udv/report/report.hpp"

#include "cli/support.hpp"

namespace udv::cli {
namespace report_test {

constexpr const char* kProblem = "planted completion --rows 30 --rank 2 --measurements 300 ";

// The JSON inside a page with charts.
Json report_of(const std::string& page) {
  const std::string open = "id=\"udv-report\">";
  const size_t begin = page.find(open) + open.size();
  return Json::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(ReportCommand, EveryRunLeavesAPageUnlessToldNotTo) {
  const Cli cli;
  EXPECT_EQ(cli.run(std::string(kProblem) + "--out out").code, 0);
  EXPECT_NE(cli.text("out/report.html").find("<!doctype html>"), std::string::npos);
  EXPECT_EQ(cli.run(std::string(kProblem) + "--report off --out silent").code, 0);
  EXPECT_FALSE(cli.exists("silent/report.html"));
}

TEST(ReportCommand, ShowsWhatRunJsonSays) {
  if (!report::has_charts()) GTEST_SKIP() << "this build has no charts";
  const Cli cli;
  EXPECT_EQ(cli.run(std::string(kProblem) + "--out out").code, 0);
  const Json report = report_of(cli.text("out/report.html")), run = cli.run_json();
  bool found = false;
  for (const Json& block : report["sections"][0]["blocks"]) {
    if (block["title"] != "Singular values") continue;
    const Json& points = block["series"][0]["points"];
    ASSERT_EQ(points.size(), run["spectrum"].size());
    for (size_t i = 0; i < points.size(); ++i)
      EXPECT_NEAR(points[i][1].get<double>(), run["spectrum"][i].get<double>(),
                  1e-5 * run["spectrum"][0].get<double>());
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST(ReportCommand, PutsRunsBesideEachOther) {
  const Cli cli;
  EXPECT_EQ(cli.run(std::string(kProblem) + "--report off --out runs/a").code, 0);
  EXPECT_EQ(cli.run(std::string(kProblem) + "--report off --seed 1 --out runs/<b>").code, 0);
  const Outcome outcome = cli.run("report runs --out all.html --title Both");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const std::string page = cli.text("all.html");
  EXPECT_EQ(page.find("<b>"), page.npos) << "a name of a folder became markup";
  if (!report::has_charts()) GTEST_SKIP() << "this build has no charts";
  EXPECT_EQ(report_of(page)["sections"].size(), 3u);
}

TEST(ReportCommand, RefusesFoldersWithoutRuns) {
  const Cli cli;
  cli.write("note.txt", "hello");
  for (const char* given :
       {"report . --out r.html", "report nowhere --out r.html", "report note.txt --out r.html"}) {
    EXPECT_EQ(cli.run(given).code, 3) << given;
    EXPECT_FALSE(cli.exists("r.html"));
  }
}

TEST(ReportCommand, ADamagedRunIsNamed) {
  const Cli cli;
  EXPECT_EQ(cli.run(std::string(kProblem) + "--report off --out out").code, 0);
  cli.write("out/history.csv", "iteration,objective\n1\n");
  const Outcome outcome = cli.run("report out --out r.html");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("history.csv:2"), std::string::npos) << outcome;
}

}  // namespace report_test
}  // namespace udv::cli
