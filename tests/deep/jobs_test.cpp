// SPDX-License-Identifier: MIT
// The jobs of the LibTorch component with data in memory.
#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "udv/core/error.hpp"
#include "udv/core/random.hpp"
#include "udv/deep/finetune_job.hpp"
#include "udv/deep/generate_job.hpp"
#include "udv/deep/lora_job.hpp"

namespace udv::jobs {
namespace {

using text::Token;
using Words = std::vector<std::string>;

// Dark pictures of class 0, bright ones of class 1.
deep::ImageSet shades(Index count) {
  deep::ImageSet set{count, 1, 8, 8, "", {}, 2};
  Random random(4);
  for (Index i = 0; i < count; ++i) {
    set.labels.push_back(static_cast<std::int32_t>(i % 2));
    for (Index p = 0; p < set.pixels(); ++p)
      set.bytes += static_cast<char>(random.below(90) + 150 * (i % 2));
  }
  return set;
}

FinetuneJobOptions quick_finetuning() {
  FinetuneJobOptions options;
  options.tuning.training.epochs = 2;
  options.tuning.training.batch = 8;
  options.tuning.training.hidden = 6;
  return options;
}

/// Each letter is its number in the alphabet.
class Letters : public text::Tokenizer {
 public:
  Index size() const override { return 26; }
  std::vector<Token> encode(std::string_view text) const override {
    std::vector<Token> tokens;
    for (const char letter : text) tokens.push_back(letter - 'a');
    return tokens;
  }
  std::string decode(const std::vector<Token>& tokens) const override {
    std::string text;
    for (const Token token : tokens) text += piece(token);
    return text;
  }
  std::string piece(Token token) const override { return {static_cast<char>('a' + token)}; }
  Token begin() const override { return -1; }
  Token end() const override { return -1; }
  std::map<std::string, std::string> files() const override { return {}; }
};

deep::TextModel tiny_model() {
  text::LlamaConfig c;
  c.dim = 16;
  c.hidden = 24;
  c.layers = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 4;
  c.vocabulary = 26;
  c.context = 16;
  c.begin = c.end = -1;
  return {deep::LanguageModel::random(c, {}, 0.4), std::make_unique<Letters>(), "tiny"};
}

LoraJobOptions quick_lora() {
  LoraJobOptions options;
  options.training.epochs = 2;
  options.training.batch = 4;
  options.training.optimizer = "adam";
  options.ranks = {2};
  return options;
}

std::vector<Token> alphabet(int times) {
  std::vector<Token> text;
  for (int i = 0; i < 26 * times; ++i) text.push_back(i % 26);
  return text;
}

TEST(DeepJobs, FinetuneTakesPicturesFromMemory) {
  Session session;
  const auto result = finetune({shades(24), shades(12), {}}, quick_finetuning(), session);
  EXPECT_EQ(result.outcome, Outcome::kDone);
  EXPECT_TRUE(result.folder.empty());
  EXPECT_EQ(result.history.size(), 2u);
  ASSERT_TRUE(result.head.has_value());
  EXPECT_EQ(result.head->network.sizes().hidden, 6);
  EXPECT_EQ(result.training_images, 24);
}

TEST(DeepJobs, AFinetunedNetworkIsLoadedAndTestedFromItsFolder) {
  const io::TemporaryFolder folder;
  RunOptions run;
  run.out = folder / "run";
  Session session(run);
  const deep::ImageData data{shades(24), shades(12), {}};
  const auto trained = finetune(data, quick_finetuning(), session);
  for (const char* name : {"run.json", "model.safetensors", "network.safetensors", "history.csv",
                           "spectra.csv", "curves.csv"})
    EXPECT_TRUE(std::filesystem::exists(trained.folder / name)) << name;
  FinetuneJobOptions options = quick_finetuning();
  options.load = run.out;
  options.evaluate = true;
  EXPECT_NEAR(finetune(data, options, session).test_loss, trained.history.back().test_loss, 1e-6);
}

TEST(DeepJobs, LoraTrainsEveryMethodWithEveryRankInItsOwnFolder) {
  const io::TemporaryFolder folder;
  RunOptions run;
  run.out = folder / "run";
  deep::TextModel model = tiny_model();
  LoraJobOptions options = quick_lora();
  options.training.optimizer = "auto";
  options.methods = {"lora", "lora-udv", "adalora"};
  options.ranks = {1, 2};
  Session first(run);
  const auto result = lora(model, alphabet(8), alphabet(2), options, first);
  ASSERT_EQ(result.trainings.size(), 6u);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/lora-udv-r2/model.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/lora-udv-r2/calibration.safetensors"));
  EXPECT_TRUE(std::filesystem::exists(folder / "run/pruning.csv"));
  EXPECT_EQ(result.trainings[0].optimizer, "adam");
  EXPECT_EQ(result.trainings[1].optimizer, "relative");
  // Finished trainings are read again.
  run.resume = true;
  Session second(run);
  const auto again = lora(model, alphabet(8), alphabet(2), options, second);
  ASSERT_EQ(again.trainings.size(), 6u);
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(again.trainings[i].seconds, result.trainings[i].seconds) << i;
}

TEST(DeepJobs, LoraNamesTheSettingThatMakesNoSense) {
  Session session;
  deep::TextModel model = tiny_model();
  const auto complaint = [&](const LoraJobOptions& options) {
    try {
      lora(model, alphabet(8), alphabet(2), options, session);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  LoraJobOptions options = quick_lora();
  options.ranks = {4, 4};
  EXPECT_EQ(complaint(options), "rank: '4' found twice");
  options = quick_lora();
  options.methods = {"svd"};
  EXPECT_EQ(complaint(options), "method: 'svd' found, one of lora-udv, lora, adalora expected");
  options = quick_lora();
  options.ranks = {400};
  EXPECT_NE(complaint(options).find("rank 400 found, up to 16"), std::string::npos);
}

TEST(DeepJobs, GenerateTellsTheTextAsItGrows) {
  Session session;
  deep::TextModel model = tiny_model();
  GenerateJobOptions options;
  options.sampling.tokens = 5;
  Words pieces;
  const auto whole = generate(model, "abc", options, session, [&](const std::string& piece) {
    pieces.push_back(piece);
    return true;
  });
  EXPECT_EQ(whole.outcome, Outcome::kDone);
  EXPECT_EQ(whole.tokens.size(), 5u);
  EXPECT_EQ(pieces.size(), 6u);
  EXPECT_EQ(pieces[0], "abc");
  std::string joined;
  for (const std::string& piece : pieces) joined += piece;
  EXPECT_EQ(joined, whole.text);
  // Enough after the second piece.
  int seen = 0;
  const auto part =
      generate(model, "abc", options, session, [&](const std::string&) { return ++seen < 2; });
  EXPECT_EQ(part.outcome, Outcome::kInterrupted);
  EXPECT_EQ(part.text, whole.text.substr(0, 4));
}

}  // namespace
}  // namespace udv::jobs
