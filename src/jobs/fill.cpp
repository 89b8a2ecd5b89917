// SPDX-License-Identifier: MIT
#include "jobs/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/require.hpp"
#include "io/atomic_file.hpp"
#include "io/names.hpp"
#include "io/npy_format.hpp"

namespace udv::jobs {
namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::string ending_of(const std::string& path) {
  return io::detail::lower_case(std::filesystem::path(path).extension().string());
}

// The row of the completed table: what is known, where that is kept, and predictions.
void fill_row(const CompletedRows& matrix, const KnownRows& known, bool keep_known, Index i,
              Vector<double>& values) {
  matrix.row(i, values);
  if (keep_known) known.for_each(i, [&](Index j, double value) { values(j) = value; });
}

void write_npy_fill(const TableOutput& output, const CompletedRows& matrix,
                    const KnownRows& known) {
  io::AtomicFile file(output.fill);
  file.append(io::detail::npy_start({matrix.rows, matrix.cols}));
  Vector<double> values;
  for (Index i = 0; i < matrix.rows; ++i) {
    fill_row(matrix, known, output.keep_known, i, values);
    file.append({reinterpret_cast<const char*>(values.data()),
                 static_cast<std::size_t>(values.size()) * sizeof(double)});
  }
  file.finish();
}

void add_header(fmt::memory_buffer& text, const io::TableForm& form, const LineNames& names,
                Index cols, char separator) {
  auto out = std::back_inserter(text);
  if (form.has_labels) fmt::format_to(out, "{}", io::csv_field(form.corner, separator));
  for (Index j = 0; j < cols; ++j) {
    if (j > 0 || form.has_labels) text.push_back(separator);
    fmt::format_to(out, "{}", names.col(j, separator));
  }
  text.push_back('\n');
}

// Known values as they are, predictions with ten digits; nothing where nothing is known.
void add_values(fmt::memory_buffer& text, const Vector<double>& values, char separator,
                const std::vector<char>& exact) {
  auto out = std::back_inserter(text);
  for (Index j = 0; j < values.size(); ++j) {
    if (j > 0) text.push_back(separator);
    if (std::isnan(values(j))) continue;
    if (exact[static_cast<std::size_t>(j)])
      fmt::format_to(out, "{}", values(j));
    else
      fmt::format_to(out, "{:.10g}", values(j));
  }
  text.push_back('\n');
}

void write_text_fill(const TableOutput& output, const CompletedRows& matrix, const KnownRows& known,
                     const io::TableForm& form, const LineNames& names) {
  const bool semicolons = form.is_table && form.separator == ';';
  const char separator = ending_of(output.fill) == ".tsv" ? '\t' : semicolons ? ';' : ',';
  io::AtomicFile file(output.fill);
  fmt::memory_buffer text;
  if (form.has_header) add_header(text, form, names, matrix.cols, separator);
  Vector<double> values;
  std::vector<char> exact(static_cast<std::size_t>(matrix.cols));
  for (Index i = 0; i < matrix.rows; ++i) {
    fill_row(matrix, known, output.keep_known, i, values);
    std::fill(exact.begin(), exact.end(), 0);
    if (output.keep_known)
      known.for_each(i, [&](Index j, double) { exact[static_cast<std::size_t>(j)] = 1; });
    if (form.has_labels)
      fmt::format_to(std::back_inserter(text), "{}{}", names.row(i, separator), separator);
    add_values(text, values, separator, exact);
    file.append({text.data(), text.size()});
    text.clear();
  }
  file.finish();
}

// Triplets have no form of a table: it gets the names of rows and columns.
io::TableForm table_form(io::TableForm form) {
  if (form.is_table) return form;
  form.has_header = form.has_labels = true;
  if (form.corner.empty()) form.corner = "row";
  return form;
}

// The lower end of the interval that holds 90 % of all observations; what is not determined has
// none.
void take_lower_ends(const CompletedRows& matrix, Index i, Vector<double>& values) {
  constexpr double kDeviations = 1.645;
  for (Index j = 0; j < values.size(); ++j)
    if (!std::isnan(values(j))) values(j) -= kDeviations * matrix.deviation(i, j);
}

// Columns of the largest values, largest first; equal ones in their order.
std::vector<Index> best_columns(const Vector<double>& values, Index count) {
  std::vector<Index> order;
  for (Index j = 0; j < values.size(); ++j)
    if (!std::isnan(values(j))) order.push_back(j);
  const auto kept = std::min<std::size_t>(order.size(), static_cast<std::size_t>(count));
  std::partial_sort(
      order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
      [&](Index a, Index b) { return values(a) > values(b) || (values(a) == values(b) && a < b); });
  order.resize(kept);
  return order;
}

}  // namespace

CompletedRows completed_rows(const Recovery& r, const DeterminedEntries& known) {
  CompletedRows result;
  result.rows = r.rows;
  result.cols = r.cols;
  result.row = [&r, &known](Index i, Vector<double>& values) {
    const RowMatrix<double>& right = r.symmetric ? r.U : r.V;
    const Vector<double> left = r.U.row(i).transpose().cwiseProduct(r.d);
    values.noalias() = right * left;
    for (Index j = 0; j < r.cols; ++j)
      values(j) = known.has_data(i, j) ? values(j) + r.biases.at(i, j) : kUnknown;
    keep_in_range(r.range, values);
  };
  result.deviation = [&known](Index i, Index j) { return known.predict(i, j).deviation; };
  result.determined = [&known](Index i, Index j) { return known.determined(i, j); };
  return result;
}

