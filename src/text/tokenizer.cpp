// SPDX-License-Identifier: MIT
#include "udv/text/tokenizer.hpp"

#include "core/require.hpp"
#include "io/names.hpp"
#include "text/tokenizer_files.hpp"
#include "udv/io/file.hpp"

namespace udv::text {
namespace {

namespace fs = std::filesystem;

std::string bytes_if_there(const fs::path& path) {
  return fs::is_regular_file(path) ? io::read_bytes(path) : "";
}

std::unique_ptr<Tokenizer> read_json(const fs::path& path) {
  TokenizerFiles files = read_tokenizer_files(path.parent_path());
  files["tokenizer.json"] = io::read_bytes(path);
  return parse_tokenizer(path.string(), std::move(files),
                         bytes_if_there(path.parent_path() / "config.json"));
}

std::unique_ptr<Tokenizer> read_llama2c(const fs::path& path) {
  return parse_tokenizer(path.string(), convert_llama2c(path.string(), io::read_bytes(path)));
}

// llama2.c has tokenizer.bin and, for vocabularies of other sizes, tok512.bin; beside them
// model.bin.
fs::path llama2c_file(const fs::path& folder) {
  fs::path found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_regular_file() || !name.starts_with("tok") || !name.ends_with(".bin")) continue;
    require<IoError>(found.empty(), folder.string(),
                     ": several tokenizers of llama2.c found: ", found.filename().string(), " and ",
                     name);
    found = entry.path();
  }
  require<IoError>(!found.empty(), folder.string(),
                   ": no tokenizer found, tokenizer.json, tokenizer.model or tok*.bin expected");
  return found;
}

fs::path tokenizer_file(const fs::path& folder) {
  for (const char* name : {"tokenizer.json", "tokenizer.model"})
    if (fs::is_regular_file(folder / name)) return folder / name;
  return llama2c_file(folder);
}

}  // namespace

TokenizerFiles read_tokenizer_files(const fs::path& folder) {
  TokenizerFiles files;
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "tokenizer.model",
                           "special_tokens_map.json", "added_tokens.json"})
    if (fs::is_regular_file(folder / name)) files[name] = io::read_bytes(folder / name);
  return files;
}

std::unique_ptr<Tokenizer> read_tokenizer(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? tokenizer_file(path) : path;
  const std::string ending = io::detail::lower_case(file.extension().string());
  if (ending == ".json") return read_json(file);
  if (ending == ".model") return read_sentencepiece(file);
  if (ending == ".bin") return read_llama2c(file);
  throw IoError(message(file.string(), fs::exists(file) ? ": ending" : ": no such file; ending",
                        " '", ending, "' found, .json, .model, .bin or a folder expected"));
}

void write_tokenizer(const fs::path& folder, const Tokenizer& tokenizer) {
  io::make_folder(folder);
  for (const auto& [name, bytes] : tokenizer.files()) io::write_atomically(folder / name, bytes);
}

}  // namespace udv::text
