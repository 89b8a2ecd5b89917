// SPDX-License-Identifier: MIT
#include "udv/io/npy.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "npy_format.hpp"
#include "text.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

namespace udv::io {
namespace detail {
namespace {

constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';

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

struct Dtype {
  std::string_view code;
  std::size_t width;
  double (*load)(const char* at, bool swap);
};

constexpr Dtype kDtypes[] = {
    {"b1", 1, load_boolean},        {"i1", 1, load<std::int8_t>},   {"i2", 2, load<std::int16_t>},
    {"i4", 4, load<std::int32_t>},  {"i8", 8, load<std::int64_t>},  {"u1", 1, load<std::uint8_t>},
    {"u2", 2, load<std::uint16_t>}, {"u4", 4, load<std::uint32_t>}, {"u8", 8, load<std::uint64_t>},
    {"f2", 2, load_half},           {"f4", 4, load<float>},         {"f8", 8, load<double>}};

/// descr is a byte order, < > | or =, and a code of the table.
const Dtype& find_dtype(const std::string& name, std::string_view descr) {
  const bool has_order = !descr.empty() && std::string_view("<>|=").find(descr[0]) != descr.npos;
  for (const Dtype& dtype : kDtypes) {
    if (has_order && descr.substr(1) == dtype.code) return dtype;
  }
  throw IoError(message(name, ": data type ", in_quotes(descr),
                        " found, booleans, integers or floats of at most 8 bytes expected"));
}

/// Compares before anything is allocated: the header may lie.
std::size_t checked_count(const std::string& name, const NpyFile& file, std::size_t width) {
  const std::optional<std::size_t> count = element_count(file.shape);
  const bool fits = count && *count == file.data.size() / width && file.data.size() % width == 0;
  require<IoError>(fits, name, ": ", file.data.size(), " bytes of data found, shape ",
                   shape_text(file.shape), " of ", width, "-byte numbers expected");
  return *count;
}

/// In Fortran order the first index runs fastest; index (i_1, ..., i_n) stands in C order at
/// sum_k i_k stride_k with stride_k = size_{k+1} ... size_n.
std::vector<double> from_fortran(const std::vector<Index>& shape,
                                 const std::vector<double>& values) {
  std::vector<std::size_t> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) {
    strides[k - 1] = strides[k] * static_cast<std::size_t>(shape[k]);
  }
  std::vector<double> result(values.size());
  std::vector<Index> index(shape.size(), 0);
  std::size_t at = 0;
  for (const double value : values) {
    result[at] = value;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      at += strides[k];
      if (++index[k] < shape[k]) break;
      at -= strides[k] * static_cast<std::size_t>(shape[k]);
      index[k] = 0;
    }
  }
  return result;
}

std::string header_text(const std::vector<Index>& shape) {
  std::string sizes;
  for (const Index size : shape) sizes += message(size, shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  return message("{'descr': '", kNativeOrder, "f8', 'fortran_order': False, 'shape': (", sizes,
                 "), }");
}

}  // namespace

std::optional<std::size_t> element_count(const std::vector<Index>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::size_t count = 1;
  for (const Index size : shape) {
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(size), &count)) return {};
  }
  return count;
}

bool is_numeric(const NpyFile& file) {
  return file.descr.size() > 1 && std::string_view("<>|=").find(file.descr[0]) != file.descr.npos &&
         std::string_view("biufc").find(file.descr[1]) != file.descr.npos;
}

Array decode_npy(const std::string& name, const NpyFile& file) {
  const Dtype& dtype = find_dtype(name, file.descr);
  const bool swap = (file.descr[0] == '<' || file.descr[0] == '>') && file.descr[0] != kNativeOrder;
  Array array{file.shape, std::vector<double>(checked_count(name, file, dtype.width))};
  const char* at = file.data.data();
  for (double& value : array.values) {
    value = dtype.load(at, swap);
    at += dtype.width;
  }
  if (file.fortran_order) array.values = from_fortran(file.shape, array.values);
  return array;
}

}  // namespace detail

std::string shape_text(const std::vector<Index>& shape) {
  if (shape.empty()) return "()";
  std::string text = std::to_string(shape[0]);
  for (std::size_t k = 1; k < shape.size(); ++k) text += " x " + std::to_string(shape[k]);
  return text;
}

Array read_npy(const std::filesystem::path& path) {
  const std::string bytes = read_bytes(path);
  return detail::decode_npy(path.string(), detail::parse_npy_header(path.string(), bytes));
}

std::string npy_bytes(const std::vector<Index>& shape, const double* values) {
  constexpr std::size_t kPreamble = 10;
  constexpr std::size_t kAlignment = 64;  // the format wants the data aligned
  std::string header = detail::header_text(shape);
  const std::size_t unpadded = kPreamble + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  const std::optional<std::size_t> count = detail::element_count(shape);
  require(count && header.size() < 65536, "npy_bytes: shape ", shape_text(shape), " is too large");
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes += static_cast<char>(header.size() & 255);
  bytes += static_cast<char>(header.size() >> 8);
  bytes += header;
  bytes.append(reinterpret_cast<const char*>(values), *count * sizeof(double));
  return bytes;
}

void write_npy(const std::filesystem::path& path, const Vector<double>& values) {
  write_atomically(path, npy_bytes({values.size()}, values.data()));
}

void write_npy(const std::filesystem::path& path, const RowMatrix<double>& values) {
  write_atomically(path, npy_bytes({values.rows(), values.cols()}, values.data()));
}

}  // namespace udv::io
