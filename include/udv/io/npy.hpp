// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::io {

/// A numeric array in row-major ("C") order, as float64 whatever the file's type was.
struct Array {
  std::vector<Index> shape;
  std::vector<double> values;

  Index size() const { return static_cast<Index>(values.size()); }
};

/// "3 x 4 x 5", for messages.
std::string shape_text(const std::vector<Index>& shape);

/// NumPy's .npy, versions 1 to 3, either byte order, C or Fortran order, booleans, integers and
/// floats of 2, 4 or 8 bytes (long double differs between machines). .npy.gz too. Throws IoError
/// naming the path and what is wrong; the shape is compared with the bytes before any allocation.
Array read_npy(const std::filesystem::path& path);

/// The bytes of a float64 .npy file, version 1, C order; as many values as the shape has places.
std::string npy_bytes(const std::vector<Index>& shape, const double* values);

void write_npy(const std::filesystem::path& path, const Vector<double>& values);
void write_npy(const std::filesystem::path& path, const RowMatrix<double>& values);

/// Named arrays in one uncompressed .npz archive, written atomically; equal arrays give equal
/// files. Throws InvalidArgument where there is none or a shape does not match its values.
void write_npz(const std::filesystem::path& path,
               const std::vector<std::pair<std::string, Array>>& arrays);

/// All numeric arrays of a .npz archive, in the archive's order. Members that hold text, objects,
/// records or dates are skipped; complex numbers throw, as nothing else would notice their loss.
std::vector<std::pair<std::string, Array>> read_npz(const std::filesystem::path& path);

}  // namespace udv::io
