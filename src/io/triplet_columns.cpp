// SPDX-License-Identifier: MIT
#include "triplet_columns.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "core/parse.hpp"
#include "names.hpp"
#include "udv/core/options.hpp"

namespace udv::io::detail {
namespace {

using Header = std::vector<std::string_view>;
using Words = std::vector<std::string_view>;

const Words kRowWords = {"row",      "rows",     "user",       "userid",   "u",
                         "i",        "customer", "customerid", "reviewer", "reviewerid",
                         "sample",   "subject",  "rowid",      "rowindex", "member",
                         "memberid", "client",   "clientid",   "reader",   "person"};
const Words kColWords = {"column", "col",      "columns",  "cols",     "item",       "itemid",
                         "j",      "movie",    "movieid",  "product",  "productid",  "book",
                         "bookid", "asin",     "isbn",     "business", "businessid", "song",
                         "songid", "track",    "artist",   "artistid", "feature",    "gene",
                         "colid",  "columnid", "colindex", "film",     "title"};
const Words kValueWords = {"value",  "values",  "val",         "v",      "x",     "r",
                           "rating", "ratings", "score",       "stars",  "count", "amount",
                           "y",      "entry",   "measurement", "overall"};
const Words kWeightWords = {"weight", "weights", "w"};
const Words kStdWords = {"std", "sd", "stdev", "sigma", "stddev", "standarddeviation"};
const Words kOtherWords = {"time",       "timestamp",  "date", "datetime", "unixtime",
                           "timestamps", "ratingtime", "note", "comment",  "text"};

// "User ID", "user_id" and "userId" are one word.
std::string plain_word(std::string_view name) {
  std::string word = lower_case(std::string(name));
  word.erase(std::remove_if(word.begin(), word.end(),
                            [](char c) { return c == ' ' || c == '_' || c == '-' || c == '.'; }),
             word.end());
  return word;
}

bool is_one_of(std::string_view name, const Words& words) {
  return std::find(words.begin(), words.end(), plain_word(name)) != words.end();
}

std::optional<std::size_t> first_of(const Header& header, const Words& words) {
  const auto at = std::find_if(header.begin(), header.end(),
                               [&](std::string_view name) { return is_one_of(name, words); });
  if (at == header.end()) return std::nullopt;
  return static_cast<std::size_t>(at - header.begin());
}

// Rows and columns, where the header leaves no doubt.
std::optional<std::pair<std::size_t, std::size_t>> rows_and_columns(const Header& header) {
  auto row = first_of(header, kRowWords);
  auto col = first_of(header, kColWords);
  if (row && !col) {
    row = first_of(header, {"u"});
    col = first_of(header, {"i"});
  }
  if (!row || !col) return std::nullopt;
  return std::pair(*row, *col);
}

std::string header_text(const Header& header) {
  std::string text;
  for (const std::string_view name : header) text += message(text.empty() ? "" : ", ", name);
  return in_quotes(text);
}

std::string column_text(const Header& header, std::size_t k) {
  return header.empty() || header[k].empty() ? message("column ", k + 1) : in_quotes(header[k]);
}

// The first column that is neither used nor plainly something else, where there is only one.
std::optional<std::size_t> only_candidate(const Header& header, const TripletColumns& columns) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < header.size(); ++k) {
    const bool taken = k == columns.row || k == columns.col || columns.weight == k;
    if (taken || is_one_of(header[k], kOtherWords)) continue;
    if (found) return std::nullopt;
    found = k;
  }
  return found;
}

// What the header says, where it names rows and columns.
void guess(const Table& table, TripletColumns& columns, const EntriesOptions& options) {
  const Header& header = table.header();
  const auto found = rows_and_columns(header);
  if (!found) return;
  columns.guessed = true;
  std::tie(columns.row, columns.col) = *found;
  if (const auto at = first_of(header, kWeightWords)) {
    columns.weight = at;
  } else if (const auto deviation = first_of(header, kStdWords)) {
    columns.weight = deviation;
    columns.weight_is_std = true;
  }
  if (!options.value.empty()) return;
  auto value = first_of(header, kValueWords);
  if (!value) value = only_candidate(header, columns);
  if (!value)
    throw IoError(message(table.line().name(), ":", table.line().number(), ": header ",
                          header_text(header),
                          " found, a column called value, rating, score or x expected; the option "
                          "value names another one"));
  columns.value = *value;
}

