// SPDX-License-Identifier: MIT
#include "udv/jobs/table_options.hpp"

namespace udv::jobs {

void describe(OptionTable& table, TableInput& o) {
  table.group("Tables");
  table.add("layout", o.layout,
            {{"auto", io::Layout::kAuto},
             {"triplets", io::Layout::kTriplets},
             {"table", io::Layout::kTable}},
            "Text files: lines of row, column, value; or a table with one line for each row");
  const auto column = [&](const char* name, std::string& value, const char* help) {
    table.add(name, value, help).called("NAME|NUMBER");
  };
  column("row", o.row, "Column of the rows' keys, by header or number");
  column("column", o.column, "Column of the columns' keys");
  column("value", o.value, "Column of the values; in .mat, .h5 and .npz files the array");
  column("weight", o.weight, "Column of weights, which multiply the squared residuals");
  column("std", o.std, "Column of standard deviations s instead: weights 1/s^2");
}

io::EntriesOptions reader_options(const TableInput& input) {
  io::EntriesOptions how;
  how.layout = input.layout;
  how.row = input.row;
  how.column = input.column;
  how.value = input.value;
  how.weight = input.weight;
  how.std = input.std;
  return how;
}

void describe(OptionTable& table, TableOutput& o) {
  table.group("Tables");
  table.add("fill", o.fill, "Write the completed table: .csv, .tsv or .npy")
      .called("FILE")
      .keeps_numbers();
  table.add("keep-known", o.keep_known, "Known entries of that table stay as they are")
      .as_switch_word()
      .keeps_numbers();
  table.add("yes", o.yes, "Write it even if it is larger than 2 GB").keeps_numbers();
  table
      .add("recommend", o.recommend,
           "Number of best unknown columns for each row (recommendations.csv)")
      .at_least(1)
      .default_is("none")
      .keeps_numbers();
  table
      .add("rank-by", o.rank_by, {{"mean", RankBy::kMean}, {"lower", RankBy::kLower}},
           "Best by the prediction, or by the lower end of its 90 % interval")
      .keeps_numbers();
  table.add("rows", o.rows, "Rows that they are for, one in each line")
      .called("FILE")
      .keeps_numbers()
      .default_is("all");
}

}  // namespace udv::jobs
