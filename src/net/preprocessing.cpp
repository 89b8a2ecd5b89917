// SPDX-License-Identifier: MIT
#include "udv/net/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/require.hpp"
#include "io/names.hpp"
#include "net/calendar.hpp"
#include "net/missing.hpp"

namespace udv::net {
namespace {

constexpr Index kFewestIdentifiers = 50;  // distinct texts that are taken for numbers of rows
constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// What the whole table says of a column.
struct ColumnFacts {
  ColumnKind kind = ColumnKind::kCategory;
  Index distinct = 0, present = 0;
  Index numbers = 0, first_word = -1;  // fields that are numbers; the first row where one is none
};

ColumnFacts facts_of(const io::TextTable& table, Index column) {
  ColumnFacts facts;
  std::set<std::string_view> values;
  bool dates = true;
  Date date;
  for (Index row = 0; row < table.rows(); ++row) {
    const std::string_view field = table.field(row, column);
    values.insert(field);
    if (is_missing(field)) continue;
    ++facts.present;
    // "nan" and "inf" count here, so that they are found and named later.
    if (io::is_number(field))
      ++facts.numbers;
    else if (facts.first_word < 0)
      facts.first_word = row;
    dates = dates && parse_date(field, date);
  }
  facts.distinct = static_cast<Index>(values.size());
  if (facts.present > 0 && facts.numbers == facts.present) facts.kind = ColumnKind::kNumber;
  if (facts.present > 0 && dates) facts.kind = ColumnKind::kDate;
  return facts;
}

// Most fields are numbers, but not all: a typing error, more often than not.
void note_words_among_numbers(const io::TextTable& table, Index column, const ColumnFacts& facts,
                              std::vector<std::string>& notes) {
  const bool words = facts.kind == ColumnKind::kCategory && facts.first_word >= 0;
  if (!words || 2 * facts.numbers < facts.present) return;
  notes.push_back(message(table.where(facts.first_word, column), ": ",
                          io::quoted(table.field(facts.first_word, column)),
                          " found among numbers: the whole column is taken for words"));
}

// Every row another value: a text that names rows, or a number column called id.
bool numbers_rows(const io::TextTable& table, Index column, const ColumnFacts& facts) {
  if (facts.distinct < table.rows() || table.rows() < kFewestIdentifiers) return false;
  const bool named_id =
      io::detail::lower_case(table.columns()[static_cast<size_t>(column)]) == "id";
  return facts.kind == ColumnKind::kCategory || (facts.kind == ColumnKind::kNumber && named_id);
}

double number_at(const io::TextTable& table, Index row, Index column) {
  const std::string_view field = table.field(row, column);
  if (is_missing(field)) return kMissing;
  double value = 0;
  require<IoError>(io::parse_number(field, value), table.where(row, column), ": ",
                   io::quoted(field), " found, a finite number or NA expected");
  return value;
}

double mean_of_present(const std::vector<double>& values) {
  double sum = 0;
  Index count = 0;
  for (const double value : values)
    if (!std::isnan(value)) sum += value, ++count;
  return count > 0 ? sum / static_cast<double>(count) : 0;
}

void fit_number(const io::TextTable& table, Index column, const std::vector<Index>& rows,
                ColumnCoding& coding) {
  std::vector<double> values;
  for (const Index row : rows) values.push_back(number_at(table, row, column));
  coding.fills = {mean_of_present(values)};
}

void fit_categories(const io::TextTable& table, Index column, const std::vector<Index>& rows,
                    const TableOptions& options, ColumnCoding& coding) {
  std::map<std::string, Index> counts;
  for (const Index row : rows) {
    const std::string_view field = table.field(row, column);
    if (is_missing(field) && options.missing == "mean") continue;
    ++counts[is_missing(field) ? std::string() : std::string(field)];
  }
  Index most = -1;
  for (const auto& [category, count] : counts) {
    if (count > most) {
      most = count;
      coding.fallback = static_cast<std::int64_t>(coding.categories.size());
    }
    coding.categories.push_back(category);
  }
  // What is unknown is as good as missing, where that is a category.
  if (counts.contains("")) coding.fallback = 0;
  coding.onehot = options.encoding == "onehot";
}

// Parts that never change in the table say nothing.
void fit_date(const io::TextTable& table, Index column, const std::vector<Index>& rows,
              ColumnCoding& coding) {
  Date date;
  for (const DatePart& part : date_parts()) {
    std::set<int> found;
    for (Index row = 0; row < table.rows(); ++row)
      if (parse_date(table.field(row, column), date)) found.insert(part.of(date));
    if (found.size() < 2) continue;
    std::vector<double> values;
    for (const Index row : rows)
      if (parse_date(table.field(row, column), date)) values.push_back(part.of(date));
    coding.parts.emplace_back(part.name);
    coding.fills.push_back(mean_of_present(values));
  }
}

// Raw numbers of one field, into consecutive features.
void encode(const io::TextTable& table, Index row, Index column, const ColumnCoding& coding,
            double* out) {
  const std::string_view field = table.field(row, column);
  switch (coding.kind) {
    case ColumnKind::kNumber: {
      const double value = number_at(table, row, column);
      out[0] = std::isnan(value) ? coding.fills[0] : value;
      break;
    }
    case ColumnKind::kCategory: {
      const std::string key = is_missing(field) ? std::string() : std::string(field);
      const auto at = std::lower_bound(coding.categories.begin(), coding.categories.end(), key);
      const bool known = at != coding.categories.end() && *at == key;
      const std::int64_t code = known ? at - coding.categories.begin() : coding.fallback;
      if (!coding.onehot)
        out[0] = static_cast<double>(code);
      else if (!coding.categories.empty())  // a column without words has no features
        out[code] = 1;
      break;
    }
    case ColumnKind::kDate: {
      Date date;
      const bool known = parse_date(field, date);
      require<IoError>(known || is_missing(field), table.where(row, column), ": ",
                       io::quoted(field), " found, a date (year-month-day hour:minute) expected");
      for (size_t p = 0; p < coding.parts.size(); ++p)
        out[p] = known ? date_part_named(coding.parts[p]).of(date) : coding.fills[p];
      break;
    }
  }
}

RowMatrix<double> raw_features(const Preprocessing& how, const io::TextTable& table,
                               const std::vector<Index>& rows) {
  std::vector<Index> places;
  for (const ColumnCoding& coding : how.columns) {
    places.push_back(table.find(coding.column));
    require<IoError>(places.back() >= 0, table.name(), ": no column ", io::quoted(coding.column),
                     ", which the model reads");
  }
  RowMatrix<double> X = RowMatrix<double>::Zero(static_cast<Index>(rows.size()), how.inputs);
  for (size_t i = 0; i < rows.size(); ++i) {
    double* out = X.row(static_cast<Index>(i)).data();
    for (size_t c = 0; c < places.size(); ++c) {
      encode(table, rows[i], places[c], how.columns[c], out);
      out += how.columns[c].features();
    }
  }
  return X;
}

Index target_column(const io::TextTable& table, const std::string& target) {
  const Index column = table.find(target);
  std::string names;
  for (const auto& name : table.columns()) names += (names.empty() ? "" : ", ") + name;
  require<IoError>(column >= 0, table.name(), ": no column ", io::quoted(target),
                   " for the target; its columns are ", names);
  return column;
}

double target_at(const io::TextTable& table, Index row, Index column) {
  double value = 0;
  const std::string_view field = table.field(row, column);
  require<IoError>(io::parse_number(field, value), table.where(row, column), ": ",
                   io::quoted(field),
                   " found, a number expected (the target; for classes set the option task to "
                   "classification)");
  return value;
}

RowMatrix<double> raw_targets(const io::TextTable& table, const std::string& target,
                              const std::vector<Index>& rows) {
  const Index column = target_column(table, target);
  RowMatrix<double> Y(static_cast<Index>(rows.size()), 1);
  for (size_t i = 0; i < rows.size(); ++i)
    Y(static_cast<Index>(i), 0) = target_at(table, rows[i], column);
  return Y;
}

std::vector<std::string> fit_classes(const io::TextTable& table, Index column) {
  std::set<std::string> names;
  for (Index row = 0; row < table.rows(); ++row) {
    require<IoError>(!is_missing(table.field(row, column)), table.where(row, column),
                     ": no class found, the target expected");
    names.emplace(table.field(row, column));
  }
  require<IoError>(names.size() > 1, table.name(), ": column ",
                   io::quoted(table.columns()[static_cast<size_t>(column)]),
                   ": one class only, at least two expected");
  std::vector<std::string> sorted(names.begin(), names.end());
  // 2 before 10 where all names are numbers.
  double number = 0;
  if (std::all_of(sorted.begin(), sorted.end(),
                  [&](const auto& name) { return io::parse_number(name, number); }))
    std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      double x = 0, y = 0;
      io::parse_number(a, x);
      io::parse_number(b, y);
      return x < y;
    });
  return sorted;
}

