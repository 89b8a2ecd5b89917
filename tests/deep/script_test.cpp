// SPDX-License-Identifier: MIT
#include "udv/deep/script.hpp"

#include <gtest/gtest.h>

#include <sstream>

#include "io/temporary_files.hpp"
#include "support/random_data.hpp"
#include "udv/deep/finetune.hpp"
#include "udv/deep/small_network.hpp"
#include "udv/deep/torchscript.hpp"
#include "udv/net/trainer.hpp"

namespace udv::deep {
namespace {

using testing::error_of;
using torch::Tensor;

constexpr double kSingle = 1e-5;

double difference(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() ? (a - b).abs().max().item<double>() : 1e9;
}

torch::jit::Module there_and_back(const TensorModule& module) {
  std::stringstream file;
  to_torchscript(module).save(file);
  return torch::jit::load(file);
}

ImageSet random_pictures(Index count, Index channels, std::uint64_t seed) {
  constexpr Index kSide = 10, kClasses = 3;
  ImageSet set{count, channels, kSide, kSide, {}, {}, kClasses};
  Random random(seed, testing::kTestStream);
  for (Index i = 0; i < count; ++i)
    set.labels.push_back(static_cast<std::int32_t>(random.below(kClasses)));
  for (Index i = 0; i < count * set.pixels(); ++i)
    set.bytes += static_cast<char>(random.below(256));
  return set;
}

Tensor as_input(const ImageSet& set) {
  return torch::from_blob(const_cast<char*>(set.bytes.data()),
                          {set.count, set.channels, set.height, set.width}, torch::kUInt8)
      .to(torch::kFloat32)
      .div(255);
}

TEST(Script, HoldsBlocksOfPixelsOfEveryVariant) {
  torch::manual_seed(1);
  for (const net::Variant& variant : net::variants()) {
    UDVLinearOptions options;
    options.inputs = 6;
    options.outputs = 5;
    options.width = 4;
    options.variant = variant.name;
    options.bias = options.pixels = true;
    options.stride = 2;
    UDVLinearImpl block(options);
    const Tensor x = torch::randn({2, 6, 8, 8});
    EXPECT_LT(difference(there_and_back(block).forward({x}).toTensor(), block.forward(x)), kSingle)
        << variant.name;
  }
}

TEST(Script, HoldsAWholeNetworkThatCanGoOnLearning) {
  torch::manual_seed(2);
  const auto network = small_network(3);
  ReplaceOptions how;
  how.width = 10;
  replace_linears(*network, "stage2.pointwise", how);
  replace_linears(*network, "dense", how);
  network->train();
  network->forward(torch::rand({8, 3, 16, 16}));  // means and variances that are not 0 and 1
  torch::jit::Module loaded = there_and_back(*network);
  EXPECT_EQ(loaded.parameters().size(), network->parameters().size());
  const Tensor x = torch::rand({3, 3, 20, 12});
  for (const bool learning : {false, true}) {
    network->train(learning);
    loaded.train(learning);
    EXPECT_LT(difference(loaded.forward({x}).toTensor(), network->forward(x)), kSingle);
  }
}

TEST(Script, RefusesAModuleThatItDoesNotKnow) {
  class Other : public TensorModule {
    Tensor forward(Tensor x) override { return x; }
  };
  EXPECT_NE(error_of([] {
              to_torchscript(static_cast<const TensorModule&>(Other()));
            }).find("no way to write a module"),
            std::string::npos);
}

TEST(Script, OfAFineTunedNetworkGivesItsLogits) {
  const io::TemporaryFolder folder;
  for (const Index channels : {1, 3}) {
    const ImageData data{random_pictures(40, channels, 1), random_pictures(12, channels, 2), {}};
    FinetuneOptions options;
    options.training.epochs = 1;
    options.training.batch = 10;
    options.replace = "*pointwise";
    options.replace_width = 8;
    Finetuner tuner(options, data);
    tuner.train({});
    write_torchscript(folder / "model.pt", tuner.head(), tuner.arrays(), tuner.blocks());
    torch::jit::Module loaded = torch::jit::load(folder / "model.pt");
    const Tensor logits = loaded.forward({as_input(data.test)}).toTensor();
    const RowMatrix<float> expected =
        net::predict<float>(tuner.head(), tuner.features(data.test, 0, data.test.count));
    ASSERT_EQ(logits.sizes(), (std::vector<std::int64_t>{12, 3}));
    for (Index i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(logits.flatten()[i].item<float>(), expected.data()[i], kSingle);
  }
}

TEST(Script, NamesAnArrayThatIsMissing) {
  const io::TemporaryFolder folder;
  const net::Network<float> head(net::variant_named("UDV"), {128, 4, 3}, false);
  const auto write = [&](const std::vector<NamedArray>& arrays) {
    return error_of([&] { write_torchscript(folder / "model.pt", head, arrays, {}); });
  };
  EXPECT_EQ(write({}), "no array 'stage1.spatial.weight'");
  EXPECT_EQ(write({{"stage1.spatial.weight", {3}, {1, 2, 3}}}),
            "array 'stage1.spatial.weight' has 1 dimensions, 4 expected");
  EXPECT_NE(write({{"stage1.spatial.weight", {1, 3, 1, 1}, {1, 2, 3}}}), "no error");
}

}  // namespace
}  // namespace udv::deep
