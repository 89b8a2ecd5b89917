// SPDX-License-Identifier: MIT
#include <cmath>

#include "core/require.hpp"
#include "io/protobuf.hpp"
#include "io/text.hpp"
#include "text/tokenizer_pieces.hpp"
#include "udv/io/file.hpp"

// Read without the library of sentencepiece: Debian's carries an old protobuf whose symbols take
// the place of those that LibTorch uses, and the program crashes before it starts. Field numbers
// are those of https://github.com/google/sentencepiece/blob/master/src/sentencepiece_model.proto.
namespace udv::text {
namespace {

using io::detail::ProtoReader;
namespace fs = std::filesystem;

enum PieceType : std::uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6 };
enum ModelType : std::uint64_t { kUnigram = 1, kBpe = 2 };

struct Model {
  std::vector<ScoredPiece> pieces;
  std::uint64_t type = kUnigram;
  bool byte_fallback = false, dummy_prefix = true, remove_blanks = true, escape_blanks = true;
  bool maps_characters = false;
};

ScoredPiece read_piece(const std::string& name, ProtoReader message, std::size_t token) {
  ScoredPiece piece{"", 0};
  std::uint64_t type = kNormal;
  while (message.next()) {
    if (message.field() == 1) piece.text = message.text();
    if (message.field() == 2) piece.score = message.real();
    if (message.field() == 3) type = message.whole();
  }
  require<IoError>(
      !piece.text.empty() && io::detail::is_utf8(piece.text) && std::isfinite(piece.score), name,
      ": piece ", token, " ", io::detail::in_quotes(piece.text), " with score ", piece.score,
      " found, UTF-8 text and a finite score expected");
  require<IoError>(type == kNormal || type == kUnknown || type == kControl || type == kByte, name,
                   ": piece ", token, " ", io::detail::in_quotes(piece.text), " of type ", type,
                   " found, a normal, unknown, control or byte piece (1, 2, 3, 6) expected");
  return piece;
}

void read_trainer(ProtoReader message, Model& model) {
  while (message.next()) {
    if (message.field() == 3) model.type = message.whole();
    if (message.field() == 35) model.byte_fallback = message.whole() != 0;
  }
}

void read_normalizer(ProtoReader message, Model& model) {
  while (message.next()) {
    if (message.field() == 2) model.maps_characters = !message.bytes().empty();
    if (message.field() == 3) model.dummy_prefix = message.whole() != 0;
    if (message.field() == 4) model.remove_blanks = message.whole() != 0;
    if (message.field() == 5) model.escape_blanks = message.whole() != 0;
  }
}

Model read_model(const std::string& name, std::string_view bytes) {
  Model model;
  ProtoReader message(name, bytes);
  while (message.next()) {
    if (message.field() == 1)
      model.pieces.push_back(read_piece(name, message.message(), model.pieces.size()));
    if (message.field() == 2) read_trainer(message.message(), model);
    if (message.field() == 3) read_normalizer(message.message(), model);
  }
  return model;
}

// What all LLaMA models have; with anything else the tokens would be other ones.
void check_model(const std::string& name, const Model& model) {
  require<IoError>(!model.pieces.empty(), name,
                   ": no pieces found, a sentencepiece model expected");
  require<IoError>(model.type == kBpe, name, ": a model of type ", model.type,
                   " found, BPE (2) expected");
  require<IoError>(model.byte_fallback, name,
                   ": a model without bytes for unknown characters found, one with them expected");
  require<IoError>(!model.maps_characters && !model.remove_blanks, name,
                   ": a model that changes characters or removes blanks found, one that leaves the "
                   "text as it is expected");
  require<IoError>(model.dummy_prefix && model.escape_blanks, name,
                   ": a model without a blank before the text found, one with it expected");
}

// LLaMA 3 has a file of the same name: lines of a piece in base64 and its number.
bool is_tiktoken(std::string_view bytes) {
  return bytes.starts_with("IQ== 0\n");
}

}  // namespace

std::unique_ptr<Tokenizer> read_sentencepiece(const fs::path& path) {
  const std::string name = path.string(), bytes = io::read_bytes(path);
  require<IoError>(
      !is_tiktoken(bytes), name,
      ": a list of pieces of tiktoken found, a sentencepiece model expected (for LLaMA "
      "3: its tokenizer.json)");
  const Model model = read_model(name, bytes);
  check_model(name, model);
  TokenizerFiles files = convert_pieces(name, model.pieces);
  for (const auto& [neighbour, content] : read_tokenizer_files(path.parent_path()))
    files.try_emplace(neighbour, content);
  files["tokenizer.model"] = bytes;
  return parse_tokenizer(name, std::move(files));
}

}  // namespace udv::text
