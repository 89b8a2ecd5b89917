// SPDX-License-Identifier: MIT
#include "udv/deep/llama.hpp"

#include <torch/version.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/require.hpp"
#include "deep/cpu_attention.hpp"
#include "deep/head_loss.hpp"

#define UDV_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||      \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace udv::deep {
namespace {

using text::LlamaConfig;
using text::RopeScaling;
using torch::Tensor;

constexpr Index kFirstAngles = 1024;

// w x / sqrt(mean x^2 + epsilon) over the last dimension, in single precision at least.
Tensor rms_norm(const Tensor& x, const Tensor& w, double epsilon) {
#if UDV_TORCH_AT_LEAST(2, 4)
  return at::rms_norm(x, {x.size(-1)}, w, epsilon);
#else
  const Tensor full = x.scalar_type() == torch::kFloat64 ? x : x.to(torch::kFloat32);
  const Tensor scale = (full.pow(2).mean(-1, true) + epsilon).rsqrt();
  return (full * scale).to(x.scalar_type()) * w;
#endif
}

// softmax(q k^T / sqrt(head_dim)) v, where no token sees a later one if `causal`.
Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, bool causal) {
#if UDV_TORCH_AT_LEAST(2, 0)
  return at::scaled_dot_product_attention(q, k, v, {}, 0.0, causal);
#else
  if (causal && q.is_cpu() && q.scalar_type() == torch::kFloat32)
    return cpu_causal_attention(q, k, v);
  Tensor scores = torch::matmul(q, k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  if (causal) {
    const Tensor later =
        torch::ones({q.size(2), k.size(2)}, q.options().dtype(torch::kBool)).triu_(1);
    scores = scores.masked_fill(later, -std::numeric_limits<double>::infinity());
  }
  return torch::matmul(torch::softmax(scores, -1), v);
#endif
}

// Every pair (x_i, x_{i + half}) turned by its angle; x is batch x heads x tokens x head_dim.
Tensor rotated(const Tensor& x, const Tensor& cosines, const Tensor& sines) {
  const std::int64_t half = x.size(3) / 2;
  const Tensor a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
  return torch::cat({a * cosines - b * sines, b * cosines + a * sines}, 3);
}

// kv_heads serve groups of neighbouring heads.
Tensor repeated(const Tensor& x, std::int64_t times) {
  if (times == 1) return x;
  const auto shape = x.sizes();
  return x.unsqueeze(2)
      .expand({shape[0], shape[1], times, shape[2], shape[3]})
      .reshape({shape[0], shape[1] * times, shape[2], shape[3]});
}

// Angles per token of the pairs of a head: base^(-2 i / head_dim), then scaled.
std::vector<double> frequencies(const LlamaConfig& config) {
  const RopeScaling& s = config.rope_scaling;
  std::vector<double> all;
  for (Index i = 0; i < config.head_dim / 2; ++i) {
    double f = std::pow(config.rope_base,
                        -2.0 * static_cast<double>(i) / static_cast<double>(config.head_dim));
    if (s.kind == RopeScaling::kLinear) f /= s.factor;
    if (s.kind == RopeScaling::kLlama3) {
      const double turns = static_cast<double>(s.original) * f / (2 * std::numbers::pi);
      const double ramp = std::clamp((turns - s.low) / (s.high - s.low), 0.0, 1.0);
      f *= ramp + (1 - ramp) / s.factor;
    }
    all.push_back(f);
  }
  return all;
}

}  // namespace

namespace {

// Tokens x numbers in single precision.
Tensor rows_of(const Tensor& values) {
  return values.detach().reshape({-1, values.size(-1)}).to(torch::kFloat32);
}

// M += A^T B
void add_product(const Tensor& A, const Tensor& B, Tensor& M) {
  M = M.defined() ? M.addmm_(A.t(), B) : torch::matmul(A.t(), B);
}

void record(const std::shared_ptr<MomentSums>& sums, const Tensor& x, const Tensor& y) {
  const torch::NoGradGuard no_grad;
  const Tensor rows = rows_of(x);
  add_product(rows, rows, sums->inputs);
  sums->tokens += rows.size(0);
  y.register_hook([sums, rows](const Tensor& gradient) {
    const torch::NoGradGuard nothing;
    const Tensor g = rows_of(gradient);
    add_product(g, g, sums->gradients);
    add_product(g, rows, sums->slope);
  });
}

}  // namespace

