// SPDX-License-Identifier: MIT
// Adapters of language models on a GPU; needs LibTorch, Eigen and OpenBLAS alone.
// usage: bench_lora speed KEY=VALUE...   training of a model with random weights, LLaMA-2-7B's
// shape
//          layers=32 dim=4096 hidden=11008 heads=32 kv=32 vocabulary=32000 sequence=1024 batch=8
//          micro=8 steps=6 rank=16 method=lora-udv device=cuda checkpointing=1
//        bench_lora story KEY=VALUE...   perplexity by epoch and after pruning, LoRA and LoRA-UDV
//          model=FILE.bin (llama2.c) train=FILE eval=FILE (int32 tokens) epochs=30 lr=1e-3
//          optimizer=mbgd ranks=4,8,16,32,64 batch=32 std=0.1 device=cuda precision=single
#include <cmath>
#include <cstdio>
#include <fstream>

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

LoraOptions options_of(const Arguments& arguments) {
  LoraOptions o;
  o.adapter.method = arguments.word("method", "lora-udv");
  o.adapter.rank = arguments.number<Index>("rank", 16);
  o.adapter.deviation = arguments.number("std", 0.1);
  o.optimizer = arguments.word("optimizer", "mbgd");
  o.learning_rate = arguments.number("lr", 1e-3);
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

// Perplexity by epoch, then by what energy and size leave.
void one_story(LanguageModel& model, const std::vector<Token>& text,
               const std::vector<Token>& evaluation, const LoraOptions& o) {
  const LoraResult result = model.train(text, evaluation, o);
  std::printf(
      "{\"part\": \"story\", \"method\": \"%s\", \"rank\": %ld, \"optimizer\": \"%s\", "
      "\"lr\": %g, \"tokens_per_second\": %.0f, \"perplexity\": [",
      o.adapter.method.c_str(), static_cast<long>(o.adapter.rank), o.optimizer.c_str(),
      o.learning_rate, result.tokens_per_second);
  for (const LoraEpoch& e : result.history)
    std::printf("%s%.4f", e.epoch > 0 ? ", " : "", e.perplexity());
  const net::AdapterPruning pruning(model.adapter());
  const auto worth = [&](const Ranks& ranks) {
    model.set_adapter(pruning.keep(ranks));
    return std::exp(model.loss(evaluation, o.sequence, o.micro_batch));
  };
  std::printf("], \"pruning\": [");
  const char* comma = "";
  for (const double energy : {0.5, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 1.0}) {
    const Ranks ranks = pruning.ranks_of_energy(energy);
    std::printf("%s[%g, %.4f, %.4f]", comma, energy, pruning.ratio(ranks), worth(ranks));
    comma = ", ";
  }
  std::printf("], \"at_ratio\": {");
  comma = "";
  for (const double ratio : {0.5, 0.25, 0.1}) {
    const Ranks ranks = pruning.ranks_of_ratio(ratio);
    std::printf("%s\"%g\": %.4f", comma, ratio, worth(ranks));
    comma = ", ";
  }
  std::printf("}}\n");
  std::fflush(stdout);
}

void story(const Arguments& arguments) {
  const std::string file = arguments.word("model", "");
  LanguageModel model = LanguageModel::from_llama2c(
      file, read_all(file),
      {arguments.word("device", "cuda"), arguments.word("precision", "single")});
  const auto text = read_tokens(arguments.word("train", "")),
             evaluation = read_tokens(arguments.word("eval", ""));
  LoraOptions o = options_of(arguments);
  std::istringstream ranks(arguments.word("ranks", "4,8,16,32,64"));
  for (std::string rank; std::getline(ranks, rank, ',');)
    for (const char* method : {"lora", "lora-udv"}) {
      o.adapter.rank = std::stol(rank);
      o.adapter.method = method;
      one_story(model, text, evaluation, o);
    }
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
