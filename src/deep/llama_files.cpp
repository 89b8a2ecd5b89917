// SPDX-License-Identifier: MIT
#include <map>
#include <set>

#include "core/require.hpp"
#include "deep/language_model_parts.hpp"
#include "io/json_file.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/safetensors.hpp"

// Hugging Face's layout: config.json, and model.safetensors or shards with an index.
namespace udv::deep {
namespace {

using Json = io::detail::OrderedJson;
using io::detail::read_json;
using torch::Tensor;
namespace fs = std::filesystem;

constexpr Index kFewWeights = 10'000'000;
constexpr size_t kShardBytes = size_t{4} << 30;

// ---- reading

// All files of a model; tensors are found by name, whichever file has them.
class WeightFiles {
 public:
  explicit WeightFiles(const fs::path& folder) : folder_(folder) {
    const fs::path whole = folder / "model.safetensors",
                   index = folder / "model.safetensors.index.json";
    if (fs::exists(whole))
      open(whole);
    else if (fs::exists(index))
      open_shards(index);
    else
      throw IoError(message(folder.string(),
                            ": neither model.safetensors nor model.safetensors.index.json found"));
  }

  void load(const std::string& name, const Tensor& into) const {
    const auto at = tensors_.find(name);
    require<IoError>(at != tensors_.end(), folder_.string(), ": tensor '", name,
                     "' is missing, the model of config.json has it");
    const auto& [file, tensor] = at->second;
    require<IoError>(std::equal(tensor->shape.begin(), tensor->shape.end(), into.sizes().begin(),
                                into.sizes().end()),
                     file->name(), ": tensor '", name, "' of shape ", io::shape_text(tensor->shape),
                     " found, ", io::shape_text({into.sizes().begin(), into.sizes().end()}),
                     " expected by config.json");
    const std::map<std::string, torch::Dtype> types{{"F32", torch::kFloat32},
                                                    {"F64", torch::kFloat64},
                                                    {"F16", torch::kFloat16},
                                                    {"BF16", torch::kBFloat16}};
    const auto type = types.find(tensor->type);
    require<IoError>(type != types.end(), file->name(), ": tensor '", name, "' of type ",
                     tensor->type, " found, F32, F64, F16 or BF16 expected");
    const torch::NoGradGuard no_grad;
    into.copy_(
        torch::from_blob(const_cast<char*>(tensor->bytes.data()), into.sizes(), type->second));
    require<IoError>(torch::isfinite(into).all().item<bool>(), file->name(), ": tensor '", name,
                     "' holds a value that is not finite");
  }
  bool has(const std::string& name) const { return tensors_.count(name) > 0; }
  Index numbers() const {
    Index count = 0;
    for (const auto& [name, at] : tensors_) count += at.second->size();
    return count;
  }

 private:
  void open(const fs::path& path) {
    files_.push_back(std::make_unique<io::SafetensorsFile>(path));
    for (const io::Tensor& tensor : files_.back()->tensors())
      tensors_[tensor.name] = {files_.back().get(), &tensor};
  }

  void open_shards(const fs::path& index) {
    const Json json = read_json(index);
    const Json map = json.value("weight_map", Json());
    require<IoError>(map.is_object() && !map.empty(), index.string(), ": no weight_map");
    std::set<std::string> shards;
    for (const auto& [name, shard] : map.items()) {
      require<IoError>(shard.is_string() && shard.get<std::string>().find('/') == std::string::npos,
                       index.string(), ": file ", shard.dump(), " of tensor '", name,
                       "' found, the name of a file in the same folder expected");
      shards.insert(shard.get<std::string>());
    }
    for (const std::string& shard : shards) {
      require<IoError>(fs::exists(folder_ / shard), (folder_ / shard).string(),
                       ": this shard is missing, ", index.filename().string(), " names it");
      open(folder_ / shard);
    }
  }

