// SPDX-License-Identifier: MIT
#include "udv/deep/finetune.hpp"

#include <gtest/gtest.h>
#include <torch/script.h>

#include <cmath>

#include "io/temporary_files.hpp"
#include "support/random_data.hpp"
#include "udv/io/png.hpp"

namespace udv::deep {
namespace {

using testing::error_of;

// LibTorch's threads wait for each other in a busy loop: other tests run beside.
const testing::ThreadCount kOneThread(1);

// Noise with a bright square whose corner says the class.
ImageSet squares(Index count, Index channels, std::uint64_t seed) {
  constexpr Index kSide = 12, kSquare = 5;
  ImageSet set{count, channels, kSide, kSide, {}, {}, 3};
  Random random(seed, testing::kTestStream);
  for (Index i = 0; i < count; ++i) {
    const Index label = random.below(3), top = label / 2 * 6, left = label % 2 * 6;
    set.labels.push_back(static_cast<std::int32_t>(label));
    for (Index c = 0; c < channels; ++c)
      for (Index y = 0; y < kSide; ++y)
        for (Index x = 0; x < kSide; ++x) {
          const bool inside = y >= top && y < top + kSquare && x >= left && x < left + kSquare;
          set.bytes += static_cast<char>(random.below(90) + (inside ? 150 : 0));
        }
  }
  return set;
}

ImageData square_data(Index channels = 1) {
  return {squares(96, channels, 1), squares(30, channels, 2), {}};
}

FinetuneOptions quick_options() {
  FinetuneOptions options;
  options.training.epochs = 3;
  options.training.batch = 16;
  options.backbone_rate = 3e-3;
  options.training.average_last = 1;
  options.flip = false;
  options.crop = true;
  return options;
}

// Pictures to the means of four quarters of each channel, with one weight that can learn.
std::string write_backbone(const io::TemporaryFolder& folder, const std::string& result) {
  torch::jit::Module module("Quarters");
  module.register_parameter("gain", torch::ones({1}), false);
  module.define("def forward(self, x):\n    x = x * self.gain\n    return " + result + "\n");
  const std::string path = folder / "backbone.pt";
  module.save(path);
  return path;
}

const char* const kQuarters = "torch.adaptive_avg_pool2d(x, [2, 2]).flatten(1)";

template <typename Action>
std::string io_error_of(const Action& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Finetune, LearnsWithTheBuiltInNetwork) {
  const ImageData data = square_data();
  FinetuneOptions options = quick_options();
  options.training.epochs = 8;
  Finetuner tuner(options, data);
  Index epochs_seen = 0;
  FinetuneHooks hooks;
  hooks.epoch = [&](const net::EpochRecord&, const net::Network<float>& head,
                    const net::Dataset<float>& test) {
    ++epochs_seen;
    EXPECT_EQ(test.X.cols(), head.sizes().inputs);
    EXPECT_EQ(test.size(), 30);
  };
  const FinetuneResult result = tuner.train(hooks);
  EXPECT_EQ(result.training.stop, net::TrainStop::kDone);
  EXPECT_EQ(epochs_seen, 8);
  EXPECT_GT(result.training.test_accuracy, 0.9);
  EXPECT_GT(result.images_per_second, 0);
  EXPECT_NEAR(tuner.evaluate().accuracy, result.training.test_accuracy, 1e-12);
  const auto& U = result.training.network;
  EXPECT_LE(U.at(*U.find("U.weight")).norm(), 1 + 1e-5);
}

// An interrupted run goes on to the same bits.
class FinetuneSteps : public ::testing::TestWithParam<const char*> {};

TEST_P(FinetuneSteps, GoOnFromACheckpointAsIfNothingHadHappened) {
  const ImageData data = square_data();
  FinetuneOptions options = quick_options();
  options.flip = true;
  options.replace = "*";
  options.training.optimizer = GetParam();
  const auto whole = Finetuner(options, data).train({});
  FinetuneHooks hooks;
  std::string checkpoint;
  hooks.save = [&](const std::string& bytes) { checkpoint = bytes; };
  double looks = 0;
  hooks.observer = [&](const IterationRecord&) {
    return ++looks >= 4 ? Verdict::kInterrupt : Verdict::kContinue;
  };
  auto part = Finetuner(options, data).train(hooks);
  int parts = 1;
  for (; part.training.stop == net::TrainStop::kInterrupted && parts < 50; ++parts) {
    hooks.resume = checkpoint;
    looks = 0;
    part = Finetuner(options, data).train(hooks);
  }
  EXPECT_GT(parts, 3);
  EXPECT_EQ(part.training.network.parameters(), whole.training.network.parameters());
  EXPECT_EQ(part.training.test_loss, whole.training.test_loss);
  EXPECT_EQ(part.training.history.size(), whole.training.history.size());
  FinetuneHooks saving;
  std::vector<std::string> states;
  saving.save_every_seconds = 0;
  saving.save = [&](const std::string& bytes) { states.push_back(bytes); };
  Finetuner(options, data).train(saving);
  ASSERT_GT(states.size(), 3u);
  for (size_t k = 0; k < states.size(); k += 1 + states.size() / 3) {
    FinetuneHooks resumed;
    resumed.resume = states[k];
    EXPECT_EQ(Finetuner(options, data).train(resumed).training.network.parameters(),
              whole.training.network.parameters());
  }
  hooks.resume = "nonsense";
  EXPECT_NE(error_of([&] { Finetuner(options, data).train(hooks); }).find("not a checkpoint"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Kinds, FinetuneSteps, ::testing::Values("nadam", "relative"));

TEST(Finetune, StepsAreFoundWhereNobodyGivesThem) {
  FinetuneOptions options;
  const net::TrainOptions whole = options.with_steps(1280).training;
  EXPECT_EQ(whole.optimizer, "relative");
  EXPECT_NEAR(whole.learning_rate, 2.3 / std::sqrt(200.0), 1e-12);
  EXPECT_EQ(options.with_steps(1280).backbone_rate, 1e-3);
  options.preset = "paper";
  EXPECT_EQ(options.with_steps(1280).training.optimizer, "adam");
  EXPECT_EQ(options.with_steps(1280).training.schedule.name, "cosine");
  options.preset = "auto";
  options.training.variant = "UV";
  EXPECT_EQ(options.with_steps(1280).training.optimizer, "adam");
  EXPECT_EQ(options.with_steps(1280).training.learning_rate, 1e-3);
  options.training.optimizer = "relative";
  EXPECT_NE(error_of([&] { options.validate(); }).find("a variant with balls"), std::string::npos);
}

TEST(Finetune, TrainsATorchScriptBackboneEndToEnd) {
  const io::TemporaryFolder folder;
  const ImageData data = square_data();
  FinetuneOptions options = quick_options();
  options.backbone = write_backbone(folder, kQuarters);
  options.trainable = true;
  options.image_size = 8;
  options.training.epochs = 10;
  options.training.learning_rate = 0.1;
  options.clip = 1;
  Finetuner tuner(options, data);
  EXPECT_EQ(tuner.num_features(), 12);
  const auto result = tuner.train({});
  EXPECT_GT(result.training.test_accuracy, 0.8);
  tuner.save_backbone(folder / "after.pt");
  torch::jit::Module after = torch::jit::load(folder / "after.pt");
  EXPECT_NE((*after.parameters().begin()).item<float>(), 1);
}

TEST(Finetune, GivesFeaturesOfAFrozenBackbone) {
  const io::TemporaryFolder folder;
  const ImageData data = square_data(3);
  FinetuneOptions options = quick_options();
  options.backbone = write_backbone(folder, kQuarters);
  options.image_size = 12;
  Finetuner tuner(options, data);
  const RowMatrix<float> all = tuner.features(data.test, 0, 30),
                         some = tuner.features(data.test, 7, 5);
  EXPECT_EQ(all.cols(), 12);
  EXPECT_LT((all.middleRows(7, 5) - some).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_NE(error_of([&] { tuner.train({}); }).find("frozen"), std::string::npos);
}

TEST(Finetune, NamesWhatIsWrongWithABackbone) {
  const io::TemporaryFolder folder;
  const ImageData data = square_data();
  FinetuneOptions options = quick_options();
  const auto complaint = [&] { return io_error_of([&] { Finetuner(options, data); }); };
  options.backbone = folder / "missing.pt";
  EXPECT_NE(complaint().find("no such file"), std::string::npos);
  options.backbone = folder.write("text.pt", "hello");
  EXPECT_NE(complaint().find("not a TorchScript file"), std::string::npos);
  options.backbone = write_backbone(folder, "x");
  EXPECT_NE(complaint().find("[2, 3, 224, 224] for 2 pictures found, N x d"), std::string::npos);
  options.backbone = write_backbone(folder, "torch.matmul(x, torch.ones([7, 7]))");
  EXPECT_NE(complaint().find("does not take pictures of 3 x 224 x 224"), std::string::npos);
  options.backbone.clear();
  options.replace = "none*";
  EXPECT_NE(complaint().find("there are stage1.spatial, stage1.pointwise"), std::string::npos);
  if (torch::cuda::is_available()) return;
  options = quick_options();
  options.placement.device = "cuda";
  EXPECT_NE(testing::error_of([&] { Finetuner(options, data); }).find("no CUDA device"),
            std::string::npos);
}

TEST(Finetune, LoadsTheArraysThatItWrites) {
  const ImageData data = square_data();
  FinetuneOptions options = quick_options();
  options.replace = "*pointwise";
  options.replace_width = 20;
  options.training.epochs = 1;
  Finetuner tuner(options, data);
  tuner.train({});
  ASSERT_EQ(tuner.blocks().size(), 3u);
  EXPECT_EQ(tuner.blocks()[2].width, 20);
  options.replace.clear();
  options.training.seed = 5;
  Finetuner other(options, data);
  other.load_arrays(tuner.arrays(), tuner.blocks());
  other.set_head(tuner.head());
  EXPECT_NEAR(other.evaluate().loss, tuner.evaluate().loss, 1e-6);
  EXPECT_NE(error_of([&] { other.load_arrays({}, {}); }).find("no array"), std::string::npos);
}

TEST(Images, ReadsFoldersOfClasses) {
  const io::TemporaryFolder folder;
  io::RgbImage picture{20, 30, std::vector<std::uint8_t>(1800, 7)};
  for (const char* name : {"cats", "dogs"}) {
    std::filesystem::create_directory(folder / name);
    for (const char* file : {"1.png", "2.png", "3.png"})
      io::write_png(folder / (std::string(name) + "/" + file), picture);
  }
  ImageOptions options;
  options.size = 10;
  options.test_share = 0.34;
  const ImageData data = read_images(folder / "", options);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"cats", "dogs"}));
  EXPECT_EQ(data.training.count, 4);
  EXPECT_EQ(data.test.count, 2);
  EXPECT_EQ(data.training.height, 10);
  EXPECT_EQ(data.training.bytes, std::string(4 * 300, 7));
  folder.write("dogs/4.png", "no picture");
  EXPECT_NE(io_error_of([&] { read_images(folder / "", options); }).find("dogs/4.png"),
            std::string::npos);
}

TEST(Images, NamesAFolderWithoutClasses) {
  const io::TemporaryFolder folder;
  EXPECT_NE(io_error_of([&] { read_images(folder / "", {}); }).find("0 classes found"),
            std::string::npos);
  EXPECT_NE(io_error_of([&] { read_images(folder / "nowhere", {}); }).find("no such file"),
            std::string::npos);
  std::filesystem::create_directory(folder / "empty");
  EXPECT_NE(io_error_of([&] { read_images(folder / "", {}); }).find("no picture"),
            std::string::npos);
}

}  // namespace
}  // namespace udv::deep
