// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "udv/deep/adapter_options.hpp"
#include "udv/deep/udv_linear.hpp"
#include "udv/net/adapter.hpp"
#include "udv/text/llama_config.hpp"

namespace udv::deep {

/// Sums over the tokens that a layer y = W x sees: of x x^T, and of g g^T and g x^T for the
/// gradients g of y.
struct MomentSums {
  torch::Tensor inputs, gradients, slope;
  Index tokens = 0;
};

/// y = W x + scale V diag(w) U x: a frozen matrix, and an adapter where there is one.
struct AdaptedLinear {
  std::string name;      ///< "model.layers.0.self_attn.q_proj"
  torch::Tensor weight;  ///< outputs x inputs
  std::shared_ptr<UDVLinearImpl> adapter;
  double scale = 1;                          ///< alpha / rank of LoRA
  std::shared_ptr<MomentSums> moments = {};  ///< what gradients flow through is added here

  torch::Tensor operator()(const torch::Tensor& x) const;
};

/// Keys and values of the tokens so far, of every layer: heads x tokens x head_dim.
struct LlamaCache {
  std::vector<torch::Tensor> keys, values;
  Index length = 0;
};

/// A LLaMA language model (Touvron et al. 2023) with frozen weights and adapters that learn:
///   x_0 = E[token];  x <- x + O attention(R Q n, R K n, V n),  n = norm(x);
///   x <- x + down(silu(gate n) * up n);  logits = head norm(x).
/// R turns pairs of numbers (i, i + head_dim / 2) by the position, as Hugging Face has it.
class Llama {
 public:
  struct Layer {
    torch::Tensor attention_norm, feed_norm;
    AdaptedLinear q, k, v, o, gate, up, down;

    std::array<AdaptedLinear*, 7> linears() { return {&q, &k, &v, &o, &gate, &up, &down}; }
    std::array<const AdaptedLinear*, 7> linears() const {
      return {&q, &k, &v, &o, &gate, &up, &down};
    }
  };
  using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;

  /// Weights that are not set yet, of the options' type and device. Throws InvalidArgument.
  Llama(const text::LlamaConfig& config, const torch::TensorOptions& options);
  /// All weights normal with this deviation, norms 1: for measurements of speed.
  void randomise(double deviation = 0.02, std::uint64_t seed = 0);

  const text::LlamaConfig& config() const { return config_; }
  torch::Device device() const { return embedding_.device(); }
  /// All frozen arrays by their names in Hugging Face's layout.
  NamedTensors arrays() const;

  /// Next-token scores, batch x tokens x vocabulary in single precision; with a cache, of tokens
  /// that follow those in it.
  torch::Tensor logits(const torch::Tensor& tokens, LlamaCache* cache = nullptr) const;

  /// Sum of -log p(target) over all tokens, as a tensor on the device; batch x tokens each.
  torch::Tensor loss(const torch::Tensor& tokens, const torch::Tensor& targets) const;

  /// The same, and adds the gradient of `scale` times it to those of the adapters. With
  /// `checkpointing` only the inputs of layers are kept, and each layer is computed a second time.
  torch::Tensor accumulate(const torch::Tensor& tokens, const torch::Tensor& targets, double scale,
                           bool checkpointing) const;

  /// Puts fresh adapters in, in the place of earlier ones; single precision, whatever the weights
  /// are.
  void add_adapters(const AdapterOptions& options, std::uint64_t seed);
  /// Throws InvalidArgument where a module is unknown or a rank too large.
  void check_adapters(const AdapterOptions& options) const;
  std::vector<const AdaptedLinear*> adapted() const;
  std::vector<torch::Tensor> adapter_parameters() const;
  std::vector<std::shared_ptr<UDVLinearImpl>> adapter_blocks() const;

  /// The adapters as they are; back, with ranks up to those that are there. Matrices whose block is
  /// not named get no change. set_adapter makes adapters where there are none. Throws
  /// InvalidArgument where a name or shape does not belong to the model.
  net::Adapter adapter() const;
  void set_adapter(const net::Adapter& adapter);
  /// W <- W + B diag(d) A; adapters go.
  void merge_adapters();

  std::vector<Layer>& layers() { return layers_; }
  const std::vector<Layer>& layers() const { return layers_; }

 private:
  torch::Tensor embed(const torch::Tensor& tokens) const;
  torch::Tensor run_layer(size_t l, torch::Tensor x, LlamaCache* cache) const;
  torch::Tensor attention(const Layer& layer, const torch::Tensor& n, LlamaCache* cache,
                          size_t l) const;
  torch::Tensor final_norm(const torch::Tensor& x) const;
  torch::Tensor hidden(const torch::Tensor& tokens, LlamaCache* cache) const;
  const torch::Tensor& head() const { return config_.tied ? embedding_ : head_; }
  size_t first_adapted_layer() const;
  void make_angles(Index length) const;

  text::LlamaConfig config_;
  torch::Tensor embedding_, head_, norm_;
  mutable torch::Tensor cosines_, sines_;  // tokens x head_dim / 2
  std::vector<Layer> layers_;
};

}  // namespace udv::deep
