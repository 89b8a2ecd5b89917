// SPDX-License-Identifier: MIT
#include "udv/net/sweep.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"
#include "io/temporary_files.hpp"
#include "support/random_data.hpp"

namespace udv::net {
namespace sweep_test {

using io::TemporaryFolder;

SweepRow row(const std::string& variant, double rate, std::uint64_t seed, double loss) {
  SweepRow result;
  result.key = cell_key({variant, "adam", rate, 0, seed, 0}, "x");
  result.status = std::isfinite(loss) ? "done" : "diverged";
  result.cell = {variant, "adam", rate, 0, seed, 0};
  result.test_loss = result.last_test_loss = loss;
  return result;
}

TEST(Sweep, HasACellForEveryCombination) {
  SweepGrid grid;
  grid.variants = {"UDV", "UV"};
  grid.learning_rates = {1e-3, 1e-2, 1e-1};
  grid.seeds = {0, 1};
  const auto cells = cells_of(grid);
  EXPECT_EQ(cells.size(), 12u);
  std::set<std::string> keys;
  for (const auto& cell : cells) keys.insert(cell_key(cell, "settings"));
  EXPECT_EQ(keys.size(), 12u);
  EXPECT_NE(cell_key(cells[0], "settings"), cell_key(cells[0], "others"));
  grid.seeds = {1, 1};
  EXPECT_EQ(testing::error_of([&] { grid.validate(); }), "sweep: seed 1 found twice");
  grid.seeds = {};
  EXPECT_EQ(testing::error_of([&] { grid.validate(); }),
            "sweep: no seed found, at least one expected");
}

TEST(Sweep, LinesComeBackAsWritten) {
  const TemporaryFolder folder;
  SweepRow first = row("UDV", 1e-3, 7, 0.1 + 0.2), second = row("UV", 3, 8, NAN);
  first.test_accuracy = 0.9375;
  const std::string text = sweep_header() + sweep_line(first) + sweep_line(second);
  const auto rows = read_sweep(folder.write("r.csv", text + "cut off in the mid"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].test_loss, first.test_loss);
  EXPECT_EQ(rows[0].test_accuracy, 0.9375);
  EXPECT_EQ(rows[1].status, "diverged");
  EXPECT_EQ(rows[1].cell.learning_rate, 3);
  EXPECT_EQ(sweep_line(rows[0]), sweep_line(first));
  EXPECT_THROW(read_sweep(folder.write("b.csv", "a,b\n")), IoError);
  EXPECT_THROW(read_sweep(folder.write("b.csv", sweep_header() + "1,2\n")), IoError);
}

TEST(Sweep, SummaryAveragesAndMarksTheBestRate) {
  const auto summary =
      summarise({row("UDV", 1e-3, 0, 1), row("UDV", 1e-3, 1, 3), row("UDV", 1e-2, 0, 1.5),
                 row("UDV", 1e-2, 1, 1.5), row("UDV", 1, 0, 0.1), row("UDV", 1, 1, NAN)});
  ASSERT_EQ(summary.size(), 3u);
  EXPECT_DOUBLE_EQ(summary[0].mean, 2);
  EXPECT_DOUBLE_EQ(summary[0].deviation, std::sqrt(2.0));
  EXPECT_FALSE(summary[0].best);
  EXPECT_TRUE(summary[1].best);
  EXPECT_FALSE(summary[2].best);  // a rate at which some runs diverge is not the best one
  EXPECT_EQ(summary[2].diverged, 1);
}

TEST(Sweep, KnowsThePapersFigures) {
  EXPECT_EQ(paper_value("HPART", "adam", "UDV", 1e-3), 0.001304);
  EXPECT_EQ(paper_value("HPART", "adam", "UDV-s", 0.1), std::nullopt);
  EXPECT_EQ(paper_value("MNIST/MaxViT-T", "adam", "single", 1e-6), 99.42);
}

class RunSweep : public ::testing::Test {
 protected:
  RunSweep() {
    std::string text = "a,b,c,y\n";
    const auto X = testing::random_rows(60, 3, 1);
    for (Index i = 0; i < 60; ++i)
      text += message(X(i, 0), ",", X(i, 1), ",", X(i, 2), ",", X(i, 0) - 2 * X(i, 1), "\n");
    DataOptions options;
    options.table.target = "y";
    const DataSource<float> source(folder_.write("d.csv", text), options.for_paper());
    for (const std::uint64_t split : {0, 1}) data_.emplace(split, source.prepare(split));
    base_.preset = "paper";
    base_.epochs = 3;
    base_.batch = 16;
    grid_.variants = {"UDV", "UV"};
    grid_.learning_rates = {1e-3, 1e9};
    grid_.optimizers = {"mbgd"};
    grid_.split_seeds = {0, 1};
  }
  std::vector<std::string> lines(const std::set<std::string>& finished = {}) {
    std::vector<std::string> found;
    SweepHooks<float> hooks;
    hooks.finished = [&](const SweepRow& row) {
      SweepRow timeless = row;
      timeless.seconds = 0;
      found.push_back(sweep_line(timeless));
    };
    run_sweep(data_, cells_of(grid_), base_, "s", finished, hooks);
    std::sort(found.begin(), found.end());
    return found;
  }
  TemporaryFolder folder_;
  SweepData<float> data_;
  TrainOptions base_;
  SweepGrid grid_;
};

TEST_F(RunSweep, GivesTheSameRowsForAnyThreads) {
  std::vector<std::string> one;
  {
    const testing::ThreadCount single(1);
    one = lines();
  }
  const testing::ThreadCount four(4);
  EXPECT_EQ(one.size(), 8u);
  EXPECT_EQ(lines(), one);
  EXPECT_EQ(std::count_if(one.begin(), one.end(),
                          [](const auto& l) { return l.find("diverged") != l.npos; }),
            2);  // UV at 1e9
}

// Stopped at every step: a sweep whose runs began anew would never end.
TEST_F(RunSweep, ResumesRunsThatHadBegun) {
  const auto whole = lines();
  std::set<std::string> finished;
  std::vector<std::string> found;
  SweepHooks<float> hooks;
  std::string state;
  hooks.save = [&](const std::string& bytes) { state = bytes; };
  hooks.finished = [&](const SweepRow& row) {
    SweepRow timeless = row;
    timeless.seconds = 0;
    found.push_back(sweep_line(timeless));
    finished.insert(row.key);
  };
  hooks.observer = [](const IterationRecord&) { return Verdict::kInterrupt; };
  int stops = 0;
  while (run_sweep(data_, cells_of(grid_), base_, "s", finished, hooks) != Verdict::kContinue) {
    ASSERT_LT(++stops, 200);
    hooks.resume = state;
  }
  EXPECT_GT(stops, 8);
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, whole);
  hooks.resume = "none";
  EXPECT_THROW(run_sweep(data_, cells_of(grid_), base_, "s", {}, hooks), InvalidArgument);
}

TEST_F(RunSweep, LeavesOutWhatIsFinished) {
  std::set<std::string> finished;
  for (const auto& line : lines()) finished.insert(line.substr(0, 16));
  EXPECT_TRUE(lines(finished).empty());
  finished.erase(finished.begin());
  EXPECT_EQ(lines(finished).size(), 1u);
}

}  // namespace sweep_test
}  // namespace udv::net
