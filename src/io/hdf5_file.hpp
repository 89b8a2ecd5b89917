// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "hdf5_type.hpp"
#include "variable_format.hpp"

namespace udv::io::detail {

/// An HDF5 file open for reading; silent while it is. Throws IoError with the path.
class Hdf5File {
 public:
  explicit Hdf5File(const std::filesystem::path& path);

  struct Object {
    std::string name;
    bool is_dataset;
  };

  const std::filesystem::path& path() const { return path_; }
  hid_t get() const { return file_.get(); }

  /// All groups and datasets, each once and by name; links into other files are not followed.
  std::vector<Object> objects() const;

 private:
  std::filesystem::path path_;
  QuietHdf5 quiet_;
  Hdf5Handle file_;
};

/// An array of such a file, with its type and shape. HDF5 trusts much of what a damaged file says
/// and crashes; what can be told before is checked here.
class Hdf5Dataset {
 public:
  Hdf5Dataset(const Hdf5File& file, const std::string& name);

  hid_t get() const { return dataset_.get(); }
  hid_t type() const { return type_.get(); }
  const std::string& where() const { return where_; }  ///< "FILE: variable 'x'"

  std::vector<Index> shape() const;

  /// Reads all values, as many as the shape has, as `memory_type`.
  void read(hid_t memory_type, void* values) const;

  /// The numbers in the order of the file; `variable` has their shape as its users see it.
  ComplexArray read_numbers(const Variable& variable) const;

  /// From now on read() and read_numbers() give these slices alone, along an axis in the order of
  /// the file.
  void choose(const Slices& slices);

 private:
  void require_sound_chunks() const;

  std::filesystem::path path_;
  std::string name_;
  std::string where_;
  Hdf5Handle dataset_;
  Hdf5Handle type_;
  Hdf5Handle space_;
  Hdf5Handle memory_space_;  // of the part that was chosen; none: the whole
};

}  // namespace udv::io::detail
