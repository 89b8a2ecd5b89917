// SPDX-License-Identifier: MIT
#include "udv/deep/llama.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/require.hpp"

namespace udv::deep {
namespace {

using text::LlamaConfig;
using text::RopeScaling;
using torch::Tensor;

LlamaConfig tiny() {
  LlamaConfig c;
  c.dim = 24;
  c.hidden = 40;
  c.layers = 3;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 6;
  c.vocabulary = 50;
  c.context = 32;
  return c;
}

Llama make_model(const LlamaConfig& config = tiny()) {
  torch::manual_seed(3);
  Llama model(config, torch::kFloat32);
  model.randomise(0.2);
  return model;
}

// Every module, and values that the constraint sets would not leave.
void add_adapters(Llama& model, const std::string& method) {
  AdapterOptions options;
  options.method = method;
  options.rank = 5;
  options.modules = {"q", "k", "v", "o", "gate", "up", "down"};
  model.add_adapters(options, 1);
  const torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  for (const Tensor& values : model.adapter_parameters()) values.detach().normal_(0, 0.3);
}

Tensor some_tokens(const LlamaConfig& c, std::int64_t batch, std::int64_t length) {
  torch::manual_seed(7);
  return torch::randint(c.vocabulary, {batch, length}, torch::kLong);
}

// The same network once more, by sums over heads and positions, with dense matrices in double.
class Reference {
 public:
  explicit Reference(const Llama& model) : c_(model.config()) {
    for (const auto& [name, values] : model.arrays()) weights_[name] = values.to(torch::kFloat64);
    for (const AdaptedLinear* linear : model.adapted()) {
      auto& leaves = leaves_[linear->name];
      for (const auto& array : linear->adapter->arrays())
        leaves.push_back(array.values.detach().to(torch::kFloat64).requires_grad_());
      // U, w, V or U, V.
      const Tensor scaled = leaves.size() == 3 ? leaves[1].unsqueeze(1) * leaves[0] : leaves[0];
      weights_[linear->name + ".weight"] =
          weights_[linear->name + ".weight"] + leaves.back().matmul(scaled);
    }
  }

  const std::vector<Tensor>& leaves(const std::string& name) const { return leaves_.at(name); }

  Tensor logits(const Tensor& tokens) const {
    std::vector<Tensor> all;
    for (std::int64_t b = 0; b < tokens.size(0); ++b) all.push_back(sequence(tokens[b]));
    return torch::stack(all);
  }

 private:
  const Tensor& weight(const std::string& name) const { return weights_.at(name + ".weight"); }

  Tensor norm(const Tensor& x, const std::string& name) const {
    const Tensor mean = (x * x).mean(1, true);
    return x / torch::sqrt(mean + c_.norm_epsilon) * weight(name);
  }

  // Number i of a head is the real part, i + head_dim / 2 the imaginary one.
  Tensor turn(const Tensor& x) const {
    const std::int64_t half = c_.head_dim / 2;
    std::vector<Tensor> rows;
    for (std::int64_t t = 0; t < x.size(0); ++t) {
      std::vector<Tensor> re, im;
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle =
            static_cast<double>(t) *
            std::pow(c_.rope_base, -static_cast<double>(i) / static_cast<double>(half));
        re.push_back(x[t][i] * std::cos(angle) - x[t][i + half] * std::sin(angle));
        im.push_back(x[t][i + half] * std::cos(angle) + x[t][i] * std::sin(angle));
      }
      rows.push_back(torch::cat({torch::stack(re), torch::stack(im)}));
    }
    return torch::stack(rows);
  }

  Tensor head(const Tensor& q, const Tensor& k, const Tensor& v) const {
    std::vector<Tensor> rows;
    for (std::int64_t t = 0; t < q.size(0); ++t) {
      const Tensor scores =
          k.slice(0, 0, t + 1).matmul(q[t]) / std::sqrt(static_cast<double>(c_.head_dim));
      rows.push_back(torch::softmax(scores, 0).matmul(v.slice(0, 0, t + 1)));
    }
    return torch::stack(rows);
  }

