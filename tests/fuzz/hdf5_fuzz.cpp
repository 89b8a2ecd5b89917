// SPDX-License-Identifier: MIT
// What we make of HDF5 files, plain and with MATLAB's conventions. The bytes say which types,
// shapes and attributes stand in a file that libhdf5 writes: on damaged files libhdf5 itself
// crashes, which is why it runs in a child process.
#include <algorithm>

#include "input_file.hpp"
#include "io/hdf5_handle.hpp"
#include "io/variable_format.hpp"

using namespace udv;
using fuzz::Source;
using io::detail::Hdf5Handle;

namespace {

hid_t odd_number(Source& source) {
  const hid_t base[] = {H5T_STD_I8LE,   H5T_STD_U8BE,   H5T_STD_I32BE,     H5T_STD_U64LE,
                        H5T_IEEE_F32BE, H5T_IEEE_F64LE, H5T_NATIVE_LDOUBLE};
  const hid_t type = H5Tcopy(base[source.byte() % std::size(base)]);
  if (source.byte() % 2 == 0) return type;
  H5Tset_precision(type, 1 + source.byte() % 64);
  H5Tset_offset(type, source.byte() % 32);
  return type;
}

hid_t compound(Source& source) {
  const char* const names[] = {"r", "i", "real", "imag", "x"};
  const Hdf5Handle one(odd_number(source), &H5Tclose), other(odd_number(source), &H5Tclose);
  const std::size_t first = H5Tget_size(one.get()), second = H5Tget_size(other.get());
  const hid_t type = H5Tcreate(H5T_COMPOUND, first + second + source.byte() % 3);
  H5Tinsert(type, names[source.byte() % std::size(names)], 0, one.get());
  H5Tinsert(type, names[source.byte() % std::size(names)], first, other.get());
  return type;
}

hid_t enumeration(Source& source) {
  const hid_t type = H5Tenum_create(source.byte() % 2 ? H5T_NATIVE_INT8 : H5T_STD_I64BE);
  char value[8] = {};
  H5Tenum_insert(type, source.byte() % 2 ? "FALSE" : "NO", value);
  value[0] = value[7] = 1;
  H5Tenum_insert(type, "TRUE", value);
  return type;
}

hid_t text(Source& source) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, source.byte() % 4 == 0 ? H5T_VARIABLE : 1 + source.byte());
  return type;
}

hid_t type_of(Source& source) {
  switch (source.byte() % 8) {
    case 0:
      return compound(source);
    case 1:
      return enumeration(source);
    case 2:
      return text(source);
    case 3:
      return H5Tvlen_create(H5T_NATIVE_INT);
    case 4:
      return H5Tcopy(H5T_STD_REF_OBJ);
    default:
      return odd_number(source);
  }
}

hid_t space_of(Source& source, hsize_t (&sizes)[4], int& rank) {
  rank = static_cast<int>(source.byte() % 5);
  for (hsize_t& size : sizes) size = source.byte() % 5;
  if (rank == 0) return H5Screate(source.byte() % 2 ? H5S_SCALAR : H5S_NULL);
  hsize_t most[4];
  for (int k = 0; k < 4; ++k) most[k] = source.byte() % 3 ? sizes[k] : H5S_UNLIMITED;
  return H5Screate_simple(rank, sizes, most);
}

void add_attribute(hid_t object, Source& source) {
  const char* const names[] = {"MATLAB_class", "MATLAB_empty", "MATLAB_sparse", "other"};
  const char* const classes[] = {"double", "logical", "char", "cell", "uint8", ""};
  const bool is_text = source.byte() % 3 > 0;
  const Hdf5Handle type(is_text ? H5Tcopy(H5T_C_S1) : type_of(source), &H5Tclose);
  std::string value = classes[source.byte() % std::size(classes)];
  if (is_text) H5Tset_size(type.get(), std::max<std::size_t>(value.size(), 1));
  const Hdf5Handle space(H5Screate(H5S_SCALAR), &H5Sclose);
  const Hdf5Handle attribute(H5Acreate2(object, names[source.byte() % std::size(names)], type.get(),
                                        space.get(), H5P_DEFAULT, H5P_DEFAULT),
                             &H5Aclose);
  value.resize(512, '\0');
  if (attribute && is_text) H5Awrite(attribute.get(), type.get(), value.data());
}

