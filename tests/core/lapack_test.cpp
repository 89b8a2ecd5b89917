// SPDX-License-Identifier: MIT
#include "core/lapack.hpp"

#include <gtest/gtest.h>

#include "core/blas.hpp"
#include "support/every_scalar.hpp"
#include "support/random_data.hpp"

namespace udv {
namespace lapack_test {

using blas::Form;
using testing::kEps;
using testing::random_rows;

constexpr Form kForms[] = {Form::kPlain, Form::kTransposed, Form::kAdjoint, Form::kConjugate};

template <typename Scalar>
RowMatrix<Scalar> in_form(Form form, const RowMatrix<Scalar>& A) {
  switch (form) {
    case Form::kTransposed:
      return A.transpose();
    case Form::kAdjoint:
      return A.adjoint();
    case Form::kConjugate:
      return A.conjugate();
    default:
      return A;
  }
}

bool turned(Form form) {
  return form == Form::kTransposed || form == Form::kAdjoint;
}

template <typename Scalar>
class Products : public ::testing::Test {};
TYPED_TEST_SUITE(Products, testing::EveryScalar, testing::ScalarName);

TYPED_TEST(Products, AreThoseOfPlainSumsInEveryForm) {
  for (const Form a : kForms)
    for (const Form b : kForms)
      for (const Index cols : {1, 5}) {
        const auto A =
            turned(a) ? random_rows<TypeParam>(7, 4, 1) : random_rows<TypeParam>(4, 7, 1);
        const auto B =
            turned(b) ? random_rows<TypeParam>(cols, 7, 2) : random_rows<TypeParam>(7, cols, 2);
        RowMatrix<TypeParam> C(4, cols);
        blas::multiply<TypeParam>(a, A, b, B, C);
        const RowMatrix<TypeParam> plain = in_form(a, A).lazyProduct(in_form(b, B));
        EXPECT_LE((C - plain).norm(), 20 * kEpsilon<TypeParam> * A.norm() * B.norm());
      }
}

TYPED_TEST(Products, OfNoTermsAreZero) {
  RowMatrix<TypeParam> C = RowMatrix<TypeParam>::Ones(2, 3);
  blas::multiply<TypeParam>(Form::kPlain, RowMatrix<TypeParam>(2, 0), Form::kPlain,
                            RowMatrix<TypeParam>(0, 3), C);
  EXPECT_TRUE(C.isZero(0));
}

TYPED_TEST(Products, TakeBlocksOfRows) {
  const auto A = random_rows<TypeParam>(9, 6, 1), B = random_rows<TypeParam>(3, 2, 2);
  RowMatrix<TypeParam> C(3, 4);
  C.setZero();
  blas::multiply<TypeParam>(Form::kPlain, A.block(2, 1, 3, 3), Form::kPlain, B, C.leftCols(2));
  const RowMatrix<TypeParam> plain = A.block(2, 1, 3, 3).lazyProduct(B);
  EXPECT_LE((C.leftCols(2) - plain).norm(), 20 * kEpsilon<TypeParam> * plain.norm());
  EXPECT_TRUE(C.rightCols(2).isZero(0));
}

TYPED_TEST(Products, OfACholeskyFactorAreUndoneBySolving) {
  const auto X = random_rows<TypeParam>(8, 4, 1), Y = random_rows<TypeParam>(6, 4, 2);
  const RowMatrix<TypeParam> A = X.adjoint().lazyProduct(X);
  Matrix<TypeParam> L = A;
  ASSERT_TRUE(lapack::cholesky_in_place(L));
  RowMatrix<TypeParam> solved(6, 4);
  lapack::solve_from_right<TypeParam>(L, RowMatrix<TypeParam>(Y.lazyProduct(A)), solved);
  EXPECT_LE((solved - Y).norm(), 1e4 * kEpsilon<TypeParam> * Y.norm());
}

TEST(Cholesky, SaysWhereAMatrixIsNotPositiveDefinite) {
  Matrix<double> A = -Matrix<double>::Identity(3, 3);
  EXPECT_FALSE(lapack::cholesky_in_place(A));
}

template <typename W>
class ThinSvdOf : public ::testing::Test {};
using WideScalars = ::testing::Types<double, std::complex<double>>;
TYPED_TEST_SUITE(ThinSvdOf, WideScalars, testing::ScalarName);

TYPED_TEST(ThinSvdOf, AMatrixWithoutFullRankHasOrthonormalVectorsAllTheSame) {
  for (const Index rank : {0, 1, 3}) {
    Matrix<TypeParam> A = Matrix<TypeParam>::Zero(6, 5);
    A.leftCols(rank) = random_rows<TypeParam>(6, rank, 1);
    const auto svd = lapack::thin_svd<TypeParam>(A);
    const Matrix<TypeParam> one = Matrix<TypeParam>::Identity(5, 5);
    EXPECT_LE((testing::product(svd.U.adjoint(), svd.U) - one).norm(), 100 * kEps) << rank;
    EXPECT_LE((testing::product(svd.V.adjoint(), svd.V) - one).norm(), 100 * kEps) << rank;
    EXPECT_EQ((svd.s.array() > 0).count(), rank);
  }
}

// A tall matrix is factored in blocks of rows: the same bits for any number of threads.
TYPED_TEST(ThinSvdOf, ATallMatrixComesFromTheQrOfItsBlocks) {
  const Matrix<TypeParam> A = random_rows<TypeParam>(70000, 3, 8);
  const auto factored = [&](int threads) {
    const testing::ThreadCount count(threads);
    const lapack::ThinQr<TypeParam> qr(A);
    return std::pair<Matrix<TypeParam>, Matrix<TypeParam>>(
        qr.Q_times(Matrix<TypeParam>::Identity(3, 3)), qr.R());
  };
  const auto [Q, R] = factored(1);
  EXPECT_LE((Q * R - A).norm(), 100 * kEps * A.norm());
  EXPECT_LE((testing::product(Q.adjoint(), Q) - Matrix<TypeParam>::Identity(3, 3)).norm(),
            100 * kEps);
  EXPECT_EQ(factored(3), factored(1));
}

TYPED_TEST(ThinSvdOf, AWideMatrixIsThatOfItsAdjoint) {
  const Matrix<TypeParam> A = random_rows<TypeParam>(3, 8, 1);
  const auto svd = lapack::thin_svd<TypeParam>(A);
  const Matrix<TypeParam> back =
      (svd.U * svd.s.template cast<TypeParam>().asDiagonal()).lazyProduct(svd.V.adjoint());
  EXPECT_LE((back - A).norm(), 100 * kEps * A.norm());
}

TYPED_TEST(ThinSvdOf, NumbersThatAreNotFiniteIsNotANumber) {
  Matrix<TypeParam> A = Matrix<TypeParam>::Ones(4, 3);
  A(1, 1) = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(lapack::thin_svd<TypeParam>(A).s.array().isNaN().all());
}

}  // namespace lapack_test
}  // namespace udv
