// SPDX-License-Identifier: MIT
#include "cli/support.hpp"
#include "support/adapters.hpp"
#include "udv/net/files/adapter_file.hpp"
#include "udv/net/files/peft.hpp"

namespace udv::cli {
namespace adapter_test {

using testing::layer;
using testing::small_adapter;

// The same adapter in both formats: folders "native" and "peft".
class AdapterCommands : public ::testing::Test {
 protected:
  AdapterCommands() { write(small_adapter()); }

  void write(const net::Adapter& adapter) {
    for (const char* name : {"native", "peft"}) std::filesystem::create_directory(cli_.path(name));
    net::write_adapter(cli_.path("native/model.safetensors"), adapter);
    net::write_peft(cli_.path("peft"), adapter);
  }
  net::Adapter read(const std::string& name) { return net::read_adapter(cli_.path(name)); }

  Cli cli_;
};

void expect_words(const Outcome& outcome, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  for (const auto& word : words)
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome;
}

TEST_F(AdapterCommands, PruneKeepsTheFormat) {
  for (const char* name : {"native", "peft"}) {
    const std::string out = std::string("out-") + name;
    expect_words(cli_.run(fmt::format("prune {} --rank 2 --out {}", name, out)),
                 {"rank, min / mean / max", "parameters", "of the parameters left", out});
    EXPECT_EQ(net::adapter_kind(cli_.path(out)), net::adapter_kind(cli_.path(name)));
    const net::Adapter kept = read(out), expected = net::prune_to_rank(small_adapter(), 2);
    for (const net::AdapterBlock& block : kept.blocks) {
      const auto same = std::find_if(expected.blocks.begin(), expected.blocks.end(),
                                     [&](const auto& other) { return other.name == block.name; });
      ASSERT_NE(same, expected.blocks.end());
      EXPECT_LE((testing::change_of(block) - testing::change_of(*same)).norm(), 1e-5);
    }
    EXPECT_EQ(kept.base_model, "some/model");
    EXPECT_TRUE(cli_.exists(out + "/report.html"));
  }
}

TEST_F(AdapterCommands, PruneTellsWhatItDid) {
  ASSERT_EQ(cli_.run("prune native --energy 0.8 --out out --quiet").code, 0);
  EXPECT_NE(cli_.text("out/report.html").find("Energy that every block keeps"), std::string::npos);
  const net::AdapterPruning pruning(small_adapter());
  const auto ranks = pruning.ranks_of_energy(0.8);
  const Json run = cli_.run_json();
  EXPECT_EQ(run["command"], "prune");
  EXPECT_EQ(run["config"]["energy"], 0.8);
  EXPECT_EQ(run["method"], "lora-udv");
  EXPECT_EQ(run["ratio"], pruning.ratio(ranks));
  EXPECT_EQ(run["blocks"], 4);
  EXPECT_EQ(run["blocks_kept"], 3);
  EXPECT_EQ(run["parameters"]["before"], small_adapter().parameters());
  EXPECT_EQ(run["parameters"]["after"], read("out").parameters());
  EXPECT_EQ(run["ranks"]["before"]["max"], 4);
  const auto blocks = lines_of(cli_.text("out/ranks.csv"));
  ASSERT_EQ(blocks.size(), 5u);
  EXPECT_EQ(blocks[0], "block,rank_before,rank_after,energy_kept");
  EXPECT_EQ(blocks[2], layer(0, "v_proj") + ",0,0,1");
  const auto energies = lines_of(cli_.text("out/pruning.csv"));
  EXPECT_EQ(energies.front(), "energy,ratio,parameters,blocks_kept,rank_min,rank_mean,rank_max");
  EXPECT_EQ(energies.back(), "1,1,118,3,0,2,4");
}

TEST_F(AdapterCommands, PruneMeetsARatioAndHasADefault) {
  ASSERT_EQ(cli_.run("prune native --ratio 0.6 --out out --quiet").code, 0);
  EXPECT_LE(cli_.run_json()["ratio"].get<double>(), 0.6);
  EXPECT_EQ(cli_.run_json()["config"]["ratio"], 0.6);
  EXPECT_LE(static_cast<double>(read("out").parameters()),
            0.6 * static_cast<double>(small_adapter().parameters()));
  ASSERT_EQ(cli_.run("prune native/model.safetensors --out out --force --quiet").code, 0);
  EXPECT_EQ(cli_.run_json()["config"]["energy"], 0.99);
}

TEST_F(AdapterCommands, ExportWritesPeftInBothForms) {
  ASSERT_EQ(cli_.run("export native --to peft --out padded --quiet").code, 0);
  ASSERT_EQ(cli_.run("export peft --to peft --compact --out same --quiet").code, 0);
  ASSERT_EQ(cli_.run("export native --to peft --compact --out compact --quiet").code, 0);
  ASSERT_EQ(cli_.run("prune peft --energy 0.9 --compact --out pruned --quiet").code, 0);
  const auto ranks = [&](const char* folder) {
    return Json::parse(cli_.text(std::string(folder) + "/adapter_config.json"))["rank_pattern"];
  };
  EXPECT_TRUE(ranks("padded").empty());
  EXPECT_TRUE(ranks("same").empty());
  EXPECT_EQ(ranks("compact"), (Json{{layer(0, "q_proj"), 3}, {layer(10, "v_proj"), 1}}));
  EXPECT_FALSE(ranks("pruned").empty());
  ASSERT_EQ(cli_.run("export padded --out back --quiet").code, 0);
  EXPECT_EQ(net::adapter_kind(cli_.path("back")), net::AdapterKind::kNative);
  EXPECT_EQ(read("back").blocks.size(), 3u);
}

TEST_F(AdapterCommands, InspectShowsBlocks) {
  const std::vector<std::string> words{"some/model", layer(10, "v_proj"), "6 x 8", "stable rank",
                                       "rank at 99 % energy"};
  expect_words(cli_.run("inspect native"), words);
  expect_words(cli_.run("inspect native"), {"lora-udv", "note", "model.safetensors"});
  expect_words(cli_.run("inspect native/model.safetensors"), words);
  expect_words(cli_.run("inspect peft"), words);
  expect_words(cli_.run("inspect peft"), {"lora, PEFT", "adapter_config.json"});
  expect_words(cli_.run("inspect peft --energy 0.5"), {"rank at 50 % energy"});
}

TEST_F(AdapterCommands, FlagsThatDoNotGoTogetherAreRefused) {
  for (const char* command :
       {"prune native --rank 2 --energy 0.9", "prune native --max-params 3", "prune native --curve",
        "prune native --compact", "prune native --ratio 2", "export native --compact"})
    EXPECT_EQ(cli_.run(std::string(command) + " --out out").code, 2) << command;
  cli_.write("other.safetensors", "no tensors");
  EXPECT_EQ(cli_.run("prune other.safetensors --ratio 0.5 --out out").code, 3);
}

TEST_F(AdapterCommands, BadAdaptersAreRefused) {
  expect_refused(cli_, cli_.run("prune native --ratio 0.001 --out out"), 3,
                 {"ratio 0.001 wanted", "one block of rank 1"});
  expect_refused(cli_, cli_.run("export native --to onnx --out out"), 3,
                 {"native: an adapter found", "peft or safetensors"});
  expect_refused(cli_, cli_.run("export missing --to peft --out out"), 3, {"missing"});
  std::filesystem::remove(cli_.path("peft/adapter_model.safetensors"));
  for (const char* command : {"prune peft", "export peft --to peft", "inspect peft"}) {
    const std::string out = command[0] == 'i' ? "" : " --out out";
    expect_refused(cli_, cli_.run(command + out), 3, {"adapter_model.safetensors: not there"});
  }
}

TEST_F(AdapterCommands, AnAdapterOfZerosCannotGoToPeft) {
  net::Adapter adapter = small_adapter();
  for (net::AdapterBlock& block : adapter.blocks) block.B.setZero();
  write(adapter);
  expect_refused(cli_, cli_.run("prune peft --out out"), 3,
                 {"peft: all 3 blocks of the adapter have rank 0"});
  EXPECT_EQ(cli_.run("prune native --out zeros --quiet").code, 0);
  expect_refused(cli_, cli_.run("export zeros --to peft --out out"), 3,
                 {"zeros: all 4 blocks of the adapter have rank 0"});
}

}  // namespace adapter_test
}  // namespace udv::cli
