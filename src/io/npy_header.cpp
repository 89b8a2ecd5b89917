// SPDX-License-Identifier: MIT
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>

#include "core/require.hpp"
#include "npy_format.hpp"
#include "text.hpp"

namespace udv::io::detail {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxDimensions = 64;  // NumPy's own limit

/// Reads the Python dictionary {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), },
/// with the keys in any order.
class HeaderParser {
 public:
  HeaderParser(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  NpyFile parse() {
    expect('{');
    while (peek() != '}') {
      read_item();
      if (peek() != '}') expect(',');
    }
    expect('}');
    if (peek() != '\0' || at_ < text_.size()) fail("only blanks after '}'");
    require<IoError>(seen_.size() == 3, name_, ": ", seen_.size(),
                     " header keys found, descr, fortran_order and shape expected");
    return std::move(file_);
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string_view found = text_.substr(std::min(at_, text_.size()));
    throw IoError(message(name_, ": ", found.empty() ? "end of header" : in_quotes(found),
                          " found at header character ", at_, ", ", expected, " expected"));
  }

  /// The next character that is not blank, '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void expect(char wanted) {
    if (peek() != wanted) fail(message("'", wanted, "'"));
    ++at_;
  }

  void read_item() {
    const std::string key(read_quoted());
    require<IoError>(seen_.insert(key).second, name_, ": header key ", in_quotes(key),
                     " found twice, once expected");
    expect(':');
    if (key == "descr") {
      file_.descr = peek() == '[' || peek() == '(' ? read_nested() : read_quoted();
    } else if (key == "fortran_order") {
      file_.fortran_order = read_boolean();
    } else if (key == "shape") {
      file_.shape = read_shape();
    } else {
      throw IoError(message(name_, ": header key ", in_quotes(key),
                            " found, descr, fortran_order or shape expected"));
    }
  }

  std::string_view read_quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("a quoted word");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == text_.npos) fail("a closing quote");
    const std::string_view word = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return word;
  }

  /// The raw text of a list or tuple, up to its matching bracket.
  std::string_view read_nested() {
    const std::size_t start = at_;
    std::size_t depth = 0;
    do {
      const char c = peek();
      if (c == '\0') fail("a closing bracket");
      if (c == '\'' || c == '"') {
        read_quoted();
        continue;
      }
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      ++at_;
    } while (depth > 0);
    return text_.substr(start, at_ - start);
  }

  bool read_boolean() {
    peek();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail("True or False");
  }

  std::vector<Index> read_shape() {
    std::vector<Index> shape;
    expect('(');
    while (peek() != ')') {
      shape.push_back(read_size());
      if (shape.size() > kMaxDimensions) fail("at most 64 dimensions");
      if (peek() != ')') expect(',');
    }
    expect(')');
    return shape;
  }

  Index read_size() {
    peek();
    std::int64_t size = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, size);
    if (error != std::errc() || size < 0) fail("a size from 0 to 2^63 - 1");
    at_ = static_cast<std::size_t>(stop - text_.data());
    if (peek() == 'L') ++at_;  // Python 2 wrote long integers as 3L
    return static_cast<Index>(size);
  }

  const std::string& name_;
  std::string_view text_;
  std::size_t at_ = 0;
  NpyFile file_;
  std::set<std::string> seen_;
};

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return number;
}

}  // namespace

NpyFile parse_npy_header(const std::string& name, std::string_view bytes) {
  require<IoError>(bytes.starts_with(kMagic), name, ": ", in_quotes(bytes.substr(0, 6)),
                   " found as first bytes, \\x93NUMPY of an .npy file expected");
  require<IoError>(bytes.size() >= 8, name, ": ", bytes.size(),
                   " bytes found, an .npy header expected");
  const int version = static_cast<unsigned char>(bytes[6]);
  require<IoError>(1 <= version && version <= 3, name, ": .npy version ", version,
                   " found, 1 to 3 expected");
  // Version 1 keeps the header's length in 2 bytes, the later ones in 4.
  const std::size_t start = version == 1 ? 10 : 12;
  require<IoError>(bytes.size() >= start, name, ": ", bytes.size(),
                   " bytes found, an .npy header expected");
  const std::size_t length = little_endian(bytes.substr(8, start - 8));
  require<IoError>(length <= bytes.size() - start, name, ": ", bytes.size() - start,
                   " bytes found after the preamble, a header of ", length, " expected");
  NpyFile file = HeaderParser(name, bytes.substr(start, length)).parse();
  file.data = bytes.substr(start + length);
  return file;
}

}  // namespace udv::io::detail
