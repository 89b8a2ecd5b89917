// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::deep {

/// How positions are turned into angles. kLlama3 divides low frequencies by `factor` and leaves
/// high ones, with a ramp between the two wavelengths original / high and original / low.
struct RopeScaling {
  enum Kind { kNone, kLinear, kLlama3 } kind = kNone;
  double factor = 1, low = 1, high = 4;
  Index original = 8192;
};

/// The shape of a LLaMA model.
struct LlamaConfig {
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

/// Which matrices get adapters, and of what kind.
struct AdapterOptions {
  std::string method = "lora-udv";                ///< or lora
  std::vector<std::string> modules = {"q", "v"};  ///< of q, k, v, o, gate, up, down
  Index rank = 16;
  double deviation = 0.1;  ///< of A's first values; B = 0, d = 1

  /// The variant of net that the method is: UDV or UV.
  const std::string& variant() const;
  /// Throws InvalidArgument naming field and value.
  void validate() const;
};

}  // namespace udv::deep
