// SPDX-License-Identifier: MIT
#include "udv/deep/udv_linear.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "deep/diagonal.hpp"
#include "deep/factored_product.hpp"
#include "io/temporary_files.hpp"
#include "support/random_data.hpp"
#include "udv/deep/optimizer.hpp"
#include "udv/deep/script.hpp"
#include "udv/deep/torchscript.hpp"
#include "udv/net/head.hpp"
#include "udv/net/trainer.hpp"

// Modules of LibTorch against the heads of net: the same numbers for the same weights.
namespace udv::deep {
namespace {

using testing::error_of;
using testing::random_rows;
using torch::Tensor;

constexpr net::Sizes kSizes{6, 4, 3};
constexpr double kSingle = 1e-5;  // a few hundred roundings of single precision

net::Network<float> random_network(const std::string& variant, bool bias, double scale = 1) {
  net::Network<float> network(net::variant_named(variant), kSizes, bias);
  network.parameters() =
      static_cast<float>(scale) * random_rows<float>(network.num_parameters(), 1, 3);
  return network;
}

Tensor tensor(const RowMatrix<float>& values) {
  return torch::from_blob(const_cast<float*>(values.data()), {values.rows(), values.cols()})
      .clone();
}

double difference(const Tensor& a, const Tensor& b) {
  return (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs().max().item<double>();
}

struct Case {
  std::string variant;
  bool bias;
};

std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (const net::Variant& variant : net::variants())
    for (const bool bias : {false, true}) cases.push_back({variant.name, bias});
  return cases;
}

class EveryBlock : public ::testing::TestWithParam<Case> {
 protected:
  net::Network<float> network_ = random_network(GetParam().variant, GetParam().bias);
  UDVLinear block_{network_};
};

INSTANTIATE_TEST_SUITE_P(Net, EveryBlock, ::testing::ValuesIn(every_case()), [](const auto& info) {
  std::string name = info.param.variant + (info.param.bias ? "_bias" : "");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// 2 samples are fewer than the outputs, 7 are more: the diagonal goes both ways.
TEST_P(EveryBlock, GivesTheOutputsOfNet) {
  for (const Index samples : {2, 7}) {
    const RowMatrix<float> X = random_rows<float>(samples, kSizes.inputs, 5);
    const Tensor expected = tensor(net::predict<float>(network_, X));
    EXPECT_LT(difference(block_(tensor(X)), expected), kSingle);
  }
}

TEST_P(EveryBlock, ProjectsAsNetDoes) {
  block_->project();
  network_.project();
  const auto found = block_->to_network();
  EXPECT_LT((found.parameters() - network_.parameters()).cwiseAbs().maxCoeff(), kSingle);
}

TEST_P(EveryBlock, StaysWhereItIsInsideItsSets) {
  UDVLinear block(net::Network<float>(random_network(GetParam().variant, false, 0)));
  const auto before = block->to_network().parameters();
  block->project();
  EXPECT_EQ(block->to_network().parameters(), before);
}

TEST_P(EveryBlock, HasTheSpectrumOfNet) {
  const Vector<double> expected = net::spectrum(network_);
  const Tensor found = block_->spectrum();
  for (Index i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found[i].item<double>(), expected(i), kSingle);
}

TEST_P(EveryBlock, IsPrunedAsNetDoes) {
  if (!network_.variant().has_hidden()) {
    EXPECT_NE(error_of([&] { block_->prune(PruneTarget::of_rank(1)); }).find("no hidden"),
              std::string::npos);
    return;
  }
  const net::Pruning<float> pruning(network_);
  const RowMatrix<float> X = random_rows<float>(7, kSizes.inputs, 5);
  const auto two = block_->prune(PruneTarget::of_rank(2));
  EXPECT_LT(difference(two->forward(tensor(X)), tensor(net::predict<float>(pruning.keep(2), X))),
            kSingle);
  const auto most = block_->prune(PruneTarget::of_energy(0.9));
  EXPECT_EQ(most->options().width, net::energy_rank(pruning.sizes(), 0.9));
}

TEST_P(EveryBlock, MergesToOneLayerWithTheSameFunction) {
  const Tensor X = torch::randn({7, kSizes.inputs});
  if (network_.variant().has(net::LayerKind::kRelu)) {
    EXPECT_NE(error_of([&] { block_->merge(); }).find("not linear"), std::string::npos);
  } else {
    EXPECT_LT(difference(block_->merge()->forward(X), block_(X)), kSingle);
  }
}

TEST_P(EveryBlock, ComesBackFromTorchScript) {
  std::stringstream file;
  to_torchscript(*block_).save(file);
  torch::jit::Module loaded = torch::jit::load(file);
  const Tensor X = torch::randn({7, kSizes.inputs});
  EXPECT_LT(difference(loaded.forward({X}).toTensor(), block_(X)), kSingle);
}

TEST_P(EveryBlock, HasTheGradientsOfNet) {
  net::Dataset<float> data;
  data.X = random_rows<float>(7, kSizes.inputs, 5);
  data.Y = random_rows<float>(7, kSizes.outputs, 6);
  auto work = network_.workspace(7);
  const auto outputs = network_.forward(data.X, work);
  work.gradients.back() = 2 * (outputs - data.Y);
  Vector<float> expected;
  network_.backward(data.X, work, expected);
  (block_(tensor(data.X)) - tensor(data.Y)).square().sum().backward();
  for (const auto& array : block_->arrays())
    for (Index i = 0; i < array.block.size(); ++i)
      EXPECT_NEAR(array.values.grad().flatten()[i].item<float>(), expected(array.block.offset + i),
                  1e-3);
}

TEST(TorchScript, HasScalesAndBackboneAroundTheHead) {
  const io::TemporaryFolder folder;
  torch::jit::Module doubled("Doubled");
  doubled.define("def forward(self, x):\n    return 2 * x\n");
  doubled.save(folder / "backbone.pt");
  const net::Network<float> head = random_network("UDV", true);
  Scaling scaling;
  scaling.feature_offset = Vector<double>::Constant(kSizes.inputs, 0.5);
  scaling.feature_factor = Vector<double>::Constant(kSizes.inputs, 3);
  scaling.target_scale = Vector<double>::Constant(kSizes.outputs, 10);
  scaling.target_offset = Vector<double>::Constant(kSizes.outputs, 1);
  write_torchscript(folder / "model.pt", head, scaling, folder / "backbone.pt");
  const Tensor x = torch::randn({4, kSizes.inputs});
  const Tensor found = torch::jit::load(folder / "model.pt").forward({x}).toTensor();
  UDVLinear block(head);
  EXPECT_LT(difference(found, block->forward((2 * x - 0.5) * 3) * 10 + 1), 1e-3);
  EXPECT_THROW(write_torchscript(folder / "no/model.pt", head), IoError);
}

TEST(UDVLinear, RefusesSizesAndNamesThatMakeNoSense) {
  EXPECT_NE(error_of([] { UDVLinear(3, 2, 0); }).find("sizes 3-0-2"), std::string::npos);
  EXPECT_NE(error_of([] { UDVLinear(3, 2, 2, "XYZ"); }).find("'XYZ' found"), std::string::npos);
  EXPECT_NE(error_of([] {
              UDVLinear(3, 2, 2)(torch::ones({1, 4}));
            }).find("4 features found"),
            std::string::npos);
}

TEST(UDVLinear, WorksInHalfPrecisionWithSingleWeights) {
  UDVLinear block(6, 3, 4);
  const Tensor x = torch::randn({8, 6});
  const Tensor half = block->forward(x.to(torch::kBFloat16));
  EXPECT_EQ(half.scalar_type(), torch::kBFloat16);
  EXPECT_LT(difference(half, block->forward(x)), 0.02);
  half.sum().backward();
  EXPECT_EQ((*block->find("U.weight")).grad().scalar_type(), torch::kFloat32);
}

TEST(Conversion, KeepsTheFunctionOfALinearLayer) {
  torch::nn::Linear linear(6, 5);
  const Tensor x = torch::randn({9, 6});
  for (const net::Variant& variant : net::variants()) {
    if (variant.has(net::LayerKind::kRelu)) {
      EXPECT_NE(error_of([&] { udv_from_linear(linear, 0, variant.name); }).find("not linear"),
                std::string::npos);
      continue;
    }
    const auto block = udv_from_linear(linear, 0, variant.name);
    EXPECT_LT(difference(block->forward(x), linear->forward(x)), 1e-4) << variant.name;
    const Tensor before = block->forward(x);
    block->project();
    EXPECT_LT(difference(block->forward(x), before), 1e-4) << variant.name << ": inside its sets";
  }
}

TEST(Conversion, TruncatesByTheSvd) {
  torch::nn::Linear linear(torch::nn::LinearOptions(20, 12).bias(false));
  const auto block = udv_from_linear(linear, 4);
  const Tensor s = std::get<1>(torch::linalg_svd(linear->weight.detach().to(torch::kFloat64)));
  const double dropped = s.slice(0, 4).norm().item<double>();
  EXPECT_NEAR((block->merge()->weight - linear->weight).norm().item<double>(), dropped, 1e-5);
}

std::shared_ptr<ChainImpl> small_chain() {
  auto chain = std::make_shared<ChainImpl>();
  auto inner = std::make_shared<ChainImpl>();
  inner->push_back("pointwise",
                   std::make_shared<ConvolutionImpl>(ConvolutionOptions{
                       .inputs = 3, .outputs = 8, .size = 1, .stride = 2, .bias = true}));
  inner->push_back(
      "spatial", std::make_shared<ConvolutionImpl>(ConvolutionOptions{.inputs = 8, .outputs = 8}));
  chain->push_back("body", inner);
  chain->push_back("pool", std::make_shared<PoolImpl>());
  chain->push_back("dense", std::make_shared<DenseImpl>(8, 5));
  return chain;
}

// The one node of the graph that GPUs use, against PyTorch's nodes: the diagonal goes into x U^T
// for few samples, and into V for many.
TEST(FactoredProduct, HasTheValuesAndGradientsOfItsThreeProducts) {
  for (const std::int64_t samples : {3, 40}) {
    torch::manual_seed(6);
    const auto random = [](std::vector<std::int64_t> shape) {
      return torch::randn(shape, torch::kFloat64).requires_grad_();
    };
    const Tensor x = random({2, samples, 7}), U = random({5, 7}), w = random({5}),
                 V = random({9, 5});
    const Tensor G = torch::randn({2, samples, 9}, torch::kFloat64);
    const auto gradients = [&](const Tensor& y) {
      return torch::autograd::grad({y}, {x, U, w, V}, {G});
    };
    const Tensor expected = torch::linear(torch::linear(x, U) * w, V);
    const Tensor found = factored_product(x, U, w, V, column_counters(w));
    EXPECT_TRUE(torch::allclose(found, expected, 1e-12, 1e-12));
    const auto a = gradients(found), b = gradients(expected);
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].sizes(), b[i].sizes());
      EXPECT_TRUE(torch::allclose(a[i], b[i], 1e-11, 1e-11)) << samples << " " << i;
    }
  }
}

TEST(Replacement, PutsBlocksInPlaceOfMatricesAndKeepsTheFunction) {
  const auto chain = small_chain();
  const Tensor x = torch::randn({4, 3, 6, 6});
  const Tensor before = chain->forward(x);
  EXPECT_EQ(replace_linears(*chain, "*"), (std::vector<std::string>{"body.pointwise", "dense"}));
  EXPECT_LT(difference(chain->forward(x), before), 1e-4);
  ASSERT_EQ(udv_blocks(*chain).size(), 2u);
  EXPECT_EQ(udv_blocks(*chain)[0].first, "body.pointwise");
  EXPECT_TRUE(chain->named_parameters().contains("body.pointwise.U.weight"));
}

TEST(Replacement, TakesOnlyWhatThePatternNames) {
  const auto chain = small_chain();
  EXPECT_EQ(replace_linears(*chain, "d*").size(), 1u);
  EXPECT_TRUE(replace_linears(*chain, "nothing").empty());
}

TEST(Replacement, PrunesEveryBlockByEnergy) {
  const auto chain = small_chain();
  replace_linears(*chain, "*");
  const Tensor x = torch::randn({4, 3, 6, 6});
  const Tensor before = chain->forward(x);
  const auto all = prune_blocks(*chain, PruneTarget::of_energy(1 - 1e-12));
  EXPECT_LT(difference(chain->forward(x), before), 1e-4);
  const auto half = prune_blocks(*chain, PruneTarget::of_energy(0.5));
  EXPECT_EQ(half.size(), 2u);
  EXPECT_LT(half.at("dense"), all.at("dense"));
  chain->forward(x);
}

TEST(Projector, ProjectsAllBlocksAsEachDoesByItself) {
  auto chain = std::make_shared<ChainImpl>();
  for (const net::Variant& variant : net::variants())
    chain->push_back(variant.name,
                     std::make_shared<UDVLinearImpl>(random_network(variant.name, false, 3)));
  std::vector<net::Network<float>> expected;
  for (const auto& [name, block] : udv_blocks(*chain)) {
    expected.push_back(block->to_network());
    expected.back().project();
  }
  Projector projector(*chain);
  EXPECT_EQ(projector.num_blocks(), net::variants().size());
  projector.project();
  const auto blocks = udv_blocks(*chain);
  for (size_t i = 0; i < blocks.size(); ++i)
    EXPECT_LT((blocks[i].second->to_network().parameters() - expected[i].parameters())
                  .cwiseAbs()
                  .maxCoeff(),
              kSingle)
        << blocks[i].first;
}

TEST(Projector, FollowsAModelToAnotherType) {
  auto chain = std::make_shared<ChainImpl>();
  chain->push_back("a", std::make_shared<UDVLinearImpl>(random_network("UDV", false, 3)));
  Projector projector(*chain);
  chain->to(torch::kFloat64);
  projector.project();
  const auto U = *udv_blocks(*chain)[0].second->find("U.weight");
  EXPECT_EQ(U.scalar_type(), torch::kFloat64);
  EXPECT_LE(U.norm().item<double>(), 1 + 1e-12);
}

// Rows of 1024 numbers: arrays of several rows, and one that ends inside a row.
TEST(Projector, KnowsWhereArraysOfManyRowsEnd) {
  auto chain = std::make_shared<ChainImpl>();
  chain->push_back("a", std::make_shared<UDVLinearImpl>(100, 70, 50));
  chain->push_back("b", std::make_shared<UDVLinearImpl>(30, 3, 7));
  {
    torch::NoGradGuard no_grad;
    for (const auto& p : chain->parameters()) p.detach().mul_(20);
  }
  Projector projector(*chain);
  projector.project();
  for (const auto& [name, block] : udv_blocks(*chain))
    for (const char* array : {"U.weight", "V.weight"})
      EXPECT_NEAR(block->find(array)->norm().item<double>(), 1, kSingle) << name << array;
}

TEST(Optimizer, TakesTheStepsOfNet) {
  for (const char* name : {"adam", "nadam", "mbgd", "mbgdm", "adamw"}) {
    net::OptimizerSettings settings;
    settings.weight_decay = 0.01;
    const net::Optimizer<double> rule(name, settings);
    Vector<double> expected = testing::random_vector<double>(5, 1);
    auto state = rule.start(5);
    Tensor p = torch::from_blob(expected.data(), {5}, torch::kFloat64).clone();
    p.requires_grad_();
    Optimizer optimizer({p}, name, settings);
    for (int i = 0; i < 20; ++i) {
      const Vector<double> g = expected.array().cube() - 0.3;
      optimizer.zero_grad();
      (p.pow(4) / 4 - 0.3 * p).sum().backward();
      optimizer.step(0.1);
      rule.step(0.1, g, state, expected);
    }
    for (Index i = 0; i < 5; ++i) EXPECT_NEAR(p[i].item<double>(), expected(i), 1e-12) << name;
  }
}

TEST(Optimizer, GoesOnFromItsState) {
  const auto train = [](Optimizer& optimizer, Tensor& p, int steps) {
    for (int i = 0; i < steps; ++i) {
      optimizer.zero_grad();
      p.pow(4).sum().backward();
      optimizer.step(0.1);
    }
  };
  const Tensor start = torch::randn({5});
  Tensor whole = start.clone().requires_grad_(), half = start.clone().requires_grad_();
  Optimizer one({whole}, "nadam"), two({half}, "nadam");
  train(one, whole, 10);
  train(two, half, 4);
  Tensor again = torch::zeros({5}).requires_grad_();
  Optimizer three({again}, "nadam");
  std::vector<Tensor> state;
  for (const Tensor& part : two.state()) state.push_back(part.clone());
  three.load_state(state);
  train(three, again, 6);
  EXPECT_EQ(difference(again, whole), 0);
  EXPECT_NE(error_of([&] { three.load_state({}); }).find("0 arrays"), std::string::npos);
}

// The formulas of the step, one number after the other.
TEST(Optimizer, RelativeStepsAreMeasuredByWhatTheyChange) {
  torch::manual_seed(3);
  UDVLinearImpl block(6, 4, 5);
  {
    torch::NoGradGuard no_grad;
    block.find("D.weight")->detach().copy_(torch::tensor({1.0, 2.0, 0.5, 0.0, 3.0}));
  }
  std::vector<Tensor> parameters, expected;
  for (const auto& array : block.arrays()) {
    parameters.push_back(array.values);
    expected.push_back(array.values.detach().clone());
  }
  const auto measures = step_measures(block);
  ASSERT_EQ(measures.size(), 3U);
  Optimizer optimizer(parameters, "relative", {}, measures);
  std::vector<Tensor> m(3, torch::zeros({})), v(3, torch::zeros({}));
  for (int t = 1; t <= 3; ++t) {
    const double rate = 0.2 / t;
    optimizer.zero_grad();
    block.forward(torch::randn({7, 6})).pow(2).sum().backward();
    for (size_t i = 0; i < 3; ++i) {
      const Tensor g = parameters[i].grad(), p = expected[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const Tensor d =
          m[i] / (1 - std::pow(0.9, t)) / ((v[i] / (1 - std::pow(0.999, t))).sqrt() + 1e-12);
      const double size =
          i == 1 ? p.mean().item<double>() : 1 / std::sqrt(static_cast<double>(p.numel()));
      expected[i] = p - rate * size * d;
    }
    optimizer.step(rate);
    for (size_t i = 0; i < 3; ++i) EXPECT_LT(difference(parameters[i], expected[i]), 1e-5);
  }
}

TEST(Optimizer, AFirstRelativeStepHasTheLengthOfTheRate) {
  UDVLinearImpl block(30, 20, 10);
  const Tensor before = block.find("U.weight")->detach().clone();
  std::vector<Tensor> parameters = block.parameters();
  Optimizer optimizer(parameters, "relative", {}, step_measures(block));
  block.forward(torch::randn({8, 30})).pow(2).sum().backward();
  optimizer.step(0.1, 1);
  EXPECT_NEAR((*block.find("U.weight") - before).norm().item<double>(), 0.1, 1e-4);
  EXPECT_NE(error_of([&] { Optimizer(parameters, "relative", {}, {{}}); }).find("1 measures"),
            std::string::npos);
}

TEST(Optimizer, KeepsSmallStepsOfHalfPrecisionParameters) {
  Tensor p = torch::ones({1}, torch::kBFloat16).requires_grad_();
  Optimizer optimizer({p}, "mbgd");
  for (int i = 0; i < 100; ++i) {
    optimizer.zero_grad();
    p.sum().backward();
    optimizer.step(1e-3);  // below half a unit of the last place of 1
  }
  EXPECT_NEAR(p.item<float>(), 0.9, 0.01);
}

TEST(Optimizer, ClipsGradientsToALimit) {
  Tensor p = torch::zeros({4}).requires_grad_();
  Optimizer optimizer({p}, "mbgd");
  (p * 3).sum().backward();
  optimizer.clip_gradients(1);
  EXPECT_NEAR(p.grad().norm().item<float>(), 1, 1e-6);
  optimizer.clip_gradients(5);
  EXPECT_NEAR(p.grad().norm().item<float>(), 1, 1e-6);
}

}  // namespace
}  // namespace udv::deep
