// SPDX-License-Identifier: MIT
#include "net/column_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "core/require.hpp"
#include "udv/core/options.hpp"

namespace udv::net {
namespace {

constexpr Index kMostClassNumbers = 20, kRowsPerClass = 5;
constexpr Index kMostClasses = 10'000;
constexpr size_t kMostUnits = 5;  // of one column; codes like 12A have more

NumberStyle number_style_named(std::string_view name) {
  for (const auto& each : number_styles())
    if (each.name == name) return each.style;
  return NumberStyle::kPlain;
}

// "plain kg": the name of the style and the unit.
std::string_view name_in(std::string_view style) {
  return style.substr(0, style.find(' '));
}

std::string_view unit_in(std::string_view style) {
  const size_t blank = style.find(' ');
  return blank == style.npos ? std::string_view() : style.substr(blank + 1);
}

DateOrder date_order_named(const std::string& name) {
  for (const auto& each : date_orders())
    if (each.name == name) return each.order;
  return DateOrder::kYearFirst;
}

// Fields that can be read in each way, and the first that plain numbers cannot.
struct StyleCounts {
  std::array<Index, 3> numbers{}, dates{}, measures{};  // measures: numbers with a unit
  std::set<std::string, std::less<>> units;             // the first few
  Index first_styled = -1;

  void add(std::string_view field, Index row) {
    double value = 0;
    Date date;
    for (size_t s = 0; s < numbers.size(); ++s)
      numbers[s] += parse_styled(field, number_styles()[s].style, value) ? 1 : 0;
    for (size_t s = 0; s < dates.size(); ++s)
      dates[s] += parse_date(field, date, date_orders()[s].order) ? 1 : 0;
    if (first_styled < 0) first_styled = row;
    add_measure(field);
  }

