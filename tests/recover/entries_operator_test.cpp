// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <Eigen/LU>

#include "support/linearization_laws.hpp"
#include "support/operator_registry.hpp"
#include "udv/recover/operators/entries.hpp"

namespace udv {
namespace entries_operator_test {

using testing::adjoint_times;
using testing::error_of;
using testing::kEps;
using testing::measured;
using testing::random_pattern;
using testing::random_rows;
using testing::random_stack;
using testing::random_vector;

Entries three_entries(bool symmetric) {
  return {3, 3, symmetric, {2, 0, 1}, {1, 0, 2}, {0, 0, 0}};
}

TEST(EntriesOperator, MeasuresTheNamedPlacesInTheOrderGiven) {
  const EntriesOperator<double> op({2, 3, false, {1, 0, 1}, {2, 1, 0}, {0, 0, 0}});
  const RowMatrix<double> X = random_rows(2, 3, 1);
  const Vector<double> y =
      measured(op, X, Vector<double>::Ones(3), RowMatrix<double>::Identity(3, 3));
  EXPECT_EQ(y, (Vector<double>(3) << X(1, 2), X(0, 1), X(1, 0)).finished());
}

TEST(EntriesOperator, AdjointPutsValuesAtTheirPlaces) {
  const EntriesOperator<double> op(three_entries(false));
  const Vector<double> z = (Vector<double>(3) << 5, 6, 7).finished();
  RowMatrix<double> expected = RowMatrix<double>::Zero(3, 3);
  expected(2, 1) = 5;
  expected(0, 0) = 6;
  expected(1, 2) = 7;
  EXPECT_EQ(adjoint_times(op, z, RowMatrix<double>::Identity(3, 3)), expected);
}

TEST(EntriesOperator, SymmetricAdjointSharesValuesWithTheMirrorImage) {
  const EntriesOperator<double> op(three_entries(true));
  const Vector<double> z = (Vector<double>(3) << 5, 6, 7).finished();
  RowMatrix<double> expected = RowMatrix<double>::Zero(3, 3);
  expected(0, 0) = 6;
  expected(1, 2) = expected(2, 1) = (5 + 7) / 2.0;
  EXPECT_EQ(adjoint_times(op, z, RowMatrix<double>::Identity(3, 3)), expected);
}

// "line: other(entry) ..." for each line of a tile.
std::string listed(const SparseLines& lines) {
  std::string text;
  for (Index i = 0; i < lines.count; ++i) {
    text += std::to_string(i) + ":";
    for (auto s = lines.first[i]; s < lines.first[i + 1]; ++s)
      text += " " + std::to_string(lines.other[s]) + "(" + std::to_string(lines.entry[s]) + ")";
    text += "\n";
  }
  return text;
}

TEST(EntriesOperator, ListsItsPatternByRowsAndByColumns) {
  const EntriesOperator<double> op({2, 3, false, {1, 0, 1}, {2, 1, 1}, {0, 0, 0}});
  EXPECT_EQ(listed(op.by_row()), "0: 1(1)\n1: 2(0) 1(2)\n");
  ASSERT_EQ(op.by_col().tiles(), 1);
  EXPECT_EQ(listed(op.by_col().tile(0)), "0:\n1: 0(1) 1(2)\n2: 1(0)\n");
}

TEST(TiledLines, CutsThePatternIntoRunsOfMeasurements) {
  const TiledLines lines(3, {2, 0, 2, 1, 2}, {10, 11, 12, 13, 14}, 2);
  ASSERT_EQ(lines.tiles(), 3);
  EXPECT_EQ(listed(lines.tile(0)), "0: 11(1)\n1:\n2: 10(0)\n");
  EXPECT_EQ(listed(lines.tile(1)), "0:\n1: 13(3)\n2: 12(2)\n");
  EXPECT_EQ(listed(lines.tile(2)), "0:\n1:\n2: 14(4)\n");
  EXPECT_EQ(lines.line_size(2), 3);
}

// 5 x 4, all entries known.
Entries full_matrix(std::vector<double> weight) {
  Entries full{5, 4, false, {}, {}, std::vector<double>(20, 0.0), std::move(weight)};
  for (std::int32_t t = 0; t < 20; ++t) {
    full.row.push_back(t / 4);
    full.col.push_back(t % 4);
  }
  return full;
}

TEST(EntriesOperator, OfAFullMatrixHasTheFreedomOfALowRankMatrix) {
  const EntriesOperator<double> op(full_matrix({}));
  EXPECT_EQ(op.degrees_of_freedom(2), 2 * (5 + 4 - 2));
  EXPECT_EQ(op.degrees_of_freedom(4), 20);
}

TEST(EntriesOperator, CountsOnlyParametersThatShow) {
  // Row 0 has three entries, row 1 one; columns have 2, 1, 1. At rank 2: 2 + 1 and 2 + 1 + 1 - 4.
  const EntriesOperator<double> op({2, 3, false, {0, 0, 0, 1}, {0, 1, 2, 0}, {0, 0, 0, 0}});
  EXPECT_EQ(op.degrees_of_freedom(2), 3 + 4 - 4);
}

TEST(EntriesOperator, MeasuresTheRootOfTheWeightTimesTheEntry) {
  const EntriesOperator<double> op({2, 3, false, {1, 0, 1}, {2, 1, 0}, {0, 0, 0}, {4, 0, 9}});
  const RowMatrix<double> X = random_rows(2, 3, 1);
  const Vector<double> y =
      measured(op, X, Vector<double>::Ones(3), RowMatrix<double>::Identity(3, 3));
  EXPECT_EQ(y, (Vector<double>(3) << 2 * X(1, 2), 0, 3 * X(1, 0)).finished());
  EXPECT_EQ(op.norm_bound(), 3);
  EXPECT_EQ(op.mean_gain(), 13 / 6.0);
}

TEST(EntriesOperator, DoesNotCountEntriesWithoutWeight) {
  std::vector<double> weight(20, 2.0);
  for (const size_t t : {8u, 9u, 10u, 11u, 12u, 13u, 14u}) weight[t] = 0;
  // Row 2 has no entry left, row 3 one.
  const EntriesOperator<double> op(full_matrix(weight));
  EXPECT_EQ(op.degrees_of_freedom(2), 3 * 2 + 0 + 1 + 4 * 2 - 4);
  EXPECT_EQ(op.undetermined(2).empty_rows, std::vector<Index>{2});
  EXPECT_EQ(op.undetermined(2).rows, std::vector<Index>{3});
}

TEST(EntriesOperator, RescaledMeasuresTheSamePlacesTimesAFactor) {
  const EntriesOperator<double> op(testing::random_weighted_pattern(9, 7, false));
  const Vector<double> factor = random_vector(op.num_measurements(), 3).cwiseAbs();
  const StackedFactors<double> Z = random_stack(op, 2, 1);
  Vector<double> plain, scaled;
  apply_stack(op, Z, plain);
  apply_stack(op.rescaled(factor), Z, scaled);
  EXPECT_NEAR((scaled - plain.cwiseProduct(factor)).norm(), 0, 10 * kEps * scaled.norm());
}

TEST(EntriesOperator, RefusesBadWeights) {
  const auto error = [](std::vector<double> weight) {
    return error_of([&] {
      EntriesOperator<double>({2, 2, false, {0, 1}, {0, 1}, {0, 0}, std::move(weight)});
    });
  };
  EXPECT_EQ(error({1}), "entries: 1 weights and 2 values, equally many expected");
  EXPECT_EQ(error({1, -2}),
            "entries: entry 1 has weight -2, a finite number that is not negative expected");
  EXPECT_EQ(error({0, 0}), "entries: all 2 weights are zero");
}

// Column j of J^T J, one unit vector at a time.
Matrix<double> normal_matrix(const EntriesOperator<double>& op, const StackedFactors<double>& Z) {
  Matrix<double> normal(Z.Z.size(), Z.Z.size());
  for (Index j = 0; j < Z.Z.size(); ++j) {
    RowMatrix<double> unit = RowMatrix<double>::Zero(Z.Z.rows(), Z.rank());
    unit.data()[j] = 1;
    const RowMatrix<double> column = testing::normal_product(op, Z, unit);
    normal.col(j) = Eigen::Map<const Vector<double>>(column.data(), column.size());
  }
  return normal;
}

struct ModelCase {
  bool symmetric, weighted;
};

class EntriesModel : public ::testing::TestWithParam<ModelCase> {
 protected:
  static Entries pattern(ModelCase model) {
    const Index cols = model.symmetric ? 9 : 7;
    return model.weighted ? testing::random_weighted_pattern(9, cols, model.symmetric)
                          : random_pattern(9, cols, model.symmetric, false);
  }

