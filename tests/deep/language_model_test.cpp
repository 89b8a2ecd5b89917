// SPDX-License-Identifier: MIT
#include "udv/deep/language_model.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/require.hpp"
#include "io/temporary_files.hpp"
#include "support/real_data.hpp"
#include "udv/core/random.hpp"
#include "udv/io/file.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::deep {
namespace {

namespace fs = std::filesystem;
using io::TemporaryFolder;
using testing::data_file;
using text::LlamaConfig;
using text::RopeScaling;
using text::Token;

LlamaConfig tiny() {
  LlamaConfig c;
  c.dim = 16;
  c.hidden = 24;
  c.layers = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 4;
  c.vocabulary = 20;
  c.context = 16;
  return c;
}

// Each token says a lot about the next one.
std::vector<Token> some_text(Index length, std::uint64_t seed = 0) {
  Random random(seed);
  std::vector<Token> text{1};
  while (static_cast<Index>(text.size()) < length)
    text.push_back(random.uniform() < 0.8 ? (3 * text.back() + 1) % 20
                                          : static_cast<Token>(random.below(20)));
  return text;
}

// The same one each time.
LanguageModel tiny_model() {
  torch::manual_seed(11);
  return LanguageModel::random(tiny(), {}, 0.4);
}

LoraOptions quick_options(const std::string& method = "lora-udv") {
  LoraOptions o;
  o.adapter.method = method;
  o.adapter.rank = 3;
  o.adapter.modules = {"q", "v", "down"};
  o.optimizer = "adam";
  o.learning_rate = 0.02;
  o.epochs = 3;
  o.batch = 4;
  o.sequence = 8;
  return o;
}

bool same_adapter(const net::Adapter& a, const net::Adapter& b) {
  for (size_t i = 0; i < a.blocks.size(); ++i)
    if (a.blocks[i].A != b.blocks[i].A || a.blocks[i].B != b.blocks[i].B ||
        a.blocks[i].d != b.blocks[i].d)
      return false;
  return a.blocks.size() == b.blocks.size();
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

TEST(LanguageModel, LearnsAndKeepsTheConstraintSets) {
  for (const char* method : {"lora", "lora-udv"}) {
    LanguageModel model = tiny_model();
    LoraOptions o = quick_options(method);
    o.preset = "paper";
    o.epochs = 12;
    const auto text = some_text(600), other = some_text(200, 1);
    const LoraResult result = model.train(text, other, o);
    ASSERT_EQ(result.history.size(), 13U);
    EXPECT_TRUE(std::isnan(result.history[0].train_loss));
    EXPECT_LT(result.history.back().eval_loss, result.history[0].eval_loss - 0.2) << method;
    EXPECT_NEAR(model.loss(other, 8), result.history.back().eval_loss, 1e-6);
    EXPECT_GT(result.tokens_per_second, 0);
    EXPECT_GT(result.peak_memory, 0);
    if (std::string(method) == "lora") continue;
    for (const net::AdapterBlock& block : model.adapter().blocks) {
      EXPECT_LE(block.A.norm(), 1 + 1e-5);
      EXPECT_LE(block.B.norm(), 1 + 1e-5);
      EXPECT_GE(block.d.minCoeff(), 0);
    }
  }
}

TEST(LanguageModel, RelativeStepsLearnByDefault) {
  LanguageModel model = tiny_model();
  LoraOptions o = quick_options();
  o.optimizer = "auto";
  o.learning_rate = 0;
  o.epochs = 8;
  const auto text = some_text(600), other = some_text(200, 1);
  const LoraResult result = model.train(text, other, o);
  EXPECT_LT(result.history.back().eval_loss, result.history[0].eval_loss - 0.3);
  EXPECT_LT(result.history.back().learning_rate, 0.1 * result.history[1].learning_rate);
  for (const net::AdapterBlock& block : model.adapter().blocks) {
    EXPECT_LE(block.A.norm(), 1 + 1e-5);
    EXPECT_LE(block.B.norm(), 1 + 1e-5);
    EXPECT_GE(block.d.minCoeff(), 0);
  }
}

// Before the first step |A| = 1, B = 0, and all d are one number below the nuclear norm needed.
TEST(LanguageModel, RelativeStepsStartOnTheSphere) {
  LanguageModel model = tiny_model();
  LoraOptions o = quick_options();
  o.optimizer = "auto";
  o.learning_rate = 0;
  o.epochs = 0;
  model.train(some_text(300), some_text(100, 1), o);
  const net::Adapter adapter = model.adapter();
  const float weight = adapter.blocks[0].d(0);
  EXPECT_GT(weight, 0.1);
  EXPECT_NE(weight, 1);
  for (const net::AdapterBlock& block : adapter.blocks) {
    EXPECT_NEAR(block.A.norm(), 1, 1e-6);
    EXPECT_EQ(block.B.norm(), 0);
    EXPECT_TRUE((block.d.array() == weight).all());
  }
}

TEST(LanguageModel, AdaLoraSharesItsRanks) {
  LanguageModel model = tiny_model();
  LoraOptions o = quick_options("adalora");
  o.adapter.rank = 2;
  o.adapter.first_rank = 4;
  o.epochs = 10;
  const auto text = some_text(600), other = some_text(200, 1);
  const LoraResult result = model.train(text, other, o);
  EXPECT_LT(result.history.back().eval_loss, result.history[0].eval_loss - 0.2);
  const net::Adapter adapter = model.adapter();
  EXPECT_EQ(adapter.method, "adalora");
  Index ranks = 0;
  for (const net::AdapterBlock& block : adapter.blocks) ranks += block.rank();
  EXPECT_EQ(ranks, 2 * 6);  // two layers of q, v, down
  LanguageModel again = tiny_model();
  again.set_adapter(adapter);
  EXPECT_NEAR(again.loss(other, 8), result.history.back().eval_loss, 1e-5);
}

// alpha / rank is in the adapter that comes out.
TEST(LanguageModel, AlphaScalesLora) {
  const auto text = some_text(300), other = some_text(100, 1);
  LanguageModel model = tiny_model();
  LoraOptions o = quick_options("lora");
  o.adapter.alpha = 6;
  model.train(text, other, o);
  const double loss = model.loss(other, 8);
  const net::Adapter adapter = model.adapter();
  EXPECT_EQ(adapter.blocks[0].d(0), 2);
  model.set_adapter(adapter);
  EXPECT_NEAR(model.loss(other, 8), loss, 1e-6);
  LanguageModel merged = tiny_model();
  merged.train(text, other, o);
  merged.merge_adapters();
  EXPECT_NEAR(merged.loss(other, 8), loss, 1e-5);
}

TEST(LanguageModel, SettingsThatNobodyGaveAreFound) {
  LoraOptions o;
  EXPECT_EQ(o.resolved(1290).optimizer, "relative");
  EXPECT_NEAR(o.resolved(1290).learning_rate, 0.1949, 1e-4);
  EXPECT_EQ(o.resolved(1).adapter.module_names().size(), 7U);
  o.adapter.method = "lora";
  EXPECT_EQ(o.resolved(1).optimizer, "adam");
  EXPECT_EQ(o.resolved(1).adapter.start, "uniform");
  o.preset = "paper";
  EXPECT_EQ(o.resolved(1).optimizer, "mbgd");
  EXPECT_EQ(o.resolved(1).learning_rate, 1e-3);
  EXPECT_EQ(o.resolved(1).adapter.module_names(), (std::vector<std::string>{"q", "v"}));
  o.optimizer = "relative";
  EXPECT_NE(error_of([&] { o.validate(); }).find("preset paper found together with optimizer"),
            std::string::npos);
  o.preset = "auto";
  EXPECT_NE(error_of([&] { o.validate(); }).find("lora-udv expected"), std::string::npos);
}

// 1/2 |Cy^1/2 dW Cx^1/2|^2 is about what a small cut adds to the loss: within a factor of 2 over
// some models.
TEST(LanguageModel, CalibrationPredictsWhatCutsCost) {
  double increase = 0, predicted = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    LanguageModel model = LanguageModel::random(tiny(), {}, 0.4, seed);
    LoraOptions o = quick_options();
    o.optimizer = "auto";
    o.learning_rate = 0;
    o.adapter.rank = 6;
    o.epochs = 10;
    const auto text = some_text(2000);
    model.train(text, some_text(200, 1), o);
    const double before = model.loss(text, 8);
    const net::Calibration moments = model.calibrate(text, 250, 8);
    ASSERT_EQ(moments.size(), 6U);
    const net::AdapterPruning pruning(model.adapter(), moments);
    const auto ranks = pruning.budget().of_loss(5e-3);
    predicted += pruning.budget().dropped(ranks);
    model.set_adapter(pruning.keep(ranks));
    increase += model.loss(text, 8) - before;
  }
  ASSERT_GT(predicted, 3e-3);
  EXPECT_GT(increase, 0.5 * predicted);
  EXPECT_LT(increase, 2 * predicted) << increase / predicted;
}

TEST(LanguageModel, PartsOfABatchAndCheckpointingChangeNothing) {
  const auto text = some_text(400), other = some_text(100, 1);
  LanguageModel whole = tiny_model(), parts = tiny_model();
  LoraOptions o = quick_options();
  const double expected = whole.train(text, other, o).history.back().eval_loss;
  o.micro_batch = 1;
  o.checkpointing = true;
  EXPECT_NEAR(parts.train(text, other, o).history.back().eval_loss, expected, 1e-5);
}

LoraOptions relative_options() {
  LoraOptions o = quick_options();
  o.optimizer = "auto";
  o.learning_rate = 0;
  return o;
}

class InterruptedLora : public ::testing::TestWithParam<const char*> {};

TEST_P(InterruptedLora, GoesOnToTheSameBits) {
  const auto text = some_text(400), other = some_text(100, 1);
  const std::string kind = GetParam();
  const LoraOptions o = kind == "relative" ? relative_options() : quick_options(kind);
  LanguageModel model = tiny_model();
  const LoraResult expected = model.train(text, other, o);
  const net::Adapter adapter = model.adapter();
  for (const int steps : {1, 13, 26}) {
    LanguageModel first = tiny_model();
    std::string checkpoint;
    int seen = 0;
    LoraHooks hooks;
    hooks.observer = [&](const IterationRecord&) {
      return ++seen == steps ? Verdict::kInterrupt : Verdict::kContinue;
    };
    hooks.save = [&](const std::string& bytes) { checkpoint = bytes; };
    EXPECT_EQ(first.train(text, other, o, hooks).stop, net::TrainStop::kInterrupted);
    LanguageModel second = tiny_model();
    LoraHooks go_on;
    go_on.resume = checkpoint;
    const LoraResult result = second.train(text, other, o, go_on);
    EXPECT_EQ(result.history.back().eval_loss, expected.history.back().eval_loss) << steps;
    EXPECT_EQ(result.history.back().train_loss, expected.history.back().train_loss) << steps;
    EXPECT_TRUE(same_adapter(second.adapter(), adapter)) << steps;
    go_on.resume = checkpoint.substr(0, checkpoint.size() / 2);
    EXPECT_NE(error_of([&] { second.train(text, other, o, go_on); }).find("not a checkpoint"),
              std::string::npos);
  }
}

TEST_P(InterruptedLora, GoesOnFromStatesSavedOnTheWay) {
  const auto text = some_text(200), other = some_text(60);
  const std::string kind = GetParam();
  const LoraOptions o = kind == "relative" ? relative_options() : quick_options(kind);
  std::vector<std::string> states;
  LoraHooks hooks;
  hooks.save_every_seconds = 0;
  hooks.save = [&](const std::string& bytes) { states.push_back(bytes); };
  LanguageModel model = tiny_model();
  model.train(text, other, o, hooks);
  ASSERT_GT(states.size(), 3u);
  for (size_t k = 0; k < states.size(); k += 1 + states.size() / 3) {
    LanguageModel second = tiny_model();
    LoraHooks go_on;
    go_on.resume = states[k];
    second.train(text, other, o, go_on);
    EXPECT_TRUE(same_adapter(second.adapter(), model.adapter())) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, InterruptedLora,
                         ::testing::Values("lora-udv", "relative", "adalora"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(LanguageModel, WindowsCountEveryTokenOnce) {
  LanguageModel model = tiny_model();
  const auto text = some_text(30);
  double sum = 0;
  for (size_t begin = 0; begin + 1 < text.size(); begin += 8) {
    const size_t end = std::min(text.size() - 1, begin + 8);
    const std::vector<Token> inputs(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                    text.begin() + static_cast<std::ptrdiff_t>(end));
    const RowMatrix<float> scores = model.logits(inputs);
    for (Index t = 0; t < scores.rows(); ++t) {
      const auto s = scores.row(t).cast<double>().array();
      sum += std::log((s - s.maxCoeff()).exp().sum()) + s.maxCoeff() -
             s(text[begin + static_cast<size_t>(t) + 1]);
    }
  }
  EXPECT_NEAR(model.loss(text, 8), sum / 29, 1e-5);
  EXPECT_NEAR(model.loss(text, 8, 1), sum / 29, 1e-5);
}

TEST(LanguageModel, FilesOfHuggingFaceComeBack) {
  const TemporaryFolder folder;
  for (const bool tied : {false, true})
    for (const char* precision : {"single", "bf16"}) {
      LlamaConfig config = tiny();
      config.tied = tied;
      config.rope_scaling = {RopeScaling::kLlama3, 8, 1, 4, 64};
      LanguageModel model = LanguageModel::random(config, {"cpu", precision});
      model.write(folder / "m");
      LanguageModel back = LanguageModel::read(folder / "m", {"cpu", precision});
      EXPECT_EQ(back.config().tied, tied);
      EXPECT_EQ(back.config().rope_scaling.kind, RopeScaling::kLlama3);
      EXPECT_TRUE(back.logits({1, 2, 3, 4}) == model.logits({1, 2, 3, 4})) << tied << precision;
    }
}

void write_config(const fs::path& folder, const std::string& from, const std::string& to) {
  std::string text = io::read_bytes(folder / "config.json");
  const size_t at = text.find(from);
  ASSERT_NE(at, text.npos) << text;
  std::ofstream(folder / "config.json") << text.replace(at, from.size(), to);
}

TEST(LanguageModel, DamagedFoldersAreNamed) {
  const TemporaryFolder folder;
  const fs::path at = folder / "m";
  const auto fresh = [&] {
    fs::remove_all(at);
    LanguageModel::random(tiny(), {}).write(at);
  };
  const auto error = [&] { return error_of([&] { LanguageModel::read(at, {}); }); };
  EXPECT_NE(error().find("no such file or folder"), std::string::npos);
  fresh();
  fs::remove(at / "model.safetensors");
  EXPECT_NE(error().find("neither model.safetensors"), std::string::npos) << error();
  std::ofstream(at / "model.safetensors.index.json")
      << R"({"weight_map": {"lm_head.weight": "model-00002-of-00003.safetensors"}})";
  EXPECT_NE(error().find("model-00002-of-00003.safetensors: this shard is missing"),
            std::string::npos)
      << error();
  fresh();
  write_config(at, "\"intermediate_size\": 24", "\"intermediate_size\": 28");
  EXPECT_NE(error().find("mlp.gate_proj.weight' of shape 24 x 16 found, 28 x 16 expected"),
            std::string::npos)
      << error();
  LlamaConfig tied = tiny();
  tied.tied = true;
  LanguageModel::random(tied, {}).write(at);
  write_config(at, "\"tie_word_embeddings\": true", "\"tie_word_embeddings\": false");
  EXPECT_NE(error().find("no tensor 'lm_head.weight' found"), std::string::npos) << error();
  fresh();
  write_config(at, "\"num_hidden_layers\": 2", "\"num_hidden_layers\": 3");
  EXPECT_NE(error().find("'model.layers.2.input_layernorm.weight' is missing"), std::string::npos)
      << error();
  fresh();
  write_config(at, "\"llama\"", "\"gpt2\"");
  EXPECT_NE(error().find("model_type \"gpt2\", \"llama\" expected"), std::string::npos) << error();
  fresh();
  write_config(at, "\"hidden_size\": 16", "\"hidden_size\": \"much\"");
  EXPECT_NE(error().find("hidden_size \"much\", a whole number expected"), std::string::npos)
      << error();
  fresh();
  std::ofstream(at / "config.json") << "{";
  EXPECT_NE(error().find("config.json: no JSON at byte"), std::string::npos) << error();
}

TEST(LanguageModel, ShardsAreReadTogether) {
  const TemporaryFolder folder;
  LanguageModel model = LanguageModel::random(tiny(), {});
  model.write(folder / "");
  {
    const io::SafetensorsFile whole(folder / "model.safetensors");
    std::string map;
    for (int s = 0; s < 2; ++s) {
      std::vector<io::Tensor> part;
      const std::string name = message("model-0000", s + 1, "-of-00002.safetensors");
      for (size_t i = static_cast<size_t>(s); i < whole.tensors().size(); i += 2) {
        part.push_back(whole.tensors()[i]);
        map += (map.empty() ? "\"" : ", \"") + whole.tensors()[i].name + "\": \"" + name + "\"";
      }
      io::write_atomically(folder / name, io::safetensors_bytes(part, {}));
    }
    std::ofstream(folder / "model.safetensors.index.json") << "{\"weight_map\": {" << map << "}}";
  }
  fs::remove(folder / "model.safetensors");
  LanguageModel back = LanguageModel::read(folder / "", {});
  EXPECT_TRUE(back.logits({1, 2, 3}) == model.logits({1, 2, 3}));
}

TEST(LanguageModel, BadTextsAndLengthsAreNamed) {
  LanguageModel model = tiny_model();
  EXPECT_NE(error_of([&] { model.loss({1}); }).find("a text of 1 tokens"), std::string::npos);
  EXPECT_NE(error_of([&] {
              model.loss({1, 2, 3}, 17);
            }).find("the model takes up to 16"),
            std::string::npos);
  EXPECT_NE(error_of([&] {
              model.loss({1, 25});
            }).find("do not belong together"),
            std::string::npos);
  EXPECT_NE(error_of([&] { model.generate(some_text(17), {}); }).find("the model takes up to 16"),
            std::string::npos);
  EXPECT_NE(error_of([&] { model.generate({}, {}); }).find("empty prompt"), std::string::npos);
}

TEST(LanguageModel, GeneratesTheSameForTheSameSeed) {
  LanguageModel model = tiny_model();
  GenerateOptions o;
  o.tokens = 10;
  o.temperature = 1.5;
  const auto first = model.generate({1, 4}, o);
  EXPECT_EQ(model.generate({1, 4}, o), first);
  EXPECT_LE(first.size(), 10U);
  o.temperature = 0;
  const auto likeliest = model.generate({1, 4}, o);
  if (!likeliest.empty()) {
    const RowMatrix<float> scores = model.logits({1, 4});
    Index best = 0;
    scores.row(1).maxCoeff(&best);
    EXPECT_EQ(likeliest[0], best);
  }
}

TEST(LanguageModel, Llama2cFilesTellTheStory) {
  const fs::path file = data_file("llama_stories260k/stories260K.bin");
  UDV_NEEDS(file, "llama_stories260k");
  LanguageModel model = LanguageModel::read(file, {});
  EXPECT_EQ(model.config().dim, 64);
  EXPECT_EQ(model.config().parameters(), 260032);
  const auto tokenizer = text::read_tokenizer(data_file("llama_stories260k/tok512.bin"));
  GenerateOptions o;
  o.tokens = 60;
  const auto tokens = model.generate({tokenizer->begin()}, o);
  EXPECT_TRUE(tokenizer->decode(tokens).starts_with(
      "Once upon a time, there was a little girl named Lily."))
      << tokenizer->decode(tokens);
  // Through Hugging Face's layout.
  const TemporaryFolder folder;
  model.write(folder / "");
  LanguageModel back = LanguageModel::read(folder / "", {});
  EXPECT_EQ(back.generate({tokenizer->begin()}, o), tokens);
}

TEST(LanguageModel, DamagedLlama2cFilesAreNamed) {
  std::string bytes(28, '\0');
  const auto read = [&] {
    return error_of([&] { LanguageModel::from_llama2c("m.bin", bytes, {}); });
  };
  EXPECT_NE(read().find("m.bin: a size of 0"), std::string::npos) << read();
  const std::int32_t sizes[] = {16, 24, 2, 4, 2, 20, 16};
  std::memcpy(bytes.data(), sizes, sizeof(sizes));
  EXPECT_NE(read().find("m.bin: 28 bytes found, at least"), std::string::npos) << read();
  const std::int32_t huge[] = {1 << 23, 1 << 23, 1 << 23, 4, 4, 1 << 23, 1 << 23};
  std::memcpy(bytes.data(), huge, sizeof(huge));
  EXPECT_NE(read().find("m.bin: "), std::string::npos) << read();
  bytes.resize(10);
  EXPECT_NE(read().find("m.bin: 10 bytes found"), std::string::npos) << read();
}

}  // namespace
}  // namespace udv::deep
