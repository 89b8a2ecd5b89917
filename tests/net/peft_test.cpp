// SPDX-License-Identifier: MIT
#include "udv/net/files/peft.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "io/temporary_files.hpp"
#include "support/adapters.hpp"
#include "udv/io/file.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::net {
namespace peft_test {

using Json = nlohmann::json;
using testing::change_of;
using testing::layer;
using testing::random_block;
using testing::rounding_of;
using testing::small_adapter;

// The settings of a LoRA (LoraConfig of PEFT), and what each of them may be. Programs that load
// adapters read r, lora_alpha, target_modules, bias, modules_to_save, use_rslora and use_dora of
// these.
const std::map<std::string, std::set<std::string>> kSettings{
    {"peft_type", {"string"}},
    {"task_type", {"string", "null"}},
    {"auto_mapping", {"object", "null"}},
    {"base_model_name_or_path", {"string", "null"}},
    {"revision", {"string", "null"}},
    {"inference_mode", {"boolean"}},
    {"r", {"number"}},
    {"lora_alpha", {"number"}},
    {"lora_dropout", {"number"}},
    {"bias", {"string"}},
    {"fan_in_fan_out", {"boolean"}},
    {"init_lora_weights", {"boolean", "string"}},
    {"use_rslora", {"boolean"}},
    {"use_dora", {"boolean"}},
    {"modules_to_save", {"array", "null"}},
    {"layers_to_transform", {"array", "number", "null"}},
    {"layers_pattern", {"array", "string", "null"}},
    {"target_modules", {"array", "string"}},
    {"exclude_modules", {"array", "string", "null"}},
    {"rank_pattern", {"object"}},
    {"alpha_pattern", {"object"}}};

/// A folder of PEFT as a test wants it.
class PeftFolder {
 public:
  PeftFolder() = default;
  explicit PeftFolder(const Adapter& adapter, PeftForm form = PeftForm::kPadded) {
    write_peft(folder_ / "", adapter, form);
  }

  void write_config(const Json& config) { folder_.write("adapter_config.json", config.dump()); }
  void add(const std::string& name, const RowMatrix<float>& values) {
    tensors_[name] = values;
    std::vector<io::NamedTensor<float>> named;
    for (const auto& [key, M] : tensors_) named.push_back({key, {M.rows(), M.cols()}, M.data()});
    io::write_safetensors(folder_ / "adapter_model.safetensors", named, {});
  }

  Json config() const { return Json::parse(io::read_bytes(folder_ / "adapter_config.json")); }
  io::SafetensorsFile tensors() const {
    return io::SafetensorsFile(folder_ / "adapter_model.safetensors");
  }
  Adapter read() const { return read_adapter(folder_ / ""); }
  std::string error() const {
    return folder_.error_of([&] { read(); });
  }
  const io::TemporaryFolder& folder() const { return folder_; }