void require_columns(const io::TextTable& table, const std::vector<std::string>& names) {
  for (const auto& name : names)
    require<IoError>(table.find(name) >= 0, table.name(), ": no column ", io::quoted(name));
}

template <typename Real>
RowMatrix<Real> scaled(const RowMatrix<double>& values, const Affine& how) {
  return ((values.rowwise() - how.offset.transpose()).array().rowwise() *
          how.factor.transpose().array())
      .template cast<Real>();
}

}  // namespace

void TableOptions::validate() const {
  const auto one_of = [](const char* what, const std::string& found,
                         std::initializer_list<const char*> known) {
    std::string names;
    for (const char* name : known) names += message(names.empty() ? "" : ", ", name);
    require(std::find(known.begin(), known.end(), found) != known.end(), what, " '", found,
            "' found, one of ", names, " expected");
  };
  one_of("encoding", encoding, {"label", "onehot"});
  one_of("missing", missing, {"category", "mean"});
  one_of("scaling", scaling, {"minmax", "standard", "none"});
  one_of("target scaling", target_scaling, {"minmax", "standard", "none"});
}

Index ColumnCoding::features() const {
  if (kind == ColumnKind::kDate) return static_cast<Index>(parts.size());
  return kind == ColumnKind::kCategory && onehot ? static_cast<Index>(categories.size()) : 1;
}

