// SPDX-License-Identifier: MIT
// Pictures as cameras and data sets have them.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "io/temporary_files.hpp"
#include "support/cifar.hpp"
#include "support/random_data.hpp"
#include "support/real_data.hpp"
#include "udv/deep/finetune.hpp"
#include "udv/io/file.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::deep {
namespace {

using testing::cifar_record;
using testing::data_file;

const testing::ThreadCount kOneThread(1);

// The middle of square pictures.
ImageSet middle(const ImageSet& set, Index size) {
  ImageSet result = set;
  result.height = result.width = size;
  const Index left = (set.width - size) / 2, top = (set.height - size) / 2;
  result.bytes.clear();
  for (Index plane = 0; plane < set.count * set.channels; ++plane)
    for (Index y = 0; y < size; ++y)
      result.bytes.append(set.bytes,
                          static_cast<size_t>((plane * set.height + top + y) * set.width + left),
                          static_cast<size_t>(size));
  return result;
}

torch::Tensor read_tensor(const io::SafetensorsFile& file, const std::string& name) {
  const io::Tensor& tensor = *file.find(name);
  Vector<float> values = file.read<float>(tensor);
  const std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.end());
  return torch::from_blob(values.data(), shape).clone();
}

// ImageNet's class of the only picture of a set.
std::int64_t class_of(Finetuner& tuner, const ImageSet& set, const io::SafetensorsFile& weights) {
  RowMatrix<float> features = tuner.features(set, 0, 1);
  const torch::Tensor x = torch::from_blob(features.data(), {1, features.cols()});
  return torch::linear(x, read_tensor(weights, "classifier.weight"),
                       read_tensor(weights, "classifier.bias"))
      .argmax()
      .item<std::int64_t>();
}

// 388: giant panda, 817: sports car.
TEST(Images, OfAPandaAndACarAreKnownToEfficientNet) {
  const auto source = data_file("efficientnet_b0");
  UDV_NEEDS(source, "efficientnet_b0");
  const io::TemporaryFolder folder;
  for (const std::string name : {"panda", "car"}) {
    std::filesystem::create_directory(folder / name);
    std::filesystem::copy_file(source / (name + ".jpg"), folder / (name + "/picture.jpg"));
  }
  ImageOptions how;
  how.size = 256;
  how.test_share = 0.5;
  ImageData data = read_images(folder / "", how);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"car", "panda"}));
  for (ImageSet* part : {&data.training, &data.test}) *part = middle(*part, 224);
  FinetuneOptions options;
  options.backbone = source / "efficientnet_b0_features.pt";
  Finetuner tuner(options, data);
  EXPECT_EQ(tuner.num_features(), 1280);
  const io::SafetensorsFile weights(source / "efficientnet_b0.safetensors");
  for (const ImageSet* part : {&data.training, &data.test}) {
    ASSERT_EQ(part->count, 1);
    EXPECT_EQ(class_of(tuner, *part, weights), part->labels[0] == 0 ? 817 : 388);
  }
}

TEST(Images, OfMnistBringTheirOwnTestPart) {
  const auto path = data_file("mnist");
  UDV_NEEDS(path, "mnist");
  const ImageData data = read_images(path, {});
  EXPECT_EQ(data.training.count, 60000);
  EXPECT_EQ(data.test.count, 10000);
  EXPECT_EQ(data.training.channels, 1);
  EXPECT_EQ(data.training.height, 28);
  EXPECT_EQ(data.training.classes, 10);
  EXPECT_EQ(
      (std::vector<std::int32_t>{data.training.labels.begin(), data.training.labels.begin() + 5}),
      (std::vector<std::int32_t>{5, 0, 4, 1, 9}));
}

TEST(Images, OfOneIdxFileAreSplit) {
  const auto path = data_file("mnist/t10k-images-idx3-ubyte.gz");
  UDV_NEEDS(path, "mnist");
  const ImageData data = read_images(path, {});
  EXPECT_EQ(data.training.count, 8000);
  EXPECT_EQ(data.test.count, 2000);
}

