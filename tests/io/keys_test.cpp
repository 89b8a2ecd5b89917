// SPDX-License-Identifier: MIT
#include "udv/io/keys.hpp"

#include <gtest/gtest.h>

#include "temporary_files.hpp"

namespace udv::io {
namespace keys_test {

TEST(Keys, AreNumberedInTheirOrder) {
  Keys keys;
  EXPECT_TRUE(keys.empty());
  EXPECT_EQ(keys.find("a"), -1);
  EXPECT_EQ(keys.add("b"), 0);
  EXPECT_EQ(keys.add(""), 1);
  EXPECT_EQ(keys.add("b"), 0);
  EXPECT_EQ(keys.size(), 2);
  EXPECT_EQ(keys[0], "b");
  EXPECT_EQ(keys[1], "");
  EXPECT_EQ(keys.find(""), 1);
}

TEST(Keys, AreFoundAmongMany) {
  Keys keys;
  for (Index k = 0; k < 10000; ++k) EXPECT_EQ(keys.add("key " + std::to_string(7 * k)), k);
  for (Index k = 0; k < 10000; ++k) EXPECT_EQ(keys.find("key " + std::to_string(7 * k)), k);
  EXPECT_EQ(keys.find("key 1"), -1);
}

TEST(Keys, CanBeReordered) {
  Keys keys({"c", "a", "b"});
  keys.reorder({2, 0, 1});
  EXPECT_EQ(keys, Keys({"a", "b", "c"}));
  EXPECT_EQ(keys.find("c"), 2);
}

TEST(Keys, StandInCsvAsTheyAre) {
  const TemporaryFolder folder;
  const Keys keys({"7", "Toy Story (1995)", "a, \"b\"", "#1", " x", "caf\xC3\xA9", "1\t2"});
  const auto path = folder.write("rows.csv", keys_csv(keys));
  EXPECT_EQ(read_keys(path), keys);
}

TEST(Keys, OfADamagedFileAreRefusedByLine) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& text) {
    const auto path = folder.write("rows.csv", text);
    return folder.error_of([&] { read_keys(path); });
  };
  EXPECT_EQ(error("key\n"), "rows.csv:1: a header index,key expected");
  EXPECT_EQ(error("index,key\n1,a\n"), "rows.csv:2: '1,a' found, 0 and a key expected");
  EXPECT_EQ(error("index,key\n0,a\n1,a\n"), "rows.csv:3: key 'a' found a second time");
}

TEST(CsvFields, AreQuotedWhereTheyHaveToBe) {
  EXPECT_EQ(csv_field("a b"), "a b");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("a,b", ';'), "a,b");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
}

}  // namespace keys_test
}  // namespace udv::io
