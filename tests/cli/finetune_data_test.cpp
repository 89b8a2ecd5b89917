// SPDX-License-Identifier: MIT
// udv finetune on every kind of data, and what it exports.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "cli/support.hpp"
#include "cli/training_data.hpp"
#include "support/cifar.hpp"
#include "support/random_data.hpp"
#include "support/real_data.hpp"
#include "udv/io/png.hpp"

#ifdef UDV_WITH_DEEP

namespace udv::cli {
namespace finetune_data_test {

using testing::cifar_record;
using testing::data_file;

const std::string kFinetune = "finetune --threads 1 --quiet ";

// Photographs of two classes, one of each to learn from and the same ones to test on.
void copy_photographs(const Cli& cli, const std::filesystem::path& source) {
  for (const std::string part : {"train", "test"})
    for (const std::string name : {"car", "panda"}) {
      const auto folder = cli.path("photos/" + part + "/" + name);
      std::filesystem::create_directories(folder);
      std::filesystem::copy_file(source / (name + ".jpg"), folder / (name + ".jpg"));
    }
}

// Four dark and four bright pictures to learn from, three of each to test on.
void write_pictures(const Cli& cli) {
  Random random(1, testing::kTestStream);
  for (const std::string part : {"train", "test"})
    for (const int shade : {160, 40}) {
      const std::string folder = "pictures/" + part + (shade == 40 ? "/dark" : "/bright");
      std::filesystem::create_directories(cli.path(folder));
      for (int i = 0; i < (part == "train" ? 4 : 3); ++i) {
        io::RgbImage picture{16, 16, {}};
        for (int p = 0; p < 3 * 16 * 16; ++p)
          picture.pixels.push_back(static_cast<std::uint8_t>(shade + random.below(50)));
        io::write_png(cli.path(fmt::format("{}/{}.png", folder, i)), picture);
      }
    }
}

double number_after(const std::string& text, const std::string& words) {
  const size_t at = text.find(words);
  return at == text.npos ? NAN : std::stod(text.substr(at + words.size()));
}

// Test loss of a network that was exported: taken for a frozen backbone, it leaves its outputs in
// the cache. The first half of the test part is of class 0.
double exported_loss(const Cli& cli, const std::string& data, Index num_test) {
  const Outcome outcome = cli.run(kFinetune + data +
                                  " --backbone script/model.pt --cache outputs --epochs 1"
                                  " --out unused");
  EXPECT_EQ(outcome.code, 0) << outcome;
  double loss = NAN;
  for (const auto& file : std::filesystem::directory_iterator(cli.path("outputs"))) {
    const RowMatrix<double> logits = read_matrix(file.path());
    if (logits.rows() != num_test) continue;
    loss = 0;
    for (Index i = 0; i < num_test; ++i) {
      const double other =
          logits(i, i < num_test / 2 ? 1 : 0) - logits(i, i < num_test / 2 ? 0 : 1);
      loss += std::log1p(std::exp(other)) / static_cast<double>(num_test);
    }
  }
  return loss;
}

// The network in `out` on the test part, by udv finetune itself and as exported.
void expect_same_loss(const Cli& cli, const std::string& data, Index num_test) {
  const Outcome exported = cli.run("export out --to torchscript --out script");
  ASSERT_EQ(exported.code, 0) << exported;
  const Outcome tested = cli.run("finetune --threads 1 " + data + " --load out --evaluate");
  ASSERT_EQ(tested.code, 0) << tested;
  const double loss = number_after(tested.out, "test loss ");
  EXPECT_NEAR(loss, cli.run_json()["test_loss"].get<double>(), 1e-5);
  EXPECT_NEAR(exported_loss(cli, data, num_test), loss, 1e-5);
}

TEST(FinetuneData, TrainsAHeadOnPhotographsBehindEfficientNet) {
  const auto source = data_file("efficientnet_b0");
  UDV_NEEDS(source, "efficientnet_b0");
  const Cli cli;
  copy_photographs(cli, source);
  const std::string backbone = source / "efficientnet_b0_features.pt";
  const Outcome outcome = cli.run(kFinetune + "--data photos --backbone " + backbone +
                                  " --hidden 8 --lr 0.01 --epochs 20 --cache features --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  const Json run = cli.run_json();
  EXPECT_EQ(run["rows"], 2);
  EXPECT_EQ(run["test_accuracy"], 1);
  EXPECT_EQ(run["network_parameters"], 3986540 + 1280 * 8 + 8 + 8 * 2);
  EXPECT_FALSE(cli.exists("out/backbone.pt"));
}

TEST(FinetuneData, TrainsEfficientNetItselfAndExportsItWithItsHead) {
  const auto source = data_file("efficientnet_b0");
  UDV_NEEDS(source, "efficientnet_b0");
  const Cli cli;
  copy_photographs(cli, source);
  const std::string backbone = source / "efficientnet_b0_features.pt";
  const Outcome outcome =
      cli.run(kFinetune + "--data photos --backbone " + backbone +
              " --trainable --backbone-lr 1e-5 --clip 1 --hidden 8 --epochs 1 --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  expect_same_loss(cli, "--data photos", 2);
}

TEST(FinetuneData, ExportsTheBuiltInNetworkWithItsHead) {
  const Cli cli;
  write_pictures(cli);
  const std::string data = "--data pictures --image-size 16";
  const Outcome outcome = cli.run(
      kFinetune + data + " --replace *pointwise --epochs 2 --average-last 1 --batch 4 --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  cli.run("prune out --energy 0.9 --out smaller");
  EXPECT_EQ(cli.run("export smaller --to torchscript --out script").code, 0);
  std::filesystem::remove_all(cli.path("script"));
  const Json run = cli.run_json();
  EXPECT_EQ(run["epochs"], 2);
  expect_same_loss(cli, data, 6);
  cli.write("out/network.safetensors", "nonsense");
  const Outcome refused = cli.run("export out --to torchscript --out refused");
  EXPECT_EQ(refused.code, 3);
  EXPECT_NE(refused.err.find("out/network.safetensors"), std::string::npos) << refused;
}

TEST(FinetuneData, LearnsFromMnist) {
  const auto source = data_file("mnist");
  UDV_NEEDS(source, "mnist");
  const Cli cli;
  const Outcome outcome =
      cli.run(kFinetune + "--data " + source.string() +
              " --limit-train 60 --limit-test 20 --epochs 1 --batch 20 --hidden 8 --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rows"], 60);
  EXPECT_EQ(lines_of(cli.text("out/history.csv")).size(), 2u);
}

TEST(FinetuneData, LearnsFromCifarFiles) {
  const Cli cli;
  std::filesystem::create_directory(cli.path("cifar"));
  std::string records;
  for (int i = 0; i < 12; ++i) records += cifar_record({i % 10}, 20 * i);
  cli.write("cifar/data_batch_1.bin", records);
  cli.write("cifar/test_batch.bin", records.substr(0, records.size() / 2));
  const Outcome outcome =
      cli.run(kFinetune + "--data cifar --epochs 1 --batch 6 --hidden 8 --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rows"], 12);
  const Outcome one = cli.run(kFinetune + "--data cifar/data_batch_1.bin --epochs 1 --out one");
  ASSERT_EQ(one.code, 0) << one;
  EXPECT_EQ(cli.run_json("one")["rows"], 10);
}

TEST(FinetuneData, NamesABackboneThatGivesNoFeatures) {
  const Cli cli;
  write_pictures(cli);
  cli.write("table.csv", training_table(40));
  ASSERT_EQ(
      cli.run("train table.csv --preset paper --target y --epochs 1 --out model --quiet").code, 0);
  ASSERT_EQ(cli.run("export model --to torchscript --out script --quiet").code, 0);
  const auto inputs = cli.run_json("model")["inputs"].get<int>();
  const std::string run = "finetune --data pictures --backbone script/model.pt --out out ";
  expect_refused(cli, cli.run(run + fmt::format("--image-size {}", inputs)), 3,
                 {"script/model.pt: output of shape [2, 3,", "N x d features expected"});
  expect_refused(cli, cli.run(run + fmt::format("--image-size {}", inputs + 1)), 3,
                 {"script/model.pt: does not take pictures of 3 x"});
}

TEST(FinetuneData, NamesPicturesAndFoldersThatAreNone) {
  const Cli cli;
  write_pictures(cli);
  const std::string run = "finetune --data pictures --out out";
  cli.write("pictures/train/dark/photo.JPG", "no picture");
  expect_refused(cli, cli.run(run), 3, {"train/dark/photo.JPG: damaged JPEG"});
  std::filesystem::remove(cli.path("pictures/train/dark/photo.JPG"));
  std::filesystem::create_directory(cli.path("pictures/train/empty"));
  expect_refused(cli, cli.run(run), 3, {"train/empty: no picture"});
  std::filesystem::remove(cli.path("pictures/train/empty"));
  std::filesystem::remove_all(cli.path("pictures/test/dark"));
  expect_refused(cli, cli.run(run), 3, {"pictures/test: 1 classes found"});
  std::filesystem::create_directory(cli.path("cifar"));
  cli.write("cifar/data_batch_1.bin", cifar_record({10}, 1));
  expect_refused(cli, cli.run("finetune --data cifar --out out"), 3, {"data_batch_1.bin"});
}

TEST(FinetuneData, SaysThatThereIsNoCudaDevice) {
  const Cli cli;
  write_pictures(cli);
  ASSERT_EQ(setenv("CUDA_VISIBLE_DEVICES", "", 1), 0);  // hides those that are there
  const Outcome outcome = cli.run("finetune --data pictures --device cuda --out out");
  unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(outcome.code, 2) << outcome;
  EXPECT_NE(outcome.err.find("--device: cuda: no CUDA device"), outcome.err.npos) << outcome;
  EXPECT_FALSE(cli.exists("out"));
}

TEST(FinetuneData, RefusesTheCheckpointOfAnotherModel) {
  const Cli cli;
  write_pictures(cli);
  const std::string run =
      kFinetune +
      "--data pictures --image-size 16 --epochs 500 --batch 4 --curves none --out part ";
  ASSERT_EQ(cli.run(run + "--time-limit 0.01").code, 4);
  ASSERT_TRUE(cli.exists("part/checkpoint.bin"));
  expect_refused(cli, cli.run(run + "--resume --variant UV"), 3,
                 {"part/checkpoint.bin: made by a run with other settings", "variant"});
  cli.write("part/checkpoint.bin", "nonsense");
  expect_refused(cli, cli.run(run + "--resume"), 3,
                 {"part/checkpoint.bin: not a checkpoint of udv"});
}

}  // namespace finetune_data_test
}  // namespace udv::cli

#endif
