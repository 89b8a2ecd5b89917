// SPDX-License-Identifier: MIT
#include <array>
#include <charconv>

#include "io/text.hpp"
#include "text/tokenizer_steps.hpp"

namespace udv::text {
namespace {

using io::detail::in_quotes;

constexpr int kFirstStandIn = 256;  // code points of the bytes that are not printable

bool is_printable(int byte) {
  return ('!' <= byte && byte <= '~') || (0xA1 <= byte && byte != 0xAD);
}

// UTF-8 of a code point below 0x800.
std::string short_character(int code) {
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

std::vector<std::string> make_byte_characters() {
  std::vector<std::string> characters;
  int next = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte)
    characters.push_back(short_character(is_printable(byte) ? byte : next++));
  return characters;
}

// The byte of each code point, -1 where it stands for none.
std::array<int, 0x800> make_character_bytes() {
  std::array<int, 0x800> bytes;
  bytes.fill(-1);
  int next = kFirstStandIn;
  for (int byte = 0; byte < 256; ++byte)
    bytes[static_cast<size_t>(is_printable(byte) ? byte : next++)] = byte;
  return bytes;
}

// The bytes that a piece stands for; the piece itself where one of its characters is not in the
// alphabet, as in added tokens.
std::string bytes_of(const std::string& piece) {
  static const std::array<int, 0x800> kBytes = make_character_bytes();
  std::string result;
  for (std::size_t i = 0; i < piece.size(); ++i) {
    auto code = static_cast<unsigned>(static_cast<unsigned char>(piece[i]));
    if (code >= 0xE0 || (code >= 0x80 && i + 1 == piece.size())) return piece;
    if (code >= 0x80) code = (code & 0x1F) << 6 | (static_cast<unsigned char>(piece[++i]) & 0x3F);
    if (kBytes[code] < 0) return piece;
    result += static_cast<char>(kBytes[code]);
  }
  return result;
}

Decoder for_each_piece(const Normalizer& change) {
  return [change](Words pieces) {
    for (std::string& piece : pieces) piece = change(std::move(piece));
    return pieces;
  };
}

// <0x0A> to the byte itself. Whether bytes in a row are UTF-8 is not looked at.
std::string byte_of_piece(std::string piece) {
  int byte = 0;
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return piece;
  const auto [stop, error] = std::from_chars(&piece[3], &piece[5], byte, 16);
  return error == std::errc() && stop == &piece[5] ? std::string(1, static_cast<char>(byte))
                                                   : piece;
}

Words fused(const Words& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return {text};
}

Decoder read_strip(const JsonValue& value) {
  constexpr std::int32_t kMost = 1 << 20;
  const std::string mark = value["content"].text();
  if (mark.empty()) value["content"].fail("an empty text", "a character");
  const std::int32_t start = value["start"].whole(kMost), stop = value["stop"].whole(kMost);
  return for_each_piece([=](std::string piece) {
    std::string_view rest = piece;
    for (std::int32_t i = 0; i < start && rest.starts_with(mark); ++i)
      rest.remove_prefix(mark.size());
    for (std::int32_t i = 0; i < stop && rest.ends_with(mark); ++i) rest.remove_suffix(mark.size());
    return std::string(rest);
  });
}

// The blank that was put before the text goes away, and with it all of the first piece.
Decoder read_metaspace_decoder(const JsonValue& value) {
  const std::string mark = value["replacement"].text();
  if (mark.empty()) value["replacement"].fail("an empty text", "a character");
  const JsonValue scheme = value["prepend_scheme"];
  const bool prepended =
      scheme.is_null() ? value["add_prefix_space"].flag(true) : scheme.text() != "never";
  return [=](Words pieces) {
    for (std::size_t i = 0; i < pieces.size(); ++i)
      pieces[i] = replaced(pieces[i], mark, i == 0 && prepended ? "" : " ");
    return pieces;
  };
}

Decoder read_replace(const JsonValue& value) {
  const std::string from = value["pattern"]["String"].text(), to = value["content"].text();
  if (from.empty()) value["pattern"].fail("an empty String", "characters");
  return for_each_piece([=](const std::string& piece) { return replaced(piece, from, to); });
}

}  // namespace

const std::vector<std::string>& byte_characters() {
  static const std::vector<std::string> kCharacters = make_byte_characters();
  return kCharacters;
}

Decoder read_decoder(const JsonValue& value) {
  value.expect(value.json().is_object(), "a decoder");
  const std::string type = value["type"].text();
  if (type == "ByteLevel") return for_each_piece(bytes_of);
  if (type == "ByteFallback") return for_each_piece(byte_of_piece);
  if (type == "Fuse") return fused;
  if (type == "Strip") return read_strip(value);
  if (type == "Replace") return read_replace(value);
  if (type == "Metaspace") return read_metaspace_decoder(value);
  if (type != "Sequence")
    value.fail(in_quotes(type),
               "ByteLevel, ByteFallback, Fuse, Strip, Replace, Metaspace or a Sequence of them");
  std::vector<Decoder> steps;
  for (const JsonValue& item : value["decoders"].items()) steps.push_back(read_decoder(item));
  return [steps](Words pieces) {
    for (const Decoder& step : steps) pieces = step(std::move(pieces));
    return pieces;
  };
}

}  // namespace udv::text
