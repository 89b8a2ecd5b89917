// SPDX-License-Identifier: MIT
#include <matio.h>

#include <cstdint>
#include <memory>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "text.hpp"
#include "udv/io/file.hpp"
#include "variable_format.hpp"

namespace udv::io::detail {
namespace {

using MatFile = std::unique_ptr<mat_t, decltype(&Mat_Close)>;
using MatVariable = std::unique_ptr<matvar_t, decltype(&Mat_VarFree)>;

/// Copies real and imaginary parts, stored as Number and in MATLAB's order, to complex values.
using Convert = void (*)(const matvar_t& from, std::vector<std::complex<double>>& to);

template <typename Number>
void convert(const matvar_t& from, std::vector<std::complex<double>>& to) {
  const auto* const split = static_cast<const mat_complex_split_t*>(from.data);
  const auto* const real = static_cast<const Number*>(from.isComplex ? split->Re : from.data);
  const auto* const imag = static_cast<const Number*>(from.isComplex ? split->Im : nullptr);
  for (std::size_t k = 0; k < to.size(); ++k) {
    to[k] = {static_cast<double>(real[k]), imag ? static_cast<double>(imag[k]) : 0.0};
  }
}

/// MATLAB's classes; those that cannot be converted are no numbers.
struct MatClass {
  matio_classes code;
  const char* name;
  std::size_t width = 0;
  Convert convert = nullptr;
};

constexpr MatClass kClasses[] = {{MAT_C_DOUBLE, "double", 8, convert<double>},
                                 {MAT_C_SINGLE, "single", 4, convert<float>},
                                 {MAT_C_INT8, "int8", 1, convert<std::int8_t>},
                                 {MAT_C_UINT8, "uint8", 1, convert<std::uint8_t>},
                                 {MAT_C_INT16, "int16", 2, convert<std::int16_t>},
                                 {MAT_C_UINT16, "uint16", 2, convert<std::uint16_t>},
                                 {MAT_C_INT32, "int32", 4, convert<std::int32_t>},
                                 {MAT_C_UINT32, "uint32", 4, convert<std::uint32_t>},
                                 {MAT_C_INT64, "int64", 8, convert<std::int64_t>},
                                 {MAT_C_UINT64, "uint64", 8, convert<std::uint64_t>},
                                 {MAT_C_CHAR, "char"},
                                 {MAT_C_CELL, "cell"},
                                 {MAT_C_STRUCT, "struct"},
                                 {MAT_C_OBJECT, "object"},
                                 {MAT_C_SPARSE, "sparse"},
                                 {MAT_C_FUNCTION, "function"},
                                 {MAT_C_OPAQUE, "object"}};

const MatClass& class_of(const matvar_t& variable) {
  static constexpr MatClass kUnknown{MAT_C_EMPTY, "unknown"};
  for (const MatClass& entry : kClasses) {
    if (entry.code == variable.class_type) return entry;
  }
  return kUnknown;
}

std::vector<Index> shape_of(const matvar_t& variable) {
  if (!variable.dims) return {};
  return {variable.dims, variable.dims + variable.rank};
}

Variable describe(const matvar_t& variable) {
  const MatClass& array_class = class_of(variable);
  const std::string type = variable.isLogical ? "logical" : array_class.name;
  return {variable.name, shape_of(variable), (variable.isComplex ? "complex " : "") + type,
          array_class.convert != nullptr};
}

MatFile open(const std::filesystem::path& path) {
  MatFile file(Mat_Open(path.c_str(), MAT_ACC_RDONLY), &Mat_Close);
  require<IoError>(file != nullptr, path.string(), ": matio cannot open it, a .mat file expected");
  return file;
}

std::vector<Variable> list(const std::filesystem::path& path) {
  check_mat5(path.string(), read_bytes(path));
  const MatFile file = open(path);
  std::vector<Variable> variables;
  for (;;) {
    const MatVariable variable(Mat_VarReadNextInfo(file.get()), &Mat_VarFree);
    if (!variable) return variables;
    // MATLAB keeps the workspace of function handles under no name.
    if (variable->name && *variable->name) variables.push_back(describe(*variable));
  }
}

MatVariable find(mat_t* file, const std::string& where, const Variable& wanted) {
  MatVariable variable(Mat_VarReadInfo(file, wanted.name.c_str()), &Mat_VarFree);
  require<IoError>(variable && shape_of(*variable) == wanted.shape, where,
                   ": the file has changed since it was listed");
  return variable;
}

ComplexArray read(const std::filesystem::path& path, const Variable& wanted) {
  const std::string where = place_of(path, wanted);
  const MatFile file = open(path);
  const MatVariable variable = find(file.get(), where, wanted);
  const MatClass& array_class = class_of(*variable);
  const std::size_t count = plausible_count(path, wanted, array_class.width);
  ComplexArray array{wanted.shape, {}, variable->isComplex != 0};
  if (count == 0) return array;
  const bool has_numbers = array_class.convert != nullptr &&
                           Mat_VarReadDataAll(file.get(), variable.get()) == 0 && variable->data;
  require<IoError>(has_numbers, where, ": damaged data found, ", shape_text(wanted.shape),
                   " numbers expected");
  array.values.resize(count);
  array_class.convert(*variable, array.values);
  array.values = rows_from_columns(array.shape, array.values);
  return array;
}

ComplexArray read_slices(const std::filesystem::path& path, const Variable& wanted,
                         const Slices& slices) {
  const std::string where = place_of(path, wanted);
  const MatFile file = open(path);
  const MatVariable variable = find(file.get(), where, wanted);
  const MatClass& array_class = class_of(*variable);
  if (variable->isComplex || !array_class.convert) return cut_slices(read(path, wanted), slices);
  Variable part = wanted;
  part.shape = sliced_shape(wanted.shape, slices);
  const std::size_t count = plausible_count(path, part, array_class.width);
  ComplexArray array{part.shape, {}, false};
  if (count == 0) return array;
  std::vector<int> first(part.shape.size(), 0), step(part.shape.size(), 1);
  std::vector<int> sizes(part.shape.begin(), part.shape.end());
  first[static_cast<std::size_t>(slices.axis)] = static_cast<int>(slices.begin);
  std::vector<char> numbers(count * array_class.width);
  const int state = Mat_VarReadData(file.get(), variable.get(), numbers.data(), first.data(),
                                    step.data(), sizes.data());
  require<IoError>(state == 0, where, ": damaged data found, ", shape_text(part.shape),
                   " numbers expected");
  array.values.resize(count);
  variable->data = numbers.data();  // lent to convert()
  array_class.convert(*variable, array.values);
  variable->data = nullptr;
  array.values = rows_from_columns(array.shape, array.values);
  return array;
}

}  // namespace

const VariableFormat kMat5Format{list, read, true, read_slices};

const VariableFormat& mat_format(const std::filesystem::path& path) {
  const std::string start = read_start(path, 128);
  const std::string_view version =
      std::string_view(start).substr(std::min<std::size_t>(start.size(), 124));
  using namespace std::string_view_literals;
  if (version == "\x00\x01IM"sv || version == "\x01\x00MI"sv) return kMat5Format;
  require<IoError>(is_hdf5(path), path.string(), ": ", in_quotes(start.substr(0, 16)),
                   " found as first bytes, a .mat file of MATLAB 5 or later expected");
  return kMat73Format;
}

}  // namespace udv::io::detail
