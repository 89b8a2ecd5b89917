// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "core/require.hpp"
#include "temporary_files.hpp"
#include "udv/io/entries_io.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace entries_property_test {

constexpr int kRows = 30;
constexpr int kCols = 20;

using Engine = std::mt19937_64;
using Place = std::pair<int, int>;
using Planted = std::vector<std::pair<Place, double>>;

/// Some known entries in random order; (0, 0) and the last place are among them, so that base and
/// sizes can be told from the indices.
Planted random_entries(Engine& engine) {
  std::map<Place, double> known{{{0, 0}, 1.0}, {{kRows - 1, kCols - 1}, -1.0}};
  for (int k = 0; k < 200; ++k) {
    const double value = std::ldexp(static_cast<double>(engine() >> 11), -40) - 4096;
    known[{static_cast<int>(engine() % kRows), static_cast<int>(engine() % kCols)}] = value;
  }
  Planted planted(known.begin(), known.end());
  for (std::size_t k = planted.size(); k > 1; --k) std::swap(planted[k - 1], planted[engine() % k]);
  return planted;
}

void expect_planted(const Entries& entries, const Planted& planted) {
  ASSERT_EQ(entries.rows, kRows);
  ASSERT_EQ(entries.cols, kCols);
  const std::map<Place, double> expected(planted.begin(), planted.end());
  ASSERT_EQ(entries.value.size(), expected.size());
  std::size_t at = 0;
  for (const auto& [place, value] : expected) {  // a map is sorted as entries are
    EXPECT_EQ((Place{entries.row[at], entries.col[at]}), place);
    EXPECT_EQ(entries.value[at], value);
    ++at;
  }
}

struct Dialect {
  const char* header;
  const char* line;  // fmt pattern of row, column, value
  int base;
};

constexpr Dialect kDialects[] = {
    {"", "{},{},{}\n", 0},
    {"row,col,value\r\n", "{} , {},{:.17g}\r\n", 1},
    {"\xEF\xBB\xBF\"user id\";\"item id\";\"v\"\n", "\"{}\";\"{}\";\"{:.17e}\"\n", 1},
    {"# remark\n", "  {}\t{}\t{}\n\n", 0},
    {"%\n", "{}   {} {}\n# between\n", 1},
    {"a\tb c\td\te, f\n", "{}.0\t{}\t{}\tx,y;z \"w\"\n", 0},
};

std::string write_triplets(const Planted& planted, const Dialect& dialect) {
  std::string text = dialect.header;
  for (const auto& [place, value] : planted) {
    text += fmt::format(fmt::runtime(dialect.line), place.first + dialect.base,
                        place.second + dialect.base, value);
  }
  return text;
}

TEST(EntriesProperty, EveryDialectReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Engine engine(seed);
    const Planted planted = random_entries(engine);
    for (const Dialect& dialect : kDialects) {
      SCOPED_TRACE(message("seed ", seed, ", line ", dialect.line));
      const auto path = folder.write("x.txt", write_triplets(planted, dialect));
      const EntriesFile file = read_entries_file(path);
      EXPECT_EQ(file.base, dialect.base);
      expect_planted(file.entries, planted);
    }
  }
}

TEST(EntriesProperty, MatrixMarketReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 100; seed < 120; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    Engine engine(seed);
    const Planted planted = random_entries(engine);
    const std::string head = fmt::format(
        "%%MatrixMarket matrix coordinate real general\n{} {} {}\n", kRows, kCols, planted.size());
    const std::string text = head + write_triplets(planted, {"", "{} {} {}\n", 1});
    expect_planted(read_entries(folder.write("x.mtx", text)), planted);
  }
}

TEST(EntriesProperty, ADenseFileReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (std::uint64_t seed = 200; seed < 220; ++seed) {
    SCOPED_TRACE(message("seed ", seed));
    Engine engine(seed);
    const Planted planted = random_entries(engine);
    RowMatrix<double> dense = RowMatrix<double>::Constant(kRows, kCols, NAN);
    for (const auto& [place, value] : planted) dense(place.first, place.second) = value;
    write_npy(folder / "x.npy", dense);
    expect_planted(read_entries(folder / "x.npy"), planted);
  }
}

}  // namespace entries_property_test
}  // namespace udv::io
