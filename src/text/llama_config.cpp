// SPDX-License-Identifier: MIT
#include "udv/text/llama_config.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"

namespace udv::text {

Index LlamaConfig::parameters() const {
  const auto real = [](Index size) { return static_cast<double>(size); };
  const double d = real(dim), attention = d * real(head_dim) * real(2 * heads + 2 * kv_heads);
  const double embeddings = real(vocabulary) * d * (tied ? 1 : 2);
  const double all = embeddings + d + real(layers) * (attention + 3 * d * real(hidden) + 2 * d);
  return static_cast<Index>(std::min(all, 1e18));
}

void LlamaConfig::validate() const {
  const auto positive = [](const char* name, Index value) {
    require(value > 0 && value < (Index{1} << 31), name, " is ", value,
            ", a number of at least 1 expected");
  };
  positive("hidden_size", dim);
  positive("intermediate_size", hidden);
  positive("num_hidden_layers", layers);
  positive("num_attention_heads", heads);
  positive("num_key_value_heads", kv_heads);
  positive("head_dim", head_dim);
  positive("vocab_size", vocabulary);
  positive("max_position_embeddings", context);
  require(heads % kv_heads == 0, "num_key_value_heads is ", kv_heads, ", a divisor of ", heads,
          " (num_attention_heads) expected");
  require(head_dim % 2 == 0, "head_dim is ", head_dim, ", an even number expected");
  require(norm_epsilon > 0 && std::isfinite(norm_epsilon), "rms_norm_eps is ", norm_epsilon,
          ", a number above 0 expected");
  require(rope_base > 0 && std::isfinite(rope_base), "rope_theta is ", rope_base,
          ", a number above 0 expected");
  const RopeScaling& s = rope_scaling;
  require(s.factor > 0 && s.high > s.low && s.original > 0, "rope scaling: factor ", s.factor,
          ", low_freq_factor ", s.low, ", high_freq_factor ", s.high,
          " found, a factor above 0 and low < high expected");
}

}  // namespace udv::text
