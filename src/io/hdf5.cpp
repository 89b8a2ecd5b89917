// SPDX-License-Identifier: MIT
#include <algorithm>
#include <limits>

#include "array_layout.hpp"
#include "hdf5_type.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "variable_format.hpp"

namespace udv::io::detail {
namespace {

Hdf5Handle open_file(const std::filesystem::path& path) {
  Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), &H5Fclose);
  require<IoError>(bool{file}, path.string(),
                   ": an HDF5 file expected, but HDF5 says: ", hdf5_reason());
  return file;
}

struct Object {
  std::string name;
  bool is_dataset;
};

/// All groups and datasets, each once and by name; links into other files are not followed.
std::vector<Object> visit(const std::filesystem::path& path, hid_t file) {
  std::vector<Object> objects;
  const auto keep = [](hid_t, const char* name, const H5O_info_t* info, void* kept) -> herr_t {
    const bool is_dataset = info->type == H5O_TYPE_DATASET;
    if (!is_dataset && info->type != H5O_TYPE_GROUP) return 0;
    static_cast<std::vector<Object>*>(kept)->push_back({name, is_dataset});
    return 0;
  };
  const herr_t state = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, keep, &objects, H5O_INFO_BASIC);
  require<IoError>(state >= 0, path.string(), ": damaged HDF5 file found: ", hdf5_reason());
  return objects;
}

/// An open dataset with its type and shape.
class Dataset {
 public:
  Dataset(std::string where, hid_t file, const std::string& name)
      : where_(std::move(where)),
        dataset_(H5Dopen2(file, name.c_str(), H5P_DEFAULT), &H5Dclose),
        type_(H5Dget_type(dataset_.get()), &H5Tclose),
        space_(H5Dget_space(dataset_.get()), &H5Sclose) {
    const bool opened = dataset_ && type_ && space_;
    require<IoError>(opened, where_, ": damaged data found: ", hdf5_reason());
  }

  hid_t get() const { return dataset_.get(); }
  hid_t type() const { return type_.get(); }

  std::vector<Index> shape() const {
    if (H5Sget_simple_extent_type(space_.get()) == H5S_NULL) return {0};
    const int rank = H5Sget_simple_extent_ndims(space_.get());
    std::vector<hsize_t> sizes(static_cast<std::size_t>(std::max(rank, 0)));
    const int read = H5Sget_simple_extent_dims(space_.get(), sizes.data(), nullptr);
    require<IoError>(rank >= 0 && read == rank, where_, ": damaged shape found: ", hdf5_reason());
    for (const hsize_t size : sizes) {
      require<IoError>(size <= std::numeric_limits<Index>::max(), where_, ": size ", size,
                       " found, at most 2^63 - 1 expected");
    }
    return {sizes.begin(), sizes.end()};
  }

