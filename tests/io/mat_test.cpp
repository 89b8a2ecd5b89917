// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <matio.h>

#include <memory>

#include "damaged_files.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace mat_test {

using Shape = std::vector<Index>;
using Values = std::vector<std::complex<double>>;
using MatVariable = std::unique_ptr<matvar_t, decltype(&Mat_VarFree)>;

/// One of the three ways in which MATLAB stores variables.
struct Storage {
  const char* name;
  mat_ft version;
  matio_compression compression;
};

void PrintTo(const Storage& storage, std::ostream* out) {
  *out << storage.name;
}

const Storage kPlain{"Version5", MAT_FT_MAT5, MAT_COMPRESSION_NONE};
const Storage kPacked{"Version7", MAT_FT_MAT5, MAT_COMPRESSION_ZLIB};
const Storage kHdf5{"Version73", MAT_FT_MAT73, MAT_COMPRESSION_NONE};

/// A .mat file that matio writes.
class MatWriter {
 public:
  MatWriter(const std::filesystem::path& path, const Storage& storage)
      : file_(Mat_CreateVer(path.c_str(), nullptr, storage.version), &Mat_Close),
        compression_(storage.compression) {}

  void add(MatVariable variable) { Mat_VarWrite(file_.get(), variable.get(), compression_); }

  template <typename Number>
  void add(const char* name, matio_classes array_class, matio_types type,
           std::vector<std::size_t> shape, std::vector<Number> values, int flags = 0) {
    add({Mat_VarCreate(name, array_class, type, static_cast<int>(shape.size()), shape.data(),
                       values.data(), flags),
         &Mat_VarFree});
  }

  void add_double(const char* name, std::vector<std::size_t> shape, std::vector<double> values) {
    add(name, MAT_C_DOUBLE, MAT_T_DOUBLE, std::move(shape), std::move(values));
  }

  void add_complex(const char* name, std::vector<std::size_t> shape, std::vector<double> real,
                   std::vector<double> imag) {
    mat_complex_split_t parts{real.data(), imag.data()};
    add({Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, static_cast<int>(shape.size()),
                       shape.data(), &parts, MAT_F_COMPLEX),
         &Mat_VarFree});
  }

  void add_text(const char* name, std::string text) {
    std::size_t shape[] = {1, text.size()};
    add({Mat_VarCreate(name, MAT_C_CHAR, MAT_T_UTF8, 2, shape, text.data(), 0), &Mat_VarFree});
  }

  /// A cell of two numbers.
  void add_cell(const char* name) {
    std::size_t shape[] = {1, 2};
    matvar_t* cells[] = {number(nullptr), number(nullptr)};
    add({Mat_VarCreate(name, MAT_C_CELL, MAT_T_CELL, 2, shape, cells, 0), &Mat_VarFree});
  }

  void add_struct(const char* name) {
    std::size_t shape[] = {1, 1};
    const char* fields[] = {"p", "q"};
    MatVariable variable(Mat_VarCreateStruct(name, 2, shape, fields, 2), &Mat_VarFree);
    Mat_VarSetStructFieldByName(variable.get(), "p", 0, number("p"));
    Mat_VarSetStructFieldByName(variable.get(), "q", 0, number("q"));
    add(std::move(variable));
  }

 private:
  static matvar_t* number(const char* name) {
    std::size_t shape[] = {1, 1};
    double value = 3;
    return Mat_VarCreate(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, shape, &value, 0);
  }

  std::unique_ptr<mat_t, decltype(&Mat_Close)> file_;
  matio_compression compression_;
};

/// One variable of each kind.
std::string mixed_bytes(const Storage& storage) {
  const TemporaryFolder folder;
  {
    MatWriter writer(folder / "x.mat", storage);
    writer.add_double("a", {2, 3}, {0, 3, 1, 4, 2, 5});
    writer.add_complex("z", {1, 2}, {1, 2}, {-1, 0.5});
    writer.add_text("t", "hello");
    writer.add_cell("c");
    writer.add_struct("s");
  }
  return read_bytes(folder / "x.mat");
}

