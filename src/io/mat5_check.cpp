// SPDX-License-Identifier: MIT
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "array_layout.hpp"
#include "core/require.hpp"
#include "gzip.hpp"
#include "variable_format.hpp"

namespace udv::io::detail {
namespace {

constexpr std::size_t kHeader = 128;

enum ElementType : std::uint32_t { kInt8 = 1, kInt32 = 5, kUint32 = 6, kMatrix = 14, kPacked = 15 };
enum ArrayClass : std::uint32_t { kCell = 1, kStruct = 2, kObject = 3, kDouble = 6, kUint64 = 15 };

/// Bytes of one number of an element's type; 0 where the type is none of numbers.
std::size_t width_of(std::uint32_t type) {
  constexpr std::size_t kWidths[] = {0, 1, 1, 2, 2, 4, 4, 4, 0, 8, 0, 0, 8, 8};
  return type < std::size(kWidths) ? kWidths[type] : 0;
}

struct Element {
  std::uint32_t type = 0;
  std::string_view data;
};

/// Walks elements that stand side by side: type, number of bytes, bytes, padding up to a multiple
/// of 8. Up to 4 bytes may share the first 8 with their type and number.
class Elements {
 public:
  Elements(std::string where, std::string_view bytes, bool swap)
      : where_(std::move(where)), bytes_(bytes), swap_(swap) {}

  bool at_end() const { return at_ >= bytes_.size(); }
  std::size_t position() const { return at_; }
  bool swap() const { return swap_; }
  const std::string& where() const { return where_; }

  Element next() {
    require<IoError>(bytes_.size() >= at_ + 8, where_, ": ", bytes_.size() - at_,
                     " bytes found at byte ", at_, ", an element of 8 or more expected");
    const std::uint32_t word = number(bytes_.substr(at_));
    const bool is_small = word >> 16 != 0;
    const std::uint32_t type = is_small ? word & 0xffff : word;
    const std::size_t size = is_small ? word >> 16 : number(bytes_.substr(at_ + 4));
    const std::size_t start = at_ + (is_small ? 4 : 8);
    const std::size_t room = is_small ? 4 : bytes_.size() - start;
    require<IoError>(size <= room, where_, ": element of ", size, " bytes found at byte ", at_,
                     ", at most ", room, " expected (cut off or damaged)");
    // Packed elements follow each other without padding.
    const std::size_t padded = type == kPacked ? size : (size + 7) / 8 * 8;
    at_ = is_small ? at_ + 8 : start + padded;
    return {type, bytes_.substr(start, size)};
  }

  Element next_of(ElementType type, const char* what) {
    const Element element = next();
    require<IoError>(element.type == type, where_, ": element of type ", element.type, " found, ",
                     what, " (type ", type, ") expected");
    return element;
  }

  std::uint32_t number(std::string_view bytes) const {
    std::array<char, 4> raw;
    std::memcpy(raw.data(), bytes.data(), raw.size());
    if (swap_) std::reverse(raw.begin(), raw.end());
    return std::bit_cast<std::uint32_t>(raw);
  }

