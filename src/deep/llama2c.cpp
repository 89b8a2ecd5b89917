// SPDX-License-Identifier: MIT
#include "text/llama2c.hpp"

#include <cstring>

#include "core/require.hpp"
#include "deep/language_model_parts.hpp"

namespace udv::deep {
namespace {

using text::LlamaConfig;
using torch::Tensor;

// Takes arrays one behind the other.
class Cursor {
 public:
  Cursor(const std::string& name, std::string_view bytes) : name_(name), bytes_(bytes) {}

  Tensor take(std::vector<std::int64_t> shape) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    const Tensor values = torch::empty(shape);
    const char* const from = bytes_.data() + at_;
    std::memcpy(values.data_ptr<float>(), from, skip(count));
    require<IoError>(torch::isfinite(values).all().item<bool>(), name_,
                     ": a weight that is not finite found between bytes ", from - bytes_.data(),
                     " and ", at_);
    return values;
  }

  size_t skip(std::int64_t count) {
    const size_t size = sizeof(float) * static_cast<size_t>(count);
    require<IoError>(size <= bytes_.size() - at_, name_, ": ", bytes_.size(),
                     " bytes found, at least ", at_ + size, " expected by its header");
    at_ += size;
    return size;
  }
  size_t left() const { return bytes_.size() - at_; }

 private:
  const std::string& name_;
  std::string_view bytes_;
  size_t at_ = text::kLlama2cHeader;
};

// Rows of a head from pairs (2 i, 2 i + 1) to pairs (i, i + head_dim / 2).
Tensor pairs_to_halves(const Tensor& W, Index head_dim) {
  return W.view({-1, head_dim / 2, 2, W.size(1)}).transpose(1, 2).reshape(W.sizes());
}

}  // namespace

LanguageModel LanguageModel::from_llama2c(const std::string& name, std::string_view bytes,
                                          const Placement& placement) {
  const LlamaConfig c = text::llama2c_config(name, bytes);
  const Index q = c.heads * c.head_dim, kv = c.kv_heads * c.head_dim;
  Cursor cursor(name, bytes);
  auto parts = std::make_unique<Parts>(c, placement);
  const torch::NoGradGuard no_grad;
  std::map<std::string, Tensor> arrays;
  for (const auto& [key, values] : parts->model.arrays()) arrays[key] = values;
  auto& layers = parts->model.layers();
  const auto each = [&](auto member, Index rows, Index cols, bool rotary = false) {
    const Tensor all = cursor.take({c.layers, rows, cols});
    for (Index l = 0; l < c.layers; ++l) {
      AdaptedLinear& linear = layers[static_cast<size_t>(l)].*member;
      linear.weight.copy_(rotary ? pairs_to_halves(all[l], c.head_dim) : all[l]);
    }
  };
  const auto norms = [&](auto member) {
    const Tensor all = cursor.take({c.layers, c.dim});
    for (Index l = 0; l < c.layers; ++l) (layers[static_cast<size_t>(l)].*member).copy_(all[l]);
  };
  using Layer = Llama::Layer;
  arrays["model.embed_tokens.weight"].copy_(cursor.take({c.vocabulary, c.dim}));
  norms(&Layer::attention_norm);
  each(&Layer::q, q, c.dim, true);
  each(&Layer::k, kv, c.dim, true);
  each(&Layer::v, kv, c.dim);
  each(&Layer::o, c.dim, q);
  norms(&Layer::feed_norm);
  each(&Layer::gate, c.hidden, c.dim);
  each(&Layer::down, c.dim, c.hidden);
  each(&Layer::up, c.hidden, c.dim);
  arrays["model.norm.weight"].copy_(cursor.take({c.dim}));
  cursor.skip(c.context * c.head_dim);  // tables of cosines and sines
  if (!c.tied) arrays["lm_head.weight"].copy_(cursor.take({c.vocabulary, c.dim}));
  require<IoError>(cursor.left() == 0, name, ": ", cursor.left(),
                   " bytes too many found for the sizes in its header");
  return LanguageModel(std::move(parts));
}

}  // namespace udv::deep