  fs::path folder_;
  std::vector<std::unique_ptr<io::SafetensorsFile>> files_;
  std::map<std::string, std::pair<const io::SafetensorsFile*, const io::Tensor*>> tensors_;
};

// ---- writing

struct StoredTensor {
  std::string name;
  Tensor values;  // on the CPU, contiguous

  io::Tensor view() const {
    return {name,
            values.scalar_type() == torch::kBFloat16 ? "BF16" : "F32",
            {values.sizes().begin(), values.sizes().end()},
            {static_cast<const char*>(values.data_ptr()), size()}};
  }
  size_t size() const { return static_cast<size_t>(values.numel()) * values.element_size(); }
};

void write_shard(const fs::path& path, const std::vector<StoredTensor>& tensors) {
  std::vector<io::Tensor> views;
  for (const StoredTensor& tensor : tensors) views.push_back(tensor.view());
  io::write_atomically(path, io::safetensors_bytes(views, {{"format", "pt"}}));
}

// Which arrays go together: up to kShardBytes.
std::vector<std::vector<size_t>> shards_of(const Llama::NamedTensors& arrays) {
  std::vector<std::vector<size_t>> shards(1);
  size_t size = 0;
  for (size_t i = 0; i < arrays.size(); ++i) {
    const Tensor& values = arrays[i].second;
    const size_t bytes = static_cast<size_t>(values.numel()) * values.element_size();
    if (size > 0 && size + bytes > kShardBytes) {
      shards.emplace_back();
      size = 0;
    }
    size += bytes;
    shards.back().push_back(i);
  }
  return shards;
}

void write_weights(const fs::path& folder, const Llama::NamedTensors& arrays) {
  const auto shards = shards_of(arrays);
  Json map;
  size_t total = 0;
  for (size_t s = 0; s < shards.size(); ++s) {
    char name[64];
    std::snprintf(name, sizeof(name), "model-%05zu-of-%05zu.safetensors", s + 1, shards.size());
    const std::string file = shards.size() == 1 ? "model.safetensors" : name;
    std::vector<StoredTensor> tensors;
    for (const size_t i : shards[s]) {
      tensors.push_back({arrays[i].first, arrays[i].second.to(torch::kCPU).contiguous()});
      map[arrays[i].first] = file;
      total += tensors.back().size();
    }
    write_shard(folder / file, tensors);
  }
  if (shards.size() > 1)
    io::detail::write_json(folder / "model.safetensors.index.json",
                           {{"metadata", {{"total_size", total}}}, {"weight_map", map}});
}

}  // namespace

LanguageModel LanguageModel::read(const fs::path& path, const Placement& placement) {
  require<IoError>(fs::exists(path), path.string(),
                   ": no such file or folder, a model in Hugging Face's layout (folder) or "
                   "llama2.c's (file) expected");
  if (!fs::is_directory(path)) return from_llama2c(path.string(), io::read_bytes(path), placement);
  auto [config, denies_tied] = text::read_llama_config(path / "config.json");
  const WeightFiles files(path);
  if (!files.has("lm_head.weight")) {
    require<IoError>(!denies_tied, path.string(),
                     ": no tensor 'lm_head.weight' found, one expected by tie_word_embeddings = "
                     "false in config.json");
    config.tied = true;
  }
  // Before memory is taken for what config.json announces; tensors that differ are named below.
  require<IoError>(config.parameters() <= 4 * files.numbers() + kFewWeights,
                   (path / "config.json").string(), ": a model of ", config.parameters(),
                   " weights found, its files have ", files.numbers());
  auto parts = std::make_unique<Parts>(config, placement);
  for (const auto& [name, values] : parts->model.arrays()) files.load(name, values);
  return LanguageModel(std::move(parts));
}

void LanguageModel::write(const fs::path& folder) const {
  io::make_folder(folder);
  const auto arrays = parts_->model.arrays();
  const bool half = arrays.front().second.scalar_type() == torch::kBFloat16;
  write_weights(folder, arrays);
  text::write_llama_config(folder / "config.json", config(), half ? "bfloat16" : "float32");
}

}  // namespace udv::deep
