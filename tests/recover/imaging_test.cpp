// SPDX-License-Identifier: MIT
// Operators of imaging against sums over all frequencies, written out.
#include "udv/recover/operators/imaging.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_data.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace imaging_test {

using Complex = std::complex<double>;
using testing::error_of;

RowMatrix<Complex> random_field(Index rows, Index cols, std::uint64_t seed) {
  Random random(seed, testing::kTestStream);
  RowMatrix<Complex> field(rows, cols);
  random.fill_normal(field);
  return field;
}

// sum_jk x_jk exp(sign 2 pi i (j r / rows + k c / cols)) / sqrt(rows cols)
RowMatrix<Complex> transformed(const RowMatrix<Complex>& x, double sign) {
  RowMatrix<Complex> result = RowMatrix<Complex>::Zero(x.rows(), x.cols());
  for (Index r = 0; r < x.rows(); ++r)
    for (Index c = 0; c < x.cols(); ++c)
      for (Index j = 0; j < x.rows(); ++j)
        for (Index k = 0; k < x.cols(); ++k)
          result(r, c) += x(j, k) * std::polar(1.0, sign * 2 * M_PI *
                                                        (double(j * r) / double(x.rows()) +
                                                         double(k * c) / double(x.cols())));
  return result / std::sqrt(double(x.size()));
}

Vector<double> intensities(const IntensityOperator<Complex>& op, const RowMatrix<Complex>& x) {
  Vector<double> y;
  const RowMatrix<Complex> column = Eigen::Map<const RowMatrix<Complex>>(x.data(), x.size(), 1);
  op.apply(column, Vector<double>::Ones(1), column, y);
  return y;
}

TEST(Ptychography, ShowsWindowsOfTheSpectrumThroughThePupil) {
  const Index rows = 12, cols = 9, low_rows = 6, low_cols = 5;
  RowMatrix<Complex> pupil = random_field(low_rows, low_cols, 1);
  pupil.row(0).setZero();  // so that bands are narrower than the window
  pupil.col(4).setZero();
  const std::vector<Window> windows{{0, 0}, {3, 2}, {6, 4}};
  const PtychographyOperator<Complex> op(rows, cols, windows, pupil);
  const RowMatrix<Complex> x = random_field(rows, cols, 2);
  const Vector<double> y = intensities(op, x);
  ASSERT_EQ(y.size(), 3 * low_rows * low_cols);
  for (size_t l = 0; l < windows.size(); ++l) {
    const RowMatrix<Complex> seen = transformed(
        pupil.cwiseProduct(x.block(windows[l].row, windows[l].col, low_rows, low_cols)), +1);
    for (Index i = 0; i < seen.size(); ++i)
      EXPECT_NEAR(y(Index(l) * seen.size() + i), std::norm(seen.data()[i]), 1e-12);
  }
}

TEST(Ptychography, TurnsSpectraIntoImagesAndBack) {
  for (const auto& [rows, cols] : {std::pair<Index, Index>{8, 6}, {7, 5}}) {
    const PtychographyOperator<Complex> op(rows, cols, {{0, 0}},
                                           RowMatrix<Complex>::Ones(rows, cols));
    RowMatrix<Complex> spectrum = RowMatrix<Complex>::Zero(rows, cols);
    spectrum(rows / 2, cols / 2) = 3;  // frequency 0: a flat image
    const Vector<Complex> x = Eigen::Map<Vector<Complex>>(spectrum.data(), spectrum.size());
    const Vector<Complex> image = op.to_image(x);
    for (const Complex& value : image)
      EXPECT_NEAR(std::abs(value - 3 / std::sqrt(double(rows * cols))), 0, 1e-14);
    const RowMatrix<Complex> any = random_field(rows, cols, 3);
    const Vector<Complex> u = Eigen::Map<const Vector<Complex>>(any.data(), any.size());
    EXPECT_NEAR((op.from_image(op.to_image(u)) - u).norm(), 0, 1e-13);
    EXPECT_NEAR(op.to_image(u).norm(), u.norm(), 1e-13);
  }
}

TEST(Ptychography, RefusesWindowsThatLeaveTheSpectrum) {
  EXPECT_EQ(error_of([] {
              PtychographyOperator<Complex>(8, 8, {{0, 0}, {5, 0}}, RowMatrix<Complex>::Ones(4, 4));
            }),
            "imaging: the window of image 2 leaves the spectrum of 8 x 8");
}

