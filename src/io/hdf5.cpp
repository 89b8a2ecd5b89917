// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>

#include "core/require.hpp"
#include "hdf5_file.hpp"
#include "udv/io/file.hpp"

namespace udv::io::detail {
namespace {

std::vector<Variable> list(const std::filesystem::path& path) {
  read_start(path, 0);  // says clearly where there is no such file
  const Hdf5File file(path);
  std::vector<Variable> variables;
  for (const auto& [name, is_dataset] : file.objects()) {
    if (!is_dataset) continue;
    const Hdf5Dataset dataset(file, name);
    variables.push_back(
        {name, dataset.shape(), type_text(dataset.type()), is_numeric(dataset.type())});
  }
  return variables;
}

Hdf5Dataset as_listed(const Hdf5File& file, const Variable& variable) {
  Hdf5Dataset dataset(file, variable.name);
  require<IoError>(dataset.shape() == variable.shape && is_numeric(dataset.type()), dataset.where(),
                   ": the file has changed since it was listed");
  return dataset;
}

ComplexArray read(const std::filesystem::path& path, const Variable& variable) {
  const Hdf5File file(path);
  return as_listed(file, variable).read_numbers(variable);
}

ComplexArray read_slices(const std::filesystem::path& path, const Variable& variable,
                         const Slices& slices) {
  const Hdf5File file(path);
  Hdf5Dataset dataset = as_listed(file, variable);
  dataset.choose(slices);
  Variable part = variable;
  part.shape = sliced_shape(variable.shape, slices);
  return dataset.read_numbers(part);
}

}  // namespace

const VariableFormat kHdf5Format{list, read, true, read_slices};

// At byte 0, 512, 1024, 2048, ... of the file, as the format says; libhdf5 is asked in a child
// process alone.
bool is_hdf5(const std::filesystem::path& path) {
  constexpr std::string_view kSignature("\x89HDF\r\n\x1a\n", 8);
  constexpr std::streamoff kFirstBlock = 512;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(kSignature.size(), '\0');
  for (std::streamoff at = 0; file.seekg(at); at = std::max(kFirstBlock, 2 * at)) {
    if (!file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return false;
    if (bytes == kSignature) return true;
  }
  return false;
}

}  // namespace udv::io::detail
