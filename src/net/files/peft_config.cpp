// SPDX-License-Identifier: MIT
#include "net/files/peft_config.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "io/text.hpp"

namespace udv::net {
namespace {

using Json = io::detail::OrderedJson;
using io::detail::in_quotes;

// Settings that change more of a model than B diag(d) A of linear layers, or change it in another
// way.
constexpr const char* kUnsupported[] = {
    "use_dora",          "lora_bias",  "modules_to_save",         "trainable_token_indices",
    "target_parameters", "use_qalora", "alora_invocation_tokens", "layer_replication",
    "arrow_config",      "use_bdlora"};

// Settings that the weights are read with, or that make no difference once they are trained.
constexpr const char* kKnown[] = {"task_type",
                                  "peft_type",
                                  "auto_mapping",
                                  "peft_version",
                                  "revision",
                                  "base_model_name_or_path",
                                  "inference_mode",
                                  "r",
                                  "target_modules",
                                  "exclude_modules",
                                  "lora_alpha",
                                  "lora_dropout",
                                  "fan_in_fan_out",
                                  "bias",
                                  "use_rslora",
                                  "init_lora_weights",
                                  "rank_pattern",
                                  "alpha_pattern",
                                  "layers_to_transform",
                                  "layers_pattern",
                                  "megatron_config",
                                  "megatron_core",
                                  "loftq_config",
                                  "eva_config",
                                  "corda_config",
                                  "runtime_config",
                                  "qalora_group_size",
                                  "ensure_weight_tying",
                                  "target_r",
                                  "init_r",
                                  "tinit",
                                  "tfinal",
                                  "deltaT",
                                  "beta1",
                                  "beta2",
                                  "orth_reg_weight",
                                  "total_step"};

// Beginnings of init_lora_weights that take something away from the weights of the model itself.
constexpr const char* kOtherWeights[] = {"pissa", "olora", "corda", "loftq", "lora_ga"};

bool is_set(const Json& value) {
  return !(value.is_null() || value == false || (value.is_structured() && value.empty()));
}

std::string shown(const Json& value) {
  return in_quotes(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// The standard's regular expressions try all ways, one within the other: few repetitions, none of
// a group.
constexpr std::size_t kLongestPattern = 256, kMostRepeats = 4;
bool is_harmless(const std::string& pattern) {
  std::size_t repeats = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool repeat = pattern[i] == '*' || pattern[i] == '+' || pattern[i] == '{';
    if (repeat && i > 0 && pattern[i - 1] == ')') return false;
    repeats += repeat ? 1 : 0;
  }
  return pattern.size() <= kLongestPattern && repeats <= kMostRepeats;
}

bool is_positive(const Json& value) {
  return value.is_number() && value.get<double>() > 0 && std::isfinite(value.get<double>());
}

}  // namespace

PeftPattern::PeftPattern(const std::string& file, const std::string& name, const Json& table)
    : file_(file) {
  require<IoError>(table.is_null() || table.is_object(), file, ": ", name, " ", shown(table),
                   " found, names with numbers expected");
  for (const auto& [key, value] : table.items()) {
    require<IoError>(is_positive(value), file, ": ", name, " of ", in_quotes(key), ": ",
                     shown(value), " found, a positive number expected");
    require<IoError>(is_harmless(key), file, ": ", name, ": ", in_quotes(key),
                     " found, a name or a simple pattern of up to ", kLongestPattern,
                     " characters expected");
    try {
      entries_.emplace_back(std::regex("(.*\\.)?(" + key + ")"), value.get<double>());
    } catch (const std::regex_error&) {
      throw IoError(
          message(file, ": ", name, ": ", in_quotes(key), " found, a regular expression expected"));
    }
  }
}

// A regular expression takes a frame of the stack for each character.
double PeftPattern::at(const std::string& path, double otherwise) const {
  constexpr std::size_t kLongestPath = 4096;
  require<IoError>(entries_.empty() || path.size() <= kLongestPath, file_, ": a module with ",
                   path.size(), " characters found, up to ", kLongestPath, " expected");
  for (const auto& [key, value] : entries_)
    if (std::regex_match(path, key)) return value;
  return otherwise;
}

PeftSettings::PeftSettings(const std::filesystem::path& file)
    : name_(file.string()), json_(io::detail::read_json(file)) {
  const std::string type = text("peft_type");
  adalora_ = type == "ADALORA";
  require<IoError>(adalora_ || type == "LORA", name_, ": peft_type ", in_quotes(type),
                   " found, LORA or ADALORA expected");
  refuse_unsupported();
}

void PeftSettings::refuse_unsupported() const {
  for (const char* key : kUnsupported)
    require<IoError>(!is_set(value(key)), name_, ": ", key, " ", shown(value(key)),
                     " found, which is not supported");
  for (const auto& [key, setting] : json_.items()) {
    const bool known = std::find(std::begin(kKnown), std::end(kKnown), key) != std::end(kKnown);
    require<IoError>(known || !is_set(setting), name_, ": setting ", in_quotes(key), " ",
                     shown(setting), " found, which is unknown: what it does to the weights too");
  }
  const std::string bias = text("bias");
  require<IoError>(bias.empty() || bias == "none", name_, ": bias ", in_quotes(bias),
                   " found, none expected: biases are not supported");
  const Json& start = value("init_lora_weights");
  for (const char* beginning : kOtherWeights)
    require<IoError>(!start.is_string() || !start.get<std::string>().starts_with(beginning), name_,
                     ": init_lora_weights ", shown(start),
                     " found, which changes the weights of the model itself: save it as a plain "
                     "LoRA first");
}

const Json& PeftSettings::value(const char* key) const {
  static const Json kNothing;
  const auto at = json_.find(key);
  return at == json_.end() ? kNothing : *at;
}

double PeftSettings::number(const char* key) const {
  require<IoError>(is_positive(value(key)), name_, ": ", key, " ", shown(value(key)),
                   " found, a positive number expected");
  return value(key).get<double>();
}

bool PeftSettings::flag(const char* key) const {
  const Json& found = value(key);
  require<IoError>(found.is_null() || found.is_boolean(), name_, ": ", key, " ", shown(found),
                   " found, true or false expected");
  return found.is_boolean() && found.get<bool>();
}

std::string PeftSettings::text(const char* key) const {
  const Json& found = value(key);
  require<IoError>(found.is_null() || found.is_string(), name_, ": ", key, " ", shown(found),
                   " found, a text expected");
  return found.is_string() ? found.get<std::string>() : "";
}

PeftPattern PeftSettings::pattern(const char* key) const {
  return {name_, key, value(key)};
}

std::string PeftSettings::carried() const {
  Json kept = Json::object();
  for (const char* key : kCarried)
    if (json_.contains(key)) kept[key] = value(key);
  return kept.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace udv::net