  Tensor sequence(const Tensor& tokens) const {
    Tensor x = weight("model.embed_tokens").index_select(0, tokens);
    for (Index l = 0; l < c_.layers; ++l) {
      const std::string at = message("model.layers.", l, ".");
      const auto apply = [&](const char* name, const Tensor& input) {
        return input.matmul(weight(at + name).t());
      };
      Tensor n = norm(x, at + "input_layernorm");
      const Tensor q = apply("self_attn.q_proj", n), k = apply("self_attn.k_proj", n),
                   v = apply("self_attn.v_proj", n);
      std::vector<Tensor> heads;
      for (Index h = 0; h < c_.heads; ++h) {
        const Index g = h / (c_.heads / c_.kv_heads);
        const auto part = [&](const Tensor& all, Index i) {
          return all.narrow(1, i * c_.head_dim, c_.head_dim);
        };
        heads.push_back(head(turn(part(q, h)), turn(part(k, g)), part(v, g)));
      }
      x = x + apply("self_attn.o_proj", torch::cat(heads, 1));
      n = norm(x, at + "post_attention_layernorm");
      const Tensor gate = apply("mlp.gate_proj", n);
      x = x + apply("mlp.down_proj", gate * torch::sigmoid(gate) * apply("mlp.up_proj", n));
    }
    return norm(x, "model.norm").matmul(weight(c_.tied ? "model.embed_tokens" : "lm_head").t());
  }

