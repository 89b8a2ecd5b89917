// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "udv/deep/text_model.hpp"
#include "udv/jobs/session.hpp"

namespace udv::jobs {

/// A language model, and how the text begins.
struct GenerateInput {
  deep::TextModelFiles model;
  std::string prompt;
};
void describe(OptionTable& table, GenerateInput& input);

/// Settings of `generate`; the seed of the session is that of the draws.
struct GenerateJobOptions {
  deep::GenerateOptions sampling;
  std::string scores;  ///< .npy file for the scores of the prompt, instead of a text
};
void describe(OptionTable& table, GenerateJobOptions& options);

struct GenerateResult {
  Outcome outcome = Outcome::kDone;
  std::string text;                 ///< with the prompt
  std::vector<text::Token> tokens;  ///< without the prompt
};

/// Called with each new piece of the text, whole characters, the prompt first; false stops it.
using TextListener = std::function<bool(const std::string& piece)>;

/// Continues a text with a language model, or writes the model's scores of every token of the
/// prompt, tokens x vocabulary. Throws IoError naming a file, or the prompt where it is too long.
GenerateResult generate(const GenerateInput& input, const GenerateJobOptions& options,
                        Session& session, const TextListener& on_text = {});

/// The same with a model in memory.
GenerateResult generate(deep::TextModel& model, const std::string& prompt,
                        const GenerateJobOptions& options, Session& session,
                        const TextListener& on_text = {});

}  // namespace udv::jobs
