// SPDX-License-Identifier: MIT
#include "recover/solver/offsets.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/planted_problems.hpp"
#include "udv/core/options.hpp"
#include "udv/core/random.hpp"

namespace udv {
namespace offsets_test {

using testing::completed;
using testing::error_of;

constexpr Index kRows = 50, kCols = 60, kRank = 2;

/// Entries of a planted matrix plus offsets of one kind.
struct OffsetProblem {
  Planted planted;
  Biases biases;

  OffsetProblem(Centering kind, double size, double noise = 0)
      : planted(completed(kRows, kCols, false, kRank, 6, 1, noise, 5)) {
    Random random(9, kStreamProbe);
    biases.row.setZero(kRows);
    biases.col.setZero(kCols);
    if (kind != Centering::kNone) biases.global = size;
    if (has_rows(kind)) random.fill_normal(biases.row);
    if (has_cols(kind)) random.fill_normal(biases.col);
    biases.row *= size;
    biases.col *= size;
  }

  Problem problem() const {
    Entries entries = planted.entries;
    for (size_t t = 0; t < entries.value.size(); ++t)
      entries.value[t] += biases.at(entries.row[t], entries.col[t]);
    return completion(entries);
  }
  /// Error of all predictions against the size of the low-rank part.
  double error(const Recovery& found) const {
    const RowMatrix<double> X = testing::product(planted.U, planted.V.transpose());
    RowMatrix<double> difference(kRows, kCols);
    for (Index i = 0; i < kRows; ++i)
      for (Index j = 0; j < kCols; ++j)
        difference(i, j) = found.predict(i, j) - biases.at(i, j) - X(i, j);
    return difference.norm() / X.norm();
  }
};

RecoverOptions centered_by(Centering mode) {
  RecoverOptions options;
  options.center = mode;
  return options;
}

struct OffsetCase {
  Centering kind;
  double size;
};

class OffsetKinds : public ::testing::TestWithParam<OffsetCase> {};

TEST_P(OffsetKinds, DoNotChangeTheAnswer) {
  const auto [kind, size] = GetParam();
  const OffsetProblem offset(kind, size);
  const Recovery found = recover(offset.problem());
  EXPECT_EQ(found.center, kind);
  EXPECT_EQ(found.rank, kRank);
  EXPECT_LE(offset.error(found), 1e-6);
  EXPECT_EQ(found.biases.any(), kind != Centering::kNone);
}

std::string name_of(const ::testing::TestParamInfo<OffsetCase>& instance) {
  const double size = std::abs(instance.param.size);
  return std::string(to_string(instance.param.kind)) + (size > 1e5 ? "_large" : "_small");
}

INSTANTIATE_TEST_SUITE_P(
    Kind, OffsetKinds,
    ::testing::Values(OffsetCase{Centering::kNone, 0}, OffsetCase{Centering::kGlobal, 1},
                      OffsetCase{Centering::kGlobal, -1e6}, OffsetCase{Centering::kRows, 2},
                      OffsetCase{Centering::kRows, 1e6}, OffsetCase{Centering::kCols, 2},
                      OffsetCase{Centering::kBoth, 2}, OffsetCase{Centering::kBoth, 1e6}),
    name_of);

class ExplicitOffsets : public ::testing::TestWithParam<Centering> {};

TEST_P(ExplicitOffsets, FitExactData) {
  const OffsetProblem offset(Centering::kBoth, 3);
  const Recovery found = recover(offset.problem(), centered_by(GetParam()));
  EXPECT_EQ(found.center, GetParam());
  EXPECT_LE(offset.error(found), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Kind, ExplicitOffsets,
                         ::testing::Values(Centering::kNone, Centering::kGlobal, Centering::kRows,
                                           Centering::kCols, Centering::kBoth),
                         [](const auto& instance) {
                           return std::string(to_string(instance.param));
                         });

TEST(Offsets, LeaveOrdinaryDataAlone) {
  for (const double noise : {0.0, 0.1}) {
    const Problem problem = OffsetProblem(Centering::kNone, 0, noise).problem();
    const Recovery automatic = recover(problem);
    EXPECT_EQ(automatic.center, Centering::kNone);
    EXPECT_EQ(automatic.U, recover(problem, centered_by(Centering::kNone)).U);
  }
}

TEST(Offsets, OfPositiveMatricesOfRankOneAreNone) {
  // u_i v_j near 1: the mean is large against the spread, but the rank is 1 without it.
  OffsetProblem offset(Centering::kNone, 0);
  Entries entries = offset.planted.entries;
  for (size_t t = 0; t < entries.value.size(); ++t)
    entries.value[t] = (1 + 0.1 * std::sin(entries.row[t])) * (1 + 0.1 * std::cos(entries.col[t]));
  const Recovery found = recover(completion(entries));
  EXPECT_EQ(found.center, Centering::kNone);
  EXPECT_EQ(found.rank, 1);
  EXPECT_LE(found.relative_residual, 1e-10);
}

TEST(Offsets, OfAConstantMatrixLeaveItAlone) {
  OffsetProblem offset(Centering::kNone, 0);
  Entries entries = offset.planted.entries;
  std::fill(entries.value.begin(), entries.value.end(), 4.0);
  const Recovery found = recover(completion(entries));
  EXPECT_EQ(found.rank, 1);
  EXPECT_NEAR(found.predict(3, 4), 4, 1e-9);
}

TEST(Offsets, OfNoisyRowsAreFound) {
  const OffsetProblem offset(Centering::kRows, 2, 0.1);
  const Recovery found = recover(offset.problem());
  EXPECT_EQ(found.center, Centering::kRows);
  EXPECT_EQ(found.rank, kRank);
  const Recovery without = recover(offset.problem(), centered_by(Centering::kNone));
  EXPECT_LT(offset.error(found), offset.error(without));
}

TEST(Offsets, OfNoisyRowsAreFoundBesideALargeMean) {
  // The columns of the walk's fit explain the mean, too: it must not be counted twice.
  const OffsetProblem offset(Centering::kRows, 10, 0.05);
  for (const Centering mode : {Centering::kAuto, Centering::kRows, Centering::kBoth}) {
    const Recovery found = recover(offset.problem(), centered_by(mode));
    EXPECT_EQ(found.center, mode == Centering::kBoth ? mode : Centering::kRows);
    EXPECT_EQ(found.rank, kRank);
    EXPECT_LT(offset.error(found), 0.06);
  }
}

TEST(Offsets, OfNoisyRowsAreFoundWhereTheRankIsChosenInAnotherWay) {
  const OffsetProblem offset(Centering::kRows, 10, 0.05);
  RecoverOptions held_out, known;
  held_out.holdout = 0.1;
  const Eigen::Map<const Vector<double>> values(
      offset.planted.entries.value.data(), static_cast<Index>(offset.planted.entries.value.size()));
  known.noise_sigma = 0.05 * std::sqrt(values.squaredNorm() / static_cast<double>(values.size()));
  for (const RecoverOptions& options : {held_out, known}) {
    const Recovery found = recover(offset.problem(), options);
    EXPECT_EQ(found.center, Centering::kRows);
    EXPECT_EQ(found.rank, kRank);
    EXPECT_LT(offset.error(found), 0.06);
  }
}

TEST(Offsets, OfRowsWithFewNoisyEntriesAreShrunken) {
  // Noise alone: the mean of two entries says little about a row.
  Random random(4, kStreamProbe);
  Entries entries{40, 30, false, {}, {}, {}};
  for (std::int32_t i = 0; i < 40; ++i)
    for (std::int32_t j = 0; j < (i < 20 ? 30 : 2); ++j) {
      entries.row.push_back(i);
      entries.col.push_back(j);
      entries.value.push_back(5 + random.normal());
    }
  const Recovery found = recover(completion(entries), centered_by(Centering::kRows));
  EXPECT_EQ(found.rank, 0);
  const Biases means = fit_biases(entries, Centering::kRows);
  EXPECT_LT(found.biases.row.tail(20).norm(), 0.5 * means.row.tail(20).norm());
  EXPECT_NEAR(found.biases.global, 5, 0.2);
}

TEST(Offsets, AreRefusedWhereThereAreNoEntries) {
  const auto sensing = testing::planted_sensing(6, 5, false, 1, 40);
  EXPECT_EQ(error_of([&] { recover(sensing.problem, centered_by(Centering::kRows)); }),
            "center: goes with entries of rectangular matrices only");
  const auto symmetric = testing::planted_entries(20, 20, true, 1, 4);
  EXPECT_THROW(recover(symmetric.problem, centered_by(Centering::kGlobal)), OptionError);
  EXPECT_NO_THROW(recover(symmetric.problem, centered_by(Centering::kNone)));
}

TEST(Offsets, AreFoundAgainByAResumedSolve) {
  // Noisy data are walked twice; the walks share a journal.
  const Problem problem = OffsetProblem(Centering::kRows, 2, 0.1).problem();
  std::vector<std::string> saved;
  RecoverHooks hooks;
  hooks.save_every_seconds = -1;
  hooks.save = [&](const std::string& bytes) { saved.push_back(bytes); };
  const Recovery first = recover(problem, {}, hooks);
  ASSERT_GE(saved.size(), 8u);
  for (const std::string& bytes : saved) {
    RecoverHooks resumed;
    resumed.resume = bytes;
    const Recovery again = recover(problem, {}, resumed);
    EXPECT_EQ(again.U, first.U);
    EXPECT_EQ(again.biases.row, first.biases.row);
    EXPECT_EQ(again.iterations, first.iterations);
  }
}

TEST(Holdout, ChoosesTheRankOfAFitToAllData) {
  const OffsetProblem noisy(Centering::kNone, 0, 0.2);
  const Problem problem = noisy.problem();
  RecoverOptions options;
  options.holdout = 0.2;
  const Recovery found = recover(problem, options);
  EXPECT_EQ(found.rank, kRank);
  EXPECT_EQ(found.measurements, problem.b.size());
  ASSERT_TRUE(found.holdout_rmse.has_value());
  // The answer is that of all data at this rank, up to the ridge: that of held-out data is one for
  // all columns.
  const Recovery all = recover(problem);
  EXPECT_NEAR(noisy.error(found) / noisy.error(all), 1, 2e-2);
}

}  // namespace offsets_test
}  // namespace udv
