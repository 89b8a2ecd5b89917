// SPDX-License-Identifier: MIT
#include "udv/net/preprocessing.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/require.hpp"
#include "io/temporary_files.hpp"
#include "net/calendar.hpp"
#include "udv/net/data_source.hpp"

namespace udv::net {
namespace preprocessing_test {

using io::TemporaryFolder;
using io::TextTable;

const std::string kTable =
    "size,colour,when,fixed,y\n"
    "1,red,2020-01-31 10:00:00,7,10\n"
    "3,blue,2020-02-01 11:30:00,7,20\n"
    "NA,NA,2020-02-03 10:00:00,7,30\n"
    "5,red,2020-02-03 23:59:59,7,40\n"
    "9,green,,7,50\n";

class TablePreprocessing : public ::testing::Test {
 protected:
  TemporaryFolder folder_;
  TextTable table_{folder_.write("t.csv", kTable)};
  std::vector<std::string> notes_;
  TableOptions options_ = [] {
    TableOptions options;
    options.target = "y";
    options.encoding = "label";
    options.scaling = options.target_scaling = "none";
    return options;
  }();
  const std::vector<Index> training_{0, 1, 2, 3};
};

template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const std::exception& error) {
    const std::string text = error.what();
    return text.substr(text.rfind('/', text.find(": ")) + 1);
  }
  return "no error";
}

TEST_F(TablePreprocessing, CodesNumbersWordsAndDates) {
  const Preprocessing how = fit_table(table_, training_, options_, notes_);
  EXPECT_EQ(notes_, std::vector<std::string>{"column 'fixed' is constant: left out"});
  ASSERT_EQ(how.columns.size(), 3u);
  EXPECT_EQ(how.columns[1].categories, (std::vector<std::string>{"", "blue", "red"}));
  EXPECT_EQ(how.columns[2].parts,
            (std::vector<std::string>{"month", "day", "weekday", "hour", "minute"}));
  const RowMatrix<double> X = how.features_of<double>(table_, {0, 2, 4});
  RowMatrix<double> expected(3, 7);
  expected << 1, 2, 1, 31, 4, 10, 0,       //
      3, 0, 2, 3, 0, 10, 0,                // the mean of 1, 3, 5; a missing word has its own number
      9, 0, 1.75, 9.5, 2.25, 13.5, 22.25;  // an unknown word, a missing date
  EXPECT_LE((X - expected).norm(), 1e-12) << X;
}

TEST_F(TablePreprocessing, AColumnOfDifferentWordsForNothingIsOneOfWords) {
  const TextTable table(folder_.write("u.csv", "a,b,y\n1,,3\n2,NA,4\n"));
  const Preprocessing how = fit_table(table, {0, 1}, options_, notes_);
  EXPECT_TRUE(notes_.empty());
  ASSERT_EQ(how.columns.size(), 2u);
  EXPECT_EQ(how.columns[1].categories, std::vector<std::string>{""});
}

TEST_F(TablePreprocessing, LooksAtTheTrainingPartAlone) {
  options_.scaling = options_.target_scaling = "minmax";
  const Preprocessing how = fit_table(table_, training_, options_, notes_);
  const Dataset<double> all = how.dataset_of<double>(table_, {0, 3, 4});
  EXPECT_DOUBLE_EQ(all.X(0, 0), 0);
  EXPECT_DOUBLE_EQ(all.X(1, 0), 1);
  EXPECT_DOUBLE_EQ(all.X(2, 0), 2);  // (9 - 1) / (5 - 1)
  EXPECT_NEAR(all.Y(2, 0), 4.0 / 3, 1e-12);
  EXPECT_NEAR(how.in_target_units(all.Y)(2, 0), 50, 1e-12);
}

TEST_F(TablePreprocessing, MakesOneColumnPerWord) {
  options_.encoding = "onehot";
  options_.missing = "mean";
  options_.drop = {"when"};
  const Preprocessing how = fit_table(table_, training_, options_, notes_);
  const RowMatrix<double> X = how.features_of<double>(table_, {1, 2});
  RowMatrix<double> expected(2, 3);
  expected << 3, 1, 0, 3, 0, 1;  // blue; missing becomes the commonest word, red
  EXPECT_EQ(X, expected);
}

