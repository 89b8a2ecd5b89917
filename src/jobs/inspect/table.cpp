// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/hash.hpp"
#include "core/require.hpp"
#include "io/mapped_file.hpp"
#include "io/text.hpp"
#include "jobs/inspect/kinds.hpp"
#include "udv/core/text.hpp"
#include "udv/io/text_table.hpp"
#include "udv/net/head.hpp"

namespace udv::jobs {
namespace {

constexpr std::size_t kMostWords = 10'000;  // counted; more are "more than"
constexpr std::size_t kMostColumns = 50;    // shown

struct ColumnFigures {
  std::string name;
  Index numbers = 0, strange = 0, empty = 0, texts = 0;
  double least = INFINITY, most = -INFINITY;
  std::unordered_set<std::uint64_t> words;  // by their hashes

  void add(std::string_view field) {
    double value = 0;
    if (field.empty()) {
      ++empty;
    } else if (io::parse_number(field, value)) {
      ++numbers;
      least = std::min(least, value);
      most = std::max(most, value);
    } else if (io::is_number(field)) {
      ++strange;
    } else {
      ++texts;
      if (words.size() <= kMostWords) words.insert(fnv_hash(field));
    }
  }

  std::vector<std::string> cells() const {
    const bool many = words.size() > kMostWords;
    const auto count = [](Index n) { return n > 0 ? fmt::format("{}", n) : std::string(); };
    return {plain_text(name, 40),
            count(numbers),
            numbers > 0 ? short_number(least) : "",
            numbers > 0 ? short_number(most) : "",
            count(strange),
            texts == 0 ? ""
            : many     ? fmt::format("> {}", kMostWords)
                       : count(words.size()),
            count(empty)};
  }
};

struct TableFigures {
  bool header = false;
  Index rows = 0;
  std::vector<ColumnFigures> columns;
  std::vector<double> values;  // of a table of nothing but numbers, as long as they are few

  bool is_matrix() const {
    return !header && rows > 0 && static_cast<Index>(values.size()) == rows * width();
  }
  Index width() const { return static_cast<Index>(columns.size()); }
};

bool is_name(std::string_view field) {
  return !field.empty() && !io::is_number(field);
}

void add_line(const std::vector<std::string_view>& fields, TableFigures& table) {
  ++table.rows;
  for (std::size_t c = 0; c < fields.size(); ++c) {
    table.columns[c].add(fields[c]);
    double value = 0;
    if (!table.header && table.values.size() <= kFewNumbers && io::parse_number(fields[c], value))
      table.values.push_back(value);
  }
}

void add_column(std::string_view first_field, TableFigures& table) {
  ColumnFigures& column = table.columns.emplace_back();
  column.name =
      table.header ? std::string(first_field) : fmt::format("column {}", table.columns.size());
}

// One pass over the mapped file; of the lines nothing is kept but these figures.
TableFigures read_figures(const std::filesystem::path& path) {
  const io::detail::MappedFile file = io::detail::map_file(path, "a table");
  require<IoError>(file.bytes.find('\0') == file.bytes.npos, path.string(),
                   ": binary data found (a zero byte), lines of text expected");
  io::detail::LineReader lines(path.string(), file.bytes);
  std::vector<std::string_view> fields;
  TableFigures table;
  char separator = ',';
  while (lines.next()) {
    if (lines.text().find_first_not_of(" \t") == std::string_view::npos) continue;
    if (table.columns.empty()) separator = io::detail::table_separator(lines.text());
    io::detail::split_fields(lines, separator, fields);
    if (table.columns.empty()) {
      table.header = std::any_of(fields.begin(), fields.end(), is_name);
      for (const std::string_view field : fields) add_column(field, table);
      if (table.header) continue;
    }
    if (fields.size() != table.columns.size())
      lines.fail(io::detail::count_text(fields.size(), "field"), " found, ", table.columns.size(),
                 " expected, as in the first line");
    add_line(fields, table);
  }
  require<IoError>(!table.columns.empty(), path.string(),
                   ": empty file found, lines of text expected");
  return table;
}

void add_columns(const TableFigures& table, InspectReport& report) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t c = 0; c < std::min(table.columns.size(), kMostColumns); ++c)
    rows.push_back(table.columns[c].cells());
  const std::size_t left = table.columns.size() - rows.size();
  report.table({"column", "numbers", "min", "max", "inf or nan", "different words", "empty"},
               std::move(rows), left > 0 ? fmt::format("and {} more columns", left) : "");
}

}  // namespace

std::string brief_table(const std::filesystem::path& file) {
  const TableFigures table = read_figures(file);
  return fmt::format("{} rows of {}", table.rows, table.width());
}

void show_table(const std::filesystem::path& file, const InspectOptions&, InspectReport& report) {
  const TableFigures table = read_figures(file);
  add_file(file, report);
  report.fact("rows", fmt::format("{}", table.rows));
  report.fact("columns",
              fmt::format("{}{}", table.width(), table.header ? "" : ", no line of names"));
  if (table.is_matrix() && std::min(table.rows, table.width()) > 0)
    add_spectrum(net::singular_values(Eigen::Map<const RowMatrix<double>>(
                     table.values.data(), table.rows, table.width())),
                 report);
  add_columns(table, report);
}

}  // namespace udv::jobs
