// SPDX-License-Identifier: MIT
#include "udv/io/npy.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/require.hpp"
#include "npy_files.hpp"
#include "temporary_files.hpp"

namespace udv::io {
namespace npy_test {

using Shape = std::vector<Index>;
using Values = std::vector<double>;

Array read(const std::string& bytes) {
  const TemporaryFolder folder;
  return read_npy(folder.write("x.npy", bytes));
}

std::string error_of(const std::string& bytes) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.npy", bytes);
  return folder.error_of([&] { read_npy(path); });
}

TEST(ShapeText, JoinsSizes) {
  EXPECT_EQ(shape_text({3, 4, 5}), "3 x 4 x 5");
  EXPECT_EQ(shape_text({7}), "7");
  EXPECT_EQ(shape_text({}), "()");
}

TEST(NpyBytes, StartTheDataAtAMultipleOf64) {
  const double value = 1;
  for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}, Shape{1, 1, 1, 1, 1, 1, 1, 1}}) {
    EXPECT_EQ(npy_bytes(shape, &value).size() % 64, 8u);
  }
}

TEST(NpyBytes, WriteTheHeaderThatNumpyWrites) {
  const Values values(6, 1.0);
  const std::string bytes = npy_bytes({2, 3}, values.data());
  EXPECT_EQ(bytes.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(bytes.substr(10, 59), "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(bytes[127], '\n');
}

TEST(Npy, RoundTripsAMatrix) {
  const TemporaryFolder folder;
  RowMatrix<double> matrix(2, 3);
  matrix << 1, -2.5, 1e-310, INFINITY, -0.0, 3;
  write_npy(folder / "x.npy", matrix);
  const Array array = read_npy(folder / "x.npy");
  EXPECT_EQ(array.shape, (Shape{2, 3}));
  EXPECT_EQ(array.values, Values(matrix.data(), matrix.data() + 6));
}

TEST(Npy, RoundTripsAVectorAndAnEmptyOne) {
  const TemporaryFolder folder;
  write_npy(folder / "x.npy", Vector<double>::LinSpaced(4, 0, 3).eval());
  write_npy(folder / "empty.npy", Vector<double>());
  EXPECT_EQ(read_npy(folder / "x.npy").shape, Shape{4});
  EXPECT_EQ(read_npy(folder / "x.npy").values, (Values{0, 1, 2, 3}));
  EXPECT_EQ(read_npy(folder / "empty.npy").shape, Shape{0});
}

TEST(Npy, ReadsAScalarWithoutDimensions) {
  const Array array = read(npy(header("<f8", "()"), little_endian<double>({4.5})));
  EXPECT_EQ(array.shape, Shape{});
  EXPECT_EQ(array.values, Values{4.5});
}

TEST(Npy, ReadsBooleans) {
  EXPECT_EQ(read(npy(header("|b1", "(3,)"), std::string("\0\1\2", 3))).values, (Values{0, 1, 1}));
}

template <typename Number>
class NpyNumbers : public ::testing::Test {};
using NumberTypes =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(NpyNumbers, NumberTypes);

TYPED_TEST(NpyNumbers, AreReadInBothByteOrders) {
  constexpr std::size_t kWidth = sizeof(TypeParam);
  using Limits = std::numeric_limits<TypeParam>;
  const std::vector<TypeParam> numbers{Limits::lowest(), 0, 3, Limits::max()};
  const char kind = !Limits::is_integer ? 'f' : Limits::is_signed ? 'i' : 'u';
  const std::string code = message(kind, kWidth);
  const std::string data = little_endian(numbers);
  const Values expected(numbers.begin(), numbers.end());
  EXPECT_EQ(read(npy(header("<" + code, "(4,)"), data)).values, expected);
  EXPECT_EQ(read(npy(header(">" + code, "(4,)"), big_endian(data, kWidth))).values, expected);
}

TEST(Npy, ReadsHalfPrecision) {
  const std::vector<std::uint16_t> halves{0x3C00, 0xC100, 0x0001, 0x0400, 0x7BFF, 0x8000, 0x7C00};
  const Values expected{1, -2.5, 0x1p-24, 0x1p-14, 65504, -0.0, INFINITY};
  EXPECT_EQ(read(npy(header("<f2", "(7,)"), little_endian(halves))).values, expected);
  EXPECT_EQ(read(npy(header(">f2", "(7,)"), big_endian(little_endian(halves), 2))).values,
            expected);
  EXPECT_TRUE(std::isnan(read(npy(header("<f2", "(1,)"), "\x01\x7e")).values[0]));
}

TEST(Npy, TurnsFortranOrderOfAMatrixIntoRows) {
  const std::string data = little_endian<double>({0, 3, 1, 4, 2, 5});
  EXPECT_EQ(read(npy(header("<f8", "(2, 3)", "True"), data)).values, (Values{0, 1, 2, 3, 4, 5}));
}

TEST(Npy, TurnsFortranOrderOfFourDimensionsIntoC) {
  const Index sizes[] = {2, 3, 4, 5};
  std::vector<std::int32_t> by_column;  // each value is its own index in C order
  for (Index l = 0; l < sizes[3]; ++l)
    for (Index k = 0; k < sizes[2]; ++k)
      for (Index j = 0; j < sizes[1]; ++j)
        for (Index i = 0; i < sizes[0]; ++i)
          by_column.push_back(static_cast<std::int32_t>(((i * 3 + j) * 4 + k) * 5 + l));
  const Array array = read(npy(header("<i4", "(2, 3, 4, 5)", "True"), little_endian(by_column)));
  for (std::size_t at = 0; at < 120; ++at) EXPECT_EQ(array.values[at], static_cast<double>(at));
}

TEST(Npy, ReadsVersionsTwoAndThree) {
  for (const int version : {2, 3}) {
    EXPECT_EQ(read(npy(header("|u1", "(2,)"), "\1\2", version)).values, (Values{1, 2}));
  }
}

TEST(Npy, ReadsAHeaderInAnyOrderAndSpacing) {
  const std::string text = "{ \"shape\":(2L ,1),'fortran_order' :False ,\n 'descr':\"|i1\"}   \n";
  EXPECT_EQ(read(npy(text, "\1\2")).shape, (Shape{2, 1}));
}

TEST(Npy, ReadsAPackedFile) {
  const TemporaryFolder folder;
  // uint8 [1, 2], packed by Python's gzip module.
  const std::string packed = bytes_of_hex(
      "1f8b08000000000002039bec17ea1b10c9c860c550ad9e925a9c5ca46ea5a05e536aa8aea3a09e965f54529498"
      "179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a0ab55c8c4c00b5cbaf7646000000");
  EXPECT_EQ(read_npy(folder.write("x.npy.gz", packed)).values, (Values{1, 2}));
}

TEST(Npy, AcceptsAnEmptyArrayWhoseOtherSizesAreHuge) {
  const Array array = read(npy(header("<f8", "(4611686018427387904, 0, 4611686018427387904)"), ""));
  EXPECT_EQ(array.size(), 0);
}

struct BadFile {
  const char* name;
  std::string bytes;
  std::string error;
};

void PrintTo(const BadFile& bad, std::ostream* out) {
  *out << bad.name;
}

class BadNpy : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadNpy, IsRefused) {
  EXPECT_EQ(error_of(GetParam().bytes), "x.npy: " + GetParam().error);
}

std::string wrong_shape(const std::string& bytes, const std::string& shape) {
  return bytes + " bytes of data found, shape " + shape + " of 8-byte numbers expected";
}

std::string wrong_type(const std::string& descr) {
  return "data type " + descr + " found, booleans, integers or floats of at most 8 bytes expected";
}

const std::string kTwo = little_endian<double>({1, 2});

INSTANTIATE_TEST_SUITE_P(
    Bytes, BadNpy,
    ::testing::Values(
        BadFile{"Empty", "", "'' found as first bytes, \\x93NUMPY of an .npy file expected"},
        BadFile{"Magic", "\x93NUMPX\1\0",
                "'\\x93NUMPX' found as first bytes, \\x93NUMPY of an .npy file expected"},
        BadFile{"MagicOnly", "\x93NUMPY", "6 bytes found, an .npy header expected"},
        BadFile{"NoLength", std::string("\x93NUMPY\1\0\1", 9),
                "9 bytes found, an .npy header expected"},
        BadFile{"Version", npy(header("<f8", "(2,)"), kTwo, 4),
                ".npy version 4 found, 1 to 3 expected"},
        BadFile{"CutHeader", npy(header("<f8", "(2,)"), "").substr(0, 40),
                "30 bytes found after the preamble, a header of 58 expected"},
        BadFile{"CutData", npy(header("<f8", "(2,)"), kTwo.substr(0, 15)), wrong_shape("15", "2")},
        BadFile{"MissingValue", npy(header("<f8", "(3,)"), kTwo), wrong_shape("16", "3")},
        BadFile{"TrailingGarbage", npy(header("<f8", "(2,)"), kTwo + "x"), wrong_shape("17", "2")}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Shape, BadNpy,
    ::testing::Values(
        BadFile{"Negative", npy(header("<f8", "(-2,)"), kTwo),
                "'-2,), }\\x0a' found at header character 51, a size from 0 to 2^63 - 1 expected"},
        BadFile{"TooLargeANumber", npy(header("<f8", "(99999999999999999999,)"), kTwo),
                "'99999999999999999999,), }\\x0a' found at header character 51, a size from 0 to "
                "2^63 - 1 expected"},
        BadFile{"Huge", npy(header("<f8", "(1000000000000,)"), kTwo),
                wrong_shape("16", "1000000000000")},
        BadFile{"Overflow", npy(header("<f8", "(4294967296, 4294967296, 2)"), kTwo),
                wrong_shape("16", "4294967296 x 4294967296 x 2")},
        // 2^61 numbers of 8 bytes are 2^64 bytes: the product wraps to 0
        BadFile{"ByteOverflow", npy(header("<f8", "(2305843009213693952,)"), ""),
                wrong_shape("0", "2305843009213693952")}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Type, BadNpy,
    ::testing::Values(
        BadFile{"Complex", npy(header("<c16", "(1,)"), kTwo), wrong_type("'<c16'")},
        BadFile{"Object", npy(header("|O", "(2,)"), kTwo), wrong_type("'|O'")},
        BadFile{"Text", npy(header("<U2", "(2,)"), kTwo), wrong_type("'<U2'")},
        BadFile{"LongDouble", npy(header("<f16", "(1,)"), kTwo), wrong_type("'<f16'")},
        BadFile{"Date", npy(header("<M8[ns]", "(2,)"), kTwo), wrong_type("'<M8[ns]'")},
        BadFile{"NoOrder", npy(header("f8", "(2,)"), kTwo), wrong_type("'f8'")},
        BadFile{"Nothing", npy(header("", "(2,)"), kTwo), wrong_type("''")},
        BadFile{"Structured",
                npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", kTwo),
                wrong_type("'[('a', '<f8')]'")}),
    [](const auto& test) { return std::string(test.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Dictionary, BadNpy,
    ::testing::Values(BadFile{"NoBrace", npy("'descr'", ""),
                              "''descr'' found at header character 0, '{' expected"},
                      BadFile{"Unfinished", npy("{'shape': (2,)", ""),
                              "end of header found at header character 14, ',' expected"},
                      BadFile{"OpenQuote", npy("{'shape", ""),
                              "''shape' found at header character 1, a closing quote expected"},
                      BadFile{
                          "OpenBracket", npy("{'descr': [('a'", ""),
                          "end of header found at header character 15, a closing bracket expected"},
                      BadFile{"MissingKey", npy("{'descr': '<f8', 'shape': (2,)}", kTwo),
                              "2 header keys found, descr, fortran_order and shape expected"},
                      BadFile{"RepeatedKey", npy("{'shape': (2,), 'shape': (2,)}", kTwo),
                              "header key 'shape' found twice, once expected"},
                      BadFile{"UnknownKey", npy("{'color': 3}", kTwo),
                              "header key 'color' found, descr, fortran_order or shape expected"},
                      BadFile{"NotABoolean", npy("{'fortran_order': 1}", kTwo),
                              "'1}' found at header character 18, True or False expected"},
                      BadFile{"TextAfter", npy(header("<f8", "(2,)") + "x", kTwo),
                              "'x' found at header character 58, only blanks after '}' expected"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace npy_test
}  // namespace udv::io