  void read(hid_t memory_type, void* values) const {
    const herr_t state =
        H5Dread(dataset_.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    require<IoError>(state >= 0, where_, ": its values cannot be read: ", hdf5_reason());
  }

 private:
  std::string where_;
  Hdf5Handle dataset_;
  Hdf5Handle type_;
  Hdf5Handle space_;
};

std::vector<std::complex<double>> read_complex(const Dataset& dataset, std::size_t count,
                                               const ComplexNames& names) {
  using Complex = std::complex<double>;
  const Hdf5Handle memory_type(H5Tcreate(H5T_COMPOUND, sizeof(Complex)), &H5Tclose);
  H5Tinsert(memory_type.get(), names.real, 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(memory_type.get(), names.imag, sizeof(double), H5T_NATIVE_DOUBLE);
  std::vector<Complex> values(count);
  if (count > 0) dataset.read(memory_type.get(), values.data());
  return values;
}

std::vector<std::complex<double>> read_real(const Dataset& dataset, std::size_t count) {
  std::vector<double> values(count);
  if (count > 0) dataset.read(H5T_NATIVE_DOUBLE, values.data());
  return {values.begin(), values.end()};
}

ComplexArray read_array(const std::filesystem::path& path, const Variable& variable,
                        const Dataset& dataset) {
  const std::size_t count = plausible_count(path, variable, H5Tget_size(dataset.type()));
  const std::optional<ComplexNames> names = complex_names(dataset.type());
  return {variable.shape, names ? read_complex(dataset, count, *names) : read_real(dataset, count),
          names.has_value()};
}

void require_unchanged(const std::string& where, bool unchanged) {
  require<IoError>(unchanged, where, ": the file has changed since it was listed");
}

std::vector<Variable> list_hdf5(const std::filesystem::path& path) {
  read_start(path, 0);  // says clearly what is missing
  const QuietHdf5 quiet;
  const Hdf5Handle file = open_file(path);
  std::vector<Variable> variables;
  for (const Object& object : visit(path, file.get())) {
    if (!object.is_dataset) continue;
    Variable variable{object.name, {}, {}, false};
    const Dataset dataset(place_of(path, variable), file.get(), object.name);
    variable.shape = dataset.shape();
    variable.type = type_text(dataset.type());
    variable.is_numeric = is_numeric(dataset.type());
    variables.push_back(std::move(variable));
  }
  return variables;
}

ComplexArray read_hdf5(const std::filesystem::path& path, const Variable& variable) {
  const QuietHdf5 quiet;
  const Hdf5Handle file = open_file(path);
  const std::string where = place_of(path, variable);
  const Dataset dataset(where, file.get(), variable.name);
  require_unchanged(where, dataset.shape() == variable.shape && is_numeric(dataset.type()));
  return read_array(path, variable, dataset);
}

/// MATLAB marks an empty array and stores its sizes in place of its values.
bool is_matlab_empty(const Dataset& dataset) {
  return H5Aexists(dataset.get(), "MATLAB_empty") > 0;
}

std::vector<Index> matlab_shape(const std::string& where, const Dataset& dataset) {
  constexpr Index kMostDimensions = 64;
  std::vector<Index> shape = dataset.shape();
  if (!is_matlab_empty(dataset)) {
    std::reverse(shape.begin(), shape.end());  // MATLAB counts from the fastest index
    return shape;
  }
  const bool is_list = shape.size() == 1 && shape[0] <= kMostDimensions &&
                       H5Tget_class(dataset.type()) == H5T_INTEGER;
  require<IoError>(is_list, where, ": ", shape_text(shape), " ", type_text(dataset.type()),
                   " found for an empty array, a list of sizes expected");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(shape[0]));
  dataset.read(H5T_NATIVE_INT64, sizes.data());
  const bool is_empty = std::find(sizes.begin(), sizes.end(), 0) != sizes.end() &&
                        *std::min_element(sizes.begin(), sizes.end()) == 0;
  require<IoError>(is_empty, where, ": sizes without a 0 found for an empty array, one expected");
  return {sizes.begin(), sizes.end()};
}

/// Text and references are integers to HDF5; only MATLAB's class tells.
bool is_matlab_number(const std::string& matlab_class) {
  constexpr std::string_view kNumbers[] = {"double", "single", "int8",   "uint8",
                                           "int16",  "uint16", "int32",  "uint32",
                                           "int64",  "uint64", "logical"};
  return std::find(std::begin(kNumbers), std::end(kNumbers), matlab_class) != std::end(kNumbers);
}

Variable describe_matlab_dataset(const std::filesystem::path& path, hid_t file,
                                 const std::string& name) {
  Variable variable{name, {}, {}, false};
  const std::string where = place_of(path, variable);
  const Dataset dataset(where, file, name);
  variable.shape = matlab_shape(where, dataset);
  const std::optional<std::string> matlab_class = text_attribute(dataset.get(), "MATLAB_class");
  variable.is_numeric =
      is_numeric(dataset.type()) && (!matlab_class || is_matlab_number(*matlab_class));
  const bool is_complex = complex_names(dataset.type()).has_value();
  variable.type =
      matlab_class ? (is_complex ? "complex " : "") + *matlab_class : type_text(dataset.type());
  return variable;
}

/// A group is a struct, or the parts of a sparse matrix.
Variable describe_matlab_group(hid_t file, const std::string& name) {
  const Hdf5Handle group(H5Gopen2(file, name.c_str(), H5P_DEFAULT), &H5Gclose);
  const bool is_sparse = group && H5Aexists(group.get(), "MATLAB_sparse") > 0;
  if (is_sparse) return {name, {}, "sparse", false};
  return {name, {1, 1}, "struct", false};
}

std::vector<Variable> list_mat73(const std::filesystem::path& path) {
  const QuietHdf5 quiet;
  const Hdf5Handle file = open_file(path);
  std::vector<Variable> variables;
  for (const auto& [name, is_dataset] : visit(path, file.get())) {
    // Fields of structs are not variables; what cells refer to is kept in "#refs#".
    if (name == "." || name.find('/') != name.npos || name.starts_with('#')) continue;
    variables.push_back(is_dataset ? describe_matlab_dataset(path, file.get(), name)
                                   : describe_matlab_group(file.get(), name));
  }
  return variables;
}

ComplexArray read_mat73(const std::filesystem::path& path, const Variable& variable) {
  const QuietHdf5 quiet;
  const Hdf5Handle file = open_file(path);
  const std::string where = place_of(path, variable);
  const Dataset dataset(where, file.get(), variable.name);
  require_unchanged(where,
                    matlab_shape(where, dataset) == variable.shape && is_numeric(dataset.type()));
  if (is_matlab_empty(dataset)) return {variable.shape, {}, false};
  ComplexArray array = read_array(path, variable, dataset);
  array.values = rows_from_columns(array.shape, array.values);
  return array;
}

}  // namespace

const VariableFormat kHdf5Format{list_hdf5, read_hdf5};
const VariableFormat kMat73Format{list_mat73, read_mat73};

bool is_hdf5(const std::filesystem::path& path) {
  const QuietHdf5 quiet;
  return H5Fis_hdf5(path.c_str()) > 0;
}

}  // namespace udv::io::detail