 private:
  std::string where_;
  std::string_view bytes_;
  bool swap_;
  std::size_t at_ = 0;
};

void check_matrix(Elements matrix, int depth);

std::size_t read_count(Elements& matrix) {
  const std::string_view sizes = matrix.next_of(kInt32, "the sizes").data;
  require<IoError>(sizes.size() >= 8 && sizes.size() % 4 == 0, matrix.where(), ": ", sizes.size(),
                   " bytes of sizes found, 4 for each of 2 or more expected");
  std::vector<Index> shape;
  for (std::size_t at = 0; at < sizes.size(); at += 4) {
    const auto size = static_cast<std::int32_t>(matrix.number(sizes.substr(at)));
    require<IoError>(size >= 0, matrix.where(), ": size ", size, " found, 0 or more expected");
    shape.push_back(size);
  }
  const std::optional<std::size_t> count = element_count(shape);
  require<IoError>(count.has_value(), matrix.where(), ": array of ", shape_text(shape),
                   " found, fewer elements expected");
  return *count;
}

void check_numbers(Elements& matrix, std::size_t count, bool is_complex) {
  for (int part = 0; part < (is_complex ? 2 : 1); ++part) {
    const Element numbers = matrix.next();
    const std::size_t width = width_of(numbers.type);
    require<IoError>(width > 0, matrix.where(), ": element of type ", numbers.type,
                     " found, one of numbers expected");
    const bool fits = numbers.data.size() % width == 0 && numbers.data.size() / width == count;
    require<IoError>(fits, matrix.where(), ": ", numbers.data.size(), " bytes of ", width,
                     "-byte numbers found, ", count, " numbers expected");
  }
}

/// Fields of a struct: the length of a name, then that many bytes for each.
std::size_t read_num_fields(Elements& matrix) {
  const std::string_view length = matrix.next_of(kInt32, "the length of names").data;
  const std::size_t bytes_per_name = length.size() == 4 ? matrix.number(length) : 0;
  const std::string_view names = matrix.next_of(kInt8, "the names").data;
  require<IoError>(bytes_per_name > 0 && names.size() % bytes_per_name == 0, matrix.where(), ": ",
                   names.size(), " bytes of names found, a multiple of ", bytes_per_name,
                   " expected");
  return names.size() / bytes_per_name;
}

/// The matrices among the remaining elements; `expected` of them where that is given.
void check_nested(Elements& matrix, int depth, std::optional<std::size_t> expected) {
  constexpr int kDeepest = 100;
  require<IoError>(depth < kDeepest, matrix.where(), ": arrays nested ", depth,
                   " deep found, fewer expected");
  std::size_t found = 0;
  while (!matrix.at_end()) {
    const Element element = matrix.next();
    if (element.type != kMatrix) continue;
    ++found;
    if (element.data.empty()) continue;
    check_matrix({matrix.where(), element.data, matrix.swap()}, depth + 1);
  }
  require<IoError>(found == expected.value_or(found), matrix.where(), ": ", found,
                   " arrays found inside a cell or struct array, ", expected.value_or(0),
                   " expected");
}

/// Flags, sizes, name, then what the class asks for.
void check_matrix(Elements matrix, int depth) {
  constexpr std::uint32_t kOpaque = 17;
  constexpr std::uint32_t kComplexFlag = 0x800;
  const std::string_view flags = matrix.next_of(kUint32, "the flags").data;
  require<IoError>(flags.size() == 8, matrix.where(), ": ", flags.size(),
                   " bytes of flags found, 8 expected");
  const std::uint32_t bits = matrix.number(flags);
  const std::uint32_t array_class = bits & 0xff;
  require<IoError>(1 <= array_class && array_class <= kOpaque, matrix.where(), ": array class ",
                   array_class, " found, 1 to ", kOpaque, " expected");
  if (array_class == kOpaque) return check_nested(matrix, depth, {});  // it has no sizes
  const std::size_t count = read_count(matrix);
  matrix.next_of(kInt8, "the name");
  if (kDouble <= array_class && array_class <= kUint64) {
    check_numbers(matrix, count, (bits & kComplexFlag) != 0);
  } else if (array_class == kCell) {
    check_nested(matrix, depth, count);
  } else if (array_class == kStruct) {
    const std::size_t num_fields = read_num_fields(matrix);
    check_nested(matrix, depth, count * num_fields);
  } else {
    check_nested(matrix, depth, {});
  }
}

void check_packed(const std::string& where, std::string_view packed, bool swap) {
  const std::string bytes = inflate_zlib(where, packed);
  Elements inside(where, bytes, swap);
  const Element matrix = inside.next_of(kMatrix, "an array");
  if (!matrix.data.empty()) check_matrix({where, matrix.data, swap}, 0);
}

}  // namespace

void check_mat5(const std::string& name, std::string_view bytes) {
  require<IoError>(bytes.size() >= kHeader, name, ": ", bytes.size(), " bytes found, a header of ",
                   kHeader, " expected");
  const std::string_view order = std::endian::native == std::endian::little ? "IM" : "MI";
  Elements elements(name, bytes.substr(kHeader), bytes.substr(126, 2) != order);
  while (!elements.at_end()) {
    const std::size_t at = kHeader + elements.position();
    const std::string where = message(name, ": variable at byte ", at);
    const Element element = elements.next();
    require<IoError>(element.type == kMatrix || element.type == kPacked, where,
                     ": element of type ", element.type, " found, an array (type ", kMatrix, " or ",
                     kPacked, ") expected");
    if (element.type == kPacked) check_packed(where, element.data, elements.swap());
    if (element.type == kMatrix) check_matrix({where, element.data, elements.swap()}, 0);
  }
}

}  // namespace udv::io::detail
