// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "entries_builder.hpp"
#include "names.hpp"
#include "text.hpp"

namespace udv::io::detail {
namespace {

constexpr std::string_view kBanner = "%%matrixmarket";

using Fields = std::vector<std::string_view>;

struct Banner {
  bool array = false;
  bool integer = false;
  bool symmetric = false;
};

/// Is the word the second of the two allowed ones? Anything else is an error.
bool choose(const LineReader& lines, std::string_view word, std::string_view first,
            std::string_view second, std::string_view what) {
  const std::string lower = lower_case(std::string(word));
  if (lower != first && lower != second) {
    lines.fail(what, " ", in_quotes(word), " found, ", first, " or ", second, " expected");
  }
  return lower == second;
}

Banner read_banner(LineReader& lines) {
  Fields words;
  if (lines.next()) split_fields(lines, ' ', words);
  const bool complete = words.size() == 5 && lower_case(std::string(words[0])) == kBanner &&
                        lower_case(std::string(words[1])) == "matrix";
  if (!complete) {
    lines.fail(in_quotes(lines.text()),
               " found, '%%MatrixMarket matrix FORMAT FIELD SYMMETRY' expected");
  }
  Banner banner;
  banner.array = choose(lines, words[2], "coordinate", "array", "format");
  banner.integer = choose(lines, words[3], "real", "integer", "field");
  banner.symmetric = choose(lines, words[4], "general", "symmetric", "symmetry");
  return banner;
}

/// The next line with data, split; it must have `count` fields. False at the end of the file.
bool next_fields(LineReader& lines, std::size_t count, Fields& fields) {
  if (!lines.next_content()) return false;
  split_fields(lines, ' ', fields);
  if (fields.size() != count) {
    lines.fail(count_text(fields.size(), "field"), " found, ", count, " expected");
  }
  return true;
}

/// Sizes and the number of values that follow.
struct Declared {
  Index rows = 0;
  Index cols = 0;
  std::uint64_t count = 0;
  std::int64_t line = 0;
};

/// Whole numbers up to 2^53: the number of entries may exceed 32 bits.
std::uint64_t parse_count(const LineReader& lines, std::string_view field) {
  const double count = parse_value(lines, field, "count");
  if (count < 0 || count > 0x1p53 || count != std::floor(count)) {
    lines.fail("count ", in_quotes(field), " found, a whole number of 0 or more expected");
  }
  return static_cast<std::uint64_t>(count);
}

/// An array holds every value, a symmetric one its lower triangle only.
std::uint64_t array_count(const Declared& declared, bool symmetric) {
  const auto rows = static_cast<std::uint64_t>(declared.rows);
  const auto cols = static_cast<std::uint64_t>(declared.cols);
  return symmetric ? rows * (rows + 1) / 2 : rows * cols;
}

Declared read_sizes(LineReader& lines, const Banner& banner, const EntriesOptions& options) {
  Fields fields;
  if (!next_fields(lines, banner.array ? 2 : 3, fields)) {
    lines.fail("end of file found, a line with the sizes expected");
  }
  Declared declared;
  declared.line = lines.number();
  declared.rows = static_cast<Index>(parse_count(lines, fields[0]));
  declared.cols = static_cast<Index>(parse_count(lines, fields[1]));
  require_sizes(message(lines.name(), ":", lines.number()), declared.rows, declared.cols, options);
  if (banner.symmetric && declared.rows != declared.cols) {
    lines.fail(declared.rows, " x ", declared.cols,
               " matrix found, a square one expected in a symmetric file");
  }
  declared.count =
      banner.array ? array_count(declared, banner.symmetric) : parse_count(lines, fields[2]);
  if (declared.count == 0) lines.fail("0 entries declared, at least 1 expected");
  return declared;
}

void require_room(const LineReader& lines, std::uint64_t seen, const Declared& declared) {
  if (seen < declared.count) return;
  lines.fail("more than ", declared.count, " entries found, ", declared.count, " expected by line ",
             declared.line);
}

void require_complete(const LineReader& lines, std::uint64_t seen, const Declared& declared) {
  if (seen == declared.count) return;
  lines.fail("end of file found after ", seen, seen == 1 ? " entry, " : " entries, ",
             declared.count, " expected by line ", declared.line);
}

double parse_entry_value(const LineReader& lines, std::string_view field, const Banner& banner) {
  const double value = parse_value(lines, field, "value");
  if (banner.integer && value != std::floor(value)) {
    lines.fail("value ", in_quotes(field), " found, an integer expected by the first line");
  }
  return value;
}

std::int32_t parse_index_within(const LineReader& lines, std::string_view field, Index size,
                                std::string_view what) {
  const std::int32_t index = parse_index(lines, field, what);
  if (index < 1 || index > size) {
    lines.fail(what, " ", index, " found, 1 to ", size, " expected");
  }
  return index - 1;
}

Record parse_coordinate(const LineReader& lines, const Fields& fields, const Banner& banner,
                        const Declared& declared) {
  Record record;
  record.row = parse_index_within(lines, fields[0], declared.rows, "row index");
  record.col = parse_index_within(lines, fields[1], declared.cols, "column index");
  record.value = parse_entry_value(lines, fields[2], banner);
  record.line = static_cast<std::uint64_t>(lines.number());
  if (banner.symmetric && record.row < record.col) {
    lines.fail("entry ", position_text(1, record.row, record.col),
               " above the diagonal found, the lower triangle expected in a symmetric file");
  }
  return record;
}

/// A count declared by the file is not trusted: a value takes at least two bytes.
std::size_t safe_reserve(std::uint64_t declared_count, std::string_view text) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(declared_count, text.size() / 2 + 1));
}

