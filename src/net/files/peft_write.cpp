// SPDX-License-Identifier: MIT
#include <algorithm>
#include <deque>

#include "core/require.hpp"
#include "net/files/peft_config.hpp"
#include "udv/io/file.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/files/peft.hpp"

namespace udv::net {
namespace {

using Json = io::detail::OrderedJson;

struct Factors {
  RowMatrix<float> A, B;
};

// sqrt(|d|) on both sides, the sign in B, and zeros up to the rank.
Factors padded(const AdapterBlock& block, Index rank) {
  const Vector<float> root = block.d.cwiseAbs().cwiseSqrt();
  Factors factors{RowMatrix<float>::Zero(rank, block.A.cols()),
                  RowMatrix<float>::Zero(block.B.rows(), rank)};
  factors.A.topRows(block.rank()) = root.asDiagonal() * block.A;
  factors.B.leftCols(block.rank()) = block.B * root.cwiseProduct(block.d.cwiseSign()).asDiagonal();
  return factors;
}

Index largest_rank(const Adapter& adapter) {
  Index rank = 0;
  for (const AdapterBlock& block : adapter.blocks) rank = std::max(rank, block.rank());
  return rank;
}

// PEFT takes a name also for the end of a longer path.
bool is_end_of(const std::string& name, const std::string& path) {
  return path == name || path.ends_with("." + name);
}

// Blocks of rank 0; one that is the end of a block that is there would shut that out too.
Json excluded(const Adapter& adapter) {
  Json names = Json::array();
  for (const AdapterBlock& block : adapter.blocks) {
    const bool shuts_out = std::any_of(
        adapter.blocks.begin(), adapter.blocks.end(),
        [&](const auto& other) { return other.rank() > 0 && is_end_of(block.name, other.name); });
    if (block.rank() == 0 && !shuts_out) names.push_back(block.name);
  }
  return names.empty() ? Json(nullptr) : names;
}

// Ranks other than the largest; the longest paths first, since the first key that fits counts.
Json rank_pattern(const Adapter& adapter, Index usual) {
  std::vector<const AdapterBlock*> blocks;
  for (const AdapterBlock& block : adapter.blocks)
    if (block.rank() > 0) blocks.push_back(&block);
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](auto* a, auto* b) { return a->name.size() > b->name.size(); });
  Json pattern = Json::object();
  for (const AdapterBlock* block : blocks)
    if (block->rank() != usual) pattern[block->name] = block->rank();
  return pattern;
}

Json carried_settings(const Adapter& adapter) {
  const auto text = adapter.metadata.find(kCarriedKey);
  if (text == adapter.metadata.end()) return Json::object();
  const Json json = Json::parse(text->second, nullptr, false);
  return json.is_object() ? json : Json::object();
}

Json text_or_null(const std::string& text) {
  return text.empty() ? Json(nullptr) : Json(text);
}

Json settings_of(const Adapter& adapter, PeftForm form) {
  const Index rank = largest_rank(adapter);
  const Json pattern =
      form == PeftForm::kCompact ? rank_pattern(adapter, rank) : Json(Json::object());
  Json targets = Json::array();
  for (const AdapterBlock& block : adapter.blocks)
    if (block.rank() > 0) targets.push_back(block.name);
  Json settings = {{"peft_type", "LORA"},
                   {"task_type", "CAUSAL_LM"},
                   {"auto_mapping", nullptr},
                   {"base_model_name_or_path", text_or_null(adapter.base_model)},
                   {"revision", nullptr},
                   {"inference_mode", true},
                   {"r", rank},
                   {"lora_alpha", rank},
                   {"lora_dropout", 0.0},
                   {"bias", "none"},
                   {"fan_in_fan_out", false},
                   {"init_lora_weights", true},
                   {"use_rslora", false},
                   {"use_dora", false},
                   {"modules_to_save", nullptr},
                   {"layers_to_transform", nullptr},
                   {"layers_pattern", nullptr},
                   {"target_modules", targets},
                   {"exclude_modules", excluded(adapter)},
                   {"rank_pattern", pattern},
                   {"alpha_pattern", pattern}};
  const Json carried = carried_settings(adapter);
  for (const char* key : kCarried)
    if (carried.contains(key)) settings[key] = carried[key];
  return settings;
}

}  // namespace

void check_for_peft(const std::string& name, const Adapter& adapter) {
  require<IoError>(largest_rank(adapter) > 0, name, ": all ", adapter.blocks.size(),
                   " blocks of the adapter have rank 0, another one expected by PEFT");
}

void write_peft(const std::filesystem::path& folder, const Adapter& adapter, PeftForm form) {
  check_for_peft(folder.string(), adapter);
  const Index rank = largest_rank(adapter);
  std::deque<std::string> bytes;  // tensors are views of them
  std::vector<io::Tensor> tensors;
  const auto add = [&](const std::string& name, const RowMatrix<float>& values) {
    bytes.push_back(io::tensor_bytes(adapter.number_type, values.data(), values.size()));
    tensors.push_back({name, adapter.number_type, {values.rows(), values.cols()}, bytes.back()});
  };
  for (const AdapterBlock& block : adapter.blocks) {
    if (block.rank() == 0) continue;
    const Factors factors = padded(block, form == PeftForm::kPadded ? rank : block.rank());
    const auto& [A, B] = factors;
    require<IoError>(A.allFinite() && B.allFinite(), folder.string(), ": block '", block.name,
                     "' is too large for single precision: its factors are not finite");
    const std::string path = kPeftPrefix + block.name;
    add(path + ".lora_A.weight", A);
    add(path + ".lora_B.weight", B);
  }
  io::write_atomically(folder / kPeftTensors, io::safetensors_bytes(tensors, {{"format", "pt"}}));
  io::detail::write_json(folder / kPeftConfig, settings_of(adapter, form));
}

}  // namespace udv::net
