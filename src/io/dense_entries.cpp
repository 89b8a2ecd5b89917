// SPDX-License-Identifier: MIT
#include <cmath>

#include "core/require.hpp"
#include "entries_builder.hpp"
#include "text.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/variables.hpp"

namespace udv::io::detail {
namespace {

/// A row-major matrix whose unknown entries are NaN.
class DenseView {
 public:
  DenseView(const MatrixFrame& frame, const std::vector<double>& values)
      : frame_(frame), values_(values) {}

  double operator()(Index row, Index col) const {
    return values_[static_cast<std::size_t>(row * frame_.cols + col)];
  }

  /// The entry at (row, col) or, where that is unknown, its mirror image.
  double symmetric_value(Index row, Index col) const {
    const double upper = (*this)(row, col);
    const double lower = (*this)(col, row);
    if (std::isnan(upper)) return lower;
    if (!std::isnan(lower) && !equal_mirror_images(upper, lower)) fail_on_asymmetry(row, col);
    return upper;
  }

 private:
  [[noreturn]] void fail_on_asymmetry(Index row, Index col) const {
    throw IoError(message(
        frame_.name, ": the file is not symmetric: ", position_text(frame_.base, col, row),
        " has value ", exact_text((*this)(col, row)), " but ", position_text(frame_.base, row, col),
        " has ", exact_text((*this)(row, col)), ", equal values expected"));
  }

  const MatrixFrame& frame_;
  const std::vector<double>& values_;
};

/// The number of known entries.
std::size_t count_known(const MatrixFrame& frame, const std::vector<double>& values) {
  std::size_t known = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    known += !std::isnan(values[k]);
    if (!std::isinf(values[k])) continue;
    const auto at = static_cast<Index>(k);
    throw IoError(message(frame.name, ": infinite value found at index ",
                          position_text(frame.base, at / frame.cols, at % frame.cols),
                          ", a finite number or NaN expected"));
  }
  return known;
}

}  // namespace

EntriesFile dense_entries(const MatrixFrame& frame, const std::vector<double>& values) {
  const std::size_t known = count_known(frame, values);
  require<IoError>(known > 0, frame.name, ": only NaN found, at least one known entry expected");
  const DenseView dense(frame, values);
  EntriesFile file{{frame.rows, frame.cols, frame.symmetric, {}, {}, {}}, frame.base, {}};
  Entries& entries = file.entries;
  entries.row.reserve(known);
  entries.col.reserve(known);
  entries.value.reserve(known);
  for (Index i = 0; i < frame.rows; ++i) {
    for (Index j = frame.symmetric ? i : 0; j < frame.cols; ++j) {
      const double value = frame.symmetric ? dense.symmetric_value(i, j) : dense(i, j);
      if (std::isnan(value)) continue;
      entries.row.push_back(static_cast<std::int32_t>(i));
      entries.col.push_back(static_cast<std::int32_t>(j));
      entries.value.push_back(value);
    }
  }
  return file;
}

namespace {

EntriesFile from_array(const std::string& name, const Array& array, const EntriesOptions& options) {
  require<IoError>(array.shape.size() == 2, name, ": array of shape ", shape_text(array.shape),
                   " found, a matrix (2 dimensions) expected");
  require_sizes(name, array.shape[0], array.shape[1], options);
  EntriesFile file =
      dense_entries({name, 0, array.shape[0], array.shape[1], options.symmetric}, array.values);
  file.form.is_table = true;
  return file;
}

/// The name of the array that was asked for, or of the only matrix.
std::string matrix_name(const VariableFile& file, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  std::string found, all;
  int matrices = 0;
  for (const Variable& variable : file.variables()) {
    all += (all.empty() ? "" : ", ") + variable_text(variable);
    if (!variable.is_numeric || variable.shape.size() != 2) continue;
    found = variable.name;
    ++matrices;
  }
  require<IoError>(matrices == 1, file.path().string(), ": ", all.empty() ? "no array" : all,
                   " found, one matrix expected (the option value names it)");
  return found;
}

Array real_part(const std::string& name, ComplexArray array) {
  require<IoError>(!array.is_complex, name, ": complex numbers found, real ones expected");
  Array real{std::move(array.shape), {}};
  real.values.reserve(array.values.size());
  for (const auto& value : array.values) real.values.push_back(value.real());
  return real;
}

}  // namespace

EntriesFile read_dense(const std::filesystem::path& path, const EntriesOptions& options) {
  return from_array(path.string(), read_npy(path), options);
}

EntriesFile read_dense_variable(const std::filesystem::path& path, const EntriesOptions& options) {
  const VariableFile file(path);
  const std::string variable = matrix_name(file, options.value);
  const std::string name = path.string() + ": " + variable;
  return from_array(name, real_part(name, file.read(variable)), options);
}

}  // namespace udv::io::detail
