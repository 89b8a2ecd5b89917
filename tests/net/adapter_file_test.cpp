// SPDX-License-Identifier: MIT
#include "udv/net/files/adapter_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "io/temporary_files.hpp"
#include "net/files/adapter_tensors.hpp"
#include "support/adapters.hpp"

namespace udv::net {
namespace adapter_file_test {

using testing::small_adapter;

const char* const kDescription = R"({"method":"lora","base_model":""})";

// A file with one block of rank 2 as others may damage it.
struct BlockFile {
  std::map<std::string, std::vector<Index>> shapes{{"q.A", {2, 3}}, {"q.d", {2}}, {"q.B", {4, 2}}};
  std::map<std::string, std::string> metadata{{"udv_adapter", kDescription}};
  float value = 1;

  std::string error() const {
    const io::TemporaryFolder folder;
    const Vector<float> numbers = Vector<float>::Constant(20, value);
    std::vector<io::NamedTensor<float>> tensors;
    for (const auto& [name, shape] : shapes) tensors.push_back({name, shape, numbers.data()});
    io::write_safetensors(folder / "a.safetensors", tensors, metadata);
    return folder.error_of([&] { read_adapter(folder / "a.safetensors"); });
  }
};

TEST(AdapterFile, ComesBackAsWritten) {
  const io::TemporaryFolder folder;
  const Adapter before = small_adapter();
  write_adapter(folder / "model.safetensors", before);
  for (const auto& path : {folder / "model.safetensors", folder / ""}) {
    const Adapter after = read_adapter(path);
    ASSERT_EQ(after.blocks.size(), before.blocks.size());
    for (std::size_t b = 0; b < before.blocks.size(); ++b) {
      EXPECT_EQ(after.blocks[b].name, before.blocks[b].name);
      EXPECT_EQ(after.blocks[b].A, before.blocks[b].A);
      EXPECT_EQ(after.blocks[b].d, before.blocks[b].d);
      EXPECT_EQ(after.blocks[b].B, before.blocks[b].B);
    }
    EXPECT_EQ(after.base_model, "some/model");
    EXPECT_EQ(after.method, "lora-udv");
    EXPECT_EQ(after.metadata, before.metadata);
    EXPECT_EQ(adapter_kind(path), AdapterKind::kNative);
  }
}

TEST(AdapterFile, EqualAdaptersGiveEqualFiles) {
  const io::TemporaryFolder folder;
  write_adapter(folder / "a.safetensors", small_adapter());
  write_adapter(folder / "b.safetensors", read_adapter(folder / "a.safetensors"));
  const io::SafetensorsFile a(folder / "a.safetensors"), b(folder / "b.safetensors");
  EXPECT_EQ(a.metadata(), b.metadata());
  ASSERT_EQ(a.tensors().size(), b.tensors().size());
  for (const io::Tensor& tensor : a.tensors())
    EXPECT_EQ(b.find(tensor.name)->bytes, tensor.bytes) << tensor.name;
}

TEST(AdapterFile, KindsAreToldApart) {
  const io::TemporaryFolder folder;
  EXPECT_EQ(adapter_kind(folder / ""), AdapterKind::kNone);
  EXPECT_EQ(adapter_kind(folder / "missing"), AdapterKind::kNone);
  EXPECT_EQ(adapter_kind(folder.write("x.safetensors", "no tensors")), AdapterKind::kNone);
  io::write_safetensors<float>(folder / "model.safetensors", {}, {});
  EXPECT_EQ(adapter_kind(folder / ""), AdapterKind::kNone);
  folder.write("adapter_config.json", "{}");
  EXPECT_EQ(adapter_kind(folder / ""), AdapterKind::kPeft);
}

TEST(AdapterFile, BlocksComeInTheOrderOfTheirNumbers) {
  std::vector<std::string> names{"l.10.q", "l.2.q", "l.2", "l.1.v", "l.1.q10", "l.1.q9", "k"};
  std::sort(names.begin(), names.end(), NaturalOrder());
  EXPECT_EQ(names, (std::vector<std::string>{"k", "l.1.q9", "l.1.q10", "l.1.v", "l.2", "l.2.q",
                                             "l.10.q"}));
}

TEST(AdapterFile, DamagedFilesAreRefusedWithOneLine) {
  EXPECT_EQ(BlockFile().error(), "no error");
  BlockFile file;
  file.shapes.erase("q.B");
  EXPECT_EQ(file.error(), "a.safetensors: block 'q' has no factor B");
  file = {};
  file.shapes.erase("q.d");
  EXPECT_EQ(file.error(), "a.safetensors: block 'q' has no factor d");
  file = {};
  file.shapes["q.B"] = {4, 3};
  EXPECT_EQ(file.error(),
            "a.safetensors: tensors 'q.A' of shape 2 x 3 and 'q.B' of shape 4 x 3 found, r x in "
            "and out x r expected");
  file = {};
  file.shapes["q.d"] = {3};
  EXPECT_EQ(file.error(), "a.safetensors: tensor 'q.d' has shape 3, 2 numbers expected");
  file = {};
  file.shapes["q.A"] = {6};
  EXPECT_EQ(file.error(), "a.safetensors: tensor 'q.A' has shape 6, a matrix expected");
  file = {};
  file.shapes["q.bias"] = {4};
  EXPECT_EQ(file.error(), "a.safetensors: tensor 'q.bias' found, PATH.A and the like expected");
  file = {};
  file.shapes["a,b.A"] = {2, 3};
  EXPECT_EQ(file.error(),
            "a.safetensors: tensor 'a,b.A' found, a path of letters, digits, '.', '_' and '-' "
            "expected");
  file = {};
  file.value = NAN;
  EXPECT_EQ(file.error(), "a.safetensors: tensor 'q.A' holds a value that is not finite");
  file = {};
  file.shapes.clear();
  EXPECT_EQ(file.error(), "a.safetensors: no tensors found, those of an adapter expected");
}

TEST(AdapterFile, DescriptionsThatMakeNoSenseAreRefused) {
  const auto error_with = [](const std::map<std::string, std::string>& metadata) {
    BlockFile file;
    file.metadata = metadata;
    return file.error();
  };
  EXPECT_EQ(error_with({}),
            "a.safetensors: no 'udv_adapter' in its metadata: not an adapter that udv wrote");
  for (const char* text : {"", "[]", "{", R"({"method":1})"})
    EXPECT_EQ(error_with({{"udv_adapter", text}}),
              "a.safetensors: no text 'method' in 'udv_adapter' of its metadata");
  EXPECT_EQ(error_with({{"udv_adapter", R"({"method":"lora"})"}}),
            "a.safetensors: no text 'base_model' in 'udv_adapter' of its metadata");
  EXPECT_EQ(error_with({{"udv_adapter", R"({"method":"dora","base_model":""})"}}),
            "a.safetensors: method 'dora' found, lora, lora-udv or adalora expected");
  Adapter adapter = small_adapter();
  adapter.method = "dora";
  EXPECT_EQ(testing::error_of([&] { write_adapter("nowhere", adapter); }),
            "adapter: method 'dora' found, lora, lora-udv or adalora expected");
}

}  // namespace adapter_file_test
}  // namespace udv::net
