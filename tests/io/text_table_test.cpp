// SPDX-License-Identifier: MIT
#include "udv/io/text_table.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"

namespace udv::io {
namespace text_table_test {

std::string error_of(const std::string& text) {
  const TemporaryFolder folder;
  const auto path = folder.write("t.csv", text);
  try {
    TextTable table(path);
  } catch (const IoError& error) {
    return std::string(error.what()).substr(path.string().size() - 5);
  }
  return "no error";
}

TEST(TextTable, KeepsFieldsAsTheyStand) {
  const TemporaryFolder folder;
  const TextTable table(
      folder.write("t.csv", "\xEF\xBB\xBFname,\"big, size\",x\r\n a ,\"1,5\",\r\n\r\nb,2,NA\r\n"));
  EXPECT_EQ(table.columns(), (std::vector<std::string>{"name", "big, size", "x"}));
  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(table.field(0, 0), "a");
  EXPECT_EQ(table.field(0, 1), "1,5");
  EXPECT_EQ(table.field(0, 2), "");
  EXPECT_EQ(table.field(1, 2), "NA");
  EXPECT_EQ(table.find("x"), 2);
  EXPECT_EQ(table.find("y"), -1);
  EXPECT_TRUE(table.where(1, 2).ends_with("t.csv:4: column 'x'"));
}

TEST(TextTable, FindsItsSeparator) {
  const TemporaryFolder folder;
  for (const char* separator : {",", ";", "\t"}) {
    const std::string s = separator;
    const TextTable table(folder.write("t.csv", "a b" + s + "c\n1" + s + "2\n"));
    EXPECT_EQ(table.columns().size(), 2u) << s;
    EXPECT_EQ(table.field(0, 1), "2");
  }
}

TEST(TextTable, NamesTheLineThatIsWrong) {
  EXPECT_EQ(error_of("a,b\n1,2\n3\n"), "t.csv:3: 1 field found, 2 expected, as in the header");
  EXPECT_EQ(error_of("a,a\n1,2\n"), "t.csv:1: two columns named 'a'");
  EXPECT_EQ(error_of("a,b\n"), "t.csv: only a header found, lines of data expected");
  EXPECT_EQ(error_of(""), "t.csv: empty file found, a header line expected");
  EXPECT_EQ(error_of(std::string("a\n\0", 3)),
            "t.csv: binary data found (a zero byte), lines of text expected");
}

TEST(ParseNumber, TakesFiniteNumbersAlone) {
  double value = 0;
  EXPECT_TRUE(parse_number("+1.5e3", value));
  EXPECT_EQ(value, 1500);
  for (const char* text : {"", "nan", "inf", "1e999", "1 2", "1x", "--1"})
    EXPECT_FALSE(parse_number(text, value)) << text;
}

}  // namespace text_table_test
}  // namespace udv::io
