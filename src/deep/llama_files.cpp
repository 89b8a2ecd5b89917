// SPDX-License-Identifier: MIT
#include <map>
#include <set>

#include "deep/language_model_parts.hpp"
#include "io/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/io/safetensors.hpp"

// Hugging Face's layout: config.json, and model.safetensors or shards with an index.
namespace udv::deep {
namespace {

using Json = io::detail::RunJson;
using io::detail::read_json;
using torch::Tensor;
namespace fs = std::filesystem;

constexpr Index kFewWeights = 10'000'000;
constexpr size_t kShardBytes = size_t{4} << 30;

// ---- config.json

class ConfigReader {
 public:
  explicit ConfigReader(const fs::path& path) : name_(path.string()), json_(read_json(path)) {}

  /// Says in so many words that there is an output layer of its own.
  bool denies_tied() const { return json_.value("tie_word_embeddings", Json()) == false; }

  LlamaConfig read() const {
    expect("model_type", "llama");
    if (json_.contains("hidden_act")) expect("hidden_act", "silu");
    for (const char* key : {"attention_bias", "mlp_bias"}) {
      const Json value = json_.value(key, Json(false));
      require<IoError>(value == false, name_, ": ", key, " ", value.dump(),
                       " found, only models without biases are read");
    }
    require<IoError>(!json_.contains("quantization_config"), name_,
                     ": quantization_config found, only models of full weights are read");
    LlamaConfig c;
    c.dim = whole(json_, "hidden_size");
    c.hidden = whole(json_, "intermediate_size");
    c.layers = whole(json_, "num_hidden_layers");
    c.heads = whole(json_, "num_attention_heads");
    c.kv_heads = whole(json_, "num_key_value_heads", c.heads);
    c.head_dim = whole(json_, "head_dim", c.heads > 0 ? c.dim / c.heads : 0);
    c.vocabulary = whole(json_, "vocab_size");
    c.context = whole(json_, "max_position_embeddings", 2048);
    c.norm_epsilon = number(json_, "rms_norm_eps", 1e-6);
    c.tied = json_.value("tie_word_embeddings", Json(false)) == true;
    c.begin = mark("bos_token_id");
    c.end = mark("eos_token_id");
    read_rope(c);
    try {
      c.validate();
    } catch (const InvalidArgument& error) {
      throw IoError(message(name_, ": ", error.what()));
    }
    return c;
  }

 private:
  void expect(const char* key, const char* value) const {
    require<IoError>(json_.contains(key) && json_[key] == value, name_, ": ", key, " ",
                     json_.contains(key) ? json_[key].dump() : "missing", ", \"", value,
                     "\" expected");
  }
  Index whole(const Json& from, const char* key, Index otherwise = 0) const {
    if ((!from.contains(key) || from[key].is_null()) && otherwise > 0) return otherwise;
    require<IoError>(from.contains(key) && from[key].is_number_integer(), name_, ": ", key, " ",
                     from.contains(key) ? from[key].dump() : "missing",
                     ", a whole number expected");
    return from[key].get<Index>();
  }
  double number(const Json& from, const char* key, double otherwise) const {
    if (!from.contains(key) || from[key].is_null()) return otherwise;
    require<IoError>(from[key].is_number(), name_, ": ", key, " ", from[key].dump(),
                     ", a number expected");
    return from[key].get<double>();
  }
  // A list of end marks: the first one.
  Index mark(const char* key) const {
    const Json value = json_.value(key, Json());
    const Json& one = value.is_array() && !value.empty() ? value[0] : value;
    return one.is_number_integer() ? one.get<Index>() : -1;
  }
  // Version 5 of the library writes rope_parameters, older ones rope_theta and rope_scaling.
  void read_rope(LlamaConfig& c) const {
    c.rope_base = number(json_, "rope_theta", 1e4);
    for (const char* key : {"rope_parameters", "rope_scaling"}) {
      const Json rope = json_.value(key, Json());
      if (!rope.is_object()) continue;
      c.rope_base = number(rope, "rope_theta", c.rope_base);
      const Json kind = rope.value("rope_type", rope.value("type", Json("default")));
      RopeScaling& s = c.rope_scaling;
      s.factor = number(rope, "factor", 1);
      if (kind == "default") {
        s.kind = RopeScaling::kNone;
      } else if (kind == "linear") {
        s.kind = RopeScaling::kLinear;
      } else if (kind == "llama3") {
        s.kind = RopeScaling::kLlama3;
        s.low = number(rope, "low_freq_factor", 1);
        s.high = number(rope, "high_freq_factor", 4);
        s.original = whole(rope, "original_max_position_embeddings", 8192);
      } else {
        throw IoError(message(name_, ": ", key, " of type ", kind.dump(),
                              " found, one of default, linear, llama3 expected"));
      }
      return;
    }
  }

