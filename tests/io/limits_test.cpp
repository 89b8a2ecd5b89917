// SPDX-License-Identifier: MIT
// Input that asks for too much.
#include <gtest/gtest.h>
#include <zlib.h>

#include <csignal>
#include <ctime>
#include <limits>

#include "io/isolated.hpp"
#include "io/toml_file.hpp"
#include "temporary_files.hpp"
#include "udv/io/expansion.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::io {
namespace limits_test {

std::string gzipped(const std::string& bytes) {
  std::string packed(bytes.size() / 500 + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// The usual limit again in the end.
struct Expansion : ::testing::Test {
  ~Expansion() override { set_expansion_limit({}); }
  TemporaryFolder folder;
};

TEST_F(Expansion, OfPackedFilesIsBounded) {
  constexpr std::size_t kMany = 70 << 20;
  const auto path = folder.write("x.csv.gz", gzipped(std::string(kMany, '\0')));
  const std::string error = folder.error_of([&] { read_bytes(path); });
  EXPECT_NE(error.find("x.csv.gz: "), error.npos) << error;
  EXPECT_NE(error.find("unpack to more than"), error.npos) << error;
  EXPECT_NE(error.find("max-expand"), error.npos) << error;
  set_expansion_limit({1 << 30, std::numeric_limits<double>::infinity()});
  EXPECT_EQ(read_bytes(path).size(), kMany);
  set_expansion_limit({1 << 20, 1000});
  EXPECT_NE(folder.error_of([&] { read_bytes(path); }), "no error");
}

TEST_F(Expansion, OfManyMembersIsBoundedTogether) {
  const Array zeros{{1000, 100}, std::vector<double>(100'000)};
  const auto one = folder / "one.npz", two = folder / "two.npz";
  write_npz(one, {{"a", zeros}});
  write_npz(two, {{"a", zeros}, {"b", zeros}});
  set_expansion_limit({1 << 20, 1000});
  EXPECT_EQ(read_npz(one).size(), 1u);
  const std::string error = folder.error_of([&] { read_npz(two); });
  EXPECT_NE(error.find("unpack to more than 1048576"), error.npos) << error;
  EXPECT_NE(folder.error_of([&] { const VariableFile file(two); }), "no error");
}

// What a header does not announce is not unpacked: 70 MB of zeros would be too much.
TEST_F(Expansion, OfPackedArraysStopsWhereTheShapeEnds) {
  const std::string whole = npy_bytes({3}, std::vector<double>{1, 2, 3}.data());
  EXPECT_EQ(read_npy(folder.write("x.npy.gz", gzipped(whole))).values,
            (std::vector<double>{1, 2, 3}));
  const auto more = folder.write("y.npy.gz", gzipped(whole + std::string(70 << 20, '\0')));
  set_expansion_limit({1 << 20, 1000});
  const std::string error = folder.error_of([&] { read_complex_npy(more); });
  EXPECT_NE(error.find("25 bytes of data found, shape 3 of 8-byte numbers expected"), error.npos)
      << error;
}

TEST_F(Expansion, IsAnOption) {
  double gib = 0;
  OptionTable table;
  add_max_expand(table, gib);
  table.set("max-expand", "2");
  set_max_expand(gib);
  EXPECT_EQ(expansion_limit().bytes, 0x1p31);
  set_max_expand(0);
  EXPECT_EQ(expansion_limit().bytes, 0x1p34);
}

// ---- readers in a process of their own

std::vector<Variable> crashes(const std::filesystem::path&) {
  ::raise(SIGSEGV);
  return {};
}
std::vector<Variable> takes_all_memory(const std::filesystem::path&) {
  std::vector<std::string> all;
  while (true) all.emplace_back(1 << 28, 'x');
}
std::vector<Variable> refuses(const std::filesystem::path& path) {
  throw IoError(path.string() + ": no");
}
std::vector<Variable> lists_two(const std::filesystem::path&) {
  return {{"a", {2, 3}, "double", true}, {"b", {}, "char", false}};
}
ComplexArray reads(const std::filesystem::path&, const Variable& variable) {
  return {variable.shape, {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}, {11, 12}}, true};
}
ComplexArray reads_too_much(const std::filesystem::path&, const Variable& variable) {
  return {variable.shape, std::vector<std::complex<double>>(100'000), true};
}
ComplexArray aborts(const std::filesystem::path&, const Variable&) {
  std::abort();
}

TEST(Isolated, ReadersGiveTheSameAnswers) {
  const detail::VariableFormat format{lists_two, reads};
  const auto variables = list_isolated(format, "x.mat");
  ASSERT_EQ(variables.size(), 2u);
  EXPECT_EQ(variables[0].name, "a");
  EXPECT_EQ(variables[0].shape, (std::vector<Index>{2, 3}));
  EXPECT_EQ(variables[1].type, "char");
  EXPECT_FALSE(variables[1].is_numeric);
  const ComplexArray array = read_isolated(format, "x.mat", variables[0]);
  EXPECT_EQ(array.values, reads("x.mat", variables[0]).values);
  EXPECT_TRUE(array.is_complex);
}

TEST(Isolated, ReadersThatCrashAreAnErrorOfOneLine) {
  const TemporaryFolder folder;
  const auto error = [&](const detail::VariableFormat& format) {
    return folder.error_of([&] { list_isolated(format, "x.mat"); });
  };
  EXPECT_EQ(error({crashes, reads}),
            "x.mat: damaged: the library that reads it crashed (Segmentation fault)");
  EXPECT_EQ(error({refuses, reads}), "x.mat: no");
#if !defined(__SANITIZE_ADDRESS__)
  EXPECT_EQ(error({takes_all_memory, reads}), "x.mat: takes more memory than its size allows for");
#endif
  const Variable a{"a", {2, 3}, "double", true};
  for (const auto& read : {aborts, reads_too_much}) {
    const detail::VariableFormat format{lists_two, read};
    const std::string problem = folder.error_of([&] { read_isolated(format, "x.mat", a); });
    EXPECT_EQ(problem.find("x.mat: damaged"), 0u) << problem;
  }
}

TEST(Isolated, TextsComeFromAChildToo) {
  const TemporaryFolder folder;
  EXPECT_EQ(detail::text_isolated("x.tif", [] { return std::string("a note"); }), "a note");
  const std::string error = folder.error_of(
      [] { detail::text_isolated("x.tif", []() -> std::string { std::abort(); }); });
  EXPECT_EQ(error, "x.tif: damaged: the library that reads it crashed (Aborted)");
}

TEST(Hdf5Signature, IsFoundBehindABlockOfOthers) {
  const TemporaryFolder folder;
  const std::string signature("\x89HDF\r\n\x1a\n", 8);
  for (const std::size_t at : {0, 512, 1024, 2048, 1 << 16})
    EXPECT_TRUE(detail::is_hdf5(folder.write("x", std::string(at, 'x') + signature))) << at;
  for (const std::size_t at : {1, 256, 1536, 3 << 10})
    EXPECT_FALSE(detail::is_hdf5(folder.write("x", std::string(at, 'x') + signature))) << at;
  EXPECT_FALSE(detail::is_hdf5(folder.write("x", signature.substr(0, 7))));
  EXPECT_FALSE(detail::is_hdf5(folder / "nowhere"));
}

// ---- depth and number

TEST(Toml, WithKeysOfTooManyPartsIsRefused) {
  const TemporaryFolder folder;
  std::string deep = "a";
  for (int i = 0; i < 100'000; ++i) deep += ".a";
  for (const std::string& text : {deep + " = 1\n", "[" + deep + "]\nx = 1\n",
                                  "x = { " + deep + " = 1 }\n", "[[" + deep + "]]\n"}) {
    const std::string error = folder.error_of([&] { detail::parse_toml("x.toml", text); });
    EXPECT_EQ(error, "x.toml:1: a key of more than 100 parts found, fewer expected");
  }
  const std::string dots(1000, '.');
  const auto table = detail::parse_toml("x.toml", "a = \"" + dots + "\\\"" + dots + "\" # " + dots +
                                                      "\nb.c = '''" + dots + "\n" + dots +
                                                      "''' \nd = '" + dots + "'\ne = [1.5, 2.5]\n");
  EXPECT_EQ(table.size(), 4u);
}

TEST(Toml, WithControlCharactersIsRefused) {
  const TemporaryFolder folder;
  for (const char c : {'\0', '\v', '\f', '\x7f'}) {
    const std::string text = std::string("a = 1\n[") + c + "b]\nc = 2\n";
    const std::string error = folder.error_of([&] { detail::parse_toml("x.toml", text); });
    EXPECT_EQ(error.find("x.toml:2: a control character"), 0u) << error;
  }
}

TEST(Safetensors, OfManyTensorsAreListedInTimeThatGrowsWithThem) {
  const TemporaryFolder folder;
  std::vector<Tensor> tensors;
  const std::string byte = "x";
  for (int i = 0; i < 80'000; ++i)
    tensors.push_back({"t" + std::to_string(i), "U8", {1}, std::string_view(byte)});
  const std::clock_t start = std::clock();  // of this process: others may keep it waiting
  const auto path = folder.write("x.safetensors", safetensors_bytes(tensors, {{"by", "us"}}));
  const SafetensorsFile file(path);
#ifdef __SANITIZE_ADDRESS__
  constexpr int kSlower = 4;
#else
  constexpr int kSlower = 1;
#endif
  EXPECT_LT(std::clock() - start, kSlower * 3 * CLOCKS_PER_SEC);
  ASSERT_EQ(file.tensors().size(), tensors.size());
  EXPECT_EQ(file.tensors()[12345].name, "t12345");
  EXPECT_EQ(file.metadata().at("by"), "us");
}

}  // namespace limits_test
}  // namespace udv::io
