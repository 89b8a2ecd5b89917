// SPDX-License-Identifier: MIT
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/require.hpp"
#include "udv/core/types.hpp"

/// A few lines of binary serialization: the same function lists the members of a type for writing
/// and for reading. A type takes part by `template <typename Archive> void fields(Archive&, T&)`.
namespace udv {

class ArchiveWriter {
 public:
  /// Goes on after these bytes.
  explicit ArchiveWriter(std::string bytes = "") : bytes_(std::move(bytes)) {}

  template <typename... Values>
  void operator()(Values&... values) {
    (put(values), ...);
  }
  /// A text, as a string would be: what write(*this) writes.
  template <typename Write>
  void text(const Write& write) {
    const size_t place = bytes_.size();
    std::uint64_t size = 0;
    put(size);
    write(*this);
    size = bytes_.size() - place - sizeof(size);
    std::memcpy(bytes_.data() + place, &size, sizeof(size));
  }
  /// Numbers, as a vector of them would be.
  template <typename T>
  void list(const T* numbers, Index count) {
    std::uint64_t size = static_cast<std::uint64_t>(count);
    put(size);
    raw(numbers, static_cast<size_t>(count) * sizeof(T));
  }
  std::string take() { return std::move(bytes_); }

 private:
  void raw(const void* data, size_t size) { bytes_.append(static_cast<const char*>(data), size); }

  template <typename T>
  void put(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      raw(&value, sizeof(value));
    else
      fields(*this, value);
  }
  void put(std::string_view& text) {
    std::uint64_t size = text.size();
    put(size);
    raw(text.data(), text.size());
  }
  void put(std::string& text) {
    std::string_view view = text;
    put(view);
  }
  template <typename T>
  void put(std::vector<T>& list) {
    std::uint64_t size = list.size();
    put(size);
    if constexpr (std::is_arithmetic_v<T>)
      raw(list.data(), list.size() * sizeof(T));
    else
      for (T& item : list) put(item);
  }
  template <typename Scalar, int R, int C, int O>
  void put(Eigen::Matrix<Scalar, R, C, O>& values) {
    std::int64_t rows = values.rows(), cols = values.cols();
    (*this)(rows, cols);
    raw(values.data(), static_cast<size_t>(values.size()) * sizeof(Scalar));
  }

  std::string bytes_;
};

/// Writes a state that is too large to be copied first.
using WriteState = std::function<void(ArchiveWriter&)>;

class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : rest_(bytes) {}

  template <typename... Values>
  void operator()(Values&... values) {
    (get(values), ...);
  }
  bool at_end() const { return rest_.empty(); }

  /// A vector of numbers where it stands, for who needs a part of it.
  template <typename T>
  class List {
   public:
    explicit List(std::string_view bytes) : bytes_(bytes) {}
    Index size() const { return static_cast<Index>(bytes_.size() / sizeof(T)); }
    void copy(Index begin, Index count, T* to) const {
      if (count > 0)
        std::memcpy(to, bytes_.data() + static_cast<size_t>(begin) * sizeof(T),
                    static_cast<size_t>(count) * sizeof(T));
    }

   private:
    std::string_view bytes_;
  };
  template <typename T>
  List<T> list() {
    const size_t bytes = announced<T>() * sizeof(T);
    const List<T> found(rest_.substr(0, bytes));
    rest_.remove_prefix(bytes);
    return found;
  }

 private:
  void raw(void* data, size_t size) {
    require(size <= rest_.size(), "checkpoint: ", rest_.size(), " bytes left, ", size, " expected");
    if (size > 0) std::memcpy(data, rest_.data(), size);  // an empty matrix has no address
    rest_.remove_prefix(size);
  }
  // A count of items that take at least one byte each.
  size_t count() {
    std::uint64_t size = 0;
    get(size);
    require(size <= rest_.size(), "checkpoint: ", size, " items announced, ", rest_.size(),
            " bytes left");
    return static_cast<size_t>(size);
  }

  // The count of numbers that follow.
  template <typename T>
  size_t announced() {
    const size_t size = count();
    require(size <= rest_.size() / sizeof(T), "checkpoint: ", size, " numbers announced, ",
            rest_.size(), " bytes left");
    return size;
  }

  void get(bool& value) {
    unsigned char byte = 0;
    get(byte);
    require(byte <= 1, "checkpoint: ", static_cast<int>(byte),
            " where yes or no (1 or 0) is expected");
    value = byte == 1;
  }
  template <typename T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      raw(&value, sizeof(value));
    else
      fields(*this, value);
  }
  void get(std::string& text) {
    text.resize(count());
    raw(text.data(), text.size());
  }
  template <typename T>
  void get(std::vector<T>& list) {
    list.clear();
    if constexpr (std::is_arithmetic_v<T>) {
      list.resize(announced<T>());
      return raw(list.data(), list.size() * sizeof(T));
    }
    // Item by item: one in memory may take many times its bytes here.
    for (size_t left = count(); left > 0; --left) {
      list.emplace_back();
      get(list.back());
    }
  }
  template <typename Scalar, int R, int C, int O>
  void get(Eigen::Matrix<Scalar, R, C, O>& values) {
    std::int64_t rows = 0, cols = 0;
    (*this)(rows, cols);
    const auto limit = static_cast<std::int64_t>(rest_.size() / sizeof(Scalar));
    require(rows >= 0 && cols >= 0 && (cols == 0 || rows <= limit / cols),
            "checkpoint: a matrix of ", rows, " x ", cols, " announced, ", rest_.size(),
            " bytes left");
    require((R == Eigen::Dynamic || rows == R) && (C == Eigen::Dynamic || cols == C),
            "checkpoint: a matrix of ", rows, " x ", cols, " where a vector is expected");
    values.resize(rows, cols);
    raw(values.data(), static_cast<size_t>(values.size()) * sizeof(Scalar));
  }

  std::string_view rest_;
};

}  // namespace udv
