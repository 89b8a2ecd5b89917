// SPDX-License-Identifier: MIT
// Adapters of language models on a GPU; needs LibTorch, Eigen and OpenBLAS alone.
// usage: bench_lora speed KEY=VALUE...   training of a model with random weights, LLaMA-2-7B's
// shape
//          layers=32 dim=4096 hidden=11008 heads=32 kv=32 vocabulary=32000 sequence=1024 batch=8
//          micro=8 steps=6 rank=16 method=lora-udv device=cuda checkpointing=1
//        bench_lora story KEY=VALUE...   one training: perplexity by epoch, then cut to the numbers
//        of parameters that LoRA of lower ranks has, by calibration; and cut to a predicted loss
//          model=FILE.bin (llama2.c) train=FILE eval=FILE (int32 tokens) method=lora-udv rank=16
//          modules=all first_rank=0 epochs=30 lr=0 (auto) optimizer=auto preset=auto seed=0
//          cuts=4,16 sequences=64 batch=32 device=cuda precision=single
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "arguments.hpp"
#include "core/require.hpp"
#include "udv/core/random.hpp"
#include "udv/deep/language_model.hpp"

namespace udv::deep {
namespace {

using bench::Arguments;
using text::LlamaConfig;
using text::Token;
using Ranks = net::AdapterPruning::Ranks;

LlamaConfig shape_of(const Arguments& arguments) {
  LlamaConfig c;
  c.layers = arguments.number<Index>("layers", 32);
  c.dim = arguments.number<Index>("dim", 4096);
  c.hidden = arguments.number<Index>("hidden", 11008);
  c.heads = arguments.number<Index>("heads", 32);
  c.kv_heads = arguments.number<Index>("kv", 32);
  c.head_dim = c.dim / c.heads;
  c.vocabulary = arguments.number<Index>("vocabulary", 32000);
  c.context = arguments.number<Index>("sequence", 1024);
  return c;
}

std::vector<std::string> words_of(const std::string& list) {
  std::istringstream stream(list);
  std::vector<std::string> words;
  for (std::string word; std::getline(stream, word, ',');) words.push_back(word);
  return words;
}

LoraOptions options_of(const Arguments& arguments) {
  LoraOptions o;
  o.preset = arguments.word("preset", "auto");
  o.adapter.method = arguments.word("method", "lora-udv");
  o.adapter.rank = arguments.number<Index>("rank", 16);
  o.adapter.first_rank = arguments.number<Index>("first_rank", 0);
  o.adapter.modules = words_of(arguments.word("modules", ""));
  o.adapter.deviation = arguments.number("std", 0.0);
  o.optimizer = arguments.word("optimizer", "auto");
  o.learning_rate = arguments.number("lr", 0.0);
  o.epochs = arguments.number<Index>("epochs", 30);
  o.batch = arguments.number<Index>("batch", 32);
  o.micro_batch = arguments.number<Index>("micro", 0);
  o.sequence = arguments.number<Index>("sequence", 0);
  o.checkpointing = arguments.number<int>("checkpointing", 0) != 0;
  o.seed = arguments.number<std::uint64_t>("seed", 0);
  return o;
}

Placement placement_of(const Arguments& arguments) {
  return {arguments.word("device", "cuda"), arguments.word("precision", "auto")};
}

// The second pass over a text of random tokens counts.
void speed(const Arguments& arguments) {
  LanguageModel model = LanguageModel::random(shape_of(arguments), placement_of(arguments));
  const LlamaConfig& c = model.config();
  LoraOptions o = options_of(arguments);
  if (o.adapter.modules.empty()) o.adapter.modules = {"q", "v"};
  o.sequence = c.context;
  o.batch = arguments.number<Index>("batch", 8);
  o.micro_batch = arguments.number<Index>("micro", o.batch);
  o.checkpointing = arguments.number<int>("checkpointing", 1) != 0;
  o.epochs = 2;
  const Index steps = arguments.number<Index>("steps", 6);
  Random random(1);
  std::vector<Token> text;
  for (Index i = 0; i <= steps * o.batch * c.context; ++i)
    text.push_back(static_cast<Token>(random.below(c.vocabulary)));
  const std::vector<Token> evaluation(text.begin(), text.begin() + 64);
  const LoraResult result = model.train(text, evaluation, o);
  std::printf(
      "{\"part\": \"speed\", \"parameters\": %ld, \"batch\": %ld, \"micro\": %ld, \"sequence\": "
      "%ld, \"checkpointing\": %d, \"tokens_per_second\": %.1f, \"peak_memory_gb\": %.3f, "
      "\"loss\": %.4f}\n",
      static_cast<long>(c.parameters()), static_cast<long>(o.batch),
      static_cast<long>(o.micro_batch), static_cast<long>(c.context), o.checkpointing,
      result.history.back().tokens_per_second, result.peak_memory / 1e9,
      result.history.back().train_loss);
}

std::string read_all(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  require<IoError>(static_cast<bool>(stream), path, ": cannot be read");
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<Token> read_tokens(const std::string& path) {
  const std::string bytes = read_all(path);
  const auto* const begin = reinterpret_cast<const Token*>(bytes.data());
  return {begin, begin + bytes.size() / sizeof(Token)};
}

// The ranks with the best of so many parameters, or all.
Ranks ranks_within(const net::AdapterPruning& pruning, double parameters, double all) {
  return pruning.budget().by_value(std::min(1.0, parameters / all));
}

// Numbers that LoRA of this rank has on the same matrices.
double lora_parameters(const net::Adapter& adapter, Index rank) {
  double sum = 0;
  for (const net::AdapterBlock& block : adapter.blocks)
    sum += static_cast<double>(rank * (block.A.cols() + block.B.rows()));
  return sum;
}

/// What cuts leave of a trained adapter.
class Cuts {
 public:
  Cuts(LanguageModel& model, const std::vector<Token>& text, const std::vector<Token>& evaluation,
       const LoraOptions& options, Index sequences)
      : model_(model),
        text_(text),
        evaluation_(evaluation),
        o_(options),
        adapter_(model.adapter()),
        pruning_(adapter_, model.calibrate(text, sequences, o_.sequence, o_.micro_batch)),
        before_(model.loss(text, o_.sequence, o_.micro_batch)) {}

  // [parameters, perplexity, predicted increase of the loss, that of the training text]
  void print(const Ranks& ranks, const char* comma) const {
    model_.set_adapter(pruning_.keep(ranks));
    const double loss = model_.loss(evaluation_, o_.sequence, o_.micro_batch);
    const double training = model_.loss(text_, o_.sequence, o_.micro_batch);
    model_.set_adapter(adapter_);
    std::printf("%s[%ld, %.4f, %.6g, %.6g]", comma,
                static_cast<long>(pruning_.keep(ranks).parameters()), std::exp(loss),
                pruning_.budget().dropped(ranks), training - before_);
  }

  void print_all(const std::vector<std::string>& ranks) const {
    std::printf(", \"cuts\": [");
    const char* comma = "";
    for (const std::string& rank : ranks) {
      const auto all = static_cast<double>(adapter_.parameters());
      print(ranks_within(pruning_, lora_parameters(adapter_, std::stol(rank)), all), comma);
      comma = ", ";
    }
    std::printf("], \"max_loss\": [");
    comma = "";
    for (const double loss : {1e-3, 1e-2}) {
      print(pruning_.budget().of_loss(loss), comma);
      comma = ", ";
    }
    std::printf("]");
  }

 private:
  LanguageModel& model_;
  const std::vector<Token>&text_, &evaluation_;
  const LoraOptions& o_;
  net::Adapter adapter_;
  net::AdapterPruning pruning_;
  double before_;  // loss of the training text
};

void story(const Arguments& arguments) {
  const std::string file = arguments.word("model", "");
  LanguageModel model = LanguageModel::from_llama2c(
      file, read_all(file),
      {arguments.word("device", "cuda"), arguments.word("precision", "single")});
  const auto text = read_tokens(arguments.word("train", "")),
             evaluation = read_tokens(arguments.word("eval", ""));
  const LoraOptions o = options_of(arguments);
  const Index steps = training_steps(text, sequence_length(model.config(), o.sequence), o);
  const LoraOptions used = o.resolved(steps);
  const LoraResult result = model.train(text, evaluation, o);
  std::printf(
      "{\"part\": \"story\", \"method\": \"%s\", \"rank\": %ld, \"first_rank\": %ld, "
      "\"modules\": \"%s\", \"optimizer\": \"%s\", \"lr\": %g, \"seed\": %ld, "
      "\"parameters\": %ld, \"seconds\": %.1f, \"tokens_per_second\": %.0f, \"perplexity\": [",
      used.adapter.method.c_str(), static_cast<long>(used.adapter.rank),
      static_cast<long>(used.adapter.width()), arguments.word("modules", "all").c_str(),
      used.optimizer.c_str(), used.learning_rate, static_cast<long>(o.seed),
      static_cast<long>(model.adapter().parameters()), result.seconds, result.tokens_per_second);
  for (const LoraEpoch& e : result.history)
    std::printf("%s%.4f", e.epoch > 0 ? ", " : "", e.perplexity());
  std::printf("]");
  if (result.stop == net::TrainStop::kDone)
    Cuts(model, text, evaluation, o, arguments.number<Index>("sequences", 64))
        .print_all(words_of(arguments.word("cuts", "4,16")));
  std::printf("}\n");
  std::fflush(stdout);
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  require(what == "speed" || what == "story", "usage: bench_lora speed|story KEY=VALUE...");
  const Arguments arguments(argc, argv, 2);
  what == "speed" ? speed(arguments) : story(arguments);
  return 0;
}

}  // namespace
}  // namespace udv::deep

int main(int argc, char** argv) {
  return udv::bench::guarded_main("bench_lora", udv::deep::run, argc, argv);
}
