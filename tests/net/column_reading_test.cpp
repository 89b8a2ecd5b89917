// SPDX-License-Identifier: MIT
#include "net/column_reading.hpp"

#include <gtest/gtest.h>

#include "core/require.hpp"
#include "io/temporary_files.hpp"
#include "udv/net/data_source.hpp"

namespace udv::net {
namespace column_reading_test {

TEST(Numbers, AreReadAsPeopleWriteThem) {
  const struct {
    const char* text;
    NumberStyle style;
    double value;
  } cases[] = {{"$1,234.50", NumberStyle::kThousands, 1234.5},
               {"1.234,5", NumberStyle::kComma, 1234.5},
               {"3,5", NumberStyle::kComma, 3.5},
               {"1.234", NumberStyle::kComma, 1234},
               {"12 %", NumberStyle::kPlain, 12},
               {"\xE2\x82\xAC 20", NumberStyle::kPlain, 20},
               {"20 EUR", NumberStyle::kPlain, 20},
               {"(1,000)", NumberStyle::kThousands, -1000},
               {"-$5", NumberStyle::kPlain, -5},
               {"1'234'567.5", NumberStyle::kPlain, 1234567.5},
               {"12 345,5", NumberStyle::kComma, 12345.5},
               {"1\xC2\xA0"
                "234",
                NumberStyle::kPlain, 1234}};
  for (const auto& each : cases) {
    double value = 0;
    EXPECT_TRUE(parse_styled(each.text, each.style, value)) << each.text;
    EXPECT_DOUBLE_EQ(value, each.value) << each.text;
  }
  double value = 0;
  for (const char* text :
       {"", "$", "x", "1,23", "12,3456", "1,2,3", "0,125", "12 34", "nan", "1 2 3 apples"})
    EXPECT_FALSE(parse_styled(text, NumberStyle::kThousands, value)) << text;
}

TEST(Numbers, HaveUnits) {
  const struct {
    const char *text, *unit;
    double value;
  } cases[] = {{"11.3 kg", "kg", 11.3},
               {"11.3kg", "kg", 11.3},
               {"1e3 km/h", "km/h", 1000},
               {"-5 \xC2\xB0"
                "C",
                "\xC2\xB0"
                "C",
                -5},
               {"1 200 sq ft", "sq ft", 1200},
               {"3 m2 ", "m2", 3}};
  for (const auto& each : cases) {
    EXPECT_EQ(unit_of(each.text), each.unit) << each.text;
    double value = 0;
    EXPECT_TRUE(parse_styled(without_unit(each.text, each.unit), NumberStyle::kPlain, value));
    EXPECT_DOUBLE_EQ(value, each.value) << each.text;
  }
  for (const char* text : {"", "kg", "11.3", "5 (kg)", "3 apples and 4 pears", "12 | 13"})
    EXPECT_EQ(unit_of(text), "") << text;
}

TEST(Dates, HaveTheUsualForms) {
  Date date;
  const struct {
    const char* text;
    DateOrder order;
    int month, day, hour;
  } cases[] = {{"2016-02-03T04:05:06Z", DateOrder::kYearFirst, 2, 3, 4},
               {"2016-02-03 04:05:06.123+02:00", DateOrder::kYearFirst, 2, 3, 4},
               {"3.2.2016", DateOrder::kDayFirst, 2, 3, 0},
               {"03/02/2016 4:05 PM", DateOrder::kDayFirst, 2, 3, 16},
               {"2/3/2016", DateOrder::kMonthFirst, 2, 3, 0},
               {"3 Feb 2016", DateOrder::kDayFirst, 2, 3, 0},
               {"03-Feb-2016 10:00", DateOrder::kDayFirst, 2, 3, 10},
               {"February 3, 2016", DateOrder::kMonthFirst, 2, 3, 0}};
  for (const auto& each : cases) {
    ASSERT_TRUE(parse_date(each.text, date, each.order)) << each.text;
    EXPECT_EQ(date.month, each.month) << each.text;
    EXPECT_EQ(date.day, each.day) << each.text;
    EXPECT_EQ(date.hour, each.hour) << each.text;
  }
  for (const char* text : {"31.2.2016", "3.2.16", "3.2.2016 25:00", "3.2.2016x", "3 Foo 2016"})
    EXPECT_FALSE(parse_date(text, date, DateOrder::kDayFirst)) << text;
}

class Tables : public ::testing::Test {
 protected:
  Preprocessing fit(const std::string& text) {
    table_.emplace(folder_.write("t.csv", text));
    TableOptions options;
    options.target = "y";
    std::vector<Index> rows;
    for (Index i = 0; i < table_->rows(); ++i) rows.push_back(i);
    return fit_table(*table_, rows, options, notes_);
  }
  io::TemporaryFolder folder_;
  std::optional<io::TextTable> table_;
  std::vector<std::string> notes_;
};

TEST_F(Tables, KnowDecimalCommasByZerosAndSemicolons) {
  const Preprocessing zeros = fit("a,b,y\n\"1,250\",1,1\n\"0,125\",2,2\n\"3,500\",5,1\n");
  EXPECT_EQ(zeros.columns[0].style, "comma");
  const Preprocessing semicolons = fit("a;b;y\n1,250;1;1,500\n2,125;2;2,250\n3,500;5;1,125\n");
  EXPECT_EQ(semicolons.columns[0].style, "comma");
  EXPECT_NEAR(semicolons.targets.offset(0), 1.625, 1e-12);
  EXPECT_NE(notes_.back().find("column 'y': '1,500' is read as 1.5"), std::string::npos);
  EXPECT_EQ(fit("a,b,y\n\"1,250\",1,1\n\"2,125\",2,2\n").columns[0].style, "thousands");
}

TEST_F(Tables, ReadSeveralTargetsOfDifferentStyles) {
  table_.emplace(folder_.write("s.csv", "a,u,v\n1,1.5,\"2,000\"\n2,2.5,\"3,000\"\n"));
  TableOptions options;
  options.target = "u,v";
  const Preprocessing how = fit_table(*table_, {0, 1}, options, notes_);
  EXPECT_NEAR(how.targets.offset(0), 2, 1e-12);
  EXPECT_NEAR(how.targets.offset(1), 2500, 1e-12);
}

TEST_F(Tables, ReadNumbersWithAUnitAndSayIt) {
  const Preprocessing how = fit("a,b,y\n11.3 kg,1,1\n12 kg,2,2\nNA,4,5\n13.1kg,5,3\n14,7,8\n");
  EXPECT_EQ(how.columns[0].kind, ColumnKind::kNumber);
  EXPECT_EQ(how.columns[0].style, "plain kg");
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("'11.3 kg' is read as 11.3"), std::string::npos) << notes_[0];
  EXPECT_EQ(Preprocessing::from_json(how.to_json()).to_json(), how.to_json());
  const io::TextTable other(folder_.write("o.csv", "a,b,y\n300 g,1,1\n"));
  EXPECT_THROW(
      {
        try {
          how.features_of<double>(other, {0});
        } catch (const IoError& error) {
          EXPECT_NE(std::string(error.what()).find("'300 g' found, a finite number in kg or NA"),
                    std::string::npos)
              << error.what();
          throw;
        }
      },
      IoError);
}

TEST_F(Tables, SayThatUnitsDiffer) {
  const Preprocessing how = fit("a,b,y\n11.3 kg,1,1\n300 g,2,2\n13.1 kg,5,3\n300 g,6,3\n");
  EXPECT_EQ(how.columns[0].kind, ColumnKind::kCategory);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("numbers in 'g' and 'kg': taken for words"), std::string::npos);
}

