// SPDX-License-Identifier: MIT
#include "udv/io/variables.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"
#include "damaged_files.hpp"
#include "npy_files.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace variables_test {

using Shape = std::vector<Index>;
using Values = std::vector<std::complex<double>>;

// Made by Python's zipfile, deflated: z.npy = complex64 [1-2j], t.npy holds text.
const char* const kComplexArchive =
    "504b030414000000080000002100bddc3000490000004c000000050000007a2e6e70799bec17ea1b10c9c860c5"
    "50ad9e925a9c5ca46ea5a06e936ca1aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402"
    "f91a863a9a3a0ab55c0c0c0df60c0c0c0700504b03041400000008000000210019901175480000004c00000005"
    "000000742e6e70799bec17ea1b10c9c860c550ad9e925a9c5ca46ea5a06e136aa4aea3a09e965f54529498179f"
    "5f94920a12774bcc294e058a17672416a402f91a863a9a3a0ab55c190c0c0c99400c00504b0102140314000000"
    "080000002100bddc3000490000004c0000000500000000000000000000008001000000007a2e6e7079504b0102"
    "14031400000008000000210019901175480000004c00000005000000000000000000000080016c000000742e6e"
    "7079504b0506000000000200020066000000d70000000000";

std::string npz_bytes() {
  const TemporaryFolder folder;
  write_npz(folder / "x.npz", {{"U", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"d", {{2}, {-1, 0.5}}}});
  return read_bytes(folder / "x.npz");
}

TEST(VariableText, GivesNameShapeAndType) {
  EXPECT_EQ(variable_text({"a", {3, 4}, "double", true}), "a (3 x 4 double)");
  EXPECT_EQ(variable_text({"a\nb", {}, "char", false}), "a\\x0ab (() char)");
}

TEST(DescribeNpy, ReadsTheHeaderAlone) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.npy", npy(header("<f8", "(1000, 3000)"), ""));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 24'000'000);  // a hole
  const Variable array = describe_npy(path);
  EXPECT_EQ(array.shape, (Shape{1000, 3000}));
  EXPECT_EQ(array.type, "float64");
  EXPECT_TRUE(array.is_numeric);
}

TEST(DescribeNpy, ComparesShapeAndSizeAndKnowsOtherTypes) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& bytes) {
    const auto path = folder.write("x.npy", bytes);
    return folder.error_of([&] { describe_npy(path); });
  };
  EXPECT_EQ(error(npy(header("<c8", "(2, 2)"), "12345678")),
            "x.npy: 8 bytes of data found, shape 2 x 2 of 8-byte numbers expected");
  EXPECT_EQ(error(npy(header("<f8", "(4611686018427387904, 4)"), "")),
            "x.npy: 0 bytes of data found, shape 4611686018427387904 x 4 of 8-byte numbers "
            "expected");
  EXPECT_TRUE(error("PNG").starts_with("x.npy: 'PNG' found as first bytes"));
  const Variable words = describe_npy(folder.write("x.npy", npy(header("<U3", "(1,)"), "")));
  EXPECT_EQ(words.type, "<U3");
  EXPECT_FALSE(words.is_numeric);
}

// A width that no integer holds must not become one.
TEST(DescribeNpy, KeepsTheWordsOfTypesThatItDoesNotKnow) {
  const TemporaryFolder folder;
  const std::string bytes = npy(header("<f99999999999", "(1,)"), "12345678");
  EXPECT_EQ(describe_npy(folder.write("x.npy", bytes)).type, "<f99999999999");
}

TEST(VariableFile, RefusesAnotherExtension) {
  const TemporaryFolder folder;
  for (const char* name : {"x.csv", "x.txt", "x"}) {
    const auto path = folder.write(name, npz_bytes());
    const std::string extension = path.extension().string();
    EXPECT_EQ(folder.error_of([&] { VariableFile{path}; }),
              message(name, ": name that ends in '", extension,
                      "' found, .mat, .npz, .npy, .tif, .tiff, .h5, .hdf5 or a folder of "
                      "pictures expected"));
  }
}

TEST(VariableFile, ReadsAnArchiveOfArrays) {
  const TemporaryFolder folder;
  const VariableFile file(folder.write("x.NPZ", npz_bytes()));
  ASSERT_EQ(file.variables().size(), 2u);
  EXPECT_EQ(file.variables()[0].name, "U");
  EXPECT_EQ(file.variables()[0].type, "float64");
  EXPECT_EQ(file.read("U").shape, (Shape{2, 3}));
  EXPECT_EQ(file.read("U").values, (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(file.read("d").is_complex);
  EXPECT_EQ(folder.error_of([&] { file.read("V"); }),
            "x.NPZ: variable 'V' not there; found: U (2 x 3 float64), d (2 float64)");
}

TEST(VariableFile, ReadsComplexNumbersOfAnArchiveAndRefusesItsText) {
  const TemporaryFolder folder;
  const VariableFile file(folder.write("x.npz", bytes_of_hex(kComplexArchive)));
  EXPECT_TRUE(file.read("z").is_complex);
  EXPECT_EQ(file.read("z").values, (Values{{1, -2}}));
  EXPECT_TRUE(file.has("t"));
  EXPECT_EQ(folder.error_of([&] { file.read("t"); }),
            "x.npz: variable 't': 1 <U2 found, booleans, integers, floats or complex numbers "
            "expected");
}

TEST(VariableFile, ShortensALongList) {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, Array>> arrays;
  for (int k = 0; k < 25; ++k) arrays.push_back({message("a", k), {{1}, {1}}});
  write_npz(folder / "x.npz", arrays);
  const std::string error = folder.error_of([&] { VariableFile(folder / "x.npz").read("b"); });
  EXPECT_TRUE(error.ends_with("a19 (1 float64) and 5 more")) << error;
}

TEST(VariableFile, NoticesThatTheFileHasChanged) {
  const TemporaryFolder folder;
  const VariableFile file(folder.write("x.npz", npz_bytes()));
  write_npz(folder / "x.npz", {{"d", {{1}, {1}}}});
  EXPECT_EQ(folder.error_of([&] { file.read("U"); }),
            "x.npz: variable 'U': the file has changed since it was listed");
}

TEST(VariableFile, RefusesAnArchiveCutAnywhere) {
  const TemporaryFolder folder;
  const std::string bytes = npz_bytes();
  for (std::size_t length = 0; length < bytes.size(); length += 41) {
    const auto path = folder.write("x.npz", bytes.substr(0, length));
    EXPECT_NE(folder.error_of([&] { VariableFile{path}; }), "no error") << length;
  }
}

TEST(VariableFile, SurvivesFlippedBytesOfAnArchive) {
  expect_survives_flipped_bytes("x.npz", npz_bytes(), read_everything);
}

}  // namespace variables_test
}  // namespace udv::io
