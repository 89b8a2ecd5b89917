// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "npy_format.hpp"
#include "text.hpp"
#include "variable_format.hpp"

namespace udv::io::detail {
namespace {

template <typename Number>
Number load_raw(const char* at, bool swap) {
  std::array<char, sizeof(Number)> raw;
  std::memcpy(raw.data(), at, raw.size());
  if (swap) std::reverse(raw.begin(), raw.end());
  return std::bit_cast<Number>(raw);
}

template <typename Number>
double load(const char* at, bool swap) {
  return static_cast<double>(load_raw<Number>(at, swap));
}

double load_boolean(const char* at, bool) {
  return *at != 0 ? 1 : 0;
}

/// IEEE 754 binary16: 1 sign bit, 5 exponent bits e, 10 fraction bits f.
/// e = 0: f 2^-24;  0 < e < 31: (1024 + f) 2^(e-25);  e = 31: infinite or NaN.
double load_half(const char* at, bool swap) {
  const auto bits = load_raw<std::uint16_t>(at, swap);
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double magnitude =
      std::ldexp(exponent == 0 ? fraction : 1024 + fraction, std::max(exponent, 1) - 25);
  if (exponent == 31) magnitude = fraction == 0 ? INFINITY : NAN;
  return bits >> 15 ? -magnitude : magnitude;
}

/// A complex number is two of its parts: real, imaginary.
struct Dtype {
  std::string_view code;
  std::size_t part_width;
  double (*load)(const char* at, bool swap);
  bool is_complex = false;