TEST_F(Tables, KeepCodesAsWords) {
  const Preprocessing how = fit("a,b,y\n1Story,1,1\n2Story,2,2\nSLvl,5,3\n1Story,6,3\n");
  EXPECT_EQ(how.columns[0].kind, ColumnKind::kCategory);
  EXPECT_TRUE(notes_.empty());
}

TEST_F(Tables, ReadSeveralTargetsWithUnits) {
  table_.emplace(folder_.write("s.csv", "a,u,v\n1,1.5 m,2 kg\n2,2.5 m,3 kg\n"));
  TableOptions options;
  options.target = "u,v";
  const Preprocessing how = fit_table(*table_, {0, 1}, options, notes_);
  EXPECT_EQ(how.target_style, "plain m|plain kg");
  EXPECT_NEAR(how.targets.offset(1), 2.5, 1e-12);
  EXPECT_EQ(Preprocessing::from_json(how.to_json()).to_json(), how.to_json());
}

TEST_F(Tables, KeepQuotedLineBreaksInOneField) {
  const Preprocessing how = fit("a,b,y\n\"x\ny\",1,2\n\"z, z\",2,3\n\"x\ny\",5,1\n");
  EXPECT_EQ(table_->rows(), 3);
  EXPECT_EQ(table_->field(0, 0), "x\ny");
  EXPECT_EQ(how.columns[0].categories, (std::vector<std::string>{"x\ny", "z, z"}));
}

