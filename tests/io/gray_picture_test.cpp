// SPDX-License-Identifier: MIT
#include "udv/io/gray_picture.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace udv::io {
namespace gray_picture_test {

TEST(GrayPicture, GoesFromBlackToWhite) {
  RowMatrix<double> values(1, 3);
  values << -2, 0, 2;
  EXPECT_EQ(gray_picture(values), (RowMatrix<std::uint8_t>(1, 3) << 0, 128, 255).finished());
}

TEST(GrayPicture, CutsAFewOutliers) {
  RowMatrix<double> values = RowMatrix<double>::Constant(40, 40, 1);
  values.bottomRows(20).setConstant(2);
  values(0, 0) = 1e9;
  EXPECT_EQ(gray_picture(values)(0, 0), 255);
  EXPECT_EQ(gray_picture(values)(1, 1), 0);
  EXPECT_EQ(gray_picture(values)(39, 39), 255);
}

TEST(GrayPicture, ShowsWhatIsNotFiniteAsBlack) {
  RowMatrix<double> values(1, 3);
  values << std::nan(""), 1, std::numeric_limits<double>::infinity();
  EXPECT_EQ(gray_picture(values)(0, 0), 0);
  EXPECT_EQ(gray_picture(values)(0, 2), 0);
  EXPECT_EQ(gray_picture(RowMatrix<double>::Constant(2, 2, std::nan(""))),
            (RowMatrix<std::uint8_t>::Zero(2, 2)));
  EXPECT_EQ(gray_picture(RowMatrix<double>(0, 3)).size(), 0);
}

TEST(GrayPicture, OfAConstantIsOneGrey) {
  EXPECT_EQ(gray_picture(RowMatrix<double>::Constant(2, 2, 5)),
            (RowMatrix<std::uint8_t>::Zero(2, 2)));
}

}  // namespace gray_picture_test
}  // namespace udv::io