void apply(const Table& table, const EntriesOptions& options, TripletColumns& columns) {
  const auto find = [&](const std::string& wanted) {
    return find_column(table.line(), table.header(), table.width(), wanted);
  };
  if (!options.row.empty()) columns.row = find(options.row);
  if (!options.column.empty()) columns.col = find(options.column);
  if (!options.value.empty()) columns.value = find(options.value);
  columns.weight_is_std = options.weight.empty() && (columns.weight_is_std || !options.std.empty());
  if (!options.weight.empty()) columns.weight = find(options.weight);
  if (!options.std.empty()) columns.weight = find(options.std);
}

// Columns that were not named must not be those that were: they move on to the next free one.
void keep_apart(const EntriesOptions& options, std::size_t width, TripletColumns& columns) {
  const std::array<std::pair<const std::string*, std::size_t*>, 3> parts = {
      {{&options.row, &columns.row},
       {&options.column, &columns.col},
       {&options.value, &columns.value}}};
  std::vector<std::size_t> taken;
  if (columns.weight) taken.push_back(*columns.weight);
  for (const auto& [name, at] : parts)
    if (!name->empty()) taken.push_back(*at);
  const auto is_taken = [&](std::size_t k) {
    return std::find(taken.begin(), taken.end(), k) != taken.end();
  };
  for (const auto& [name, at] : parts) {
    if (!name->empty()) continue;
    if (is_taken(*at)) *at = 0;
    while (*at + 1 < width && is_taken(*at)) ++*at;
    taken.push_back(*at);
  }
}

}  // namespace

std::vector<std::size_t> TripletColumns::used() const {
  std::vector<std::size_t> all = {row, col, value};
  if (weight) all.push_back(*weight);
  return all;
}

std::string TripletColumns::text(const Table& table) const {
  const Header& header = table.header();
  std::string text =
      message("rows from ", column_text(header, row), ", columns from ", column_text(header, col),
              ", values from ", column_text(header, value));
  if (weight)
    text += message(weight_is_std ? ", standard deviations from " : ", weights from ",
                    column_text(header, *weight));
  return text;
}

bool names_triplets(const Header& header) {
  return rows_and_columns(header).has_value();
}

std::size_t find_column(const LineReader& line, const Header& header, std::size_t width,
                        const std::string& wanted) {
  for (std::size_t k = 0; k < header.size(); ++k)
    if (header[k] == wanted || unescaped(line, header[k]) == wanted) return k;
  for (std::size_t k = 0; k < header.size(); ++k)
    if (lower_case(std::string(header[k])) == lower_case(wanted)) return k;
  std::size_t number = 0;
  if (parse_all(wanted, number) && number >= 1 && number <= width) return number - 1;
  if (header.empty())
    line.fail("no header found, a column ", in_quotes(wanted), " expected (or a number from 1 to ",
              width, ")");
  const std::vector<std::string> known(header.begin(), header.end());
  line.fail("header ", header_text(header), " found, a column ", in_quotes(wanted), " expected",
            did_you_mean(wanted, known));
}

TripletColumns choose_columns(const Table& table, const EntriesOptions& options) {
  if (!options.weight.empty() && !options.std.empty())
    throw IoError(
        message(table.line().name(),
                ": both weights and standard deviations asked for, one of them expected"));
  TripletColumns columns;
  guess(table, columns, options);
  apply(table, options, columns);
  if (!columns.guessed) keep_apart(options, table.width(), columns);
  const std::vector<std::size_t> used = columns.used();
  for (std::size_t a = 0; a < used.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (used[a] == used[b])
        table.line().fail(column_text(table.header(), used[a]),
                          " found for two of row, column, value and weight, one expected");
  return columns;
}

std::pair<std::size_t, std::size_t> choose_pair_columns(const Table& table,
                                                        const PairColumns& wanted) {
  const Header& header = table.header();
  const auto find = [&](const std::string& name) {
    return std::find(header.begin(), header.end(), std::string_view(name));
  };
  const auto row = find(wanted.row), col = find(wanted.column);
  if (row != header.end() && col != header.end() && row != col)
    return {static_cast<std::size_t>(row - header.begin()),
            static_cast<std::size_t>(col - header.begin())};
  return rows_and_columns(header).value_or(std::pair<std::size_t, std::size_t>(0, 1));
}

double parse_weight(const Table& table, const TripletColumns& columns) {
  const char* const what = columns.weight_is_std ? "standard deviation" : "weight";
  const std::string_view field = table.field(*columns.weight);
  const double given = parse_value(table.line(), field, what);
  const double weight = columns.weight_is_std ? 1 / (given * given) : given;
  if (!(given > 0) || !std::isfinite(weight) || !(weight > 0))
    table.line().fail(what, " ", in_quotes(field), " found, a number above 0 expected");
  return weight;
}

}  // namespace udv::io::detail
