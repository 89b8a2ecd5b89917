// SPDX-License-Identifier: MIT
#include "udv/jobs/write_run.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "io/temporary_files.hpp"
#include "support/planted_problems.hpp"
#include "udv/core/version.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace write_run_test {

using Json = nlohmann::json;

Json run_json(const std::filesystem::path& folder) {
  return Json::parse(std::ifstream(folder / "run.json"));
}

class RunFolder : public ::testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::filesystem::path path = folder / "new" / "run";
  const Recovery found = recover(testing::small_rectangular().problem);
};

TEST_F(RunFolder, HoldsTheFactors) {
  write_run(path, found);
  const Array U = read_npy(path / "U.npy"), d = read_npy(path / "d.npy"),
              V = read_npy(path / "V.npy");
  EXPECT_EQ(U.shape, (std::vector<Index>{30, 2}));
  EXPECT_EQ(V.shape, (std::vector<Index>{25, 2}));
  EXPECT_EQ(d.shape, std::vector<Index>{2});
  EXPECT_EQ(U.values, std::vector<double>(found.U.data(), found.U.data() + found.U.size()));
}

TEST_F(RunFolder, HoldsNoSecondFactorOfASymmetricMatrix) {
  write_run(path, recover(testing::small_symmetric().problem));
  EXPECT_TRUE(std::filesystem::exists(path / "U.npy"));
  EXPECT_FALSE(std::filesystem::exists(path / "V.npy"));
}

TEST_F(RunFolder, TellsTheResult) {
  write_run(path, found);
  const Json run = run_json(path);
  EXPECT_EQ(run["udv"], version());
  EXPECT_EQ(run["method"], "udv");
  EXPECT_EQ(run["rows"], 30);
  EXPECT_EQ(run["measurements"], found.measurements);
  EXPECT_EQ(run["rank"], 2);
  EXPECT_EQ(run["spectrum"][0], found.spectrum(0));
  EXPECT_EQ(run["relative_residual"], found.relative_residual);
  EXPECT_EQ(run["stop_reason"], "converged");
  EXPECT_EQ(run["certificate"]["verdict"], "global");
  EXPECT_FALSE(run.contains("test_rmse"));
  EXPECT_FALSE(run.contains("relative_error"));
}

TEST_F(RunFolder, TellsTheSettings) {
  RunInfo info;
  info.command = "complete";
  info.config = {{"holdout", 0.1},
                 {"symmetric", true},
                 {"seed", std::int64_t{7}},
                 {"method", std::string("udv")}};
  info.seed = 7;
  info.relative_error = 0.25;
  info.warnings = {"look out"};
  write_run(path, found, info);
  const Json run = run_json(path);
  EXPECT_EQ(run["command"], "complete");
  EXPECT_EQ(run["config"],
            Json({{"holdout", 0.1}, {"method", "udv"}, {"seed", 7}, {"symmetric", true}}));
  EXPECT_EQ(run["relative_error"], 0.25);
  EXPECT_EQ(run["warnings"], Json({"look out"}));
}

TEST_F(RunFolder, CountsAsTheInputDoes) {
  Recovery open = found;
  open.undetermined.rows = {3};
  open.undetermined.blocks = {{{0, 1}, {4}}};
  RunInfo info;
  info.index_base = 1;
  write_run(path, open, info);
  const Json names = run_json(path)["undetermined"];
  EXPECT_EQ(names["base"], 1);
  EXPECT_EQ(names["rows"], Json({4}));
  EXPECT_EQ(names["blocks"][0]["rows"], Json({1, 2}));
  EXPECT_EQ(names["blocks"][0]["cols"], Json({5}));
}

TEST_F(RunFolder, WritesNullForWhatIsNotFinite) {
  Recovery odd = found;
  odd.rank_gap = std::numeric_limits<double>::infinity();
  write_run(path, odd);
  EXPECT_TRUE(run_json(path)["rank_gap"].is_null());
}

TEST_F(RunFolder, TakesSettingsInAnyEncoding) {
  RunInfo info;
  info.config = {{"file", std::string("caf\xe9.csv")}};  // Latin-1, not UTF-8
  EXPECT_NO_THROW(write_run(path, found, info));
}

TEST_F(RunFolder, HoldsTheColumnsOfGradientRuns) {
  write_run(path, found);
  EXPECT_FALSE(std::filesystem::exists(path / "columns.npz"));
  RecoverOptions options;
  options.rank_walk = false;
  options.max_iterations = 30;
  write_run(path, recover(testing::small_rectangular().problem, options), {}, true);
  const auto arrays = read_npz(path / "columns.npz");
  ASSERT_EQ(arrays.size(), 3u);
  EXPECT_EQ(arrays[1].first, "norm_u");
  EXPECT_EQ(arrays[1].second.shape, (std::vector<Index>{30, 25}));
}

TEST_F(RunFolder, HoldsAnAnswerOfRankZero) {
  Recovery nothing = found;
  nothing.rank = 0;
  nothing.U.resize(30, 0);
  nothing.V.resize(25, 0);
  nothing.d.resize(0);
  write_run(path, nothing);
  EXPECT_EQ(read_npy(path / "U.npy").shape, (std::vector<Index>{30, 0}));
}

TEST_F(RunFolder, ThatCannotBeMadeIsNamed) {
  const auto file = folder.write("file", "");
  EXPECT_EQ(folder.error_of([&] { write_run(file / "run", found); }),
            "file/run: cannot make this folder: Not a directory");
}

TEST(HistoryCsv, HasOneLinePerRecord) {
  IterationRecord record;
  record.iteration = 12;
  record.seconds = 0.5;
  record.objective = 0.1;
  record.rank = 3;
  record.norm_u = 1;
  record.max_d = 2;
  record.step = 0.25;
  EXPECT_EQ(history_csv({record}),
            "iteration,seconds,objective,rank,norm_U,max_d,step\n"
            "12,0.500000,0.10000000000000001,3,1,2,0.25\n");
}

}  // namespace write_run_test
}  // namespace udv::io
