// SPDX-License-Identifier: MIT
#include "udv/recover/fold_in.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "udv/core/error.hpp"

namespace udv {
namespace fold_in_test {

double noise_at(Index i, Index j) {
  return std::sin(12.9898 * static_cast<double>(i + 1) + 78.233 * static_cast<double>(j + 1));
}

RowMatrix<double> waves(Index rows, Index cols, double phase) {
  RowMatrix<double> result(rows, cols);
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < cols; ++k)
      result(i, k) = std::sin(phase + 1.7 * static_cast<double>(i) * static_cast<double>(k + 1) +
                              static_cast<double>(k));
  return result;
}

/// An answer of rank 2 with offsets, and new rows of the same kind.
struct Setting {
  Recovery answer;
  RowMatrix<double> W = waves(5, 2, 0.3);  // U d of the new rows
  Vector<double> bias = Vector<double>::Zero(5);

  explicit Setting(bool row_biases = false) {
    answer.rows = 40;
    answer.cols = 30;
    answer.U = waves(40, 2, 0);
    answer.V = waves(30, 2, 2);
    answer.d = Vector<double>(2);
    answer.d << 3, 0.5;
    answer.biases.global = 4;
    answer.biases.col = waves(30, 1, 5);
    if (!row_biases) return;
    answer.biases.row = waves(40, 1, 1);
    for (Index i = 0; i < 5; ++i) bias(i) = 0.1 * static_cast<double>(i) - 0.3;
  }

  double at(Index i, Index j) const {
    return 4 + answer.biases.col(j) + bias(i) + W.row(i).dot(answer.V.row(j));
  }

