// SPDX-License-Identifier: MIT
#include "deep/tokenizer_files.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"

#ifdef UDV_WITH_SENTENCEPIECE
#include <sentencepiece_processor.h>

#include <nlohmann/json.hpp>

namespace udv::deep {
namespace {

namespace fs = std::filesystem;

class SentencepieceTokenizer final : public Tokenizer {
 public:
  SentencepieceTokenizer(const std::string& name, const std::string& bytes) {
    const auto status = model_.LoadFromSerializedProto(bytes);
    require<IoError>(status.ok(), name, ": damaged sentencepiece model found: ", status.message());
    require<IoError>(model_.GetPieceSize() > 0, name,
                     ": a model without pieces found, at least one expected");
  }

  Index size() const override { return model_.GetPieceSize(); }
  Token begin() const override { return model_.bos_id(); }
  Token end() const override { return model_.eos_id(); }
  Token unknown() const { return model_.unk_id(); }
  TokenizerFiles files() const override { return files_; }
  void set_files(TokenizerFiles files) { files_ = std::move(files); }

  std::vector<Token> encode(std::string_view text) const override {
    std::vector<int> tokens;
    const auto status = model_.Encode({text.data(), text.size()}, &tokens);
    require(status.ok(), "a text cannot be encoded: ", status.message());
    return tokens;
  }

  std::string decode(const std::vector<Token>& tokens) const override {
    std::vector<int> plain;
    for (const Token token : tokens) {
      require_known(token);
      if (!model_.IsControl(token) && !model_.IsUnknown(token)) plain.push_back(token);
    }
    std::string text;
    const auto status = model_.Decode(plain, &text);
    require(status.ok(), "tokens cannot be decoded: ", status.message());
    return text;
  }

  std::string piece(Token token) const override {
    require_known(token);
    return model_.IdToPiece(token);
  }

 private:
  void require_known(Token token) const {
    require(token >= 0 && token < size(), "token ", token, " found, 0 to ", size() - 1,
            " expected");
  }

  sentencepiece::SentencePieceProcessor model_;
  TokenizerFiles files_;
};

// For a model without the files of Hugging Face beside it.
std::string config_text(const SentencepieceTokenizer& tokenizer) {
  const auto text = [&](Token token) -> nlohmann::ordered_json {
    if (token < 0) return nullptr;
    return tokenizer.piece(token);
  };
  const nlohmann::ordered_json config = {
      {"tokenizer_class", "LlamaTokenizer"},     {"bos_token", text(tokenizer.begin())},
      {"eos_token", text(tokenizer.end())},      {"unk_token", text(tokenizer.unknown())},
      {"add_bos_token", tokenizer.begin() >= 0}, {"add_eos_token", false},
      {"clean_up_tokenization_spaces", false}};
  return config.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

// LLaMA 3 has a file of the same name: lines of a piece in base64 and its number.
bool is_tiktoken(std::string_view bytes) {
  return bytes.starts_with("IQ== 0\n");
}

}  // namespace

std::unique_ptr<Tokenizer> read_sentencepiece(const fs::path& path) {
  const std::string bytes = io::read_bytes(path);
  require<IoError>(
      !is_tiktoken(bytes), path.string(),
      ": a list of pieces of tiktoken found, a sentencepiece model expected (for LLaMA "
      "3: its tokenizer.json)");
  auto tokenizer = std::make_unique<SentencepieceTokenizer>(path.string(), bytes);
  TokenizerFiles files = read_tokenizer_files(path.parent_path());
  files["tokenizer.model"] = bytes;
  files.try_emplace("tokenizer_config.json", config_text(*tokenizer));
  tokenizer->set_files(std::move(files));
  return tokenizer;
}

}  // namespace udv::deep
#else
namespace udv::deep {

std::unique_ptr<Tokenizer> read_sentencepiece(const std::filesystem::path& path) {
  throw IoError(
      message(path.string(), ": a sentencepiece model, but this program was built without it"));
}

}  // namespace udv::deep
#endif