 private:
  io::TemporaryFolder folder_;
  std::map<std::string, RowMatrix<float>> tensors_;
};

const RowMatrix<float> kA = testing::random_rows<float>(4, 8, 1);
const RowMatrix<float> kB = testing::random_rows<float>(6, 4, 2);
const std::string kQuery = "base_model.model." + layer(0, "q_proj");

Json lora_config() {
  return {{"peft_type", "LORA"}, {"r", 4}, {"lora_alpha", 10}, {"target_modules", {"q_proj"}}};
}

// A LoRA of one block, of rank 4.
void write_lora(PeftFolder& peft, const Json& changes = Json::object()) {
  Json config = lora_config();
  config.update(changes);
  peft.write_config(config);
  peft.add(kQuery + ".lora_A.weight", kA);
  peft.add(kQuery + ".lora_B.weight", kB);
}

void expect_change(const PeftFolder& peft, double scale) {
  const AdapterBlock block = peft.read().blocks.at(0);
  const RowMatrix<double> expected = scale * kB.cast<double>() * kA.cast<double>();
  EXPECT_LE((change_of(block) - expected).norm(), rounding_of(block));
}

void expect_equal_changes(const Adapter& found, const Adapter& expected) {
  std::size_t f = 0;
  for (const AdapterBlock& block : expected.blocks) {
    if (block.rank() == 0) continue;
    ASSERT_LT(f, found.blocks.size());
    EXPECT_EQ(found.blocks[f].name, block.name);
    EXPECT_LE((change_of(found.blocks[f]) - change_of(block)).norm(), rounding_of(block));
    ++f;
  }
  EXPECT_EQ(f, found.blocks.size());
}

std::string type_of(const Json& value) {
  return value.is_number() ? "number" : value.type_name();
}

TEST(Peft, WritesTheSettingsOfTheFormatAndNoOthers) {
  for (const PeftForm form : {PeftForm::kPadded, PeftForm::kCompact}) {
    const Json config = PeftFolder(small_adapter(), form).config();
    for (const auto& [key, types] : kSettings) {
      ASSERT_TRUE(config.contains(key)) << key;
      EXPECT_TRUE(types.contains(type_of(config[key]))) << key << " " << config[key];
    }
    for (const auto& [key, value] : config.items()) EXPECT_TRUE(kSettings.contains(key)) << key;
    EXPECT_EQ(config["peft_type"], "LORA");
    EXPECT_EQ(config["bias"], "none");
    EXPECT_EQ(config["base_model_name_or_path"], "some/model");
  }
}

// Every wrapped module has its two tensors, and every tensor its module.
TEST(Peft, WritesTwoTensorsForEveryTarget) {
  for (const PeftForm form : {PeftForm::kPadded, PeftForm::kCompact}) {
    const PeftFolder peft(small_adapter(), form);
    const Json config = peft.config();
    const io::SafetensorsFile file = peft.tensors();
    EXPECT_EQ(file.tensors().size(), 2 * config["target_modules"].size());
    EXPECT_EQ(file.metadata().at("format"), "pt");
    for (const std::string path : config["target_modules"]) {
      const io::Tensor* const A = file.find("base_model.model." + path + ".lora_A.weight");
      const io::Tensor* const B = file.find("base_model.model." + path + ".lora_B.weight");
      ASSERT_TRUE(A && B) << path;
      const Index rank = config["rank_pattern"].value(path, config["r"].get<Index>());
      EXPECT_EQ(A->type, "F32");
      EXPECT_EQ(A->shape, (std::vector<Index>{rank, 8}));
      EXPECT_EQ(B->shape.at(1), rank);
    }
  }
}

// PEFT divides a layer's alpha by its rank, llama.cpp the one alpha by the tensor's rank, vLLM the
// one alpha by the one r.
TEST(Peft, PaddedFactorsHaveScaleOneInEveryReading) {
  const PeftFolder peft(small_adapter());
  const Json config = peft.config();
  const double alpha = config["lora_alpha"], r = config["r"];
  EXPECT_EQ(r, 4);
  EXPECT_EQ(alpha / r, 1);
  EXPECT_TRUE(config["rank_pattern"].empty());
  EXPECT_TRUE(config["alpha_pattern"].empty());
  const io::SafetensorsFile file = peft.tensors();
  for (const io::Tensor& tensor : file.tensors())
    EXPECT_EQ(alpha / static_cast<double>(tensor.shape[tensor.name.ends_with("A.weight") ? 0 : 1]),
              1);
  expect_equal_changes(peft.read(), small_adapter());
}

TEST(Peft, CompactFactorsHaveScaleOneInPeft) {
  const PeftFolder peft(small_adapter(), PeftForm::kCompact);
  const Json config = peft.config();
  EXPECT_EQ(config["rank_pattern"], (Json{{layer(0, "q_proj"), 3}, {layer(10, "v_proj"), 1}}));
  EXPECT_EQ(config["alpha_pattern"], config["rank_pattern"]);
  expect_equal_changes(peft.read(), small_adapter());
}

TEST(Peft, RankZeroIsLeftOutAndExcluded) {
  EXPECT_EQ(PeftFolder(small_adapter()).config()["exclude_modules"],
            Json::array({layer(0, "v_proj")}));
  Adapter adapter = small_adapter();
  adapter.blocks.erase(adapter.blocks.begin() + 1);
  EXPECT_TRUE(PeftFolder(adapter).config()["exclude_modules"].is_null());
  for (AdapterBlock& block : adapter.blocks) block = truncated(block, 0);
  const io::TemporaryFolder folder;
  EXPECT_EQ(folder.error_of([&] { write_peft(folder / "p", adapter); }),
            "p: all 3 blocks of the adapter have rank 0, another one expected by PEFT");
}

// PEFT takes names for the ends of paths: "q" must neither shut out "m.q" nor give it its rank.
TEST(Peft, NamesThatEndOthersDoNotTouchThem) {
  const Adapter adapter{{random_block("k", 6, 8, 0, 1), random_block("m.k", 6, 8, 3, 2),
                         random_block("m.q", 6, 8, 2, 3), random_block("q", 6, 8, 1, 4)},
                        "",
                        "lora",
                        {}};
  const PeftFolder peft(adapter, PeftForm::kCompact);
  EXPECT_TRUE(peft.config()["exclude_modules"].is_null());
  EXPECT_TRUE(peft.config()["base_model_name_or_path"].is_null());
  expect_equal_changes(peft.read(), adapter);
}

TEST(Peft, SettingsOfOthersComeThrough) {
  PeftFolder peft;
  write_lora(peft, {{"task_type", "SEQ_CLS"},
                    {"fan_in_fan_out", true},
                    {"lora_dropout", 0.5},
                    {"revision", "abc"},
                    {"base_model_name_or_path", "gpt2"}});
  const Json config = PeftFolder(peft.read()).config();
  EXPECT_EQ(config["task_type"], "SEQ_CLS");
  EXPECT_EQ(config["fan_in_fan_out"], true);
  EXPECT_EQ(config["lora_dropout"], 0.5);
  EXPECT_EQ(config["revision"], "abc");
  EXPECT_EQ(config["base_model_name_or_path"], "gpt2");
}

TEST(Peft, ReadsTheScaleOfLora) {
  const std::vector<std::pair<Json, double>> cases{
      {Json::object(), 10.0 / 4},
      {{{"use_rslora", true}}, 10.0 / 2},
      {{{"r", 16}, {"rank_pattern", {{"q_proj", 4}}}}, 10.0 / 4},
      {{{"alpha_pattern", {{"q_proj", 6}}}}, 6.0 / 4},
      {{{"alpha_pattern", {{"0.self_attn.q_proj", 6}}}}, 6.0 / 4},
      {{{"alpha_pattern", {{"layers\\.[0-3]\\..*q_proj", 6}}}}, 6.0 / 4},
      {{{"alpha_pattern", {{"^model.layers.0.self_attn.q_proj", 6}}}}, 6.0 / 4},
      // the end of the path, and of whole words in it
      {{{"alpha_pattern", {{"proj", 6}, {"self_attn", 7}, {"q_pro", 8}}}}, 10.0 / 4},
      {{{"alpha_pattern", nullptr}, {"rank_pattern", Json::object()}}, 10.0 / 4}};
  for (const auto& [changes, scale] : cases) {
    SCOPED_TRACE(changes.dump());
    PeftFolder peft;
    write_lora(peft, changes);
    expect_change(peft, scale);
    EXPECT_EQ(peft.read().method, "lora");
  }
}

// The first key that fits counts, in the order of the file.
TEST(Peft, ThePatternThatStandsFirstCounts) {
  PeftFolder peft;
  write_lora(peft);
  peft.folder().write("adapter_config.json",
                      R"({"peft_type": "LORA", "r": 4, "lora_alpha": 10,
                          "alpha_pattern": {"q_proj": 6, "0.self_attn.q_proj": 7}})");
  expect_change(peft, 6.0 / 4);
}

