// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/interrupt.hpp"
#include "cli/text_model.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/npy.hpp"

namespace udv::cli {
namespace {

struct Flags {
  ModelFlags model;
  deep::GenerateOptions options;
  std::string prompt, scores;
  int threads = 0;
};

// Prints a text as it grows: what is new since the last time, characters whole.
class Writer {
 public:
  explicit Writer(const deep::Tokenizer& tokenizer, std::vector<deep::Token> prompt)
      : tokenizer_(tokenizer), tokens_(std::move(prompt)) {
    show();
  }

  void add(deep::Token token) {
    tokens_.push_back(token);
    show();
  }

  void finish() const {
    const std::string text = tokenizer_.decode(tokens_);
    fmt::print("{}\n", text.substr(std::min(shown_, text.size())));
  }

 private:
  void show() {
    const std::string text = tokenizer_.decode(tokens_);
    size_t end = text.size();
    // The last character may lack bytes that are still to come.
    while (end > shown_ && (static_cast<unsigned char>(text[end - 1]) & 0x80) != 0) --end;
    if (end <= shown_) return;
    fmt::print("{}", text.substr(shown_, end - shown_));
    std::fflush(stdout);
    shown_ = end;
  }

  const deep::Tokenizer& tokenizer_;
  std::vector<deep::Token> tokens_;
  size_t shown_ = 0;
};

ExitCode run_generate(const Flags& flags) {
  set_num_threads(flags.threads);
  TextModel pair = read_text_model(flags.model);
  const std::vector<deep::Token> prompt = pair.encode(flags.prompt);
  const Index limit = pair.model.config().context;
  require<IoError>(static_cast<Index>(prompt.size()) <= limit, "--prompt: ", prompt.size(),
                   " tokens found, the model takes up to ", limit);
  if (!flags.scores.empty()) {
    io::write_npy(flags.scores, pair.model.logits(prompt));
    return kDone;
  }
  catch_interrupts();
  Writer writer(*pair.tokenizer, prompt);
  pair.model.generate(prompt, flags.options, [&](deep::Token token) {
    writer.add(token);
    return !interrupted();
  });
  writer.finish();
  return interrupted() ? kInterrupted : kDone;
}

}  // namespace

Run setup_generate(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command = program.add_subcommand(
      "generate", "Lets a language model, with an adapter or without, go on");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command->add_option(name, value, text);
  };
  flags->model.add_to(*command);
  add("--prompt", flags->prompt, "How the text begins");
  add("--tokens", flags->options.tokens, "Tokens at most")
      ->capture_default_str()
      ->check(CLI::Range(Index{1}, Index{1} << 31));
  add("--temperature", flags->options.temperature, "0: the likeliest token each time")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 1e6));
  add("--seed", flags->options.seed, "Of the draws")->capture_default_str()->check(seed_number());
  add("--scores", flags->scores,
      "Instead of going on: write what the model gives for every token of the prompt, tokens x "
      "vocabulary, as .npy");
  add("--threads", flags->threads, "Threads (default: all cores)")->check(CLI::Range(1, 1024));
  return [flags] { return run_generate(*flags); };
}

}  // namespace udv::cli
