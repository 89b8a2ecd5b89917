// SPDX-License-Identifier: MIT
#include "udv/deep/text_model.hpp"

#include "core/require.hpp"
#include "udv/io/file.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::deep {
namespace {

namespace fs = std::filesystem;

// Vocabularies are often rounded up for the processor's sake, by less than this.
constexpr Index kPadding = 1024;

// Beside the model where none is given.
fs::path tokenizer_path(const TextModelFiles& files) {
  if (!files.tokenizer.empty()) return files.tokenizer;
  const fs::path model = files.model;
  if (fs::is_directory(model)) return model;
  return model.has_parent_path() ? model.parent_path() : fs::path(".");
}

void check_together(const TextModelFiles& files, const TextModel& pair) {
  const Index pieces = pair.tokenizer->size(), words = pair.model.config().vocabulary;
  require<IoError>(pieces <= words && words - pieces < kPadding, tokenizer_path(files).string(),
                   ": a tokenizer of ", pieces, " tokens found, the model ", files.model, " has ",
                   words);
}

}  // namespace

std::vector<text::Token> TextModel::encode(const std::string& text) const {
  std::vector<text::Token> tokens = tokenizer->encode(text);
  if (tokenizer->begin() >= 0) tokens.insert(tokens.begin(), tokenizer->begin());
  return tokens;
}

TextModel read_text_model(const TextModelFiles& files) {
  TextModel pair{LanguageModel::read(files.model, files.placement), nullptr, files.model};
  pair.tokenizer = text::read_tokenizer(tokenizer_path(files));
  check_together(files, pair);
  if (files.adapter.empty()) return pair;
  try {
    pair.model.set_adapter(net::read_adapter(files.adapter));
  } catch (const InvalidArgument& error) {
    throw IoError(message(files.adapter, ": made for another model: ", error.what()));
  }
  return pair;
}

std::vector<text::Token> read_tokens(const TextModel& model, const fs::path& path, Index limit) {
  const std::string text = io::read_bytes(path);
  require<IoError>(!text.empty(), path.string(), ": empty, a text expected");
  std::vector<text::Token> tokens = model.encode(text);
  if (limit > 0 && static_cast<Index>(tokens.size()) > limit)
    tokens.resize(static_cast<size_t>(limit));
  require<IoError>(tokens.size() >= 2, path.string(), ": ", tokens.size(),
                   " tokens found, at least 2 expected");
  return tokens;
}

}  // namespace udv::deep