Tensor AdaptedLinear::operator()(const Tensor& x) const {
  Tensor y = torch::linear(x, weight);
  if (adapter) y = torch::add(y, adapter->forward(x), scale);
  if (moments && y.requires_grad()) record(moments, x, y);
  return y;
}

Llama::Llama(const LlamaConfig& config, const torch::TensorOptions& options) : config_(config) {
  config.validate();
  const auto empty = [&](at::IntArrayRef shape) { return torch::empty(shape, options); };
  embedding_ = empty({config.vocabulary, config.dim});
  if (!config.tied) head_ = empty({config.vocabulary, config.dim});
  norm_ = empty({config.dim});
  const Index q = config.heads * config.head_dim, kv = config.kv_heads * config.head_dim;
  for (Index l = 0; l < config.layers; ++l) {
    const std::string at = message("model.layers.", l, ".");
    const auto linear = [&](const char* name, Index outputs, Index inputs) {
      return AdaptedLinear{at + name, empty({outputs, inputs}), nullptr, 1, nullptr};
    };
    layers_.push_back(
        {empty({config.dim}), empty({config.dim}), linear("self_attn.q_proj", q, config.dim),
         linear("self_attn.k_proj", kv, config.dim), linear("self_attn.v_proj", kv, config.dim),
         linear("self_attn.o_proj", config.dim, q),
         linear("mlp.gate_proj", config.hidden, config.dim),
         linear("mlp.up_proj", config.hidden, config.dim),
         linear("mlp.down_proj", config.dim, config.hidden)});
  }
}

// The tables grow with the sequences that are seen: a model may announce millions of tokens.
void Llama::make_angles(Index length) const {
  if (cosines_.defined() && cosines_.size(0) >= length) return;
  const Index rows = std::min(config_.context, std::max(length, kFirstAngles));
  const Tensor angles = torch::outer(torch::arange(rows, torch::kFloat64),
                                     torch::tensor(frequencies(config_), torch::kFloat64));
  cosines_ = angles.cos().to(embedding_.options());
  sines_ = angles.sin().to(embedding_.options());
}

void Llama::randomise(double deviation, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(seed);
  for (auto& [name, values] : arrays())
    values.dim() == 1 ? values.fill_(1) : values.normal_(0, deviation);
}

Llama::NamedTensors Llama::arrays() const {
  NamedTensors all{{"model.embed_tokens.weight", embedding_}};
  for (size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const std::string at = message("model.layers.", l, ".");
    all.emplace_back(at + "input_layernorm.weight", layer.attention_norm);
    all.emplace_back(at + "post_attention_layernorm.weight", layer.feed_norm);
    for (const AdaptedLinear* linear : layer.linears())
      all.emplace_back(linear->name + ".weight", linear->weight);
  }
  all.emplace_back("model.norm.weight", norm_);
  if (!config_.tied) all.emplace_back("lm_head.weight", head_);
  return all;
}

Tensor Llama::embed(const Tensor& tokens) const {
  return torch::embedding(embedding_, tokens);
}

Tensor Llama::attention(const Layer& layer, const Tensor& n, LlamaCache* cache, size_t l) const {
  const std::int64_t batch = n.size(0), length = n.size(1);
  const auto heads = [&](const Tensor& x, Index count) {
    return x.view({batch, length, count, config_.head_dim}).transpose(1, 2);
  };
  const Index past = cache ? cache->length : 0;
  make_angles(past + length);
  const Tensor cosines = cosines_.narrow(0, past, length), sines = sines_.narrow(0, past, length);
  const Tensor q = rotated(heads(layer.q(n), config_.heads), cosines, sines);
  Tensor k = rotated(heads(layer.k(n), config_.kv_heads), cosines, sines);
  Tensor v = heads(layer.v(n), config_.kv_heads);
  if (cache) {
    if (past > 0) {
      k = torch::cat({cache->keys[l], k}, 2);
      v = torch::cat({cache->values[l], v}, 2);
    }
    cache->keys[l] = k;
    cache->values[l] = v;
  }
  const Index group = config_.heads / config_.kv_heads;
  const Tensor y = attend(q, repeated(k, group), repeated(v, group), length > 1);
  return layer.o(y.transpose(1, 2).reshape({batch, length, config_.heads * config_.head_dim}));
}

