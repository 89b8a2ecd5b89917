// SPDX-License-Identifier: MIT
#include "hdf5_type.hpp"

#include "core/require.hpp"
#include "text.hpp"

namespace udv::io::detail {
namespace {

/// An integer or float whose bits lie inside its bytes: HDF5 takes a damaged file's word for it.
bool is_sound_number(hid_t type) {
  constexpr std::size_t kLargest = 16;  // bytes of a long double
  const std::size_t num_bits = 8 * H5Tget_size(type);
  const int offset = H5Tget_offset(type);
  const std::size_t precision = H5Tget_precision(type);
  if (num_bits > 8 * kLargest || offset < 0 || precision == 0) return false;
  if (static_cast<std::size_t>(offset) + precision > num_bits) return false;
  if (H5Tget_class(type) != H5T_FLOAT) return H5Tget_class(type) == H5T_INTEGER;
  std::size_t sign = 0, exponent = 0, exponent_bits = 0, mantissa = 0, mantissa_bits = 0;
  return H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) >= 0 &&
         sign < num_bits && exponent + exponent_bits <= num_bits &&
         mantissa + mantissa_bits <= num_bits;
}

/// A float that lies inside the compound: a damaged file may claim otherwise.
bool has_float_member(hid_t compound, const char* name) {
  const int index = H5Tget_member_index(compound, name);
  if (index < 0) return false;
  const auto member = static_cast<unsigned>(index);
  const Hdf5Handle type(H5Tget_member_type(compound, member), &H5Tclose);
  const std::size_t end = H5Tget_member_offset(compound, member) + H5Tget_size(type.get());
  return type && H5Tget_class(type.get()) == H5T_FLOAT && is_sound_number(type.get()) &&
         end <= H5Tget_size(compound);
}

bool has_enum_member(hid_t type, const char* name) {
  char value[64];
  return H5Tget_size(type) <= sizeof value && H5Tenum_valueof(type, name, value) >= 0;
}

std::string with_bits(const char* kind, hid_t type) {
  return message(kind, 8 * H5Tget_size(type));
}

}  // namespace

std::string hdf5_reason() {
  std::string reason;
  // A missing filter says more than the folder in which it was last looked for.
  const auto keep_first = [](unsigned, const H5E_error2_t* error, void* text) -> herr_t {
    auto& kept = *static_cast<std::string*>(text);
    const std::string_view found = error->desc ? error->desc : "";
    if (kept.empty() || found.starts_with("required filter")) kept = found;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &reason);
  const std::string quoted = in_quotes(reason.empty() ? "no detail" : reason);
  return quoted.substr(1, quoted.size() - 2);
}

std::optional<ComplexNames> complex_names(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return {};
  for (const ComplexNames names : {ComplexNames{"r", "i"}, ComplexNames{"real", "imag"}}) {
    if (has_float_member(type, names.real) && has_float_member(type, names.imag)) return names;
  }
  return {};
}

bool is_boolean(hid_t type) {
  return H5Tget_class(type) == H5T_ENUM && H5Tget_nmembers(type) == 2 &&
         has_enum_member(type, "FALSE") && has_enum_member(type, "TRUE");
}

bool is_numeric(hid_t type) {
  if (!is_boolean(type)) return is_sound_number(type) || complex_names(type);
  const Hdf5Handle base(H5Tget_super(type), &H5Tclose);
  return base && is_sound_number(base.get());
}

std::string type_text(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_INTEGER:
      return with_bits(H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int", type);
    case H5T_FLOAT:
      return with_bits("float", type);
    case H5T_COMPOUND:
      return complex_names(type) ? with_bits("complex", type) : "compound";
    case H5T_ENUM:
      return is_boolean(type) ? "bool" : "enumeration";
    case H5T_STRING:
      return "string";
    case H5T_REFERENCE:
      return "reference";
    case H5T_VLEN:
      return "variable-length array";
    default:
      return "opaque";
  }
}

std::optional<std::string> text_attribute(hid_t object, const char* name) {
  constexpr std::size_t kLongest = 256;
  if (H5Aexists(object, name) <= 0) return {};
  const Hdf5Handle attribute(H5Aopen(object, name, H5P_DEFAULT), &H5Aclose);
  if (!attribute) return {};
  const Hdf5Handle type(H5Aget_type(attribute.get()), &H5Tclose);
  const Hdf5Handle space(H5Aget_space(attribute.get()), &H5Sclose);
  const std::size_t size = type ? H5Tget_size(type.get()) : 0;
  const bool is_short_text = type && space && H5Tget_class(type.get()) == H5T_STRING &&
                             H5Tis_variable_str(type.get()) == 0 && size <= kLongest &&
                             H5Sget_simple_extent_npoints(space.get()) == 1;
  std::string text(size, '\0');
  if (!is_short_text || H5Aread(attribute.get(), type.get(), text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
}

}  // namespace udv::io::detail