TEST_F(TablePreprocessing, StandardScalesToMeanZeroAndDeviationOne) {
  options_.scaling = "standard";
  const Preprocessing how = fit_table(table_, training_, options_, notes_);
  const RowMatrix<double> X = how.features_of<double>(table_, training_);
  EXPECT_LE(X.colwise().mean().norm(), 1e-12);
  EXPECT_NEAR(X.col(0).squaredNorm() / 4, 1, 1e-12);
}

TEST_F(TablePreprocessing, GoesThroughJson) {
  options_.scaling = "standard";
  const Preprocessing how = fit_table(table_, training_, options_, notes_);
  const Preprocessing again = Preprocessing::from_json(how.to_json());
  EXPECT_EQ(again.to_json(), how.to_json());
  EXPECT_EQ(again.features_of<double>(table_, {0, 1, 2, 3, 4}),
            how.features_of<double>(table_, {0, 1, 2, 3, 4}));
  EXPECT_EQ(error_of([] { Preprocessing::from_json("{}"); }).substr(0, 15), "preprocessing: ");
  const std::string text = how.to_json(), key = "\"inputs\":";
  const std::size_t at = text.find(key) + key.size();
  const std::string damaged = text.substr(0, at) + "1e300" + text.substr(text.find(',', at));
  EXPECT_EQ(error_of([&] { Preprocessing::from_json(damaged); }),
            "preprocessing: inputs is no whole number");
}

TEST(Bend, IsALogarithmWithTangentsAndHasAnInverse) {
  EXPECT_DOUBLE_EQ(bend(5, 10), std::log(0.5));
  EXPECT_DOUBLE_EQ(bend(15, 10), 0.5);
  for (const double y : {-100.0, -1e-9, 0.0, 1e-8, 1.0, 9.99, 10.0, 11.0, 1e6})
    EXPECT_NEAR(unbend(bend(y, 10), 10), y, 1e-12 * std::max(1.0, std::abs(y))) << y;
}

TEST_F(TablePreprocessing, BendsTargetsWhereAskedTo) {
  options_.target_scaling = "standard";
  options_.target_transform = "log";
  const Preprocessing how = fit_table(table_, training_, options_, notes_);
  ASSERT_EQ(how.targets.bend.size(), 1);
  EXPECT_DOUBLE_EQ(how.targets.bend(0), 37);  // 30 + 0.7 (40 - 30)
  const Dataset<double> all = how.dataset_of<double>(table_, {0, 1, 2, 3, 4});
  EXPECT_NEAR(all.Y.topRows(4).mean(), 0, 1e-12);
  EXPECT_NEAR(how.in_target_units(all.Y)(4, 0), 50, 1e-12);
  const Preprocessing again = Preprocessing::from_json(how.to_json());
  EXPECT_EQ(again.dataset_of<double>(table_, {0, 4}).Y, how.dataset_of<double>(table_, {0, 4}).Y);
  RowMatrix<double> Y(2, 1);
  Y << 1, 0;
  EXPECT_EQ(error_of([&] { fit_targets("standard", true, Y); }),
            "target 0 found, numbers above 0 expected for a logarithm (option target-transform)");
}

