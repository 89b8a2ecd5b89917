// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "udv/io/npy.hpp"
#include "udv/io/variables.hpp"

namespace udv::io::detail {

/// What an .npy file says about itself, and the bytes that follow.
struct NpyFile {
  std::string descr;  ///< "<f8", or the raw list of a structured type
  bool fortran_order = false;
  std::vector<Index> shape;
  std::string_view data;
};

constexpr char kNativeOrder = std::endian::native == std::endian::little ? '<' : '>';

/// More than any header of arrays of numbers has: enough to describe an array by its first bytes.
constexpr std::size_t kLongestNpyHeader = 1 << 20;

/// The bytes of an .npy file before its numbers, float64 in C order.
std::string npy_start(const std::vector<Index>& shape);

/// Splits an .npy file into header and data. Throws IoError that starts with `name`.
NpyFile parse_npy_header(const std::string& name, std::string_view bytes);

/// Booleans, integers, floats and complex numbers; not text, objects, records or dates.
bool is_numeric(const NpyFile& file);

/// "float64" of "<f8"; the raw text where the type is none of numbers.
std::string type_name(const NpyFile& file);

/// Throws IoError where the type is of numbers that can be read, and `num_bytes` of data are not
/// what the shape says.
void require_whole_npy(const std::string& name, const NpyFile& file, std::size_t num_bytes);

/// Bytes of data that the shape says; nothing where the type is none that can be read.
std::optional<std::size_t> announced_bytes(const NpyFile& file);

/// The numbers as float64 in C order. Throws IoError where the type is not supported or the
/// bytes do not match the shape.
Array decode_npy(const std::string& name, const NpyFile& file);

/// The same, of complex numbers too.
ComplexArray decode_complex_npy(const std::string& name, const NpyFile& file);

/// The same of some slices alone.
ComplexArray decode_complex_npy(const std::string& name, const NpyFile& file, const Slices& slices);

}  // namespace udv::io::detail
