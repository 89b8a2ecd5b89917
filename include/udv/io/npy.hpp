// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::io {

/// A numeric array in row-major ("C") order, as float64 whatever the file's type was.
struct UDV_EXPORT Array {
  std::vector<Index> shape;
  std::vector<double> values;

  Index size() const { return static_cast<Index>(values.size()); }
};

/// A real or complex array in row-major order, as complex128 whatever the file's type was.
struct UDV_EXPORT ComplexArray {
  std::vector<Index> shape;
  std::vector<std::complex<double>> values;
  bool is_complex = false;  ///< the file's type is complex, even where every value is real

  Index size() const { return static_cast<Index>(values.size()); }
};

/// "3 x 4 x 5", for messages.
UDV_EXPORT std::string shape_text(const std::vector<Index>& shape);

/// NumPy's .npy, versions 1 to 3, either byte order, C or Fortran order, booleans, integers and
/// floats of 2, 4 or 8 bytes (long double differs between machines). .npy.gz too. Throws IoError
/// naming the path and what is wrong; the shape is compared with the bytes before any allocation.
UDV_EXPORT Array read_npy(const std::filesystem::path& path);

/// The same, of complex numbers of 8 or 16 bytes too.
UDV_EXPORT ComplexArray read_complex_npy(const std::filesystem::path& path);

/// The bytes of an .npy file, version 1, C order, in the values' own type: float, double or
/// std::complex of either. As many values as the shape has places.
template <typename Scalar>
UDV_EXPORT std::string npy_bytes(const std::vector<Index>& shape, const Scalar* values);

/// Writes npy_bytes atomically; same types.
template <typename Scalar>
UDV_EXPORT void write_npy(const std::filesystem::path& path, const Vector<Scalar>& values);
template <typename Scalar>
UDV_EXPORT void write_npy(const std::filesystem::path& path, const RowMatrix<Scalar>& values);

/// Named arrays in one uncompressed .npz archive, written atomically; equal arrays give equal
/// files. Throws InvalidArgument where there is none or a shape does not match its values.
UDV_EXPORT void write_npz(const std::filesystem::path& path,
                          const std::vector<std::pair<std::string, Array>>& arrays);

/// All numeric arrays of a .npz archive, in the archive's order. Members that hold text, objects,
/// records or dates are skipped; complex numbers throw, as nothing else would notice their loss.
UDV_EXPORT std::vector<std::pair<std::string, Array>> read_npz(const std::filesystem::path& path);

}  // namespace udv::io
