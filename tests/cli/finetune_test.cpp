// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "cli/deep_data.hpp"

namespace udv::cli {
namespace finetune_test {

#ifndef UDV_WITH_DEEP

TEST(Finetune, SaysInOneLineThatItIsNotThere) {
  const Cli cli;
  const Outcome outcome = cli.run("finetune --data x --variant UDV");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("without the LibTorch component; `make deep`"), std::string::npos);
}

#else

const std::string kRun =
    "finetune --data pictures --image-size 16 --epochs 3 --batch 8 --threads 1 --test-share 0.25 ";

TEST(Finetune, TrainsPrunesAndTestsABuiltInNetwork) {
  const Cli cli;
  write_pictures(cli);
  const Outcome outcome = cli.run(kRun + "--replace *pointwise --out out");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("block          stage3.pointwise"), std::string::npos);
  const Json run = cli.run_json();
  EXPECT_EQ(run["command"], "finetune");
  EXPECT_EQ(run["rows"], 18);
  EXPECT_EQ(run["epochs"], 3);
  EXPECT_GT(run["images_per_second"], 0);
  EXPECT_EQ(run["spectrum"].size(), 128u);
  EXPECT_EQ(lines_of(cli.text("out/history.csv")).size(), 4u);
  EXPECT_EQ(lines_of(cli.text("out/spectra.csv")).size(), 1u + 3 * 128);
  const size_t points = lines_of(cli.text("out/curves.csv")).size();  // of neurons that live
  EXPECT_LE(points, 1u + 3 * 128);
  EXPECT_GT(points, 1u + 3 * 10);
  EXPECT_EQ(lines_of(cli.text("out/blocks.csv")).size(), 1u + 3 * 3);
  EXPECT_FALSE(cli.exists("out/checkpoint.bin"));

  const Outcome pruned = cli.run("prune out --energy 0.9 --out smaller");
  ASSERT_EQ(pruned.code, 0) << pruned.err;
  EXPECT_NE(pruned.out.find("stage1.pointwise"), std::string::npos);
  const Outcome tested = cli.run(kRun + "--load smaller --evaluate");
  ASSERT_EQ(tested.code, 0) << tested.err;
  EXPECT_NE(tested.out.find("test accuracy"), std::string::npos);
}

// There are no pictures, and nobody looks for them.
TEST(Finetune, IsRefusedBeforeAnythingIsRead) {
  const Cli cli;
  std::filesystem::create_directory(cli.path("out"));
  cli.write("out/run.json", "{}");
  for (const char* command : {"finetune --data nothing", "lora --model m --train t --eval e",
                              "lora --model m --train t --eval e --method lora,lora-udv"}) {
    const Outcome outcome = cli.run(std::string(command) + " --out out");
    EXPECT_EQ(outcome.code, 2) << command << outcome;
    EXPECT_NE(outcome.err.find("--out: out holds "), std::string::npos) << outcome;
  }
  EXPECT_EQ(cli.text("out/run.json"), "{}");
}

TEST(Finetune, GoesOnAfterCtrlCToTheSameFiles) {
  const Cli cli;
  write_pictures(cli);
  const std::string longer = kRun + "--epochs 6 --curves none ";
  ASSERT_EQ(cli.run(longer + "--out whole --quiet").code, 0);
  auto process = cli.start(longer + "--out part --quiet");
  ASSERT_TRUE(process->catches(SIGINT));
  process->send(SIGINT);
  const Outcome stopped = process->wait();
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("--resume"), std::string::npos);
  const Outcome resumed = cli.run(longer + "--out part --quiet --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  for (const char* name : {"model.safetensors", "network.safetensors", "spectra.csv"})
    EXPECT_EQ(cli.text(std::string("part/") + name), cli.text(std::string("whole/") + name))
        << name;
}

TEST(Finetune, NamesWhatIsWrongWithItsInput) {
  const Cli cli;
  write_pictures(cli);
  std::filesystem::create_directories(cli.path("empty"));
  cli.write("no.pt", "hello");
  const auto complains = [&](const std::string& arguments, int code, const std::string& text) {
    const Outcome outcome = cli.run("finetune " + arguments);
    EXPECT_EQ(outcome.code, code) << arguments;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << outcome.err;
    EXPECT_EQ(lines_of(outcome.err).size(), code == 3 ? 1u : 2u) << outcome.err;
  };
  complains("--data empty", 3, "empty: 0 classes found");
  complains("--data nowhere", 3, "nowhere: no such file or folder");
  complains("--data pictures --backbone no.pt", 3, "no.pt: not a TorchScript file");
  complains("--data pictures --replace nothing", 3, "there are stage1.spatial");
  complains("--data pictures --augment twist", 2, "flip, crop or none");
  complains("--data pictures --variant XYZ", 3, "'XYZ' found");
  cli.write("pictures/dark/broken.png", "no picture");
  complains("--data pictures", 3, "broken.png");
}

#endif

}  // namespace finetune_test
}  // namespace udv::cli
