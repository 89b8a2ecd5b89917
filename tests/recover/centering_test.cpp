// SPDX-License-Identifier: MIT
#include "udv/recover/centering.hpp"

#include <gtest/gtest.h>

#include "support/operator_registry.hpp"

namespace udv {
namespace centering_test {

using testing::error_of;
using testing::kEps;

Entries some_entries() {
  Entries entries = testing::random_pattern(10, 8, false, true);
  for (double& value : entries.value) value += 3;
  return entries;
}

/// Sum of what is left in each row and in each column.
std::pair<Vector<double>, Vector<double>> line_sums(const Entries& entries) {
  Vector<double> rows = Vector<double>::Zero(entries.rows);
  Vector<double> cols = Vector<double>::Zero(entries.cols);
  for (size_t t = 0; t < entries.value.size(); ++t) {
    rows(entries.row[t]) += entries.value[t];
    cols(entries.col[t]) += entries.value[t];
  }
  return {rows, cols};
}

std::pair<Vector<double>, Vector<double>> left_over(Centering mode) {
  const Entries entries = some_entries();
  return line_sums(centered(entries, fit_biases(entries, mode)));
}

// Alternation ends when nothing moves by 1e-14 of the largest value; 80 values add up.
constexpr double kTolerance = 80 * 100 * kEps * 6;

TEST(FitBiases, OfNoneIsZero) {
  const Biases biases = fit_biases(some_entries(), Centering::kNone);
  EXPECT_EQ(biases.at(3, 4), 0);
}

TEST(FitBiases, GlobalLeavesNoMean) {
  EXPECT_NEAR(left_over(Centering::kGlobal).first.sum(), 0, kTolerance);
}

TEST(FitBiases, OfRowsLeavesNoRowMeans) {
  const auto [rows, cols] = left_over(Centering::kRows);
  EXPECT_NEAR(rows.norm(), 0, kTolerance);
  EXPECT_GT(cols.norm(), 1);
}

TEST(FitBiases, OfColumnsLeavesNoColumnMeans) {
  const auto [rows, cols] = left_over(Centering::kCols);
  EXPECT_NEAR(cols.norm(), 0, kTolerance);
  EXPECT_GT(rows.norm(), 1);
}

TEST(FitBiases, OfBothIsTheLeastSquaresFit) {
  // The normal equations: residuals add up to zero in every row and every column.
  const auto [rows, cols] = left_over(Centering::kBoth);
  EXPECT_NEAR(rows.norm(), 0, kTolerance);
  EXPECT_NEAR(cols.norm(), 0, kTolerance);
}

TEST(FitBiases, FindsAnAdditiveModelExactly) {
  Entries entries = some_entries();
  for (size_t t = 0; t < entries.value.size(); ++t)
    entries.value[t] = 5 + 0.5 * entries.row[t] - 2.0 * entries.col[t];
  const Entries rest = centered(entries, fit_biases(entries, Centering::kBoth));
  for (const double value : rest.value) EXPECT_NEAR(value, 0, kTolerance);
}

TEST(FitBiases, GivesLinesWithoutEntriesNoBias) {
  // Row 2 and column 3 of the pattern are empty.
  const Biases biases = fit_biases(some_entries(), Centering::kBoth);
  EXPECT_EQ(biases.row(2), 0);
  EXPECT_EQ(biases.col(3), 0);
  EXPECT_EQ(biases.at(2, 3), biases.global);
}

TEST(FitBiases, OfConstantEntriesIsTheConstant) {
  Entries entries = some_entries();
  std::fill(entries.value.begin(), entries.value.end(), 4.0);
  const Biases biases = fit_biases(entries, Centering::kBoth);
  EXPECT_NEAR(biases.at(0, 0), 4, kTolerance);
}

TEST(FitBiases, LeavesOutEntriesWithoutWeight) {
  Entries entries = some_entries();
  for (size_t t = 0; t < entries.value.size(); ++t)
    entries.value[t] = 5 + 0.5 * entries.row[t] - 2.0 * entries.col[t];
  entries.weight.assign(entries.value.size(), 0.25);
  entries.weight[7] = 0;
  entries.value[7] = 1000;
  const Entries rest = centered(entries, fit_biases(entries, Centering::kBoth));
  for (size_t t = 0; t < rest.value.size(); ++t)
    EXPECT_NEAR(t == 7 ? 0 : rest.value[t], 0, 200 * kTolerance);
}

TEST(Centered, UndoesTheBiases) {
  const Entries entries = some_entries();
  const Biases biases = fit_biases(entries, Centering::kBoth);
  const Entries rest = centered(entries, biases);
  for (size_t t = 0; t < entries.value.size(); ++t)
    EXPECT_NEAR(rest.value[t] + biases.at(rest.row[t], rest.col[t]), entries.value[t],
                10 * kEps * 6);
}

TEST(Centered, IsRefusedForSymmetricProblems) {
  const Entries entries = testing::random_pattern(4, 4, true, false);
  EXPECT_EQ(error_of([&] { centered(entries, fit_biases(entries, Centering::kGlobal)); }),
            "centering is for rectangular problems, this one is symmetric");
}

}  // namespace centering_test
}  // namespace udv
