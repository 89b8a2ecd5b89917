// SPDX-License-Identifier: MIT
#include "text/llama2c.hpp"

#include <cstdlib>
#include <cstring>

#include "core/require.hpp"

namespace udv::text {
namespace {

constexpr Index kBound = 1 << 24;  // of any size, so that products stay numbers

}  // namespace

LlamaConfig llama2c_config(const std::string& name, std::string_view bytes) {
  require<IoError>(bytes.size() >= kLlama2cHeader, name, ": ", bytes.size(),
                   " bytes found, a model in llama2.c's format expected");
  std::int32_t n[7];
  std::memcpy(n, bytes.data(), kLlama2cHeader);
  LlamaConfig config;
  config.dim = n[0];
  config.hidden = n[1];
  config.layers = n[2];
  config.heads = n[3];
  config.kv_heads = n[4];
  config.tied = n[5] > 0;  // a negative size says that the output layer follows
  config.vocabulary = std::abs(Index{n[5]});
  config.context = n[6];
  config.head_dim = config.heads > 0 ? config.dim / config.heads : 0;
  for (const Index size : {config.dim, config.hidden, config.layers, config.heads, config.kv_heads,
                           config.vocabulary, config.context})
    require<IoError>(size > 0 && size < kBound, name, ": a size of ", size,
                     " found in its header, not a model in llama2.c's format");
  try {
    config.validate();
  } catch (const InvalidArgument& error) {
    throw IoError(message(name, ": ", error.what()));
  }
  require<IoError>(config.head_dim * config.heads == config.dim, name, ": ", config.heads,
                   " heads found, a divisor of ", config.dim, " expected");
  const size_t least =
      kLlama2cHeader +
      sizeof(float) * static_cast<size_t>(config.parameters() + config.context * config.head_dim);
  require<IoError>(bytes.size() >= least, name, ": ", bytes.size(), " bytes found, at least ",
                   least, " expected by its header");
  return config;
}

}  // namespace udv::text