TEST(Pupil, GivesTheImagesOfTheSampleItWasMadeOf) {
  const PtychographyOperator<Complex> op(10, 10, {{0, 1}, {4, 2}}, random_field(6, 6, 4));
  const RowMatrix<Complex> x = random_field(10, 10, 5);
  const PupilOperator<Complex> pupil(op, Eigen::Map<const Vector<Complex>>(x.data(), x.size()));
  EXPECT_NEAR((intensities(pupil, RowMatrix<Complex>::Ones(6, 6)) - intensities(op, x)).norm(), 0,
              1e-12);
}

TEST(CodedDiffraction, IsTheTransformOfTheMaskedImage) {
  const std::vector<RowMatrix<Complex>> masks{random_field(6, 4, 6), random_field(6, 4, 7)};
  const CodedDiffractionOperator<Complex> op(masks);
  const RowMatrix<Complex> x = random_field(6, 4, 8);
  const Vector<double> y = intensities(op, x);
  for (size_t l = 0; l < masks.size(); ++l) {
    const RowMatrix<Complex> seen = transformed(masks[l].cwiseProduct(x), -1);
    for (Index i = 0; i < 24; ++i)
      EXPECT_NEAR(y(Index(l) * 24 + i), std::norm(seen.data()[i]), 1e-12);
  }
}

TEST(CodedDiffraction, LeavesOutWholeImagesOnly) {
  const CodedDiffractionOperator<Complex> op({random_field(2, 2, 9), random_field(2, 2, 10)});
  EXPECT_EQ(op.subset({4, 5, 6, 7})->num_measurements(), 4);
  EXPECT_EQ(error_of([&] {
              op.subset({0, 1, 2});
            }),
            "imaging: 3 measurements named, whole images of 4 expected");
  EXPECT_EQ(error_of([&] {
              op.subset({0, 1, 2, 5});
            }),
            "imaging: measurement 5 named, whole images in order expected");
}

// Few columns are shared image by image, many of them column by column.
TEST(Imaging, AnyColumnsAndThreadsGiveTheSameBitsAndTheSumOverColumns) {
  RowMatrix<Complex> pupil = random_field(10, 9, 12);
  pupil.topRows(2).setZero();
  std::vector<Window> windows;
  for (Index l = 0; l < 7; ++l) windows.push_back({l, 2 * l});
  const PtychographyOperator<Complex> op(18, 21, windows, pupil);
  const Vector<double> b = random_field(op.num_measurements(), 1, 13).cwiseAbs2();
  const int before = num_threads();
  for (const Index k : {1, 2, 7, 8, 9, 20}) {
    // Columns within a wider matrix have gaps between their rows.
    const RowMatrix<Complex> wide = random_field(op.rows(), k + 1, 14);
    const Vector<double> d = random_field(k, 1, 15).cwiseAbs();
    for (const Index first : {0, 1}) {
      const RowMatrix<Complex> U = wide.middleCols(first, k);
      RowMatrix<Complex> fields;
      op.project(U, fields);
      const Vector<double> residual = fields.cwiseAbs2() * d - b;
      RowMatrix<Complex> products(op.rows(), k);
      op.back_project(residual.cast<Complex>().asDiagonal() * fields, products);
      Vector<double> z_of_one;
      RowMatrix<Complex> out_of_one;
      for (const int threads : {1, 2, 3, 8}) {
        set_num_threads(threads);
        Vector<double> z;
        RowMatrix<Complex> out(op.rows(), k + 1), none(0, k);
        op.residual_products(wide.middleCols(first, k), d, U, b, z, out.leftCols(k), none);
        EXPECT_LT((z - residual).norm(), 1e-13 * residual.norm()) << k << " " << threads;
        EXPECT_LT((out.leftCols(k) - products).norm(), 1e-13 * products.norm()) << k;
        if (threads == 1) {
          z_of_one = z;
          out_of_one = out.leftCols(k);
        }
        EXPECT_EQ(z, z_of_one) << k << " " << threads;
        EXPECT_EQ(out.leftCols(k), out_of_one) << k << " " << threads;
      }
      set_num_threads(before);
    }
  }
}

TEST(Imaging, DiagonalIsThatOfTheWeightedMap) {
  const PtychographyOperator<Complex> op(6, 6, {{0, 0}, {2, 1}}, random_field(4, 4, 11));
  Vector<double> w(32);
  w.head(16).setConstant(2);
  w.tail(16).setConstant(0.5);
  const Vector<double> diagonal = op.diagonal(w);
  for (const Index i : {0, 8, 21, 35}) {
    RowMatrix<Complex> unit = RowMatrix<Complex>::Zero(36, 1), fields;
    unit(i, 0) = 1;
    op.project(unit, fields);
    EXPECT_NEAR(diagonal(i), fields.col(0).cwiseAbs2().dot(w), 1e-12) << i;
  }
}

}  // namespace imaging_test
}  // namespace udv
