// SPDX-License-Identifier: MIT
#include <algorithm>

#include "entries_builder.hpp"
#include "triplet_columns.hpp"

namespace udv::io::detail {
namespace {

constexpr std::size_t kWidestTriplets = 4;  // row, column, value and a weight or a time

bool names_columns(const EntriesOptions& options) {
  return !options.column.empty() || !options.value.empty() || !options.weight.empty() ||
         !options.std.empty();
}

/// The first two lines, from which triplets are distinguished from a table.
struct FirstLines {
  std::vector<std::string_view> first, second;
  LineReader lines;

  FirstLines(const std::string& name, std::string_view text) : lines(name, text) {
    if (!lines.next_content()) return;
    const char separator = find_separator(lines);
    split_fields(lines, separator, first);
    LineReader ahead = lines;
    if (ahead.next_content()) split_fields(ahead, separator, second);
  }

  bool has_header() const {
    return std::none_of(first.begin(), first.end(), [](auto f) { return is_number(f); });
  }
};

/// A number that cannot be an index.
bool is_fraction(std::string_view field) {
  return is_number(field) && field.find_first_not_of("0123456789") != field.npos;
}

/// Fractions where keys should be: rather a row of a table.
bool looks_like_values(const std::vector<std::string_view>& line, bool has_header) {
  return line.size() >= 3 && is_fraction(line[1]) && (has_header || is_fraction(line[0]));
}

Layout guess_layout(const FirstLines& start) {
  const std::size_t width = start.first.size();
  const bool header = start.has_header();
  if (header && names_triplets(start.first)) return Layout::kTriplets;
  if (width > kWidestTriplets) return Layout::kTable;
  const auto& data = header ? start.second : start.first;
  const bool blank_corner = header && width > 2 && start.first[0].empty();
  const bool table = blank_corner || looks_like_values(data, header);
  return table ? Layout::kTable : Layout::kTriplets;
}

}  // namespace

EntriesFile read_text_entries(const std::string& name, std::string text,
                              const EntriesOptions& options) {
  if (options.layout == Layout::kTriplets || text.find('\0') != text.npos)
    return read_triplets(name, std::move(text), options);
  const FirstLines start(name, text);
  const bool is_table = options.layout == Layout::kTable;
  if (!is_table && (names_columns(options) || guess_layout(start) == Layout::kTriplets))
    return read_triplets(name, std::move(text), options);
  const std::size_t width = start.first.size();
  text = as_utf8(std::move(text));
  if (is_table) return read_table(name, text, options);
  EntriesFile file = read_table(name, text, options);
  file.notices.insert(file.notices.begin(),
                      message(name, ": read as a table, one line for each row, as it has ",
                              count_text(width, "column"), " (option layout)"));
  return file;
}

}  // namespace udv::io::detail
