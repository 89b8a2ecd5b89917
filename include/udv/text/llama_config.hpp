// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::text {

/// How positions are turned into angles. kLlama3 divides low frequencies by `factor` and leaves
/// high ones, with a ramp between the two wavelengths original / high and original / low.
struct RopeScaling {
  enum Kind { kNone, kLinear, kLlama3 } kind = kNone;
  double factor = 1, low = 1, high = 4;
  Index original = 8192;
};

/// The shape of a LLaMA model.
struct UDV_EXPORT LlamaConfig {
  Index dim = 0;         ///< of the values between layers
  Index hidden = 0;      ///< of the feed-forward part
  Index layers = 0;      ///< how many of them
  Index heads = 0;       ///< of queries
  Index kv_heads = 0;    ///< of keys and values, a divisor of heads
  Index head_dim = 0;    ///< of one head, even
  Index vocabulary = 0;  ///< tokens
  Index context = 0;     ///< longest sequence
  double norm_epsilon = 1e-5;
  double rope_base = 1e4;
  RopeScaling rope_scaling;
  bool tied = false;         ///< the output layer is the embedding
  Index begin = 1, end = 2;  ///< marks of a text; -1: none

  Index parameters() const;  ///< 1e18 at most
  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

/// A model's config.json.
struct LlamaConfigFile {
  LlamaConfig config;
  bool denies_tied = false;  ///< says explicitly that the output layer has weights of its own
};

/// Throws IoError naming the file and the key: of another architecture, or one that makes no sense.
UDV_EXPORT LlamaConfigFile read_llama_config(const std::filesystem::path& path);

/// Writes a config.json for weights of this type: "float32" or "bfloat16". Throws IoError.
UDV_EXPORT void write_llama_config(const std::filesystem::path& path, const LlamaConfig& config,
                                   const std::string& type);

}  // namespace udv::text