  const EntriesOperator<double> op{pattern(GetParam())};
  const StackedFactors<double> Z = random_stack(op, 2, 1);
  const Matrix<double> normal = normal_matrix(op, Z);
};

TEST_P(EntriesModel, MeanDiagonalIsThatOfTheNormalMatrix) {
  EXPECT_NEAR(op.linearize(Z)->mean_diagonal(), normal.diagonal().mean(),
              10 * kEps * normal.diagonal().mean());
}

TEST_P(EntriesModel, PreconditionerInvertsTheDiagonalBlockOfEachLine) {
  const double damping = 0.1 * normal.diagonal().mean();
  const auto model = op.linearize(Z);
  model->factor_preconditioner(damping);
  const RowMatrix<double> R = random_rows(Z.Z.rows(), 2, 2);
  RowMatrix<double> Y;
  model->precondition(R, Y);
  for (Index i = 0; i < Z.Z.rows(); ++i) {
    const Matrix<double> block =
        normal.block(2 * i, 2 * i, 2, 2) + damping * Matrix<double>::Identity(2, 2);
    const Vector<double> expected = block.inverse() * R.row(i).transpose();
    // Rounding times the condition of the block, which damping bounds.
    const double condition = block.norm() / damping;
    EXPECT_NEAR((Y.row(i).transpose() - expected).norm(), 0,
                10 * kEps * condition * expected.norm());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EntriesModel,
                         ::testing::Values(ModelCase{false, false}, ModelCase{true, false},
                                           ModelCase{false, true}, ModelCase{true, true}),
                         [](const auto& info) {
                           return std::string(info.param.symmetric ? "symmetric" : "rectangular") +
                                  (info.param.weighted ? "_weighted" : "");
                         });

TEST(EntriesOperator, RefusesPlacesOutsideTheMatrix) {
  EXPECT_EQ(error_of([] {
              EntriesOperator<double>({2, 3, false, {0, 1}, {0, 3}, {0, 0}});
            }),
            "entries: entry 1 stands at (1, 3), outside 2 x 3");
  EXPECT_EQ(error_of([] {
              EntriesOperator<double>({2, 3, false, {-1}, {0}, {0}});
            }),
            "entries: entry 0 stands at (-1, 0), outside 2 x 3");
}

TEST(EntriesOperator, RefusesToMeasureNothing) {
  EXPECT_EQ(error_of([] {
              EntriesOperator<double>({2, 3, false, {}, {}, {}});
            }),
            "entries: none given");
}

TEST(EntriesOperator, RefusesAnEmptyMatrix) {
  EXPECT_EQ(error_of([] {
              EntriesOperator<double>({0, 3, false, {0}, {0}, {0}});
            }),
            "entries: the matrix is 0 x 3, at least 1 x 1 expected");
}

TEST(EntriesOperator, RefusesASymmetricMatrixThatIsNotSquare) {
  EXPECT_EQ(error_of([] {
              EntriesOperator<double>({2, 3, true, {0}, {0}, {0}});
            }),
            "entries: a symmetric matrix is 2 x 3, square expected");
}

TEST(EntriesOperator, RefusesListsOfDifferentLengths) {
  EXPECT_EQ(error_of([] {
              EntriesOperator<double>({2, 2, false, {0, 1}, {0}, {0, 0, 0}});
            }),
            "entries: 2 rows, 1 columns and 3 values, equally many expected");
}

}  // namespace entries_operator_test
}  // namespace udv
