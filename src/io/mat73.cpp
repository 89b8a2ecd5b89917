// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cstdint>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "hdf5_file.hpp"

namespace udv::io::detail {
namespace {

/// MATLAB marks an empty array and stores its sizes in place of its values.
bool is_marked_empty(const Hdf5Dataset& dataset) {
  return H5Aexists(dataset.get(), "MATLAB_empty") > 0;
}

std::vector<Index> stored_sizes(const Hdf5Dataset& dataset) {
  constexpr Index kMostDimensions = 64;
  const std::vector<Index> shape = dataset.shape();
  const bool is_list = shape.size() == 1 && 0 < shape[0] && shape[0] <= kMostDimensions &&
                       H5Tget_class(dataset.type()) == H5T_INTEGER;
  require<IoError>(is_list, dataset.where(), ": ", shape_text(shape), " ",
                   type_text(dataset.type()),
                   " found for an empty array, a list of sizes expected");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(shape[0]));
  dataset.read(H5T_NATIVE_INT64, sizes.data());
  require<IoError>(*std::min_element(sizes.begin(), sizes.end()) == 0, dataset.where(),
                   ": sizes without a 0 found for an empty array, one expected");
  return {sizes.begin(), sizes.end()};
}

/// MATLAB counts from the index that runs fastest, HDF5 towards it.
std::vector<Index> matlab_shape(const Hdf5Dataset& dataset) {
  if (is_marked_empty(dataset)) return stored_sizes(dataset);
  std::vector<Index> shape = dataset.shape();
  std::reverse(shape.begin(), shape.end());
  return shape;
}

/// Text and references are integers to HDF5; only MATLAB's class tells.
bool is_number_class(const std::string& matlab_class) {
  constexpr std::array<std::string_view, 11> kNumbers = {"double", "single", "logical", "int8",
                                                         "int16",  "int32",  "int64",   "uint8",
                                                         "uint16", "uint32", "uint64"};
  return std::find(kNumbers.begin(), kNumbers.end(), matlab_class) != kNumbers.end();
}

Variable describe_dataset(const Hdf5File& file, const std::string& name) {
  const Hdf5Dataset dataset(file, name);
  const std::optional<std::string> matlab_class = text_attribute(dataset.get(), "MATLAB_class");
  const bool is_number = is_numeric(dataset.type());
  if (!matlab_class) return {name, matlab_shape(dataset), type_text(dataset.type()), is_number};
  const bool is_complex = complex_names(dataset.type()).has_value();
  return {name, matlab_shape(dataset), (is_complex ? "complex " : "") + *matlab_class,
          is_number && is_number_class(*matlab_class)};
}

/// A group is a struct, or the parts of a sparse matrix.
Variable describe_group(const Hdf5File& file, const std::string& name) {
  const Hdf5Handle group(H5Gopen2(file.get(), name.c_str(), H5P_DEFAULT), &H5Gclose);
  const bool is_sparse = group && H5Aexists(group.get(), "MATLAB_sparse") > 0;
  if (is_sparse) return {name, {}, "sparse", false};
  return {name, {1, 1}, "struct", false};
}

std::vector<Variable> list(const std::filesystem::path& path) {
  const Hdf5File file(path);
  std::vector<Variable> variables;
  for (const auto& [name, is_dataset] : file.objects()) {
    // Fields of structs are not variables; what cells refer to is kept in "#refs#".
    if (name == "." || name.find('/') != name.npos || name.starts_with('#')) continue;
    variables.push_back(is_dataset ? describe_dataset(file, name) : describe_group(file, name));
  }
  return variables;
}

/// The slices, or all; MATLAB's axis k of n is HDF5's n - 1 - k.
ComplexArray read_part(const std::filesystem::path& path, const Variable& variable,
                       const Slices* slices) {
  const Hdf5File file(path);
  Hdf5Dataset dataset(file, variable.name);
  require<IoError>(matlab_shape(dataset) == variable.shape && is_numeric(dataset.type()),
                   dataset.where(), ": the file has changed since it was listed");
  if (is_marked_empty(dataset)) return {variable.shape, {}, false};
  Variable part = variable;
  if (slices) {
    part.shape = sliced_shape(variable.shape, *slices);
    const Index last = static_cast<Index>(variable.shape.size()) - 1;
    dataset.choose({last - slices->axis, slices->begin, slices->end});
  }
  ComplexArray array = dataset.read_numbers(part);
  array.values = rows_from_columns(array.shape, array.values);
  return array;
}

ComplexArray read(const std::filesystem::path& path, const Variable& variable) {
  return read_part(path, variable, nullptr);
}

ComplexArray read_slices(const std::filesystem::path& path, const Variable& variable,
                         const Slices& slices) {
  return read_part(path, variable, &slices);
}

}  // namespace

const VariableFormat kMat73Format{list, read, true, read_slices};

}  // namespace udv::io::detail