TEST_F(TablePreprocessing, NamesLineColumnAndValue) {
  const auto fit = [&](const std::string& text, const TableOptions& options) {
    return error_of([&] {
      const TextTable table(folder_.write("u.csv", text));
      std::vector<Index> rows(static_cast<size_t>(table.rows()));
      for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
      fit_table(table, rows, options, notes_);
    });
  };
  EXPECT_EQ(
      fit("a,y\n1,2\n3,x\n", options_),
      "u.csv:3: column 'y': 'x' found, a number expected (the target; for classes set the option "
      "task to classification)");
  EXPECT_EQ(fit("a,y\n1,2\nnan,3\n", options_),
            "u.csv:3: column 'a': 'nan' found, a finite number or NA expected");
  EXPECT_EQ(fit("a,z\n1,2\n", options_),
            "u.csv: no column 'y' for the target; its columns are a, z");
  TableOptions standard = options_;
  standard.scaling = standard.target_scaling = "standard";
  EXPECT_EQ(fit("a,y\n1,2\n3,1e200\n", standard),
            "u.csv: column 'y': numbers that differ by up to 1e150 expected, larger differences "
            "found");
  EXPECT_EQ(fit("a,y\n0.5,2\n2.5e200,3\n", standard),
            "u.csv: column 'a': numbers that differ by up to 1e150 expected, larger differences "
            "found");
  TableOptions classes = options_;
  classes.task = Task::kClassification;
  EXPECT_EQ(fit("a,y\n1,2\n3,2\n", classes),
            "u.csv: column 'y': one class only, at least two expected");
}

TEST_F(TablePreprocessing, LeavesOutColumnsThatNumberRows) {
  std::string text = "Id,code,x,y\n";
  for (int i = 0; i < 60; ++i) text += message(i, ",c", i, ",", i % 7, ".5,", i % 5, "\n");
  const TextTable table(folder_.write("ids.csv", text));
  std::vector<Index> rows(60);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<Index>(i);
  EXPECT_EQ(fit_table(table, rows, options_, notes_).inputs, 1);
  EXPECT_EQ(notes_.size(), 2u);
  options_.keep = {"Id"};
  EXPECT_EQ(fit_table(table, rows, options_, notes_).inputs, 2);
}

TEST(Dates, AreThoseOfTheCalendar) {
  Date date;
  EXPECT_TRUE(parse_date("2016-02-29T02:23:02", date));
  EXPECT_EQ(date.hour, 2);
  EXPECT_EQ(date_part_named("weekday").of(date), 0);  // a Monday
  EXPECT_TRUE(parse_date("2016/02/29", date));
  for (const char* text : {"2015-02-29", "2016-13-01", "2016-02-29 24:00", "2016-02/29", "16-02-29",
                           "2016-02-29 ", "2016-02-29 10", "2016-02-29 10:00:00x"})
    EXPECT_FALSE(parse_date(text, date)) << text;
}

TEST(DataSource, OfArraysInMemoryIsScaledAsAFile) {
  ArrayData<double> arrays;
  arrays.has_targets = true;
  arrays.data.X = RowMatrix<double>::Random(20, 3);
  arrays.data.Y = arrays.data.X.col(0) * 5;
  DataOptions options;
  options.scaling = "standard";
  const auto data = DataSource<double>("X", arrays, std::nullopt, options).prepare(0);
  EXPECT_EQ(data.training.size() + data.test.size(), 20);
  EXPECT_NEAR(data.training.X.col(1).mean(), 0, 1e-14);
  const auto& how = data.preprocessing;
  const RowMatrix<double> all = features_for_model<double>("X", arrays.data.X, how);
  const Split split = split_rows(20, options.test_share, 0);
  EXPECT_EQ(all.row(split.test[0]), data.test.X.row(0));
  EXPECT_EQ(error_of([&] { features_for_model<double>("X", RowMatrix<double>::Ones(2, 4), how); }),
            "X: 4 features found, 3 expected, as the model has them");
}

TEST(DataSource, SplitsBySeedAndKeepsEveryRow) {
  const Split split = split_rows(10, 0.2, 3), again = split_rows(10, 0.2, 3);
  EXPECT_EQ(split.test, again.test);
  EXPECT_EQ(split.test.size(), 2u);
  EXPECT_NE(split.test, split_rows(10, 0.2, 4).test);
  std::vector<Index> all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::sort(all.begin(), all.end());
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(all[i], static_cast<Index>(i));
  EXPECT_EQ(error_of([] { split_rows(2, 0.01, 0); }).substr(0, 6), "split:");
}

}  // namespace preprocessing_test
}  // namespace udv::net
