// SPDX-License-Identifier: MIT
#pragma once

#include "udv/text/tokenizer.hpp"

namespace udv::text {

using TokenizerFiles = std::map<std::string, std::string>;

/// A tokenizer.json with its neighbours. `name` stands in errors about tokenizer.json. `config` is
/// the model's config.json, empty where there is none.
std::unique_ptr<Tokenizer> parse_tokenizer(const std::string& name, TokenizerFiles files,
                                           const std::string& config = "");

/// What is in a folder of the Hugging Face layout and belongs to the tokenizer.
TokenizerFiles read_tokenizer_files(const std::filesystem::path& folder);

std::unique_ptr<Tokenizer> read_sentencepiece(const std::filesystem::path& path);

/// llama2.c's file as tokenizer.json and tokenizer_config.json.
TokenizerFiles convert_llama2c(const std::string& name, std::string_view bytes);

}  // namespace udv::text