// A regular expression takes a frame of the stack for each character of a path.
TEST(Peft, PathsThatNoModuleHasMeetNoPattern) {
  for (const Json& patterns : {Json::object(), Json{{"q_proj", 6}}}) {
    PeftFolder peft;
    peft.write_config(
        {{"peft_type", "LORA"}, {"r", 4}, {"lora_alpha", 8}, {"alpha_pattern", patterns}});
    const std::string path = "base_model.model." + std::string(300'000, 'a') + ".q_proj";
    peft.add(path + ".lora_A.weight", kA);
    peft.add(path + ".lora_B.weight", kB);
    if (patterns.empty())
      EXPECT_EQ(peft.read().blocks.size(), 1u);
    else
      EXPECT_THROW(peft.read(), IoError);
  }
}

// x @ (A * E)^T @ B^T * lora_alpha / (ranknum + 1e-5), where ranknum stays init_r although two of
// its six triplets are gone.
TEST(Peft, ReadsAdaLora) {
  PeftFolder peft;
  peft.write_config({{"peft_type", "ADALORA"},
                     {"init_r", 6},
                     {"target_r", 4},
                     {"r", 8},
                     {"lora_alpha", 9},
                     {"rank_pattern", {{layer(0, "q_proj") + ".lora_E", {1, 1, 0, 1, 0, 1}}}}});
  const RowMatrix<float> E = testing::random_rows<float>(4, 1, 3);
  peft.add(kQuery + ".lora_A", kA);
  peft.add(kQuery + ".lora_B", kB);
  peft.add(kQuery + ".lora_E", E);
  const auto expect_divisor = [&](double divisor) {
    const AdapterBlock block = peft.read().blocks.at(0);
    const RowMatrix<double> expected = 9 / (divisor + 1e-5) * kB.cast<double>() *
                                       E.col(0).cast<double>().asDiagonal() * kA.cast<double>();
    EXPECT_LE((change_of(block) - expected).norm(), rounding_of(block));
  };
  expect_divisor(6);
  peft.add(kQuery + ".ranknum", RowMatrix<float>::Constant(1, 1, 5));
  expect_divisor(5);
  EXPECT_EQ(PeftFolder(peft.read()).config()["peft_type"], "LORA");
}

TEST(Peft, ReadsAdaLoraBlocksOfRankZero) {
  PeftFolder peft;
  peft.write_config({{"peft_type", "ADALORA"}, {"init_r", 6}, {"lora_alpha", 9}});
  peft.add(kQuery + ".lora_A", RowMatrix<float>(0, 8));
  peft.add(kQuery + ".lora_B", RowMatrix<float>(6, 0));
  peft.add(kQuery + ".lora_E", RowMatrix<float>(0, 1));
  EXPECT_EQ(peft.read().blocks.at(0).rank(), 0);
  PeftFolder bare;
  bare.write_config({{"peft_type", "ADALORA"}, {"init_r", 6}, {"lora_alpha", 9}});
  bare.add(kQuery + ".lora_A", kA);
  bare.add(kQuery + ".lora_B", kB);
  EXPECT_EQ(bare.error(),
            "adapter_model.safetensors: block 'model.layers.0.self_attn.q_proj' has "
            "no lora_E");
}

TEST(Peft, AdaLoraThatIsNotFiniteIsNamed) {
  const auto error_with = [](double alpha, double ranknum) {
    PeftFolder peft;
    peft.write_config({{"peft_type", "ADALORA"}, {"init_r", 6}, {"lora_alpha", alpha}});
    peft.add(kQuery + ".lora_A", kA);
    peft.add(kQuery + ".lora_B", kB);
    peft.add(kQuery + ".lora_E", RowMatrix<float>::Ones(4, 1));
    peft.add(kQuery + ".ranknum", RowMatrix<float>::Constant(1, 1, static_cast<float>(ranknum)));
    return peft.error();
  };
  const std::string block = "adapter_model.safetensors: block 'model.layers.0.self_attn.q_proj' ";
  EXPECT_EQ(error_with(1e39, 6),
            block + "times lora_E and alpha 1e+39 over its rank is not finite");
  EXPECT_EQ(error_with(9, -1), block + "has ranknum -1, a positive number expected");
}

TEST(Peft, WhatIsNotSupportedIsNamed) {
  const auto error_with = [](const Json& changes) {
    PeftFolder peft;
    write_lora(peft, changes);
    return peft.error();
  };
  EXPECT_EQ(
      error_with({{"use_new_thing", 3}}),
      "adapter_config.json: setting 'use_new_thing' '3' found, which is unknown: what it does "
      "to the weights too");
  EXPECT_EQ(error_with({{"use_dora", true}}),
            "adapter_config.json: use_dora 'true' found, which is not supported");
  EXPECT_EQ(error_with({{"modules_to_save", {"lm_head"}}}),
            "adapter_config.json: modules_to_save '[\"lm_head\"]' found, which is not supported");
  EXPECT_EQ(error_with({{"bias", "all"}}),
            "adapter_config.json: bias 'all' found, none expected: biases are not supported");
  EXPECT_EQ(error_with({{"peft_type", "IA3"}}),
            "adapter_config.json: peft_type 'IA3' found, LORA or ADALORA expected");
  EXPECT_EQ(error_with({{"init_lora_weights", "pissa_niter_4"}}),
            "adapter_config.json: init_lora_weights '\"pissa_niter_4\"' found, which changes the "
            "weights of the model itself: save it as a plain LoRA first");
  for (const Json& harmless :
       {Json{{"use_dora", false}}, Json{{"modules_to_save", nullptr}}, Json{{"bias", "none"}},
        Json{{"modules_to_save", Json::array()}}, Json{{"init_lora_weights", "gaussian"}},
        Json{{"layer_replication", nullptr}}})
    EXPECT_EQ(error_with(harmless), "no error") << harmless;
}

TEST(Peft, SettingsThatMakeNoSenseAreNamed) {
  const auto error_with = [](const Json& changes) {
    PeftFolder peft;
    write_lora(peft, changes);
    return peft.error();
  };
  EXPECT_EQ(error_with({{"r", 0}}), "adapter_config.json: r '0' found, a positive number expected");
  EXPECT_EQ(error_with({{"lora_alpha", nullptr}}),
            "adapter_config.json: lora_alpha 'null' found, a positive number expected");
  EXPECT_EQ(error_with({{"use_rslora", 1}}),
            "adapter_config.json: use_rslora '1' found, true or false expected");
  EXPECT_EQ(error_with({{"bias", 1}}), "adapter_config.json: bias '1' found, a text expected");
  EXPECT_EQ(error_with({{"rank_pattern", {1}}}),
            "adapter_config.json: rank_pattern '[1]' found, names with numbers expected");
  EXPECT_EQ(error_with({{"alpha_pattern", {{"q", "x"}}}}),
            "adapter_config.json: alpha_pattern of 'q': '\"x\"' found, a positive number expected");
  EXPECT_EQ(error_with({{"alpha_pattern", {{"(", 1}}}}),
            "adapter_config.json: alpha_pattern: '(' found, a regular expression expected");
  PeftFolder peft;
  write_lora(peft, {{"r", 8}});
  EXPECT_EQ(peft.error(),
            "adapter_model.safetensors: block 'model.layers.0.self_attn.q_proj' has rank 4, 8 "
            "expected by adapter_config.json");
}

TEST(Peft, DamagedFoldersAreRefusedWithOneLine) {
  PeftFolder peft;
  peft.write_config(lora_config());
  EXPECT_EQ(peft.error(),
            "adapter_model.safetensors: not there; tensors are not read from other files, such as "
            "adapter_model.bin");
  peft.folder().write("adapter_model.safetensors", "short");
  EXPECT_EQ(peft.error(), "adapter_model.safetensors: 5 bytes found, a safetensors file expected");
  peft.add(kQuery + ".lora_A.weight", kA);
  EXPECT_EQ(peft.error(),
            "adapter_model.safetensors: block 'model.layers.0.self_attn.q_proj' has "
            "no factor B");
  peft.add(kQuery + ".lora_magnitude_vector", kB);
  EXPECT_EQ(peft.error(),
            "adapter_model.safetensors: tensor "
            "'base_model.model.model.layers.0.self_attn.q_proj.lora_magnitude_vector' found, "
            "base_model.model.PATH.lora_A.weight and the like expected (DoRA, biases, embeddings "
            "and modules_to_save are not supported)");
  peft.folder().write("adapter_config.json", "{");
  EXPECT_EQ(peft.error(), "adapter_config.json: no JSON at byte 2");
}

TEST(Peft, NativeAndPeftAreTheSameAdapter) {
  const io::TemporaryFolder folder;
  PeftFolder peft;
  write_lora(peft);
  write_adapter(folder / "model.safetensors", peft.read());
  const Adapter native = read_adapter(folder / "");
  expect_equal_changes(native, peft.read());
  expect_equal_changes(PeftFolder(native).read(), native);
}

}  // namespace peft_test
}  // namespace udv::net
