// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "hdf5_handle.hpp"

namespace udv::io::detail {

/// The names of real and imaginary part: h5py writes r and i, MATLAB real and imag.
struct ComplexNames {
  const char* real;
  const char* imag;
};

/// Is the type a compound of two floats under such names?
std::optional<ComplexNames> complex_names(hid_t type);

/// h5py's boolean: an enumeration of FALSE and TRUE.
bool is_boolean(hid_t type);

/// Integers, floats, booleans and complex numbers, of bits that lie inside their bytes.
bool is_numeric(hid_t type);

/// As NumPy calls it: "float64", "complex128", "bool"; else the class: "string", "compound".
std::string type_text(hid_t type);

/// The text of a string attribute of fixed length; none where there is no such attribute.
std::optional<std::string> text_attribute(hid_t object, const char* name);

}  // namespace udv::io::detail
