// SPDX-License-Identifier: MIT
// What the laws do not say about dense, rank-one and user operators.
#include <gtest/gtest.h>

#include "support/operator_laws.hpp"
#include "support/operator_registry.hpp"

namespace udv {
namespace other_operators_test {

using testing::error_of;
using testing::kEps;
using testing::measured;
using testing::random_rows;
using testing::random_vector;
using testing::user_functions;

TEST(DenseOperator, MeasuresInnerProducts) {
  const RowMatrix<double> A = random_rows(4, 6, 1);
  const DenseOperator<double> op(A, 2, 3, false);
  const RowMatrix<double> U = random_rows(2, 1, 2), V = random_rows(3, 1, 3);
  const Vector<double> y = measured(op, U, Vector<double>::Constant(1, 2), V);
  for (Index i = 0; i < 4; ++i) {
    const Eigen::Map<const RowMatrix<double>> Ai(A.data() + 6 * i, 2, 3);
    const double expected = 2 * (U.transpose() * Ai * V).value();
    EXPECT_NEAR(y(i), expected, 10 * kEps * Ai.norm() * U.norm() * V.norm());
  }
}

TEST(DenseOperator, OfValuesElsewhereIsTheSameToTheLastBit) {
  const RowMatrix<double> A = random_rows(4, 6, 1);
  auto elsewhere = std::make_shared<std::vector<double>>(25);  // not aligned as A is
  std::copy(A.data(), A.data() + A.size(), elsewhere->begin() + 1);
  const double* const values = elsewhere->data() + 1;
  const std::weak_ptr<std::vector<double>> alive = elsewhere;
  auto view = std::make_unique<DenseOperator<double>>(values, 4, std::move(elsewhere), 2, 3);
  const DenseOperator<double> own(A, 2, 3, false);
  EXPECT_EQ(view->mean_gain(), own.mean_gain());
  const RowMatrix<double> U = random_rows(2, 1, 2), V = random_rows(3, 1, 3);
  const Vector<double> d = Vector<double>::Ones(1);
  EXPECT_EQ(measured(*view, U, d, V), measured(own, U, d, V));
  EXPECT_FALSE(alive.expired());
  view.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(DenseOperator, OfASymmetricMatrixIsThatOfAnyMatrix) {
  const RowMatrix<double> A = random_rows(7, 25, 4);
  const DenseOperator<double> symmetric(A, 5, 5, true), plain(A, 5, 5, false);
  const RowMatrix<double> U = random_rows(5, 2, 5);
  const Vector<double> d = random_vector(2, 6);
  const Vector<double> difference = measured(symmetric, U, d, U) - measured(plain, U, d, U);
  EXPECT_NEAR(difference.norm(), 0, 10 * kEps * A.norm() * U.squaredNorm() * d.norm());
}

TEST(DenseOperator, HasTheFreedomOfALowRankMatrix) {
  EXPECT_EQ(testing::make_dense(7, 5, false)->degrees_of_freedom(2), 2 * (7 + 5 - 2));
  EXPECT_EQ(testing::make_dense(6, 6, true)->degrees_of_freedom(2), 2 * 6 - 1);
}

TEST(DenseOperator, RefusesMatricesOfAnotherSize) {
  EXPECT_EQ(error_of([] { DenseOperator<double>(random_rows(4, 7, 1), 2, 3, false); }),
            "dense: each A_i has 7 entries, 2 x 3 = 6 expected");
}

TEST(DenseOperator, RefusesEmptySizes) {
  EXPECT_EQ(error_of([] { DenseOperator<double>(random_rows(4, 0, 1), 0, 3, false); }),
            "dense: the matrix is 0 x 3, at least 1 x 1 expected");
  EXPECT_EQ(error_of([] { DenseOperator<double>(RowMatrix<double>(0, 6), 2, 3, false); }),
            "dense: no measurements");
}

TEST(DenseOperator, RefusesASymmetricMatrixThatIsNotSquare) {
  EXPECT_EQ(error_of([] { DenseOperator<double>(random_rows(4, 6, 1), 2, 3, true); }),
            "dense: a symmetric matrix is 2 x 3, square expected");
}

TEST(RankOneOperator, IsADenseOperatorWithOuterProducts) {
  const RowMatrix<double> a = random_rows(6, 4, 7);
  RowMatrix<double> outer(6, 16);
  for (Index i = 0; i < 6; ++i)
    Eigen::Map<RowMatrix<double>>(outer.data() + 16 * i, 4, 4) = a.row(i).transpose() * a.row(i);
  const RankOneOperator<double> op(a);
  const DenseOperator<double> dense(outer, 4, 4, true);
  const RowMatrix<double> U = random_rows(4, 3, 8);
  const Vector<double> d = random_vector(3, 9);
  const double size = outer.norm() * U.squaredNorm() * d.norm();
  EXPECT_NEAR((measured(op, U, d, U) - measured(dense, U, d, U)).norm(), 0, 10 * kEps * size);
  EXPECT_NEAR(op.norm_bound(), dense.norm_bound(), 10 * kEps * op.norm_bound());
}

TEST(RankOneOperator, RefusesAnEmptyArray) {
  EXPECT_EQ(error_of([] { RankOneOperator<double>(RowMatrix<double>(0, 4)); }),
            "rank_one: the array of vectors is 0 x 4, at least 1 x 1 expected");
}

std::string user_error(const std::function<void(UserFunctions<double>&)>& damage,
                       bool symmetric = false) {
  UserFunctions<double> functions = user_functions(5, symmetric ? 5 : 4, symmetric);
  damage(functions);
  return error_of([&] { UserOperator<double> op(functions); });
}

TEST(UserOperator, EstimatesItsGain) {
  const auto dense = testing::make_dense(12, 9, false);
  const auto user = testing::make_user(12, 9, false);
  // Eight random rank-one matrices, 60 measurements of each: 10 % would be one deviation.
  EXPECT_NEAR(user->mean_gain() / dense->mean_gain(), 1, 0.5);
}

TEST(UserOperator, RefusesEmptySizes) {
  EXPECT_EQ(user_error([](auto& f) { f.num_measurements = 0; }),
            "user: 0 measurements of a 5 x 4 matrix, at least one of each expected");
}

TEST(UserOperator, RefusesASymmetricMatrixThatIsNotSquare) {
  EXPECT_EQ(user_error([](auto& f) { f.symmetric = true; }),
            "user: a symmetric matrix is 5 x 4, square expected");
}

TEST(UserOperator, RefusesMissingFunctions) {
  const std::string expected =
      "user: apply, adjoint_times and adjoint_transpose_times must all be given";
  EXPECT_EQ(user_error([](auto& f) { f.apply = nullptr; }), expected);
  EXPECT_EQ(user_error([](auto& f) { f.adjoint_times = nullptr; }), expected);
  EXPECT_EQ(user_error([](auto& f) { f.adjoint_transpose_times = nullptr; }), expected);
}

TEST(UserOperator, RefusesFunctionsThatContradictEachOther) {
  const auto doubled = [](auto& f) {
    f.adjoint_times = [inner = f.adjoint_times](const auto& z, const auto& V, Rows<double> out) {
      inner(2 * z, V, out);
    };
  };
  EXPECT_EQ(user_error(doubled).find("user: not adjoint to each other: <A(UV^*), z> = "), 0u);
  EXPECT_EQ(user_error(doubled, true).find("user: not adjoint to each other"), 0u);
}

TEST(UserOperator, RefusesAWrongNumberOfMeasurements) {
  const auto one_more = [](auto& f) {
    f.apply = [inner = f.apply](const auto& U, const auto& d, const auto& V, auto& y) {
      inner(U, d, V, y);
      y.conservativeResize(y.size() + 1);
    };
  };
  EXPECT_EQ(user_error(one_more), "user: apply returned 26 measurements, 25 expected");
}

TEST(UserOperator, RefusesValuesThatAreNotFinite) {
  const auto broken = [](auto& f) {
    f.apply = [inner = f.apply](const auto& U, const auto& d, const auto& V, auto& y) {
      inner(U, d, V, y);
      y(0) = std::numeric_limits<double>::quiet_NaN();
    };
  };
  EXPECT_EQ(user_error(broken), "user: the functions returned a value that is not finite");
}

}  // namespace other_operators_test
}  // namespace udv
