// SPDX-License-Identifier: MIT
#include "udv/core/spectrum.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/require.hpp"
#include "support/every_scalar.hpp"
#include "support/random_data.hpp"
#include "support/reference.hpp"

namespace udv {
namespace spectrum_test {

using testing::dense;
using testing::kEps;
using testing::random_rows;
using testing::random_vector;
using testing::random_weights;

struct Shape {
  Index rows, cols, columns;
};

void PrintTo(const Shape& shape, std::ostream* out) {
  *out << shape.rows << " x " << shape.cols << ", " << shape.columns << " columns";
}

Matrix<double> gram_minus_identity(const RowMatrix<double>& U) {
  return testing::product(U.transpose(), U) - Matrix<double>::Identity(U.cols(), U.cols());
}

// Rounding of a QR and a small SVD: grows with the number of columns at most.
double tolerance(const Shape& shape, double magnitude) {
  return 10 * kEps * static_cast<double>(shape.columns + 1) * magnitude;
}

class FactoredSvdOfShape : public ::testing::TestWithParam<Shape> {
 protected:
  const Shape shape = GetParam();
  const RowMatrix<double> U = random_rows(shape.rows, shape.columns, 1);
  const RowMatrix<double> V = random_rows(shape.cols, shape.columns, 2);
  const Vector<double> d = random_weights(shape.columns, 3);
};

TEST_P(FactoredSvdOfShape, ReproducesTheProduct) {
  const FactoredSvd svd = factored_svd(U, d, V);
  const RowMatrix<double> X = dense(U, d, V);
  EXPECT_NEAR((dense(svd.U, svd.s, svd.V) - X).norm(), 0, tolerance(shape, U.norm() * V.norm()));
}

TEST_P(FactoredSvdOfShape, HasTheSingularValuesOfTheProduct) {
  const FactoredSvd svd = factored_svd(U, d, V);
  const Vector<double> expected = testing::singular_values_of(dense(U, d, V)).head(svd.s.size());
  EXPECT_NEAR((svd.s - expected).norm(), 0, tolerance(shape, U.norm() * V.norm()));
}

TEST_P(FactoredSvdOfShape, HasOrthonormalFactors) {
  const FactoredSvd svd = factored_svd(U, d, V);
  EXPECT_NEAR(gram_minus_identity(svd.U).norm(), 0, tolerance(shape, 1));
  EXPECT_NEAR(gram_minus_identity(svd.V).norm(), 0, tolerance(shape, 1));
}

TEST_P(FactoredSvdOfShape, HasNonnegativeValuesLargestFirst) {
  const Vector<double> s = factored_svd(U, d, V).s;
  EXPECT_LE(s.size(), shape.columns);
  for (Index k = 0; k < s.size(); ++k) {
    EXPECT_GE(s(k), 0);
    EXPECT_LE(s(k), s(std::max<Index>(k - 1, 0)));
  }
}

TEST_P(FactoredSvdOfShape, TruncationErrorIsTheSumOfTheDroppedSquares) {
  const FactoredSvd svd = factored_svd(U, d, V);
  const RowMatrix<double> X = dense(U, d, V);
  for (Index kept = 0; kept <= svd.s.size(); ++kept) {
    const RowMatrix<double> cut =
        dense(svd.U.leftCols(kept), svd.s.head(kept), svd.V.leftCols(kept));
    const double dropped = svd.s.tail(svd.s.size() - kept).norm();
    EXPECT_NEAR((X - cut).norm(), dropped, tolerance(shape, U.norm() * V.norm())) << kept;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FactoredSvdOfShape,
                         ::testing::Values(Shape{9, 7, 3}, Shape{7, 9, 3}, Shape{6, 6, 6},
                                           Shape{3, 8, 5}, Shape{3, 2, 10}, Shape{1, 1, 1},
                                           Shape{1, 1, 4}, Shape{5, 1, 1}, Shape{5, 4, 0},
                                           Shape{140, 130, 129}),
                         [](const auto& info) {
                           return message(info.param.rows, "x", info.param.cols, "_columns_",
                                          info.param.columns);
                         });

TEST(FactoredSvd, FindsTheRankOfDependentColumns) {
  RowMatrix<double> U = random_rows(8, 4, 4);
  U.col(3) = U.col(0);
  RowMatrix<double> V = random_rows(6, 4, 5);
  V.col(3) = V.col(0);
  const Vector<double> s = factored_svd(U, Vector<double>::Ones(4), V).s;
  EXPECT_EQ(numerical_rank(s, 100 * kEps), 3);
}

TEST(FactoredSvd, KeepsSmallValuesOfGradedFactors) {
  // sigma = 1, 1e-8, 1e-16 of orthogonal columns: a QR and a Jacobi SVD do not mix them.
  const RowMatrix<double> U = RowMatrix<double>::Identity(5, 3);
  const Vector<double> d = (Vector<double>(3) << 1, 1e-8, 1e-16).finished();
  const Vector<double> s = factored_svd(U, d, U).s;
  for (Index k = 0; k < 3; ++k) EXPECT_NEAR(s(k), d(k), 10 * kEps * d(k));
}

class FactoredEigenOfShape : public FactoredSvdOfShape {
 protected:
  const Vector<double> signed_d = random_vector(shape.columns, 6);
};

TEST_P(FactoredEigenOfShape, ReproducesTheSymmetricProduct) {
  const FactoredSvd eigen = factored_eigen(U, signed_d);
  const RowMatrix<double> X = dense(U, signed_d, U);
  EXPECT_NEAR((dense(eigen.U, eigen.s, eigen.U) - X).norm(), 0,
              tolerance(shape, U.squaredNorm() * signed_d.norm()));
  EXPECT_EQ(eigen.V.size(), 0);
}

TEST_P(FactoredEigenOfShape, HasTheEigenvaluesOfTheProductLargestFirst) {
  const Vector<double> s = factored_eigen(U, signed_d).s;
  const Vector<double> whole = testing::eigenvalues_of(dense(U, signed_d, U));
  Vector<double> padded = Vector<double>::Zero(shape.rows);
  padded.head(s.size()) = s;
  std::sort(padded.begin(), padded.end());
  EXPECT_NEAR((padded - whole).norm(), 0, tolerance(shape, U.squaredNorm() * signed_d.norm()));
  EXPECT_TRUE(std::is_sorted(s.begin(), s.end(), std::greater<>()));
}

INSTANTIATE_TEST_SUITE_P(Shapes, FactoredEigenOfShape,
                         ::testing::Values(Shape{9, 9, 3}, Shape{6, 6, 6}, Shape{3, 3, 8},
                                           Shape{1, 1, 1}, Shape{4, 4, 0}),
                         [](const auto& info) {
                           return message(info.param.rows, "_columns_", info.param.columns);
                         });

// The same against Eigen on formed matrices, over every scalar.
template <typename Scalar>
class FactoredSpectrum : public ::testing::Test {
 protected:
  const RowMatrix<Scalar> U = random_rows<Scalar>(9, 4, 7), V = random_rows<Scalar>(7, 4, 8);
  const Reals<Scalar> d = random_weights<RealOf<Scalar>>(4, 9);
  const Reals<Scalar> signed_d = random_vector<RealOf<Scalar>>(4, 10);

  static Matrix<Scalar> gram(const RowMatrix<Scalar>& W) {
    return testing::product(W.adjoint(), W);
  }
  // As above, with four columns.
  static double tolerance(double magnitude) { return 10 * 5 * kEpsilon<Scalar> * magnitude; }
};
TYPED_TEST_SUITE(FactoredSpectrum, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(FactoredSpectrum, OfAProductIsThatOfTheFormedMatrix) {
  const RowMatrix<TypeParam> X = dense(this->U, this->d, this->V);
  const auto svd = factored_svd(this->U, this->d, this->V);
  const double limit = this->tolerance(this->U.norm() * this->V.norm());
  EXPECT_NEAR((dense(svd.U, svd.s, svd.V) - X).norm(), 0, limit);
  const Vector<double> expected = testing::singular_values_of(X).head(4);
  EXPECT_NEAR((svd.s - expected).norm(), 0, limit);
  for (const auto& W : {svd.U, svd.V})
    EXPECT_NEAR((this->gram(W) - Matrix<TypeParam>::Identity(4, 4)).norm(), 0, this->tolerance(1));
}

TYPED_TEST(FactoredSpectrum, OfASymmetricProductIsThatOfTheFormedMatrix) {
  const RowMatrix<TypeParam> X = dense(this->U, this->signed_d, this->U);
  const auto eigen = factored_eigen(this->U, this->signed_d);
  const double limit = this->tolerance(this->U.squaredNorm() * this->signed_d.norm());
  EXPECT_NEAR((dense(eigen.U, eigen.s, eigen.U) - X).norm(), 0, limit);
  Vector<double> padded = Vector<double>::Zero(9);
  padded.head(4) = eigen.s;
  std::sort(padded.begin(), padded.end());
  EXPECT_NEAR((padded - testing::eigenvalues_of(X)).norm(), 0, limit);
  EXPECT_NEAR((this->gram(eigen.U) - Matrix<TypeParam>::Identity(4, 4)).norm(), 0,
              this->tolerance(1));
}

TEST(NumericalRank, CountsValuesAboveAShareOfTheFirst) {
  const Vector<double> s = (Vector<double>(4) << 10, 1, 1e-8, 0).finished();
  EXPECT_EQ(numerical_rank(s, 1e-10), 3);
  EXPECT_EQ(numerical_rank(s, 1e-6), 2);
  EXPECT_EQ(numerical_rank(s, 0.5), 1);
}

TEST(NumericalRank, OfNothingAndOfZeroIsZero) {
  EXPECT_EQ(numerical_rank(Vector<double>(), 1e-10), 0);
  EXPECT_EQ(numerical_rank(Vector<double>::Zero(3), 1e-10), 0);
}

TEST(RankGap, IsTheRatioOfNeighbouringValues) {
  const Vector<double> s = (Vector<double>(3) << 8, 4, 0.5).finished();
  EXPECT_EQ(rank_gap(s, 1), 2);
  EXPECT_EQ(rank_gap(s, 2), 8);
}

TEST(RankGap, IsBoundedByMachinePrecision) {
  const Vector<double> s = (Vector<double>(2) << 8, 0).finished();
  EXPECT_EQ(rank_gap(s, 1), 1 / kEps);
  EXPECT_EQ(rank_gap(s.head(1), 1), 1 / kEps);
}

TEST(RankGap, OfRankZeroIsZero) {
  EXPECT_EQ(rank_gap(Vector<double>::Zero(2), 0), 0);
}

}  // namespace spectrum_test
}  // namespace udv
