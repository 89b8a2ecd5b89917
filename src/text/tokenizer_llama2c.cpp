// SPDX-License-Identifier: MIT
#include <cmath>
#include <cstring>

#include "core/require.hpp"
#include "io/text.hpp"
#include "text/tokenizer_pieces.hpp"
#include "text/tokenizer_steps.hpp"

// https://github.com/karpathy/llama2.c/blob/master/tokenizer.py writes the file: the length of the
// longest piece (int32), then of each piece its score (float32), length (int32) and bytes. Pieces
// are those of sentencepiece with blanks in place of U+2581, which stands for a blank there.
namespace udv::text {
namespace {

using io::detail::in_quotes;

// Numbers and bytes one after the other, as long as there are any.
class Reader {
 public:
  Reader(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  bool at_end() const { return at_ == bytes_.size(); }

  template <typename Number>
  Number number(const char* what) {
    Number value;
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  std::string_view take(std::size_t count, const char* what) {
    const std::size_t left = bytes_.size() - at_;
    require<IoError>(count <= left, name_, ": ", left, " bytes left at byte ", at_, ", ", count,
                     " of ", what, " expected");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }

 private:
  const std::string& name_;
  std::string_view bytes_;
  std::size_t at_ = 0;
};

ScoredPiece read_piece(const std::string& name, Reader& reader, std::size_t token,
                       std::int32_t longest) {
  ScoredPiece piece;
  piece.score = reader.number<float>("a score");
  const auto length = reader.number<std::int32_t>("a length");
  require<IoError>(length > 0 && length <= longest, name, ": piece ", token, " of ", length,
                   " bytes found, 1 to ", longest, " expected");
  piece.text = reader.take(static_cast<std::size_t>(length), "a piece");
  require<IoError>(std::isfinite(piece.score), name, ": score ", piece.score, " of piece ", token,
                   " found, a finite number expected");
  require<IoError>(io::detail::is_utf8(piece.text), name, ": piece ", token, " ",
                   in_quotes(piece.text), " found, UTF-8 expected");
  return piece;
}

// The file has new lines around the marks of begin and end.
std::string without_lines(const std::string& text) {
  const bool marked = text.size() > 2 && text.front() == '\n' && text.back() == '\n';
  return marked ? text.substr(1, text.size() - 2) : text;
}

std::vector<ScoredPiece> read_pieces(const std::string& name, std::string_view bytes) {
  Reader reader(name, bytes);
  const auto longest = reader.number<std::int32_t>("the longest length");
  std::vector<ScoredPiece> pieces;
  while (!reader.at_end()) pieces.push_back(read_piece(name, reader, pieces.size(), longest));
  for (std::size_t token = 0; token < pieces.size(); ++token) {
    std::string& text = pieces[token].text;
    text = token == 1 || token == 2 ? without_lines(text) : replaced(text, " ", kBlankMark);
  }
  return pieces;
}

}  // namespace

TokenizerFiles convert_llama2c(const std::string& name, std::string_view bytes) {
  return convert_pieces(name, read_pieces(name, bytes));
}

}  // namespace udv::text
