// SPDX-License-Identifier: MIT
#include "udv/deep/generate_job.hpp"

#include <algorithm>

#include "core/require.hpp"
#include "udv/io/npy.hpp"

namespace udv::jobs {
namespace {

using text::Token;

/// A text as it grows: tells what is new since the last time, characters whole.
class GrowingText {
 public:
  GrowingText(const text::Tokenizer& tokenizer, std::vector<Token> prompt,
              const TextListener& listener)
      : tokenizer_(tokenizer), tokens_(std::move(prompt)), listener_(listener) {}

  /// False where the listener has had enough.
  bool add(Token token) {
    tokens_.push_back(token);
    return show();
  }

  bool show() {
    const std::string text = tokenizer_.decode(tokens_);
    size_t end = text.size();
    // The last character may lack bytes that are still to come.
    while (end > shown_ && (static_cast<unsigned char>(text[end - 1]) & 0x80) != 0) --end;
    return tell(text.substr(0, end));
  }

  std::string finish() {
    std::string text = tokenizer_.decode(tokens_);
    tell(text);
    return text;
  }

 private:
  bool tell(const std::string& text) {
    if (!listener_ || text.size() <= shown_) return true;
    const std::string piece = text.substr(shown_);
    shown_ = text.size();
    return listener_(piece);
  }

  const text::Tokenizer& tokenizer_;
  std::vector<Token> tokens_;
  const TextListener& listener_;
  size_t shown_ = 0;
};

}  // namespace

void describe(OptionTable& table, GenerateInput& input) {
  describe(table, input.model);
  table.group("Text");
  table.add("prompt", input.prompt, "Beginning of the text");
}

void describe(OptionTable& table, GenerateJobOptions& options) {
  describe(table, options.sampling);
  table
      .add("scores", options.scores,
           "Instead of a text, write the scores of the next token after every token of the prompt, "
           "tokens x vocabulary, as .npy")
      .called("FILE")
      .keeps_numbers();
}

GenerateResult generate(const GenerateInput& input, const GenerateJobOptions& options,
                        Session& session, const TextListener& on_text) {
  deep::TextModel model = read_text_model(input.model);
  return generate(model, input.prompt, options, session, on_text);
}

GenerateResult generate(deep::TextModel& model, const std::string& prompt,
                        const GenerateJobOptions& options, Session& session,
                        const TextListener& on_text) {
  const std::vector<Token> begin = model.encode(prompt);
  const Index limit = model.model.config().context;
  require<IoError>(static_cast<Index>(begin.size()) <= limit, "prompt: ", begin.size(),
                   " tokens found, the model takes up to ", limit);
  GenerateResult result;
  if (!options.scores.empty()) {
    io::write_npy(options.scores, model.model.logits(begin));
    return result;
  }
  deep::GenerateOptions sampling = options.sampling;
  sampling.seed = session.seed();
  GrowingText text(*model.tokenizer, begin, on_text);
  bool wanted = text.show();
  const auto look = [&](Token token) {
    wanted = text.add(token) && !session.interrupted();
    return wanted;
  };
  if (wanted) result.tokens = model.model.generate(begin, sampling, look);
  result.text = text.finish();
  if (!wanted) result.outcome = Outcome::kInterrupted;
  return result;
}

}  // namespace udv::jobs