KnownRows::KnownRows(const Entries& entries) : start_(static_cast<std::size_t>(entries.rows) + 1) {
  const auto for_each_entry = [&](const auto& use) {
    for (std::size_t t = 0; t < entries.value.size(); ++t) {
      const std::int32_t i = entries.row[t], j = entries.col[t];
      use(static_cast<std::size_t>(i), j, entries.value[t]);
      if (entries.symmetric && i != j) use(static_cast<std::size_t>(j), i, entries.value[t]);
    }
  };
  for_each_entry([&](std::size_t i, std::int32_t, double) { ++start_[i + 1]; });
  std::partial_sum(start_.begin(), start_.end(), start_.begin());
  col_.resize(start_.back());
  value_.resize(start_.back());
  std::vector<std::size_t> next(start_.begin(), start_.end() - 1);
  for_each_entry([&](std::size_t i, std::int32_t j, double value) {
    col_[next[i]] = j;
    value_[next[i]++] = value;
  });
}

void check_output(const TableOutput& output, Index rows, Index cols) {
  if (!output.rows.empty() && output.recommend == 0)
    throw OptionError("rows", "goes with the option recommend");
  if (output.fill.empty()) return;
  constexpr double kNumberBytes = 8, kTextBytes = 13, kMostBytes = 2e9;
  const std::string ending = ending_of(output.fill);
  if (ending != ".csv" && ending != ".tsv" && ending != ".npy")
    throw OptionError("fill",
                      "'" + output.fill + "' found, a name with .csv, .tsv or .npy expected");
  const std::filesystem::path folder = std::filesystem::path(output.fill).parent_path();
  require<IoError>(folder.empty() || std::filesystem::is_directory(folder), output.fill,
                   ": no folder ", folder.string(), " found, one that is there expected");
  const double bytes = static_cast<double>(rows) * static_cast<double>(cols) *
                       (ending == ".npy" ? kNumberBytes : kTextBytes);
  require<IoError>(bytes <= kMostBytes || output.yes, output.fill, ": a table of ", rows, " x ",
                   cols, " values has about ", fmt::format("{:.0f}", bytes / 1e9),
                   " GB, at most 2 GB expected; the option yes writes it anyway");
}

void check_other_file(const std::string& fill, const std::string& input) {
  std::error_code unknown;
  require<IoError>(fill.empty() || !std::filesystem::equivalent(fill, input, unknown), fill,
                   ": the input itself found, another name for the completed table expected");
}

void write_fill(const TableOutput& output, const CompletedRows& matrix, const KnownRows& known,
                const io::TableForm& form, const LineNames& names) {
  if (ending_of(output.fill) == ".npy") return write_npy_fill(output, matrix, known);
  write_text_fill(output, matrix, known, table_form(form), names);
}

void keep_in_range(const std::optional<std::pair<double, double>>& range, Vector<double>& values) {
  if (!range) return;
  for (double& value : values)
    if (!std::isnan(value)) value = std::clamp(value, range->first, range->second);
}

std::string predictions_csv(const std::vector<Prediction>& predictions, const LineNames& names) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row,column,value,determined,std\n");
  for (const Prediction& p : predictions) {
    fmt::format_to(out, "{},{},", names.row(p.row), names.col(p.col));
    if (p.has_data) fmt::format_to(out, "{:.17g}", p.value);
    fmt::format_to(out, ",{},{:.6g}\n", p.determined ? 1 : 0, p.deviation);
  }
  return fmt::to_string(text);
}

void write_recommendations(const std::filesystem::path& path, const TableOutput& output,
                           const std::vector<Index>& rows, const CompletedRows& matrix,
                           const KnownRows& known, const LineNames& names) {
  io::AtomicFile file(path);
  file.append("row,rank,column,value,determined,std\n");
  Vector<double> values, keys;
  fmt::memory_buffer text;
  const Index lines = rows.empty() ? matrix.rows : static_cast<Index>(rows.size());
  for (Index n = 0; n < lines; ++n) {
    const Index i = rows.empty() ? n : rows[static_cast<std::size_t>(n)];
    matrix.row(i, values);
    known.for_each(i, [&](Index j, double) { values(j) = kUnknown; });
    keys = values;
    if (output.rank_by == RankBy::kLower) take_lower_ends(matrix, i, keys);
    const std::string row = names.row(i);
    Index rank = 0;
    for (const Index j : best_columns(keys, output.recommend))
      fmt::format_to(std::back_inserter(text), "{},{},{},{:.10g},{},{:.6g}\n", row, ++rank,
                     names.col(j), values(j), matrix.determined(i, j) ? 1 : 0,
                     matrix.deviation(i, j));
    file.append({text.data(), text.size()});
    text.clear();
  }
  file.finish();
}

}  // namespace udv::jobs
