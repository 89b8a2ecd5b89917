// SPDX-License-Identifier: MIT
#include "report/experiment_section.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"

namespace udv::report {
namespace experiment_section_test {

TEST(ExperimentSection, EveryKindOfChartDrawsSomethingOrNothing) {
  const io::TemporaryFolder folder;
  std::filesystem::create_directories(folder / "a");
  folder.write("a/run.json", R"({"rank":3,"spectrum":[2,1],"method":"udu"})");
  folder.write("a/history.csv", "iteration,objective,rank\n1,2,4\n2,1,3\n");
  folder.write("a/curve.csv",
               "neurons,parameters,loss,accuracy,relative_change\n1,9,2,,0.5\n2,18,1,,0\n");
  jobs::Reproduced reproduced;
  reproduced.folder = folder / "";
  reproduced.outcome.status = jobs::ClaimStatus::kSeen;
  jobs::ExperimentRun run;
  run.name = run.label = "a";
  run.variables["n"] = "1";
  reproduced.experiment.runs = {run};
  for (const std::string& kind : jobs::chart_kinds()) {
    jobs::Chart chart;
    chart.kind = kind;
    chart.y = "objective";
    chart.x = "n";
    jobs::Measure rank;
    rank.figure = "/rank";
    chart.figures = {{"rank", rank}};
    reproduced.experiment.charts.push_back(chart);
  }
  const Json section = experiment_section(reproduced);
  EXPECT_EQ(section["status"], "seen");
  std::map<std::string, int> kinds;
  for (const Json& block : section["blocks"]) ++kinds[block["kind"].get<std::string>()];
  EXPECT_EQ(kinds["lines"], 4);  // history, spectra, pruning, figures
  EXPECT_EQ(kinds["table"], 1);
}

}  // namespace experiment_section_test
}  // namespace udv::report
