// SPDX-License-Identifier: MIT
#include "core/require.hpp"
#include "io/json_file.hpp"
#include "udv/text/llama_config.hpp"

namespace udv::text {
namespace {

using Json = io::detail::OrderedJson;
namespace fs = std::filesystem;

class ConfigReader {
 public:
  explicit ConfigReader(const fs::path& path)
      : name_(path.string()), json_(io::detail::read_json(path)) {}

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

}  // namespace

LlamaConfigFile read_llama_config(const fs::path& path) {
  const ConfigReader reader(path);
  return {reader.read(), reader.denies_tied()};
}

void write_llama_config(const fs::path& path, const LlamaConfig& config, const std::string& type) {
  io::detail::write_json(path, config_json(config, type));
}

}  // namespace udv::text