 private:
  void add_measure(std::string_view field) {
    const std::string_view unit = unit_of(field);
    if (unit.empty()) return;
    if (units.size() <= kMostUnits) units.emplace(unit);
    double value = 0;
    for (size_t s = 0; s < measures.size(); ++s)
      measures[s] += parse_styled(without_unit(field, unit), number_styles()[s].style, value);
  }
};

// The first style that fits all fields; the decimal comma before the comma between thousands where
// semicolons separate fields. Empty where none does.
std::string fitting_style(const std::array<Index, 3>& counts, Index others, char separator) {
  const bool comma_first = separator == ';';
  for (const size_t s : {size_t{0}, comma_first ? size_t{2} : 1, comma_first ? size_t{1} : 2})
    if (counts[s] == others) return std::string(number_styles()[s].name);
  return "";
}

bool are_dates(const StyleCounts& counts, Index others, ColumnFacts& facts) {
  for (size_t s = 0; s < counts.dates.size(); ++s)
    if (counts.dates[s] == others) {
      facts.kind = ColumnKind::kDate;
      facts.style = s == 0 ? "" : std::string(date_orders()[s].name);
      facts.example = counts.first_styled;
      facts.ambiguous = s == 1 && counts.dates[2] == others;
      return true;
    }
  return false;
}

// All fields that are no plain numbers have to fit one style, and to have one unit if any.
void choose_style(const StyleCounts& counts, Index others, char separator, ColumnFacts& facts) {
  std::string style = fitting_style(counts.numbers, others, separator);
  // Where there are numbers among them, these are no dates.
  if (style.empty() && others == facts.present && are_dates(counts, others, facts)) return;
  if (style.empty() && counts.units.size() <= kMostUnits) {
    style = fitting_style(counts.measures, others, separator);
    if (!style.empty() && counts.units.size() > 1) {
      facts.units.assign(counts.units.begin(), counts.units.end());
      return;
    }
    if (!style.empty()) style += " " + *counts.units.begin();
  }
  if (style.empty()) return;
  facts.kind = ColumnKind::kNumber;
  facts.style = std::move(style);
  facts.example = counts.first_styled;
}

}  // namespace

ColumnFacts facts_of(const io::TextTable& table, Index column) {
  ColumnFacts facts;
  std::set<std::string_view> values;
  StyleCounts counts;
  for (Index row = 0; row < table.rows(); ++row) {
    const std::string_view field = table.field(row, column);
    values.insert(field);
    if (is_missing(field)) continue;
    ++facts.present;
    // "nan" and "inf" count here, so that they are found and named later.
    if (io::is_number(field)) {
      ++facts.numbers;
      continue;
    }
    if (facts.first_word < 0) facts.first_word = row;
    counts.add(field, row);
  }
  facts.distinct = static_cast<Index>(values.size());
  if (facts.present == 0) return facts;
  if (facts.numbers == facts.present)
    facts.kind = ColumnKind::kNumber;
  else
    choose_style(counts, facts.present - facts.numbers, table.separator(), facts);
  return facts;
}

void note_reading(const io::TextTable& table, Index column, const ColumnFacts& facts,
                  std::vector<std::string>& notes) {
  const auto shown = [&](Index row) { return io::quoted(table.field(row, column)); };
  if (facts.kind == ColumnKind::kNumber && facts.example >= 0) {
    notes.push_back(fmt::format("{}: {} is read as {}", table.where(facts.example, column),
                                shown(facts.example),
                                number_at(table, facts.example, column, facts.style)));
  } else if (facts.kind == ColumnKind::kDate && facts.ambiguous) {
    notes.push_back(message(table.where(facts.example, column), ": ", shown(facts.example),
                            " is read with the day first: no date of the column says which"));
  } else if (!facts.units.empty()) {
    notes.push_back(message(table.where(facts.first_word, column), ": ", shown(facts.first_word),
                            " found; the column has numbers in '", facts.units[0], "' and '",
                            facts.units[1], "': taken for words (give all the same unit)"));
  } else if (facts.kind == ColumnKind::kCategory && facts.first_word >= 0 &&
             2 * facts.numbers >= facts.present) {
    notes.push_back(message(table.where(facts.first_word, column), ": ", shown(facts.first_word),
                            " found among numbers: the whole column is taken for words"));
  }
}

bool parse_number_as(std::string_view field, const std::string& style, double& value) {
  if (style.empty()) return io::parse_number(field, value);
  // Plain numbers are read in every style, but 1.234 is 1234 where the comma is the point.
  const std::string_view number = without_unit(field, unit_in(style));
  return parse_styled(number, number_style_named(name_in(style)), value) ||
         io::parse_number(number, value);
}

std::string in_unit(const std::string& style) {
  const std::string_view unit = unit_in(style);
  return unit.empty() ? "" : message(" in ", unit);
}

bool parse_date_as(std::string_view field, const std::string& style, Date& date) {
  return parse_date(field, date, date_order_named(style));
}

double number_at(const io::TextTable& table, Index row, Index column, const std::string& style) {
  const std::string_view field = table.field(row, column);
  if (is_missing(field)) return std::numeric_limits<double>::quiet_NaN();
  double value = 0;
  require<IoError>(parse_number_as(field, style, value), table.where(row, column), ": ",
                   io::quoted(field), " found, a finite number", in_unit(style), " or NA expected");
  return value;
}

std::vector<std::string> styles_in(const std::string& styles) {
  std::vector<std::string> list;
  for (size_t at = 0; at <= styles.size();) {
    const size_t end = std::min(styles.find('|', at), styles.size());
    list.push_back(styles.substr(at, end - at));
    at = end + 1;
  }
  return list;
}

void check_style(ColumnKind kind, const std::string& style) {
  const bool number = std::any_of(number_styles().begin(), number_styles().end(),
                                  [&](const auto& each) { return each.name == name_in(style); });
  const bool date = std::any_of(date_orders().begin(), date_orders().end(),
                                [&](const auto& each) { return each.name == style; });
  require(style.empty() || (kind == ColumnKind::kNumber && number) ||
              (kind == ColumnKind::kDate && date),
          "style '", style, "' of a column");
}

std::vector<std::string> target_names(const io::TextTable& table, const std::string& target) {
  std::vector<std::string> names{target};
  if (table.find(target) < 0 && target.find(',') != target.npos) names = comma_words(target);
  std::string known;
  for (const auto& name : table.columns()) known += (known.empty() ? "" : ", ") + name;
  for (const std::string& name : names)
    require<IoError>(table.find(name) >= 0, table.name(), ": no column ", io::quoted(name),
                     " for the target; its columns are ", known);
  return names;
}

bool are_classes(const std::vector<double>& values) {
  const std::set<double> distinct(values.begin(), values.end());
  const auto count = static_cast<Index>(distinct.size());
  const bool whole = std::all_of(distinct.begin(), distinct.end(), [](double v) {
    return v == static_cast<double>(static_cast<std::int64_t>(v));
  });
  return whole && count <= kMostClassNumbers &&
         kRowsPerClass * count <= static_cast<Index>(values.size());
}

FoundTask find_task(const io::TextTable& table, const std::string& target) {
  const std::vector<std::string> names = target_names(table, target);
  if (names.size() > 1) return {Task::kRegression, "several targets are values"};
  const Index column = table.find(names[0]);
  const ColumnFacts facts = facts_of(table, column);
  if (facts.kind != ColumnKind::kNumber) {
    const bool mixed = 2 * facts.numbers >= facts.present;
    require<IoError>(!mixed || facts.first_word < 0, table.where(facts.first_word, column), ": ",
                     io::quoted(facts.first_word < 0 ? "" : table.field(facts.first_word, column)),
                     " found among numbers of the target, a number expected (for classes set the "
                     "option task to classification)");
    require<IoError>(facts.distinct <= kMostClasses, table.name(), ": column ",
                     io::quoted(names[0]), ": ", facts.distinct,
                     " different words found in the target, at most ", kMostClasses,
                     " classes expected");
    return {Task::kClassification, "the target has words"};
  }
  std::vector<double> values;
  for (Index row = 0; row < table.rows(); ++row) {
    const double value = number_at(table, row, column, facts.style);
    if (value == value) values.push_back(value);
  }
  if (are_classes(values))
    return {Task::kClassification,
            message("the target has ", std::set(values.begin(), values.end()).size(),
                    " different whole numbers")};
  return {Task::kRegression, "the target has numbers"};
}

}  // namespace udv::net
