// SPDX-License-Identifier: MIT
#include "report/completion_section.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "report/sections.hpp"

namespace udv::report {
namespace completion_section_test {

constexpr const char* kNoisyRun = R"({"command": "complete", "rows": 40, "cols": 30, "rank": 2,
  "measurements": 600, "noise_sigma": 0.2, "center": "both", "offset": 3.5, "verdict": "fits",
  "rank_scores": [{"rank": 0, "score": 9}, {"rank": 1, "score": 5}],
  "models": [{"center": "both", "rank": 0, "bound": -9}, {"center": "both", "rank": 2, "bound": -4},
             {"center": "none", "rank": 3, "bound": -8}],
  "folds": 5, "fold_rmse": 0.5, "fold_rmse_std": 0.01, "fold_biases_rmse": 0.9,
  "fold_biases_rmse_std": 0.02, "fold_mean_rmse": 1.1, "fold_mean_rmse_std": 0.02,
  "weak_rows": ["ann"], "weak_rows_std": [null], "weak_rows_entries": [1],
  "config": {"seed": 1}})";

Json block_named(const Json& blocks, const std::string& start) {
  for (const Json& block : blocks)
    if (block.value("title", "").starts_with(start)) return block;
  return {};
}

Json section_of(io::TemporaryFolder& folder) {
  folder.write("run.json", kNoisyRun);
  folder.write("history.csv",
               "iteration,objective,rank\n1,9,1\n2,8,1\n3,4,2\n4,3,2\n5,2,3\n6,7,1\n7,6,2\n");
  folder.write("held_out.csv", "row,column,value,predicted,std\na,x,1,1.5,0.2\nb,y,3,2,0.2\n");
  return run_section(read_run(folder / "", "run"), true, {});
}

TEST(CompletionSection, StartsWithTheAnswer) {
  io::TemporaryFolder folder;
  const Json blocks = section_of(folder)["blocks"];
  EXPECT_EQ(blocks[0]["title"], "Answer");
  const std::string text = blocks[0].dump();
  for (const char* part : {"40 × 30", "600 entries, 50 %", "0.2 per entry", "0.5 ± 0.01", "fits"})
    EXPECT_NE(text.find(part), text.npos) << part << " in " << text;
}

TEST(CompletionSection, ComparesWithBiasesAndTheMean) {
  io::TemporaryFolder folder;
  const Json table = block_named(section_of(folder)["blocks"], "Root mean square error");
  EXPECT_EQ(table["rows"][0],
            Json::parse(R"(["5 folds", "0.5 ± 0.01", "0.9 ± 0.02", "1.1 ± 0.02"])"));
}

TEST(CompletionSection, DrawsTheEvidenceOfEachModelOverWholeRanks) {
  io::TemporaryFolder folder;
  const Json chart = block_named(section_of(folder)["blocks"], "Evidence by rank");
  EXPECT_EQ(chart["x"]["whole"], true);
  EXPECT_EQ(chart["series"].size(), 2u);
  EXPECT_EQ(chart["series"][0]["points"], Json::parse("[[0, -9], [2, -4]]"));
}

TEST(CompletionSection, DrawsHeldOutValuesAsACloud) {
  io::TemporaryFolder folder;
  const Json chart = block_named(section_of(folder)["blocks"], "Predicted against");
  EXPECT_EQ(chart["series"][0]["line"], false);
  EXPECT_EQ(chart["series"][0]["points"], Json::parse("[[1, 1.5], [3, 2]]"));
}

TEST(CompletionSection, DrawsTheWalkAsObjectiveByRank) {
  io::TemporaryFolder folder;
  const Json chart = block_named(section_of(folder)["blocks"], "Walk in the rank");
  EXPECT_EQ(chart["series"].size(), 2u);
  EXPECT_EQ(chart["series"][0]["points"], Json::parse("[[1, 8], [2, 3], [3, 2]]"));
  EXPECT_EQ(chart["series"][1]["points"], Json::parse("[[1, 7], [2, 6]]"));
}

TEST(CompletionSection, NamesWeakRows) {
  io::TemporaryFolder folder;
  const Json table = block_named(section_of(folder)["blocks"], "Weak rows");
  EXPECT_EQ(table["rows"][0], Json::parse(R"(["row ann", "not determined", "1"])"));
}

}  // namespace completion_section_test
}  // namespace udv::report
