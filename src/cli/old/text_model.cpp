// SPDX-License-Identifier: MIT
#include "cli/text_model.hpp"

#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/net/adapter_file.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;

// Vocabularies are often rounded up for the processor's sake, by less than this.
constexpr Index kPadding = 1024;

// Beside the model where nobody says.
fs::path tokenizer_path(const ModelFlags& flags) {
  if (!flags.tokenizer.empty()) return flags.tokenizer;
  const fs::path model = flags.model;
  if (fs::is_directory(model)) return model;
  return model.has_parent_path() ? model.parent_path() : fs::path(".");
}

void check_together(const ModelFlags& flags, const TextModel& pair) {
  const Index pieces = pair.tokenizer->size(), words = pair.model.config().vocabulary;
  require<IoError>(pieces <= words && words - pieces < kPadding, tokenizer_path(flags).string(),
                   ": a tokenizer of ", pieces, " tokens found, the model ", flags.model, " has ",
                   words);
}

}  // namespace

void ModelFlags::add_to(CLI::App& command) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text);
  };
  add("--model", model, "Folder of a LLaMA model in Hugging Face's layout, or file of llama2.c")
      ->required();
  add("--tokenizer", tokenizer,
      "tokenizer.json, tokenizer.model or llama2.c's .bin (default: the one beside the model)");
  add("--adapter", adapter, "Folder of a PEFT adapter, or of a run of udv lora or udv prune");
  add("--device", place.device, "cpu or cuda")
      ->capture_default_str()
      ->check(CLI::IsMember({"cpu", "cuda"}));
  add("--precision", place.precision, "single, bf16 or auto (bf16 on cuda)")
      ->capture_default_str()
      ->check(CLI::IsMember({"auto", "single", "bf16"}));
}

void ModelFlags::describe(std::map<std::string, io::Setting>& config) const {
  config["model"] = model;
  config["device"] = place.device;
  config["precision"] = place.precision;
  if (!tokenizer.empty()) config["tokenizer"] = tokenizer;
  if (!adapter.empty()) config["adapter"] = adapter;
}

std::vector<deep::Token> TextModel::encode(const std::string& text) const {
  std::vector<deep::Token> tokens = tokenizer->encode(text);
  if (tokenizer->begin() >= 0) tokens.insert(tokens.begin(), tokenizer->begin());
  return tokens;
}

TextModel read_text_model(const ModelFlags& flags) {
  TextModel pair{deep::LanguageModel::read(flags.model, flags.place), nullptr};
  pair.tokenizer = deep::read_tokenizer(tokenizer_path(flags));
  check_together(flags, pair);
  if (flags.adapter.empty()) return pair;
  try {
    pair.model.set_adapter(net::read_adapter(flags.adapter));
  } catch (const InvalidArgument& error) {
    throw IoError(message(flags.adapter, ": made for another model: ", error.what()));
  }
  return pair;
}

std::vector<deep::Token> read_text(const TextModel& model, const fs::path& path, Index limit) {
  const std::string text = io::read_bytes(path);
  require<IoError>(!text.empty(), path.string(), ": empty, a text expected");
  std::vector<deep::Token> tokens = model.encode(text);
  if (limit > 0 && static_cast<Index>(tokens.size()) > limit)
    tokens.resize(static_cast<size_t>(limit));
  require<IoError>(tokens.size() >= 2, path.string(), ": ", tokens.size(),
                   " tokens found, at least 2 expected");
  return tokens;
}

}  // namespace udv::cli
