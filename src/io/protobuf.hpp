// SPDX-License-Identifier: MIT
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "core/require.hpp"

namespace udv::io::detail {

/// One message of protocol buffers, written field by field.
class ProtoMessage {
 public:
  ProtoMessage& whole(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(value);
    return *this;
  }
  ProtoMessage& text(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    bytes_.append(value);
    return *this;
  }
  ProtoMessage& real(int field, float value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 5);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    return *this;
  }
  ProtoMessage& message(int field, const ProtoMessage& inner) { return text(field, inner.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(0x80 | (value & 0x7F));
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

/// Walks the fields of one message that lies in a file; knows nothing of their meaning and copies
/// nothing. Errors are IoError "file: ... at byte N, ... expected".
class ProtoReader {
 public:
  /// `start` is where the bytes lie in the file. The name must outlive the reader.
  ProtoReader(const std::string& name, std::string_view bytes, std::size_t start = 0)
      : name_(name), bytes_(bytes), start_(start) {}

  /// Moves to the next field; false at the end of the message.
  bool next();

  std::uint64_t field() const { return field_; }
  /// A varint. Throws where the field is none.
  std::uint64_t whole() const;
  std::int64_t integer() const { return static_cast<std::int64_t>(whole()); }
  /// A number of single precision. Throws where the field is none.
  float real() const;
  /// Text, bytes or a message. Throws where the field is none.
  std::string_view bytes() const;
  std::string text() const { return std::string(bytes()); }
  ProtoReader message() const { return {name_, bytes(), start_ + content_}; }
  bool is_bytes() const { return wire_ == kBytes; }

  /// All numbers of a packed field, or the only one of a plain field, to use(integer).
  template <typename Use>
  void integers(const Use& use) const {
    if (!is_bytes()) return use(integer());
    ProtoReader packed = message();
    while (packed.at_ < packed.bytes_.size()) use(static_cast<std::int64_t>(packed.varint()));
  }

  /// Throws IoError about the current field.
  [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
    throw IoError(udv::message(name_, ": ", found, " found at byte ", start_ + at_field_, ", ",
                               expected, " expected"));
  }

 private:
  enum Wire : std::uint64_t { kVarint = 0, kEightBytes = 1, kBytes = 2, kFourBytes = 5 };

  std::uint64_t varint();
  void skip(std::uint64_t count);

  const std::string& name_;
  std::string_view bytes_;
  std::size_t start_ = 0, at_ = 0, at_field_ = 0, content_ = 0;
  std::uint64_t field_ = 0, wire_ = 0, value_ = 0;  // the value of a varint, the size of bytes
};

}  // namespace udv::io::detail