  LlamaConfig c_;
  std::map<std::string, Tensor> weights_;
  std::map<std::string, std::vector<Tensor>> leaves_;
};

double relative_difference(const Tensor& a, const Tensor& b) {
  const Tensor exact = b.detach().to(torch::kFloat64);
  return ((a.detach().to(torch::kFloat64) - exact).abs().max() / exact.abs().max()).item<double>();
}

class LlamaAdapters : public testing::TestWithParam<const char*> {};

TEST_P(LlamaAdapters, ScoresAndGradientsAreThoseOfADenseReference) {
  for (const bool tied : {false, true}) {
    LlamaConfig config = tiny();
    config.tied = tied;
    Llama model = make_model(config);
    add_adapters(model, GetParam());
    const Reference reference(model);
    const Tensor tokens = some_tokens(config, 2, 9), targets = some_tokens(config, 2, 9).flip(1);
    const Tensor scores = reference.logits(tokens);
    EXPECT_LT(relative_difference(model.logits(tokens), scores), 1e-5);
    const Tensor loss =
        torch::nll_loss(torch::log_softmax(scores.flatten(0, 1), 1), targets.flatten(), {}, 2);
    (loss * 0.25).backward();
    for (const bool checkpointing : {false, true}) {
      for (const Tensor& values : model.adapter_parameters()) values.mutable_grad() = Tensor();
      const double sum = model.accumulate(tokens, targets, 0.25, checkpointing).item<double>();
      EXPECT_NEAR(sum, loss.item<double>(), 1e-4 * sum);
      EXPECT_NEAR(model.loss(tokens, targets).item<double>(), sum, 1e-5 * sum);
      for (const AdaptedLinear* linear : model.adapted())
        for (size_t i = 0; i < linear->adapter->arrays().size(); ++i)
          EXPECT_LT(relative_difference(linear->adapter->arrays()[i].values.grad(),
                                        reference.leaves(linear->name)[i].grad()),
                    2e-4)
              << linear->name << " " << linear->adapter->arrays()[i].block.name << " "
              << checkpointing;
    }
  }
}

TEST_P(LlamaAdapters, GoOutAndComeBackAndMerge) {
  Llama model = make_model();
  add_adapters(model, GetParam());
  const Tensor tokens = some_tokens(model.config(), 1, 8);
  const torch::NoGradGuard no_grad;
  const Tensor expected = model.logits(tokens);
  const net::Adapter adapter = model.adapter();
  EXPECT_EQ(adapter.method, GetParam());
  EXPECT_EQ(adapter.blocks.size(), 21U);
  Llama fresh = make_model();
  EXPECT_GT(relative_difference(fresh.logits(tokens), expected), 1e-2);
  fresh.set_adapter(adapter);
  EXPECT_LT(relative_difference(fresh.logits(tokens), expected), 1e-6);
  fresh.merge_adapters();
  EXPECT_TRUE(fresh.adapted().empty());
  EXPECT_LT(relative_difference(fresh.logits(tokens), expected), 1e-5);
}

TEST_P(LlamaAdapters, PrunedOnesAreFilledUpWithZeros) {
  Llama model = make_model();
  add_adapters(model, GetParam());
  const Tensor tokens = some_tokens(model.config(), 1, 8);
  const torch::NoGradGuard no_grad;
  const net::AdapterPruning pruning(model.adapter());
  net::AdapterPruning::Ranks ranks(pruning.blocks(), 2);
  ranks[3] = 0;
  const net::Adapter pruned = pruning.keep(ranks);
  model.set_adapter(pruned);
  Llama fresh = make_model();
  fresh.set_adapter(pruned);
  EXPECT_LT(relative_difference(fresh.logits(tokens), model.logits(tokens)), 1e-5);
}

INSTANTIATE_TEST_SUITE_P(Methods, LlamaAdapters, testing::Values("lora", "lora-udv"),
                         [](const auto& info) {
                           return std::string(info.param) == "lora" ? "LoRA" : "LoRAUDV";
                         });

TEST(Llama, OneTokenAfterTheOtherGivesTheSameScores) {
  Llama model = make_model();
  const Tensor tokens = some_tokens(model.config(), 1, 10);
  const torch::NoGradGuard no_grad;
  const Tensor expected = model.logits(tokens);
  LlamaCache cache;
  std::vector<Tensor> parts{model.logits(tokens.narrow(1, 0, 4), &cache)};
  for (std::int64_t t = 4; t < 10; ++t)
    parts.push_back(model.logits(tokens.narrow(1, t, 1), &cache));
  EXPECT_EQ(cache.length, 10);
  EXPECT_LT(relative_difference(torch::cat(parts, 1), expected), 1e-5);
}

TEST(Llama, FreshAdaptersChangeNothing) {
  Llama model = make_model();
  const Tensor tokens = some_tokens(model.config(), 1, 6);
  const torch::NoGradGuard no_grad;
  const Tensor expected = model.logits(tokens);
  model.add_adapters({}, 0);
  EXPECT_EQ(model.adapted().size(), 6U);
  EXPECT_TRUE(torch::equal(model.logits(tokens), expected));
}

TEST(Llama, AngleScalingLeavesHighFrequenciesAndDividesLowOnes) {
  LlamaConfig config = tiny();
  config.head_dim = 64;
  config.heads = config.kv_heads = 1;
  config.rope_base = 500000;
  const Llama plain = make_model(config);
  config.rope_scaling = {RopeScaling::kLlama3, 8, 1, 4, 8192};
  const Llama scaled = make_model(config);
  const Tensor tokens = some_tokens(config, 1, 20);
  const torch::NoGradGuard no_grad;
  const double change = relative_difference(scaled.logits(tokens), plain.logits(tokens));
  EXPECT_GT(change, 1e-7);  // low frequencies differ
  EXPECT_LT(change, 0.3);   // high ones are the same
}

TEST(Llama, AnAdapterOfAnotherModelIsRefused) {
  Llama model = make_model();
  net::Adapter adapter;
  adapter.blocks.push_back({"model.layers.7.self_attn.q_proj", RowMatrix<float>::Ones(1, 24),
                            Vector<float>::Ones(1), RowMatrix<float>::Ones(24, 1)});
  EXPECT_THROW(model.set_adapter(adapter), InvalidArgument);
  adapter.blocks[0].name = "model.layers.0.self_attn.q_proj";
  adapter.blocks[0].A = RowMatrix<float>::Ones(1, 30);
  try {
    model.set_adapter(adapter);
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find("24 x 30 found, 24 x 24 expected"), std::string::npos)
        << error.what();
  }
}

TEST(Llama, ImpossibleShapesAreNamed) {
  const auto refused = [](auto change, const std::string& word) {
    LlamaConfig config = tiny();
    change(config);
    try {
      config.validate();
      return false;
    } catch (const InvalidArgument& error) {
      return std::string(error.what()).find(word) != std::string::npos;
    }
  };
  EXPECT_TRUE(refused([](auto& c) { c.kv_heads = 3; }, "num_key_value_heads is 3"));
  EXPECT_TRUE(refused([](auto& c) { c.head_dim = 5; }, "head_dim is 5"));
  EXPECT_TRUE(refused([](auto& c) { c.layers = 0; }, "num_hidden_layers is 0"));
  EXPECT_TRUE(refused([](auto& c) { c.norm_epsilon = -1; }, "rms_norm_eps is -1"));
}

}  // namespace
}  // namespace udv::deep
