// SPDX-License-Identifier: MIT
#include "cli/progress.hpp"

#include <gtest/gtest.h>

namespace udv::cli {
namespace progress_test {

IterationRecord record() {
  IterationRecord record;
  record.iteration = 123'456;
  record.seconds = 75;
  record.objective = 1.25e-7;
  record.rank = 12;
  return record;
}

TEST(ProgressLine, FitsEveryTerminal) {
  for (const jobs::ProgressTotal& total : {jobs::ProgressTotal{}, jobs::ProgressTotal{200'000}})
    for (int width = 20; width < 200; ++width) {
      const std::string line = progress_line(record(), total, {}, width);
      EXPECT_LE(columns_of(line), width) << line;
      EXPECT_GT(columns_of(line), 5) << line;
    }
}

TEST(ProgressLine, LeavesOutTheEndFirst) {
  const jobs::ProgressTotal total{200'000};
  const std::string wide = progress_line(record(), total, {}, 120);
  for (const char* word : {"62 %", "left", "iteration 123456", "objective 1.25e-07", "rank 12"})
    EXPECT_NE(wide.find(word), wide.npos) << wide;
  const std::string narrow = progress_line(record(), total, {}, 59);
  for (const char* word : {"62 %", "left", "iteration 123456"})
    EXPECT_NE(narrow.find(word), narrow.npos) << narrow;
  EXPECT_EQ(narrow.find("rank"), narrow.npos) << narrow;
  EXPECT_EQ(columns_of("█░ %"), 4);
}

}  // namespace progress_test
}  // namespace udv::cli
