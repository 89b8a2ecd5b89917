// SPDX-License-Identifier: MIT
#include "protobuf.hpp"

#include "core/require.hpp"

namespace udv::io::detail {

bool ProtoReader::next() {
  if (at_ == bytes_.size()) return false;
  at_field_ = at_;
  const std::uint64_t key = varint();
  field_ = key >> 3;
  wire_ = key & 7;
  if (field_ == 0 || field_ >> 29 != 0)
    fail(udv::message("field number ", field_), "1 to 536870911");
  if (wire_ == kVarint || wire_ == kBytes) value_ = varint();
  content_ = at_;
  if (wire_ == kVarint) return true;
  if (wire_ != kBytes && wire_ != kEightBytes && wire_ != kFourBytes)
    fail(udv::message("wire type ", wire_), "0, 1, 2 or 5");
  skip(wire_ == kBytes ? value_ : wire_ == kEightBytes ? 8 : 4);
  return true;
}

std::uint64_t ProtoReader::whole() const {
  if (wire_ != kVarint) fail(udv::message("wire type ", wire_), "a whole number (0)");
  return value_;
}

float ProtoReader::real() const {
  if (wire_ != kFourBytes) fail(udv::message("wire type ", wire_), "a number of 4 bytes (5)");
  float value = 0;
  std::memcpy(&value, bytes_.data() + content_, sizeof value);
  return value;
}

std::string_view ProtoReader::bytes() const {
  if (!is_bytes()) fail(udv::message("wire type ", wire_), "bytes (2)");
  return bytes_.substr(content_, value_);
}

// Seven bits a byte, lowest first; the tenth byte has room for one more.
std::uint64_t ProtoReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; at_ < bytes_.size(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    if (shift == 63 && byte > 1) fail("a number of more than 64 bits", "a shorter one");
    value |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return value;
  }
  fail("the end of the message", "the rest of a number");
}

void ProtoReader::skip(std::uint64_t count) {
  const std::size_t left = bytes_.size() - at_;
  if (count > left)
    fail(udv::message("a field of ", count, " bytes"),
         udv::message("at most the ", left, " that are left"));
  at_ += count;
}

}  // namespace udv::io::detail