  /// Row i has the first counts[i] columns.
  Entries entries(const std::vector<Index>& counts, double noise = 0) const {
    Entries result{static_cast<Index>(counts.size()), 30, false, {}, {}, {}};
    for (size_t i = 0; i < counts.size(); ++i)
      for (Index j = 0; j < counts[i]; ++j) {
        result.row.push_back(static_cast<std::int32_t>(i));
        result.col.push_back(static_cast<std::int32_t>(j));
        const auto row = static_cast<Index>(i);
        result.value.push_back(at(row, j) + noise * noise_at(row, j));
      }
    return result;
  }
};

TEST(FoldIn, FindsRowsOfExactDataFromAFewEntries) {
  for (const bool biases : {false, true}) {
    const Setting setting(biases);
    const LearnedColumns columns = learned_columns(setting.answer);
    const FoldedRows rows = fold_in(columns, setting.entries({4, 5, 6, 10, 30}));
    for (Index i = 0; i < 5; ++i)
      for (Index j = 0; j < 30; ++j) {
        EXPECT_NEAR(rows.predict(columns, i, j), setting.at(i, j), 1e-9);
        EXPECT_TRUE(rows.determined(columns, i, j));
      }
  }
}

TEST(FoldIn, GivesOldRowsTheirOwnFactors) {
  const Setting setting;
  const LearnedColumns columns = learned_columns(setting.answer);
  Entries entries{1, 30, false, {}, {}, {}};
  for (std::int32_t j = 0; j < 30; j += 3) {
    entries.row.push_back(0);
    entries.col.push_back(j);
    entries.value.push_back(setting.answer.predict(17, j));
  }
  const FoldedRows rows = fold_in(columns, entries);
  EXPECT_NEAR(rows.t(0, 0), setting.answer.U(17, 0) * 3, 1e-9);
  EXPECT_NEAR(rows.t(0, 1), setting.answer.U(17, 1) * 0.5, 1e-9);
}

TEST(FoldIn, GivesARowWithoutEntriesTheMean) {
  const Setting setting(true);
  const LearnedColumns columns = learned_columns(setting.answer);
  const FoldedRows rows = fold_in(columns, setting.entries({0, 30}));
  double mean = 0;
  for (Index i = 0; i < 40; ++i) mean += setting.answer.predict(i, 7) / 40;
  EXPECT_NEAR(rows.predict(columns, 0, 7), mean, 1e-12);
  EXPECT_FALSE(rows.determined(columns, 0, 7));
  EXPECT_TRUE(rows.determined(columns, 1, 7));
}

TEST(FoldIn, SaysWhatTooFewEntriesLeaveOpen) {
  const Setting setting;
  const LearnedColumns columns = learned_columns(setting.answer);
  const FoldedRows rows = fold_in(columns, setting.entries({1}));
  EXPECT_TRUE(rows.determined(columns, 0, 0));
  EXPECT_NEAR(rows.predict(columns, 0, 0), setting.at(0, 0), 1e-9);
  EXPECT_FALSE(rows.determined(columns, 0, 1));
}

// The normal equations of the ridge problem, solved directly.
TEST(FoldIn, IsTheRidgeSolutionOfNoisyData) {
  Setting setting;
  setting.answer.noise_sigma = 0.7;
  const LearnedColumns columns = learned_columns(setting.answer);
  Entries entries = setting.entries({6}, 0.7);
  for (size_t t = 0; t < 6; ++t) entries.weight.push_back(0.5 + static_cast<double>(t));
  const FoldedRows rows = fold_in(columns, entries);
  Eigen::Matrix2d gram = 0.49 * columns.covariance.inverse();
  Eigen::Vector2d right = gram * columns.mean;
  for (Index j = 0; j < 6; ++j) {
    const auto t = static_cast<size_t>(j);
    const Eigen::Vector2d a = setting.answer.V.row(j).transpose();
    gram += entries.weight[t] * a * a.transpose();
    right += entries.weight[t] * (entries.value[t] - 4 - setting.answer.biases.col(j)) * a;
  }
  const Eigen::Vector2d expected = gram.ldlt().solve(right);
  EXPECT_NEAR(rows.t(0, 0), expected(0), 1e-10);
  EXPECT_NEAR(rows.t(0, 1), expected(1), 1e-10);
}

TEST(FoldIn, LeavesColumnsWithoutDataOut) {
  Setting setting;
  setting.answer.undetermined.empty_cols = {3};
  setting.answer.V.row(3).setZero();
  const LearnedColumns columns = learned_columns(setting.answer);
  const FoldedRows rows = fold_in(columns, setting.entries({8}));
  EXPECT_FALSE(rows.determined(columns, 0, 3));
  EXPECT_NEAR(rows.predict(columns, 0, 9), setting.at(0, 9), 1e-9);
}

TEST(FoldIn, RefusesAnotherNumberOfColumns) {
  const Setting setting;
  Entries entries = setting.entries({3});
  entries.cols = 31;
  EXPECT_THROW(fold_in(learned_columns(setting.answer), entries), InvalidArgument);
}

TEST(FoldIn, WorksWithoutAnyFactor) {
  Setting setting(true);
  setting.answer.U.resize(40, 0);
  setting.answer.V.resize(30, 0);
  setting.answer.d.resize(0);
  setting.W.setZero();
  const LearnedColumns columns = learned_columns(setting.answer);
  Entries entries{1, 30, false, {0}, {2}, {4 + setting.answer.biases.col(2) + 0.25}};
  const FoldedRows rows = fold_in(columns, entries);
  EXPECT_NEAR(rows.predict(columns, 0, 5), 4 + setting.answer.biases.col(5) + 0.25, 1e-9);
}

TEST(FoldIn, OfARankOfZeroIsTheMeanRow) {
  Recovery answer;
  answer.rows = 3;
  answer.cols = 2;
  answer.U.resize(3, 0);
  answer.V.resize(2, 0);
  answer.biases.global = 4;
  const LearnedColumns columns = learned_columns(answer);
  const Entries rows{1, 2, false, {0}, {1}, {9.0}};
  EXPECT_EQ(fold_in(columns, rows).predict(columns, 0, 0), 4);
}

}  // namespace fold_in_test
}  // namespace udv
