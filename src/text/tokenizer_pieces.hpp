// SPDX-License-Identifier: MIT
#pragma once

#include "text/tokenizer_files.hpp"

namespace udv::text {

inline constexpr const char* kBlankMark = "\u2581";  ///< stands for a blank in sentencepiece

/// A piece of sentencepiece's BPE; the best score is joined first.
struct ScoredPiece {
  std::string text;  ///< with kBlankMark in place of blanks
  float score;
};

/// A vocabulary of LLaMA's layout (<unk>, <s>, </s>, 256 bytes, then pieces) as tokenizer.json and
/// tokenizer_config.json. Throws IoError that starts with `name`.
TokenizerFiles convert_pieces(const std::string& name, const std::vector<ScoredPiece>& pieces);

}  // namespace udv::text