TEST_F(Tables, ReadMoneyAndSayIt) {
  const Preprocessing how = fit("price,y\n\"$1,200\",1\n\"$2,400\",2\n$900,3\n");
  ASSERT_EQ(how.columns.size(), 1u);
  EXPECT_EQ(how.columns[0].kind, ColumnKind::kNumber);
  EXPECT_EQ(how.columns[0].fills[0], 1500);
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_NE(notes_[0].find("'$1,200' is read as 1200"), std::string::npos) << notes_[0];
  EXPECT_EQ(Preprocessing::from_json(how.to_json()).to_json(), how.to_json());
}

TEST_F(Tables, SayManyConstantColumnsInOneLine) {
  std::string header, row;
  for (int i = 0; i < 12; ++i) header += message("c", i, ","), row += "7,";
  fit(header + "x,y\n" + row + "1,2\n" + row + "2,3\n");
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0], "columns 'c0', 'c1', 'c2', 'c3', 'c4' and 7 more are constant: left out");
}

TEST_F(Tables, FindTheTask) {
  const auto task_of = [&](const std::string& values) {
    std::string text = "x,y\n";
    for (int i = 0; i < 40; ++i)
      text += message(i, ",", values[static_cast<size_t>(i) % values.size()], "\n");
    const io::TextTable table(folder_.write("u.csv", text));
    return find_task(table, "y").task;
  };
  EXPECT_EQ(task_of("ab"), Task::kClassification);
  EXPECT_EQ(task_of("0123"), Task::kClassification);
  EXPECT_TRUE(are_classes({1, 2, 1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_FALSE(are_classes({1, 2.5, 1, 2.5, 1, 2.5, 1, 2.5, 1, 2.5}));
  EXPECT_FALSE(are_classes({1, 2, 3, 4, 5}));
}

TEST_F(Tables, ScaleRobustlyAndCentreWords) {
  const Preprocessing how = fit("a,w,y\n0,p,1\n1,p,2\n2,q,3\n3,q,4\n1000000,q,5\n");
  const RowMatrix<double> X = how.features_of<double>(*table_, {0, 1, 2, 3, 4});
  EXPECT_DOUBLE_EQ(X(2, 0), 0);  // the median
  EXPECT_LT(X(4, 0), 3.0);       // clipped
  EXPECT_GT(X(4, 0), 2.9);
  EXPECT_NEAR(X(0, 1), 1 - 0.4, 1e-12);
  EXPECT_NEAR(X(4, 1), -0.4, 1e-12);
}

TEST(ValidationPart, HasItsShareOfEveryClassAndIsNeverTrainedOn) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 200; ++i) labels.push_back(i % 10 == 0 ? 1 : 0);
  const Split split = validation_split(200, labels, 0.1, 3);
  EXPECT_EQ(split.test.size(), 20u);
  EXPECT_EQ(split.train.size(), 180u);
  EXPECT_EQ(std::count_if(split.test.begin(), split.test.end(),
                          [&](Index i) { return labels[static_cast<size_t>(i)] == 1; }),
            2);
  std::vector<Index> all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<Index>(i));
  EXPECT_TRUE(validation_split(40, {}, 0.1, 3).test.empty());
}

}  // namespace column_reading_test
}  // namespace udv::net
