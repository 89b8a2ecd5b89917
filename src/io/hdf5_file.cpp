// SPDX-License-Identifier: MIT
#include "hdf5_file.hpp"

#include <algorithm>
#include <limits>

#include "core/require.hpp"

namespace udv::io::detail {
namespace {

/// HDF5 visits a group twice where a damaged file lies about the number of its links, for ever
/// where it contains itself.
bool is_too_deep(std::string_view name) {
  constexpr std::ptrdiff_t kDeepest = 100;
  return std::count(name.begin(), name.end(), '/') > kDeepest;
}

std::vector<std::complex<double>> read_complex(const Hdf5Dataset& dataset, std::size_t count,
                                               const ComplexNames& names) {
  using Complex = std::complex<double>;
  const Hdf5Handle memory_type(H5Tcreate(H5T_COMPOUND, sizeof(Complex)), &H5Tclose);
  H5Tinsert(memory_type.get(), names.real, 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(memory_type.get(), names.imag, sizeof(double), H5T_NATIVE_DOUBLE);
  std::vector<Complex> values(count);
  if (count > 0) dataset.read(memory_type.get(), values.data());
  return values;
}

std::vector<std::complex<double>> read_real(const Hdf5Dataset& dataset, std::size_t count) {
  std::vector<double> values(count);
  if (count > 0) dataset.read(H5T_NATIVE_DOUBLE, values.data());
  return {values.begin(), values.end()};
}

}  // namespace

Hdf5File::Hdf5File(const std::filesystem::path& path)
    : path_(path), file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), &H5Fclose) {
  require<IoError>(bool{file_}, path.string(),
                   ": an HDF5 file expected, but HDF5 says: ", hdf5_reason());
}

std::vector<Hdf5File::Object> Hdf5File::objects() const {
  std::vector<Object> objects;
  const auto keep = [](hid_t, const char* name, const H5O_info_t* info, void* kept) -> herr_t {
    if (is_too_deep(name)) return -1;
    const bool is_dataset = info->type == H5O_TYPE_DATASET;
    if (!is_dataset && info->type != H5O_TYPE_GROUP) return 0;
    static_cast<std::vector<Object>*>(kept)->push_back({name, is_dataset});
    return 0;
  };
  const herr_t state = H5Ovisit2(get(), H5_INDEX_NAME, H5_ITER_INC, keep, &objects, H5O_INFO_BASIC);
  require<IoError>(state >= 0, path_.string(), ": damaged HDF5 file found: ", hdf5_reason());
  return objects;
}

Hdf5Dataset::Hdf5Dataset(const Hdf5File& file, const std::string& name)
    : path_(file.path()),
      name_(name),
      where_(place_of(file.path(), {name, {}, {}, false})),
      dataset_(H5Dopen2(file.get(), name.c_str(), H5P_DEFAULT), &H5Dclose),
      type_(H5Dget_type(dataset_.get()), &H5Tclose),
      space_(H5Dget_space(dataset_.get()), &H5Sclose) {
  const bool opened = dataset_ && type_ && space_;
  require<IoError>(opened, where_, ": damaged data found: ", hdf5_reason());
}

std::vector<Index> Hdf5Dataset::shape() const {
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

void Hdf5Dataset::read(hid_t memory_type, void* values) const {
  require_sound_chunks();
  const herr_t state =
      memory_space_ ? H5Dread(dataset_.get(), memory_type, memory_space_.get(), space_.get(),
                              H5P_DEFAULT, values)
                    : H5Dread(dataset_.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  require<IoError>(state >= 0, where_, ": its values cannot be read: ", hdf5_reason());
}

void Hdf5Dataset::choose(const Slices& slices) {
  const std::vector<Index> part = sliced_shape(shape(), slices);
  std::vector<hsize_t> first(part.size(), 0), sizes(part.begin(), part.end());
  first[static_cast<std::size_t>(slices.axis)] = static_cast<hsize_t>(slices.begin);
  const herr_t state = H5Sselect_hyperslab(space_.get(), H5S_SELECT_SET, first.data(), nullptr,
                                           sizes.data(), nullptr);
  memory_space_ = Hdf5Handle(
      H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr), &H5Sclose);
  require<IoError>(state >= 0 && memory_space_, where_, ": damaged shape found: ", hdf5_reason());
}

/// Chunks have as many dimensions as the array and, along those that cannot grow, are no larger.
void Hdf5Dataset::require_sound_chunks() const {
  const Hdf5Handle properties(H5Dget_create_plist(get()), &H5Pclose);
  if (!properties || H5Pget_layout(properties.get()) != H5D_CHUNKED) return;
  hsize_t chunk[H5S_MAX_RANK] = {};
  hsize_t largest[H5S_MAX_RANK] = {};
  const int chunk_rank = H5Pget_chunk(properties.get(), H5S_MAX_RANK, chunk);
  const int rank = H5Sget_simple_extent_dims(space_.get(), nullptr, largest);
  const Variable one_chunk{name_, {chunk, chunk + std::max(chunk_rank, 0)}, {}, true};
  bool is_sound = chunk_rank == rank;
  for (int k = 0; is_sound && k < rank; ++k) {
    is_sound = 0 < chunk[k] && (largest[k] == H5S_UNLIMITED || chunk[k] <= largest[k]);
  }
  require<IoError>(is_sound, where_, ": chunks of ", shape_text(one_chunk.shape),
                   " found, none larger than the array expected (damaged)");
  plausible_count(path_, one_chunk, H5Tget_size(type()));
}

ComplexArray Hdf5Dataset::read_numbers(const Variable& variable) const {
  const std::size_t count = plausible_count(path_, variable, H5Tget_size(type()));
  const std::optional<ComplexNames> names = complex_names(type());
  return {variable.shape, names ? read_complex(*this, count, *names) : read_real(*this, count),
          names.has_value()};
}

}  // namespace udv::io::detail