  std::size_t width() const { return is_complex ? 2 * part_width : part_width; }
};

constexpr Dtype kDtypes[] = {
    {"b1", 1, load_boolean},        {"i1", 1, load<std::int8_t>},   {"i2", 2, load<std::int16_t>},
    {"i4", 4, load<std::int32_t>},  {"i8", 8, load<std::int64_t>},  {"u1", 1, load<std::uint8_t>},
    {"u2", 2, load<std::uint16_t>}, {"u4", 4, load<std::uint32_t>}, {"u8", 8, load<std::uint64_t>},
    {"f2", 2, load_half},           {"f4", 4, load<float>},         {"f8", 8, load<double>},
    {"c8", 4, load<float>, true},   {"c16", 8, load<double>, true}};

bool has_byte_order(std::string_view descr) {
  return !descr.empty() && std::string_view("<>|=").find(descr[0]) != descr.npos;
}

/// descr is a byte order, < > | or =, and a code of the table; nullptr where it is another type.
const Dtype* find_dtype(std::string_view descr) {
  for (const Dtype& dtype : kDtypes)
    if (has_byte_order(descr) && descr.substr(1) == dtype.code) return &dtype;
  return nullptr;
}

const Dtype& dtype_of(const std::string& name, std::string_view descr, bool allow_complex) {
  const Dtype* const dtype = find_dtype(descr);
  if (dtype && (allow_complex || !dtype->is_complex)) return *dtype;
  throw IoError(message(name, ": data type ", in_quotes(descr), " found, booleans, integers",
                        allow_complex
                            ? ", floats of at most 8 bytes or complex numbers of at most 16"
                            : " or floats of at most 8 bytes",
                        " expected"));
}

/// Compares before anything is allocated: the header may lie.
std::size_t checked_count(const std::string& name, const NpyFile& file, std::size_t width,
                          std::size_t num_bytes) {
  const std::optional<std::size_t> count = element_count(file.shape);
  const bool fits = count && *count == num_bytes / width && num_bytes % width == 0;
  require<IoError>(fits, name, ": ", num_bytes, " bytes of data found, shape ",
                   shape_text(file.shape), " of ", width, "-byte numbers expected");
  return *count;
}

void load_value(const Dtype& dtype, const char* at, bool swap, double& value) {
  value = dtype.load(at, swap);
}

void load_value(const Dtype& dtype, const char* at, bool swap, std::complex<double>& value) {
  value = dtype.load(at, swap);
  if (dtype.is_complex) value.imag(dtype.load(at + dtype.part_width, swap));
}

bool swaps(const NpyFile& file) {
  return (file.descr[0] == '<' || file.descr[0] == '>') && file.descr[0] != kNativeOrder;
}

template <typename Value>
std::vector<Value> decode_values(const std::string& name, const NpyFile& file, const Dtype& dtype) {
  const bool swap = swaps(file);
  std::vector<Value> values(checked_count(name, file, dtype.width(), file.data.size()));
  const char* at = file.data.data();
  for (Value& value : values) {
    load_value(dtype, at, swap, value);
    at += dtype.width();
  }
  return file.fortran_order ? rows_from_columns(file.shape, values) : values;
}

// How far the neighbour along each axis is, in numbers.
std::vector<std::size_t> strides_of(const NpyFile& file) {
  std::vector<std::size_t> strides(file.shape.size(), 1);
  const auto size = [&](std::size_t k) { return static_cast<std::size_t>(file.shape[k]); };
  if (file.fortran_order)
    for (std::size_t k = 1; k < strides.size(); ++k) strides[k] = strides[k - 1] * size(k - 1);
  else
    for (std::size_t k = strides.size(); k-- > 1;) strides[k - 1] = strides[k] * size(k);
  return strides;
}

}  // namespace

bool is_numeric(const NpyFile& file) {
  return file.descr.size() > 1 && has_byte_order(file.descr) &&
         std::string_view("biufc").find(file.descr[1]) != file.descr.npos;
}

std::string type_name(const NpyFile& file) {
  const Dtype* const dtype = find_dtype(file.descr);
  if (!dtype) return file.descr;
  if (dtype->code == "b1") return "bool";
  const char kind = dtype->code[0];
  const char* const word = kind == 'i' ? "int" : kind == 'u' ? "uint" : "float";
  return message(dtype->is_complex ? "complex" : word, 8 * dtype->width());
}

void require_whole_npy(const std::string& name, const NpyFile& file, std::size_t num_bytes) {
  if (const Dtype* const dtype = find_dtype(file.descr))
    checked_count(name, file, dtype->width(), num_bytes);
}

std::optional<std::size_t> announced_bytes(const NpyFile& file) {
  const Dtype* const dtype = find_dtype(file.descr);
  const std::optional<std::size_t> count = element_count(file.shape);
  std::size_t bytes = 0;
  if (!dtype || !count || __builtin_mul_overflow(*count, dtype->width(), &bytes)) return {};
  return bytes;
}

Array decode_npy(const std::string& name, const NpyFile& file) {
  const Dtype& dtype = dtype_of(name, file.descr, false);
  return {file.shape, decode_values<double>(name, file, dtype)};
}

ComplexArray decode_complex_npy(const std::string& name, const NpyFile& file,
                                const Slices& slices) {
  const Dtype& dtype = dtype_of(name, file.descr, true);
  checked_count(name, file, dtype.width(), file.data.size());
  const std::vector<std::size_t> strides = strides_of(file);
  ComplexArray part{sliced_shape(file.shape, slices), {}, dtype.is_complex};
  part.values.resize(element_count(part.shape).value_or(0));
  std::vector<Index> index(part.shape.size(), 0);
  std::size_t at =
      strides[static_cast<std::size_t>(slices.axis)] * static_cast<std::size_t>(slices.begin);
  for (std::complex<double>& value : part.values) {
    load_value(dtype, file.data.data() + at * dtype.width(), swaps(file), value);
    for (std::size_t k = index.size(); k-- > 0;) {
      at += strides[k];
      if (++index[k] < part.shape[k]) break;
      at -= strides[k] * static_cast<std::size_t>(part.shape[k]);
      index[k] = 0;
    }
  }
  return part;
}

ComplexArray decode_complex_npy(const std::string& name, const NpyFile& file) {
  const Dtype& dtype = dtype_of(name, file.descr, true);
  return {file.shape, decode_values<std::complex<double>>(name, file, dtype), dtype.is_complex};
}

}  // namespace udv::io::detail
