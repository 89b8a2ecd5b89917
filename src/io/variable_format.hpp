// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "udv/io/variables.hpp"

namespace udv::io::detail {

/// How one kind of file is listed and read; `read` gets what `list` has given and found numeric.
struct VariableFormat {
  std::vector<Variable> (*list)(const std::filesystem::path& path);
  ComplexArray (*read)(const std::filesystem::path& path, const Variable& variable);
  bool isolated = true;  ///< leans on a library that crashes on some damaged files
  /// nullptr: the array is read as a whole and cut
  ComplexArray (*read_slices)(const std::filesystem::path& path, const Variable& variable,
                              const Slices& slices) = nullptr;
  bool pages = false;  ///< slices are pages: along axis 0 alone
};

/// The shape of such a part.
std::vector<Index> sliced_shape(std::vector<Index> shape, const Slices& slices);
/// A part of an array that is in memory.
ComplexArray cut_slices(const ComplexArray& array, const Slices& slices);

extern const VariableFormat kNpzFormat;
extern const VariableFormat kMat5Format;   ///< MATLAB 5 to 7.2
extern const VariableFormat kMat73Format;  ///< HDF5 with MATLAB's conventions
extern const VariableFormat kHdf5Format;
extern const VariableFormat kTiffFormat;    ///< pages of a TIFF file, one variable "images"
extern const VariableFormat kFolderFormat;  ///< pictures of a folder, the same
extern const VariableFormat kNpyFormat;     ///< the array of an .npy file, the same

/// The one of MATLAB's two formats that the first bytes tell; throws IoError where neither.
const VariableFormat& mat_format(const std::filesystem::path& path);

/// Does HDF5 find its signature, at byte 0 or behind a user block?
bool is_hdf5(const std::filesystem::path& path);

/// "FILE: variable 'x'", the start of a message.
std::string place_of(const std::filesystem::path& path, const Variable& variable);

/// Throws IoError where the shape has more numbers of `width` bytes than a file of this size may
/// unpack to (ExpansionLimit).
/// Returns the number of elements.
std::size_t plausible_count(const std::filesystem::path& path, const Variable& variable,
                            std::size_t width);

/// Throws IoError unless MATLAB 5's elements lie inside each other and the file, packed ones
/// unpack, and each numeric array has as many numbers as its sizes say: matio trusts all that.
void check_mat5(const std::string& name, std::string_view bytes);

}  // namespace udv::io::detail