  std::string name_;
  Json json_;
};

Json config_json(const LlamaConfig& c, const std::string& type) {
  Json rope{{"rope_type", "default"}, {"rope_theta", c.rope_base}};
  const RopeScaling& s = c.rope_scaling;
  if (s.kind == RopeScaling::kLinear) rope.update({{"rope_type", "linear"}, {"factor", s.factor}});
  if (s.kind == RopeScaling::kLlama3)
    rope.update({{"rope_type", "llama3"},
                 {"factor", s.factor},
                 {"low_freq_factor", s.low},
                 {"high_freq_factor", s.high},
                 {"original_max_position_embeddings", s.original}});
  Json json{{"architectures", {"LlamaForCausalLM"}},
            {"model_type", "llama"},
            {"hidden_act", "silu"},
            {"hidden_size", c.dim},
            {"intermediate_size", c.hidden},
            {"num_hidden_layers", c.layers},
            {"num_attention_heads", c.heads},
            {"num_key_value_heads", c.kv_heads},
            {"head_dim", c.head_dim},
            {"vocab_size", c.vocabulary},
            {"max_position_embeddings", c.context},
            {"rms_norm_eps", c.norm_epsilon},
            {"rope_theta", c.rope_base},
            {"rope_parameters", rope},
            {"tie_word_embeddings", c.tied},
            {"attention_bias", false},
            {"mlp_bias", false},
            {"torch_dtype", type}};
  // What versions before 5 read.
  if (s.kind != RopeScaling::kNone) json["rope_scaling"] = rope;
  if (c.begin >= 0) json["bos_token_id"] = c.begin;
  if (c.end >= 0) json["eos_token_id"] = c.end;
  return json;
}

// ---- tensors

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
                       "' found, the name of a file beside it expected");
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

LanguageModel LanguageModel::read(const fs::path& path, const Place& place) {
  require<IoError>(fs::exists(path), path.string(),
                   ": no such file or folder, a model in Hugging Face's layout (folder) or "
                   "llama2.c's (file) expected");
  if (!fs::is_directory(path)) return from_llama2c(path.string(), io::read_bytes(path), place);
  const ConfigReader reader(path / "config.json");
  LlamaConfig config = reader.read();
  const WeightFiles files(path);
  if (!files.has("lm_head.weight")) {
    require<IoError>(!reader.denies_tied(), path.string(),
                     ": no tensor 'lm_head.weight' found, one expected by tie_word_embeddings = "
                     "false in config.json");
    config.tied = true;
  }
  // Before memory is taken for what config.json announces; tensors that differ are named below.
  require<IoError>(config.parameters() <= 4 * files.numbers() + kFewWeights,
                   (path / "config.json").string(), ": a model of ", config.parameters(),
                   " weights found, the files beside it have ", files.numbers());
  auto parts = std::make_unique<Parts>(config, place);
  for (const auto& [name, values] : parts->model.arrays()) files.load(name, values);
  return LanguageModel(std::move(parts));
}

void LanguageModel::write(const fs::path& folder) const {
  io::make_folder(folder);
  const auto arrays = parts_->model.arrays();
  const bool half = arrays.front().second.scalar_type() == torch::kBFloat16;
  write_weights(folder, arrays);
  io::detail::write_json(folder / "config.json",
                         config_json(config(), half ? "bfloat16" : "float32"));
}

}  // namespace udv::deep