std::string error_of(const std::string& bytes, const std::string& variable = "a") {
  const TemporaryFolder folder;
  const auto path = folder.write("x.mat", bytes);
  return folder.error_of([&] { VariableFile(path).read(variable); });
}

class Mat : public ::testing::TestWithParam<Storage> {
 protected:
  MatWriter writer() const { return {folder_ / "x.mat", GetParam()}; }
  ComplexArray read(const char* name) const { return VariableFile(folder_ / "x.mat").read(name); }

  TemporaryFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Storage, Mat, ::testing::Values(kPlain, kPacked, kHdf5),
                         [](const auto& test) { return std::string(test.param.name); });

TEST_P(Mat, KeepsElementsWhereMatlabHasThem) {
  std::vector<double> by_column;  // each value is its own index in row-major order
  for (int k = 0; k < 4; ++k)
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 2; ++i) by_column.push_back((i * 3 + j) * 4 + k);
  writer().add_double("a", {2, 3, 4}, by_column);
  const ComplexArray array = read("a");
  EXPECT_FALSE(array.is_complex);
  EXPECT_EQ(array.shape, (Shape{2, 3, 4}));
  ASSERT_EQ(array.size(), 24);
  for (std::size_t at = 0; at < 24; ++at) EXPECT_EQ(array.values[at], static_cast<double>(at));
}

TEST_P(Mat, ReadsComplexNumbers) {
  writer().add_complex("z", {2, 2}, {1, 3, 2, 4}, {-1, -3, -2, -4});
  const ComplexArray array = read("z");
  EXPECT_TRUE(array.is_complex);
  EXPECT_EQ(array.values, (Values{{1, -1}, {2, -2}, {3, -3}, {4, -4}}));
}

TEST_P(Mat, ReadsEveryKindOfNumber) {
  {
    MatWriter file = writer();
    file.add<float>("f", MAT_C_SINGLE, MAT_T_SINGLE, {1, 2}, {-1.5f, 3});
    file.add<std::int8_t>("i8", MAT_C_INT8, MAT_T_INT8, {1, 2}, {-128, 3});
    file.add<std::uint16_t>("u16", MAT_C_UINT16, MAT_T_UINT16, {1, 2}, {65535, 3});
    file.add<std::int32_t>("i32", MAT_C_INT32, MAT_T_INT32, {1, 2}, {-2147483647, 3});
    file.add<std::uint64_t>("u64", MAT_C_UINT64, MAT_T_UINT64, {1, 2}, {1ull << 60, 3});
    file.add<std::uint8_t>("l", MAT_C_UINT8, MAT_T_UINT8, {1, 2}, {0, 1}, MAT_F_LOGICAL);
  }
  EXPECT_EQ(read("f").values, (Values{-1.5, 3}));
  EXPECT_EQ(read("i8").values, (Values{-128, 3}));
  EXPECT_EQ(read("u16").values, (Values{65535, 3}));
  EXPECT_EQ(read("i32").values, (Values{-2147483647, 3}));
  EXPECT_EQ(read("u64").values, (Values{0x1p60, 3}));
  EXPECT_EQ(read("l").values, (Values{0, 1}));
  const VariableFile file(folder_ / "x.mat");
  std::string types;
  for (const char* name : {"f", "i8", "u16", "i32", "u64", "l"}) {
    for (const Variable& v : file.variables()) types += v.name == name ? v.type + " " : "";
  }
  EXPECT_EQ(types, "single int8 uint16 int32 uint64 logical ");
}

TEST_P(Mat, ReadsAnEmptyArray) {
  writer().add_double("e", {0, 3}, {});
  EXPECT_EQ(read("e").shape, (Shape{0, 3}));
  EXPECT_EQ(read("e").size(), 0);
}