TEST(Images, OfCifarTenHaveTheirPlanesInOrder) {
  const io::TemporaryFolder folder;
  folder.write("data_batch_1.bin", cifar_record({3}, 10) + cifar_record({9}, 20));
  folder.write("data_batch_2.bin", cifar_record({0}, 30));
  folder.write("test_batch.bin", cifar_record({1}, 40));
  const ImageData data = read_images(folder / "", {});
  EXPECT_EQ(data.training.labels, (std::vector<std::int32_t>{3, 9, 0}));
  EXPECT_EQ(data.test.labels, (std::vector<std::int32_t>{1}));
  EXPECT_EQ(data.training.classes, 10);
  EXPECT_EQ(data.training.channels, 3);
  ASSERT_EQ(data.training.bytes.size(), 3u * 3072);
  for (const auto& [at, value] : {std::pair{0, 10}, {1024, 11}, {3071, 12}, {3072, 20}})
    EXPECT_EQ(data.training.bytes[static_cast<size_t>(at)], value) << at;
}

TEST(Images, OfCifarHundredHaveTheirFineLabels) {
  const io::TemporaryFolder folder;
  folder.write("train.bin", cifar_record({2, 99}, 10) + cifar_record({3, 50}, 20));
  folder.write("test.bin", cifar_record({2, 7}, 30));
  const ImageData data = read_images(folder / "", {});
  EXPECT_EQ(data.training.labels, (std::vector<std::int32_t>{99, 50}));
  EXPECT_EQ(data.test.labels, (std::vector<std::int32_t>{7}));
  EXPECT_EQ(data.training.classes, 100);
}

TEST(Images, OfOneCifarFileAreSplit) {
  const io::TemporaryFolder folder;
  std::string records;
  for (int i = 0; i < 10; ++i) records += cifar_record({i}, i);
  const ImageData data = read_images(folder.write("some.bin", records), {});
  EXPECT_EQ(data.training.count, 8);
  EXPECT_EQ(data.test.count, 2);
  const auto cut = folder.write("cut.bin", records.substr(1));
  EXPECT_NE(folder.error_of([&] { read_images(cut, {}); }).find("cut.bin: a folder of classes"),
            std::string::npos);
}

TEST(Images, NamesAJpegPictureThatIsCutOff) {
  const auto source = data_file("efficientnet_b0/car.jpg");
  UDV_NEEDS(source, "efficientnet_b0");
  const io::TemporaryFolder folder;
  for (const char* name : {"a", "b"}) std::filesystem::create_directory(folder / name);
  std::filesystem::copy_file(source, folder / "a/whole.jpg");
  std::filesystem::copy_file(source, folder / "b/cut.jpg");
  std::filesystem::permissions(folder / "b/cut.jpg", std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  std::filesystem::resize_file(folder / "b/cut.jpg", 20000);
  EXPECT_EQ(folder.error_of([&] { read_images(folder / "", {}); }).substr(0, 20),
            "b/cut.jpg: damaged J");
}

// Its header announces 12.9 GB: 65,500 rows and columns.
TEST(Images, NamesAJpegPictureThatUnpacksToTooMuch) {
  const auto source = data_file("efficientnet_b0/car.jpg");
  UDV_NEEDS(source, "efficientnet_b0");
  std::string bytes = io::read_bytes(source);
  auto frame = bytes.find("\xFF\xC0");
  if (frame == bytes.npos) frame = bytes.find("\xFF\xC2");
  ASSERT_NE(frame, bytes.npos);
  bytes.replace(frame + 5, 4, "\xFF\xDC\xFF\xDC");
  const io::TemporaryFolder folder;
  for (const char* name : {"a", "b"}) std::filesystem::create_directory(folder / name);
  folder.write("a/large.jpg", bytes);
  folder.write("b/whole.jpg", io::read_bytes(source));
  EXPECT_NE(folder.error_of([&] { read_images(folder / "", {}); })
                .find("a/large.jpg: damaged JPEG file found: 65500 x 65500 pixels announced"),
            std::string::npos);
}

}  // namespace
}  // namespace udv::deep