Affine fit_scaling(const std::string& name, const RowMatrix<double>& X) {
  const Index d = X.cols();
  Affine how{Vector<double>::Zero(d), Vector<double>::Ones(d)};
  if (name == "none") return how;
  const bool standard = name == "standard";
  require(standard || name == "minmax", "scaling '", name,
          "' found, one of minmax, standard, none expected");
  for (Index j = 0; j < d; ++j) {
    const auto x = X.col(j).array();
    how.offset(j) = standard ? x.mean() : x.minCoeff();
    const double spread =
        standard ? std::sqrt((x - how.offset(j)).square().mean()) : x.maxCoeff() - how.offset(j);
    if (spread > 0) how.factor(j) = 1 / spread;
  }
  return how;
}

Preprocessing fit_table(const io::TextTable& table, const std::vector<Index>& training,
                        const TableOptions& options, std::vector<std::string>& notes) {
  options.validate();
  Preprocessing how;
  how.task = options.task;
  how.target = options.target;
  const Index target = target_column(table, options.target);
  require_columns(table, options.drop);
  require_columns(table, options.keep);
  for (Index column = 0; column < static_cast<Index>(table.columns().size()); ++column) {
    const std::string& name = table.columns()[static_cast<size_t>(column)];
    if (column == target || contains(options.drop, name)) continue;
    const ColumnFacts facts = facts_of(table, column);
    if (facts.distinct == 1) {
      notes.push_back(message("column ", io::quoted(name), " is constant: left out"));
      continue;
    }
    note_words_among_numbers(table, column, facts, notes);
    if (numbers_rows(table, column, facts) && !contains(options.keep, name)) {
      notes.push_back(message("column ", io::quoted(name),
                              " numbers the rows: left out (option keep uses it)"));
      continue;
    }
    ColumnCoding coding;
    coding.column = name;
    coding.kind = facts.kind;
    if (facts.kind == ColumnKind::kNumber) fit_number(table, column, training, coding);
    if (facts.kind == ColumnKind::kCategory)
      fit_categories(table, column, training, options, coding);
    if (facts.kind == ColumnKind::kDate) fit_date(table, column, training, coding);
    if (coding.features() == 0) {
      notes.push_back(message("column ", io::quoted(name), " says nothing: left out"));
      continue;
    }
    how.inputs += coding.features();
    how.columns.push_back(std::move(coding));
  }
  require<IoError>(how.inputs > 0, table.name(), ": no column left besides the target");
  how.features = fit_scaling(options.scaling, raw_features(how, table, training));
  if (how.task == Task::kClassification) {
    how.classes = fit_classes(table, target);
    how.outputs = static_cast<Index>(how.classes.size());
  } else {
    how.targets = fit_scaling(options.target_scaling, raw_targets(table, how.target, training));
    how.outputs = 1;
  }
  return how;
}

template <typename Real>
RowMatrix<Real> Preprocessing::features_of(const io::TextTable& table,
                                           const std::vector<Index>& rows) const {
  return scaled<Real>(raw_features(*this, table, rows), features);
}

template <typename Real>
Dataset<Real> Preprocessing::dataset_of(const io::TextTable& table,
                                        const std::vector<Index>& rows) const {
  Dataset<Real> data;
  data.task = task;
  data.X = features_of<Real>(table, rows);
  if (task == Task::kRegression) {
    data.Y = scaled<Real>(raw_targets(table, target, rows), targets);
    return data;
  }
  data.classes = outputs;
  const Index column = target_column(table, target);
  for (const Index row : rows) {
    const std::string_view field = table.field(row, column);
    const auto at = std::find(classes.begin(), classes.end(), field);
    require<IoError>(at != classes.end(), table.where(row, column), ": class ", io::quoted(field),
                     " found, one of the ", classes.size(), " of the training data expected");
    data.labels.push_back(static_cast<std::int32_t>(at - classes.begin()));
  }
  return data;
}

template <typename Real>
RowMatrix<double> Preprocessing::in_target_units(const RowMatrix<Real>& values) const {
  RowMatrix<double> result = values.template cast<double>();
  if (task == Task::kRegression && targets.factor.size() > 0)
    result = (result.array().rowwise() / targets.factor.transpose().array()).matrix().rowwise() +
             targets.offset.transpose();
  return result;
}

#define UDV_INSTANTIATE(Real)                                                                 \
  template RowMatrix<Real> Preprocessing::features_of<Real>(const io::TextTable&,             \
                                                            const std::vector<Index>&) const; \
  template Dataset<Real> Preprocessing::dataset_of<Real>(const io::TextTable&,                \
                                                         const std::vector<Index>&) const;    \
  template RowMatrix<double> Preprocessing::in_target_units<Real>(const RowMatrix<Real>&) const;
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