TEST_P(Mat, ListsWhatIsThere) {
  const auto path = folder_.write("x.mat", mixed_bytes(GetParam()));
  const VariableFile file(path);
  EXPECT_TRUE(file.has("a"));
  EXPECT_TRUE(file.has("t"));
  EXPECT_FALSE(file.has("b"));
  EXPECT_EQ(file.variables().size(), 5u);
  const std::string error = folder_.error_of([&] { file.read("b"); });
  EXPECT_TRUE(error.starts_with("x.mat: variable 'b' not there; found: a (2 x 3 double), "));
  for (const char* text :
       {"z (1 x 2 complex double)", "t (1 x 5 char)", "c (1 x 2 cell)", "s (1 x 1 struct)"}) {
    EXPECT_NE(error.find(text), error.npos) << text << " in " << error;
  }
}

TEST_P(Mat, RefusesWhatIsNotNumeric) {
  const auto error = [&](const char* name) { return error_of(mixed_bytes(GetParam()), name); };
  const std::string expected = " found, booleans, integers, floats or complex numbers expected";
  EXPECT_EQ(error("t"), "x.mat: variable 't': 1 x 5 char" + expected);
  EXPECT_EQ(error("c"), "x.mat: variable 'c': 1 x 2 cell" + expected);
  EXPECT_EQ(error("s"), "x.mat: variable 's': 1 x 1 struct" + expected);
}

TEST_P(Mat, RefusesAFileCutInsideItsFirstVariables) {
  const std::string bytes = mixed_bytes(GetParam());
  for (const std::size_t length : {0, 1, 60, 127, 130, 140, 170, 300, 400}) {
    EXPECT_NE(error_of(bytes.substr(0, length), "z"), "no error") << length;
  }
  EXPECT_NE(error_of(bytes.substr(0, bytes.size() - 1)), "no error");
}

TEST_P(Mat, SurvivesFlippedBytes) {
  expect_survives_flipped_bytes("x.mat", mixed_bytes(GetParam()), read_everything);
}

TEST(MatFile, RefusesWhatMatlabDidNotWrite) {
  const std::string expected = " found as first bytes, a .mat file of MATLAB 5 or later expected";
  EXPECT_EQ(error_of(""), "x.mat: ''" + expected);
  EXPECT_EQ(error_of("row,col,value"), "x.mat: 'row,col,value'" + expected);
  EXPECT_NE(error_of(random_bytes(5000)).find(expected), std::string::npos);
}

TEST(MatFile, RefusesRandomBytesBehindAHeader) {
  const std::string header = mixed_bytes(kPlain).substr(0, 128);
  EXPECT_NE(error_of(header + random_bytes(5000)), "no error");
  EXPECT_EQ(error_of(header), "x.mat: variable 'a' not there; found: no variable at all");
}

TEST(MatFile, RefusesSizesThatDoNotMatchTheNumbers) {
  std::string bytes = mixed_bytes(kPlain);
  bytes[bytes.find(std::string("\2\0\0\0\3\0\0\0", 8))] = 3;
  EXPECT_EQ(error_of(bytes),
            "x.mat: variable at byte 128: 48 bytes of 8-byte numbers found, 9 numbers expected");
}

TEST(MatFile, RefusesAWrongByteInPackedData) {
  std::string bytes = mixed_bytes(kPacked);
  bytes[170] = static_cast<char>(bytes[170] ^ 1);
  EXPECT_TRUE(error_of(bytes).starts_with("x.mat: variable at byte 128: damaged zlib data found"));
}

TEST(MatFile, NamesAFileThatIsNotThere) {
  const TemporaryFolder folder;
  EXPECT_EQ(folder.error_of([&] { VariableFile(folder / "no.mat"); }),
            "no.mat: no such file, a file to read expected");
}

}  // namespace mat_test
}  // namespace udv::io