Tensor Llama::run_layer(size_t l, Tensor x, LlamaCache* cache) const {
  const Layer& layer = layers_[l];
  x = x + attention(layer, rms_norm(x, layer.attention_norm, config_.norm_epsilon), cache, l);
  const Tensor n = rms_norm(x, layer.feed_norm, config_.norm_epsilon);
  return x + layer.down(torch::silu(layer.gate(n)) * layer.up(n));
}

Tensor Llama::final_norm(const Tensor& x) const {
  return rms_norm(x, norm_, config_.norm_epsilon);
}

Tensor Llama::hidden(const Tensor& tokens, LlamaCache* cache) const {
  Tensor x = embed(tokens);
  for (size_t l = 0; l < layers_.size(); ++l) x = run_layer(l, x, cache);
  return final_norm(x);
}

Tensor Llama::logits(const Tensor& tokens, LlamaCache* cache) const {
  const Index past = cache ? cache->length : 0;
  require(past + tokens.size(1) <= config_.context, "a sequence of ", past + tokens.size(1),
          " tokens found, the model takes up to ", config_.context);
  require(past == 0 || tokens.size(1) == 1, "tokens after others come one by one");
  if (cache) {
    cache->keys.resize(layers_.size());
    cache->values.resize(layers_.size());
  }
  const Tensor x = hidden(tokens, cache);
  if (cache) cache->length += tokens.size(1);
  return torch::linear(x, head()).to(torch::kFloat32);
}

Tensor Llama::loss(const Tensor& tokens, const Tensor& targets) const {
  const torch::NoGradGuard no_grad;
  return head_loss(hidden(tokens, nullptr).flatten(0, 1), head(), targets.flatten(), 0).sum;
}

size_t Llama::first_adapted_layer() const {
  const auto has_adapter = [](const Layer& layer) {
    const auto linears = layer.linears();
    return std::any_of(linears.begin(), linears.end(),
                       [](auto* linear) { return linear->adapter; });
  };
  const auto first = std::find_if(layers_.begin(), layers_.end(), has_adapter);
  return static_cast<size_t>(first - layers_.begin());
}

Tensor Llama::accumulate(const Tensor& tokens, const Tensor& targets, double scale,
                         bool checkpointing) const {
  const size_t first = first_adapted_layer(), count = layers_.size();
  require(first < count, "training: the model has no adapters");
  // Layers [first, kept) are computed again on the way back; their inputs stay.
  const size_t kept = checkpointing ? count - 1 : first;
  std::vector<Tensor> inputs(count);
  Tensor x;
  {
    const torch::NoGradGuard no_grad;
    x = embed(tokens);
    for (size_t l = 0; l < kept; ++l) {
      if (l >= first) inputs[l] = x;
      x = run_layer(l, x, nullptr);
    }
  }
  const torch::AutoGradMode with_grad(true);
  Tensor input = x.detach().requires_grad_(kept > first);
  Tensor y = input;
  for (size_t l = kept; l < count; ++l) y = run_layer(l, y, nullptr);
  y = final_norm(y);
  const HeadLoss loss = head_loss(y.detach().flatten(0, 1), head(), targets.flatten(), scale);
  y.backward(loss.gradient.view_as(y));
  for (size_t l = kept; l-- > first;) {
    const Tensor gradient = input.grad();
    input = inputs[l].detach().requires_grad_(l > first);
    inputs[l] = Tensor();
    y = run_layer(l, input, nullptr);
    y.backward(gradient);
  }
  return loss.sum;
}

}  // namespace udv::deep