std::vector<Record> read_coordinates(LineReader& lines, std::size_t expected, const Banner& banner,
                                     const Declared& declared) {
  std::vector<Record> records;
  records.reserve(expected);
  Fields fields;
  while (next_fields(lines, 3, fields)) {
    require_room(lines, records.size(), declared);
    records.push_back(parse_coordinate(lines, fields, banner, declared));
  }
  require_complete(lines, records.size(), declared);
  return records;
}

/// Values in the order of the file: column by column.
std::vector<double> read_array(LineReader& lines, std::size_t expected, const Banner& banner,
                               const Declared& declared) {
  std::vector<double> values;
  values.reserve(expected);
  Fields fields;
  while (next_fields(lines, 1, fields)) {
    require_room(lines, values.size(), declared);
    values.push_back(parse_entry_value(lines, fields[0], banner));
  }
  require_complete(lines, values.size(), declared);
  return values;
}

/// Row-major values of the whole matrix; a symmetric file holds rows j.. of column j only.
std::vector<double> to_row_major(const Declared& declared, bool symmetric,
                                 const std::vector<double>& by_column) {
  const auto rows = static_cast<std::size_t>(declared.rows);
  const auto cols = static_cast<std::size_t>(declared.cols);
  std::vector<double> values(rows * cols);
  auto next = by_column.begin();
  for (std::size_t j = 0; j < cols; ++j) {
    for (std::size_t i = symmetric ? j : 0; i < rows; ++i) {
      values[i * cols + j] = *next++;
      if (symmetric) values[j * cols + i] = values[i * cols + j];
    }
  }
  return values;
}

}  // namespace

bool has_matrix_market_banner(std::string_view text) {
  return lower_case(std::string(text.substr(0, kBanner.size()))) == kBanner;
}

EntriesFile read_matrix_market(const std::string& name, std::string_view text,
                               const EntriesOptions& options) {
  require<IoError>(!text.empty(), name, ": empty file found, a Matrix Market file expected");
  require<IoError>(options.base != IndexBase::kZero, name,
                   ": counting from 0 asked for, but Matrix Market files count from 1");
  LineReader lines(name, text);
  const Banner banner = read_banner(lines);
  const Declared declared = read_sizes(lines, banner, options);
  const std::size_t expected = safe_reserve(declared.count, text);
  MatrixFrame frame{name, 1, declared.rows, declared.cols, options.symmetric};
  if (banner.array) {
    const std::vector<double> values = read_array(lines, expected, banner, declared);
    return dense_entries(frame, to_row_major(declared, banner.symmetric, values));
  }
  frame.symmetric |= banner.symmetric;
  EntriesFile file = assemble(frame, read_coordinates(lines, expected, banner, declared));
  if (frame.symmetric && !options.symmetric) file.entries = expand_symmetric(file.entries);
  return file;
}

}  // namespace udv::io::detail
