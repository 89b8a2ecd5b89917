// SPDX-License-Identifier: MIT
#include "udv/net/files/model_file.hpp"

#include <gtest/gtest.h>

#include "io/temporary_files.hpp"
#include "support/random_data.hpp"
#include "udv/io/safetensors.hpp"

namespace udv::net {
namespace model_file_test {

Model<float> small_model() {
  Model<float> model{Network<float>(variant_named("UFV"), {3, 2, 4}, true), {}, {{"note", "text"}}};
  model.network.parameters() =
      testing::random_rows(model.network.num_parameters(), 1, 1).cast<float>();
  model.preprocessing.task = Task::kClassification;
  model.preprocessing.inputs = 3;
  model.preprocessing.outputs = 4;
  model.preprocessing.features = {Vector<double>::Zero(3), Vector<double>::Ones(3)};
  return model;
}

// The tensors of a model with other words in its metadata.
std::string error_with(const std::map<std::string, std::string>& changes) {
  const io::TemporaryFolder folder;
  const io::SafetensorsFile file(folder.write("m.safetensors", model_bytes(small_model())));
  std::map<std::string, std::string> metadata = changes;
  metadata.insert(file.metadata().begin(), file.metadata().end());
  const auto path = folder.write("n.safetensors", io::safetensors_bytes(file.tensors(), metadata));
  return folder.error_of([&] { read_model<float>(path); });
}

TEST(ModelFile, ComesBackAsWritten) {
  const io::TemporaryFolder folder;
  const Model<float> before = small_model();
  const auto path = folder / "m.safetensors";
  write_model(path, before);
  const Model<float> after = read_model<float>(path);
  EXPECT_EQ(after.network.parameters(), before.network.parameters());
  EXPECT_EQ(after.network.variant().name, "UFV");
  EXPECT_EQ(after.notes, before.notes);
}

// Two sizes that each fit into the file may make a matrix that does not.
TEST(ModelFile, SizesThatCannotFitAreRefusedBeforeMemoryIsAskedFor) {
  EXPECT_EQ(error_with({{"inputs", "30"}, {"hidden", "30"}, {"outputs", "30"}}),
            "n.safetensors: sizes 30-30-30 in its metadata, but 26 numbers in its tensors");
  EXPECT_EQ(error_with({{"hidden", "6"}}),
            "n.safetensors: sizes 3-6-4 in its metadata, but 26 numbers in its tensors");
  EXPECT_EQ(error_with({{"hidden", "9223372036854775807"}}),
            "n.safetensors: sizes 3-9223372036854775807-4 in its metadata, but 26 numbers in its "
            "tensors");
  EXPECT_NE(error_with({{"hidden", "0"}}), "no error");
  EXPECT_NE(error_with({{"hidden", "3"}}), "no error");
}

}  // namespace model_file_test
}  // namespace udv::net
