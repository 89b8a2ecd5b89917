// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {

namespace detail {
struct VariableFormat;
}

/// What a file says of one of its arrays.
struct Variable {
  std::string name;          ///< in HDF5 a path, "group/data", without a leading slash
  std::vector<Index> shape;  ///< as a user of MATLAB, NumPy or h5py sees it
  std::string type;          ///< in the words of such a user: "complex double", "float64", "char"
  bool is_numeric = false;   ///< booleans, integers, floats or complex numbers, stored in full
};

/// Some of an array: the elements whose index along `axis` is in [begin, end).
struct Slices {
  Index axis = 0, begin = 0, end = 0;
};

/// "a (3 x 4 double)", for messages.
UDV_EXPORT std::string variable_text(const Variable& variable);

/// The one array of an .npy file, without a name, by its header alone: however large it is, only
/// its first bytes are read (.npy.gz is unpacked). Throws IoError as read_npy does.
UDV_EXPORT Variable describe_npy(const std::filesystem::path& path);

/// Named arrays of a .mat file (MATLAB 5 to 7.3), an .npz archive or an HDF5 file of any name; and
/// stacks of images as one variable "images": a TIFF or .npy file, or a folder of TIFF and PNG
/// files in the natural order of their names. The constructor lists them and throws IoError, naming
/// the path, where the file is missing, of another kind, cut off or damaged. Nothing stays open in
/// between.
class UDV_EXPORT VariableFile {
 public:
  explicit VariableFile(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }

  /// In the file's order, HDF5 by name; what is no numeric array is listed too.
  const std::vector<Variable>& variables() const { return variables_; }
  bool has(std::string_view name) const;

  /// Element (i, j, k) is what the file's users call so, in row-major order. Throws IoError where
  /// there is no such variable (the message lists those there are), it is not numeric, or damaged.
  ComplexArray read(std::string_view name) const;

  /// The same for a part of the array, as an array of fewer slices. Throws InvalidArgument where
  /// the array has no such part.
  ComplexArray read(std::string_view name, const Slices& slices) const;
  /// Whether that takes little more memory and time than the part itself. Else the whole array is
  /// read and cut: .npz archives, slices across pages and pictures.
  bool reads_slices_along(Index axis) const;

 private:
  const Variable* find(std::string_view name) const;
  const Variable& numeric(std::string_view name) const;

  std::filesystem::path path_;
  const detail::VariableFormat* format_;
  std::vector<Variable> variables_;
};

}  // namespace udv::io
