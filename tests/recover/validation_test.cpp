// SPDX-License-Identifier: MIT
#include "udv/recover/validation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "udv/core/random.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/recover.hpp"

namespace udv {
namespace validation_test {

/// Ratings 1 to 5 with biases of rows and columns and noise, and nothing of low rank.
Entries rated(std::uint64_t seed, Index rows = 120, Index cols = 100, Index n = 3000) {
  Random random(seed);
  Vector<double> b(rows), c(cols);
  for (double& x : b) x = 0.5 * random.normal();
  for (double& x : c) x = 0.7 * random.normal();
  Entries entries{rows, cols, false, {}, {}, {}};
  const std::vector<Index> order = random.permutation(rows * cols);
  for (Index t = 0; t < n; ++t) {
    const Index i = order[static_cast<size_t>(t)] / cols, j = order[static_cast<size_t>(t)] % cols;
    entries.row.push_back(static_cast<std::int32_t>(i));
    entries.col.push_back(static_cast<std::int32_t>(j));
    const double x = 3.5 + b(i) + c(j) + 0.8 * random.normal();
    entries.value.push_back(std::clamp(std::round(x), 1.0, 5.0));
  }
  return entries;
}

TEST(LearnedBiases, AreShrunkenMeans) {
  const Entries entries = rated(1);
  const Biases learned = learned_biases(entries), plain = fit_biases(entries, Centering::kBoth);
  const auto spread = [](const Vector<double>& x) {
    return (x.array() - x.mean()).matrix().norm();
  };
  EXPECT_LT(spread(learned.row), spread(plain.row));
  EXPECT_GT(spread(learned.row), 0.6 * spread(plain.row));
}

TEST(FoldSplit, GivesEachEntryToOneFold) {
  const Entries entries = rated(2, 20, 15, 103);
  const FoldSplit split(entries.size(), 4, 7);
  std::set<std::pair<int, int>> seen;
  for (Index k = 0; k < 4; ++k) {
    const auto [rest, held_out] = split.split(entries, k);
    EXPECT_EQ(rest.size() + held_out.size(), entries.size());
    EXPECT_GE(held_out.size(), 25);
    for (size_t t = 0; t < held_out.value.size(); ++t)
      EXPECT_TRUE(seen.emplace(held_out.row[t], held_out.col[t]).second);
  }
  EXPECT_EQ(seen.size(), entries.value.size());
}

TEST(FoldSplit, WantsAnEntryForEachFold) {
  EXPECT_THROW(FoldSplit(3, 4, 0), InvalidArgument);
  EXPECT_THROW(FoldSplit(3, 1, 0), InvalidArgument);
}

FoldErrors folded(const std::vector<std::array<double, 3>>& errors) {
  FoldErrors folds;
  for (const auto& [answer, biases, mean] : errors)
    folds.folds.push_back({answer, biases, mean, 10, 1});
  return folds;
}

TEST(FoldErrors, AreThoseOfAllEntriesWithTheDeviationBetweenFolds) {
  const FoldErrors folds = folded({{3, 1, 1}, {4, 1, 1}});
  EXPECT_DOUBLE_EQ(folds.answer().rmse, std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(folds.answer().deviation, std::sqrt(0.5));
  EXPECT_EQ(folds.left_out(), 2);
}

TEST(FoldErrors, SayWhetherLowRankPays) {
  EXPECT_TRUE(folded({{.8, 1, 2}, {.9, 1.1, 2}}).low_rank_pays());
  EXPECT_TRUE(folded({{.8, 1, 2}, {.9, 1.1, 2}}).sentence().starts_with("low rank pays"));
  const FoldErrors noisy = folded({{.8, 1, 2}, {1.1, .95, 2}, {1, 1, 2}});
  EXPECT_FALSE(noisy.low_rank_pays());
  EXPECT_NE(noisy.sentence().find("biases of rows and columns alone"), std::string::npos);
  EXPECT_NE(folded({{1, 1, 1}, {1, 1, 1}}).sentence().find("the mean alone"), std::string::npos);
}

TEST(HeldOutErrors, CountEntriesWhoseLinesHaveData) {
  const Planted planted = planted_completion({30, 25, false, 2, 400, 1, 0, 3});
  Entries known = planted.entries;
  ++known.cols;
  Entries test{30, 26, false, {0, 1, 2}, {3, 4, 25}, {0, 0, 0}};
  for (size_t t = 0; t < 2; ++t)
    test.value[t] = planted.U.row(test.row[t]).dot(planted.V.row(test.col[t]));
  const Recovery recovery = recover(completion(known));
  std::vector<HeldOutEntry> listed;
  const HeldOutErrors errors = held_out_errors(recovery, known, test, &listed);
  EXPECT_EQ(errors.counted, 2);
  EXPECT_EQ(errors.left_out, 1);
  EXPECT_LT(errors.answer, 1e-8);
  EXPECT_GT(errors.biases, 1e-2);
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[1].row, 1);
  EXPECT_NEAR(listed[1].predicted, listed[1].value, 1e-8);
}

TEST(FewLevels, AreNoReasonToLeaveRatingsOut) {
  for (const std::uint64_t seed : {3, 4}) {
    const Recovery recovery = recover(completion(rated(seed)));
    EXPECT_TRUE(recovery.outliers.empty()) << recovery.outliers.size();
    EXPECT_EQ(recovery.rank, 0);
    EXPECT_NEAR(recovery.noise_sigma, 0.8, 0.1);
  }
}

TEST(FewLevels, WithFlippedBitsAreStillFound) {
  // Two groups that like opposite things, and some bits wrong.
  Entries entries{36, 30, false, {}, {}, {}};
  Random random(5);
  Index flipped = 0;
  for (int i = 0; i < 36; ++i)
    for (int j = 0; j < 30; ++j) {
      if (random.uniform() > 0.6) continue;
      const bool wrong = random.uniform() < 0.03;
      flipped += wrong;
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(((i < 15) == (j < 12)) != wrong ? 1 : -1);
    }
  const Recovery recovery = recover(completion(entries));
  EXPECT_EQ(recovery.rank, 1);
  EXPECT_EQ(static_cast<Index>(recovery.outliers.size()), flipped);
}

TEST(PosteriorLines, WithFewEntriesAreTheUncertainOnes) {
  Planted planted = planted_completion({40, 30, false, 2, 700, 1, 0.3, 6});
  Entries entries{40, 30, false, {}, {}, {}};
  for (size_t t = 0, first = 0; t < planted.entries.value.size(); ++t) {
    if (planted.entries.row[t] == 0 && ++first > 3) continue;
    entries.row.push_back(planted.entries.row[t]);
    entries.col.push_back(planted.entries.col[t]);
    entries.value.push_back(planted.entries.value[t]);
  }
  const Recovery recovery = recover(completion(entries));
  ASSERT_TRUE(recovery.posterior);
  const Vector<double> rows = recovery.posterior->line_deviations(true);
  Index weakest = -1;
  rows.maxCoeff(&weakest);
  EXPECT_EQ(weakest, 0);
}

}  // namespace validation_test
}  // namespace udv
