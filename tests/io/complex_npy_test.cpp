// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "core/require.hpp"
#include "npy_files.hpp"
#include "temporary_files.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace complex_npy_test {

using Shape = std::vector<Index>;
using Values = std::vector<std::complex<double>>;

const Values kTwo{{1, -2}, {0.5, 3}};

ComplexArray read(const std::string& bytes) {
  const TemporaryFolder folder;
  return read_complex_npy(folder.write("x.npy", bytes));
}

TEST(ComplexNpy, IsReadInBothWidthsAndByteOrders) {
  const std::string singles = little_endian<float>({1, -2, 0.5, 3});
  const std::string doubles = little_endian<double>({1, -2, 0.5, 3});
  for (const auto& [descr, data] :
       {std::pair("<c8", singles), std::pair(">c8", big_endian(singles, 4)),
        std::pair("<c16", doubles), std::pair(">c16", big_endian(doubles, 8))}) {
    const ComplexArray array = read(npy(header(descr, "(2,)"), data));
    EXPECT_TRUE(array.is_complex) << descr;
    EXPECT_EQ(array.shape, Shape{2}) << descr;
    EXPECT_EQ(array.values, kTwo) << descr;
  }
}

TEST(ComplexNpy, IsTurnedFromFortranOrderIntoRows) {
  const std::string data = little_endian<float>({0, 9, 3, 9, 1, 9, 4, 9, 2, 9, 5, 9});
  const ComplexArray array = read(npy(header("<c8", "(2, 3)", "True"), data));
  EXPECT_EQ(array.values, (Values{{0, 9}, {1, 9}, {2, 9}, {3, 9}, {4, 9}, {5, 9}}));
}

TEST(ComplexNpy, TakesRealNumbersAndSaysSo) {
  const ComplexArray array = read(npy(header("<i2", "(2, 1)"), little_endian<short>({-7, 8})));
  EXPECT_FALSE(array.is_complex);
  EXPECT_EQ(array.shape, (Shape{2, 1}));
  EXPECT_EQ(array.values, (Values{-7, 8}));
  EXPECT_EQ(read(npy(header("|b1", "()"), "\1")).values, Values{1});
}

TEST(ComplexNpy, IsUnpackedFromGzip) {
  const TemporaryFolder folder;
  // complex64 [1-2j], packed by Python's gzip module.
  const std::string packed = bytes_of_hex(
      "1f8b08000000000002039bec17ea1b10c9c860c550ad9e925a9c5ca46ea5a06e936ca1aea3a09e965f54529498"
      "179f5f94920a12774bcc294e058a17672416a402f91a863a9a3a0ab55c0c0c0df60c0c0c0700bddc30004c0000"
      "00");
  const ComplexArray array = read_complex_npy(folder.write("x.npy.gz", packed));
  EXPECT_TRUE(array.is_complex);
  EXPECT_EQ(array.values, (Values{{1, -2}}));
}

template <typename Scalar>
class WrittenNpy : public ::testing::Test {};
using ScalarTypes = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(WrittenNpy, ScalarTypes);

TYPED_TEST(WrittenNpy, KeepsTypeShapeAndValues) {
  constexpr bool kComplex = Eigen::NumTraits<TypeParam>::IsComplex;
  const TemporaryFolder folder;
  const RowMatrix<TypeParam> matrix = RowMatrix<TypeParam>::Random(3, 4);
  const Vector<TypeParam> vector = matrix.row(1);
  write_npy(folder / "matrix.npy", matrix);
  write_npy(folder / "vector.npy", vector);
  const ComplexArray array = read_complex_npy(folder / "matrix.npy");
  EXPECT_EQ(array.is_complex, kComplex);
  EXPECT_EQ(array.shape, (Shape{3, 4}));
  EXPECT_EQ(array.values, Values(matrix.data(), matrix.data() + 12));
  EXPECT_EQ(read_complex_npy(folder / "vector.npy").values,
            Values(vector.data(), vector.data() + 4));
  const std::string descr = message("'<", kComplex ? 'c' : 'f', sizeof(TypeParam), "'");
  EXPECT_NE(read_bytes(folder / "matrix.npy").find(descr), std::string::npos);
}

TEST(ComplexNpy, RefusesTextAndDataThatDoNotFit) {
  const TemporaryFolder folder;
  const auto error_of = [&](const std::string& bytes) {
    const auto path = folder.write("x.npy", bytes);
    return folder.error_of([&] { read_complex_npy(path); });
  };
  EXPECT_EQ(error_of(npy(header("<U2", "(1,)"), "12345678")),
            "x.npy: data type '<U2' found, booleans, integers, floats of at most 8 bytes or "
            "complex numbers of at most 16 expected");
  EXPECT_EQ(error_of(npy(header("<c8", "(2,)"), "12345678")),
            "x.npy: 8 bytes of data found, shape 2 of 8-byte numbers expected");
  EXPECT_EQ(error_of(npy(header("<c16", "(1,)"), "12345678")),
            "x.npy: 8 bytes of data found, shape 1 of 16-byte numbers expected");
}

}  // namespace complex_npy_test
}  // namespace udv::io