void add_dataset(hid_t file, const std::string& name, Source& source) {
  hsize_t sizes[4];
  int rank = 0;
  const Hdf5Handle type(type_of(source), &H5Tclose);
  const Hdf5Handle space(space_of(source, sizes, rank), &H5Sclose);
  const Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), &H5Pclose);
  hsize_t chunk[4];
  for (hsize_t& size : chunk) size = 1 + source.byte() % 4;
  if (rank > 0 && source.byte() % 2) {
    H5Pset_chunk(properties.get(), rank, chunk);
    if (source.byte() % 2) H5Pset_deflate(properties.get(), 1);
  }
  const Hdf5Handle dataset(H5Dcreate2(file, name.c_str(), type.get(), space.get(), H5P_DEFAULT,
                                      properties.get(), H5P_DEFAULT),
                           &H5Dclose);
  if (!dataset) return;
  const H5T_class_t kind = H5Tget_class(type.get());
  if (kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_COMPOUND) {
    std::string values(256 * std::max<std::size_t>(H5Tget_size(type.get()), 16), '\0');
    for (std::size_t k = 0; k < 64 && !source.done(); ++k)
      values[k] = static_cast<char>(source.byte());
    H5Dwrite(dataset.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  }
  for (unsigned k = source.byte() % 3; k > 0; --k) add_attribute(dataset.get(), source);
}

// The bytes of a file that is made in memory.
std::string file_bytes(Source& source) {
  constexpr std::size_t kStep = 1 << 16;
  const Hdf5Handle in_memory(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
  H5Pset_fapl_core(in_memory.get(), kStep, false);
  const Hdf5Handle file(H5Fcreate("fuzz.h5", H5F_ACC_TRUNC, H5P_DEFAULT, in_memory.get()),
                        &H5Fclose);
  if (!file) __builtin_trap();
  const char* const names[] = {"a", "b", "#refs#", "long name", "\xff\n"};
  for (int k = 0; k < 4 && !source.done(); ++k) {
    const std::string name = names[source.byte() % std::size(names)];
    if (source.byte() % 4 > 0) {
      add_dataset(file.get(), name, source);
      continue;
    }
    const Hdf5Handle group(
        H5Gcreate2(file.get(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), &H5Gclose);
    if (!group) continue;
    add_attribute(group.get(), source);
    add_dataset(group.get(), "inside", source);
    if (source.byte() % 2)
      H5Lcreate_hard(file.get(), name.c_str(), group.get(), "loop", H5P_DEFAULT, H5P_DEFAULT);
  }
  H5Fflush(file.get(), H5F_SCOPE_GLOBAL);
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  std::string bytes(static_cast<std::size_t>(std::max<ssize_t>(size, 0)), '\0');
  H5Fget_file_image(file.get(), bytes.data(), bytes.size());
  return bytes;
}

void read_all(const io::detail::VariableFormat& format, const std::filesystem::path& path) {
  for (const io::Variable& variable : format.list(path)) {
    if (!variable.is_numeric) continue;
    format.read(path, variable);
    for (std::size_t axis = 0; axis < variable.shape.size(); ++axis) {
      const Index size = variable.shape[axis];
      format.read_slices(path, variable, {static_cast<int>(axis), size / 2, size});
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const fuzz::InputFile file("input.h5");
  static const io::detail::QuietHdf5 quiet;
  Source source(data, size);
  const auto& path = file.write(file_bytes(source));
  for (const auto* format : {&io::detail::kHdf5Format, &io::detail::kMat73Format})
    fuzz::read_or_refuse(path, [&](const auto& p) { read_all(*format, p); });
  return 0;
}
