// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "io/json_file.hpp"

namespace udv::net {

/// Names of the two files, and of every tensor's beginning.
inline constexpr const char* kPeftConfig = "adapter_config.json";
inline constexpr const char* kPeftTensors = "adapter_model.safetensors";
inline constexpr const char* kPeftPrefix = "base_model.model.";

/// Settings that mean nothing to us and stay what they are; they travel as JSON in the metadata
/// `peft_settings` of an adapter.
inline constexpr const char* kCarriedKey = "peft_settings";
inline constexpr const char* kCarried[] = {"task_type",      "auto_mapping",   "revision",
                                           "inference_mode", "fan_in_fan_out", "lora_dropout"};

/// rank_pattern or alpha_pattern: numbers for the modules whose path a key matches to its end, as
/// re.match(rf"(.*\.)?({key})$", path) does; the first key counts.
class PeftPattern {
 public:
  PeftPattern(const std::string& file, const std::string& name,
              const io::detail::OrderedJson& table);

  /// Throws IoError where the path is longer than that of any module.
  double at(const std::string& path, double otherwise) const;

 private:
  std::string file_;
  std::vector<std::pair<std::regex, double>> entries_;
};

/// adapter_config.json. Everything throws IoError naming the file, the setting and what it is.
class PeftSettings {
 public:
  explicit PeftSettings(const std::filesystem::path& file);

  const std::string& name() const { return name_; }
  bool is_adalora() const { return adalora_; }
  double number(const char* key) const;  ///< positive
  bool flag(const char* key) const;      ///< false where it is not there
  std::string text(const char* key) const;
  PeftPattern pattern(const char* key) const;
  std::string carried() const;  ///< kCarried as JSON

 private:
  const io::detail::OrderedJson& value(const char* key) const;  ///< null where it is not there
  void refuse_unsupported() const;

  std::string name_;
  io::detail::OrderedJson json_;
  bool adalora_ = false;
};

}  // namespace udv::net
