// SPDX-License-Identifier: MIT
#include <csignal>
#include <sstream>

#include "cli/training_data.hpp"
#include "support/reference.hpp"
#include "udv/io/file.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::cli {
namespace prune_test {

// A trained network with eight neurons.
class PruneCommand : public ::testing::Test {
 protected:
  PruneCommand() {
    cli_.write("data.csv", training_table(300));
    const Outcome outcome = cli_.run(
        "train data.csv --preset paper --target y --drop kind --encoding onehot --hidden 8 "
        "--epochs 80 --lr 0.02 "
        "--out m --quiet");
    EXPECT_EQ(outcome.code, 0) << outcome;
  }
  Outcome prune(const std::string& flags) { return cli_.run("prune m --out out --force " + flags); }
  net::Model<float> pruned() { return net::read_model<float>(cli_.path("out/model.safetensors")); }

  Cli cli_;
};

TEST_F(PruneCommand, KeepsARankAndPredictsWithIt) {
  EXPECT_EQ(prune("--rank 2 --layered").code, 0);
  EXPECT_EQ(pruned().network.sizes().hidden, 2);
  EXPECT_EQ(cli_.run_json()["rank"], 2);
  EXPECT_EQ(cli_.run_json()["neurons"]["after"], 2);
  EXPECT_EQ(cli_.run_json()["config"]["rank"], 2);
  EXPECT_EQ(cli_.run_json()["config"]["model"], "m");
  EXPECT_EQ(cli_.run_json()["seed"], 0);
  EXPECT_EQ(cli_.run("predict out data.csv --out p --quiet").code, 0);
  EXPECT_EQ(lines_of(cli_.text("p/predictions.csv")).size(), 301u);
  EXPECT_EQ(cli_.run_json("p")["rows"], 300);
}

TEST_F(PruneCommand, CollapsesToOneLayerWhereThatIsSmaller) {
  const Outcome outcome = prune("--rank 2");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("collapsed"), std::string::npos) << outcome;
  EXPECT_EQ(pruned().network.variant().name, "single");
}

TEST_F(PruneCommand, MeetsItsBudgets) {
  EXPECT_EQ(prune("--energy 1 --layered").code, 0);
  EXPECT_EQ(prune("--max-params 40 --layered").code, 0);
  EXPECT_LE(pruned().network.num_parameters(), 40);
  const auto size = cli_.text("m/model.safetensors").size();
  EXPECT_EQ(prune("--layered --max-bytes " + std::to_string(size - 100)).code, 0);
  EXPECT_LE(cli_.text("out/model.safetensors").size(), size - 100);
}

TEST_F(PruneCommand, KeepsTheValidationMetricWithinADrop) {
  EXPECT_EQ(prune("--max-drop 1% --data data.csv --curve --layered").code, 0);
  const Json run = cli_.run_json();
  EXPECT_LE(run["validation_loss"]["after"].get<double>(),
            1.01 * run["validation_loss"]["before"].get<double>() + 1e-9);
  EXPECT_TRUE(run.contains("test_loss"));
  const auto lines = lines_of(cli_.text("out/curve.csv"));
  EXPECT_EQ(lines[0],
            "neurons,parameters,loss,accuracy,relative_change,magnitude_loss,magnitude_accuracy,"
            "magnitude_change");
  EXPECT_EQ(lines.size(), 1u + run["spectrum"].size());
}

TEST_F(PruneCommand, ComparesAndFinetunes) {
  EXPECT_EQ(cli_.run("train data.csv --preset paper --target y --drop kind --encoding onehot "
                     "--hidden 8 --variant "
                     "UV --epochs 20 --out uv --quiet")
                .code,
            0);
  EXPECT_EQ(prune("--curve --data data.csv --compare uv --quiet").code, 0);
  EXPECT_NE(lines_of(cli_.text("out/curve.csv"))[0].find("compared_loss"), std::string::npos);
  EXPECT_FALSE(cli_.exists("out/model.safetensors"));
  EXPECT_EQ(prune("--rank 1 --finetune 10 --data data.csv --quiet").code, 0);
  EXPECT_EQ(pruned().network.sizes().hidden, 1);
}

TEST_F(PruneCommand, CutsSeveralHiddenLayers) {
  ASSERT_EQ(cli_.run("train data.csv --target y --drop kind --hidden 24,12 --max-steps 300 --out d "
                     "--quiet")
                .code,
            0);
  const std::string deep = "prune d --out out --force --quiet --data data.csv ";
  ASSERT_EQ(cli_.run(deep + "--max-drop 20% --finetune 2 --curve").code, 0);
  const Json run = cli_.run_json();
  EXPECT_LT(run["neurons"]["after"], 36);
  EXPECT_LE(run["validation_loss"]["after"].get<double>(),
            1.2 * run["validation_loss"]["before"].get<double>() + 1e-6);
  EXPECT_EQ(run["finetune_epochs"], 2);
  EXPECT_EQ(pruned().network.sizes().deeper.size(), 1u);
  EXPECT_EQ(cli_.run("predict out data.csv --out p --quiet").code, 0);
  EXPECT_EQ(cli_.run("export out --to onnx --out x --quiet").code, 0);
  ASSERT_EQ(cli_.run(deep + "--ratio 0.5").code, 0);
  EXPECT_LE(cli_.run_json()["parameters"]["after"].get<double>(),
            0.5 * cli_.run_json()["parameters"]["before"].get<double>());
  ASSERT_EQ(cli_.run(deep + "--rank 5").code, 0);
  EXPECT_EQ(pruned().network.sizes().hidden, 5);
  const Outcome blind = cli_.run("prune d --rank 5 --out none");
  EXPECT_EQ(blind.code, 3);
  EXPECT_NE(blind.err.find("data expected to choose its neurons by"), std::string::npos) << blind;
}

// A test part in a file of its own: the rows that training left alone decide.
TEST_F(PruneCommand, FindsTheValidationPartBesideATestFile) {
  cli_.write("test.csv", training_table(50));
  ASSERT_EQ(cli_.run("train data.csv --test test.csv --target y --drop kind --variant UDV-ReLU "
                     "--hidden 16 --max-steps 200 --out r --quiet")
                .code,
            0);
  ASSERT_EQ(cli_.run("prune r --data data.csv --rank 16 --out out --quiet").code, 0);
  const auto losses = lines_of(cli_.text("r/history.csv"));
  double best = 1e300;
  for (size_t i = 1; i < losses.size(); ++i) {
    std::stringstream line(losses[i]);
    std::string field;
    for (int k = 0; k < 5; ++k) std::getline(line, field, ',');
    best = std::min(best, std::stod(field));
  }
  EXPECT_NEAR(cli_.run_json()["validation_loss"]["before"].get<double>(), best, 1e-4 * best);
}

TEST_F(PruneCommand, InspectShowsModelsAndForeignFiles) {
  const Outcome ours = cli_.run("inspect m");
  EXPECT_EQ(ours.code, 0);
  for (const char* word : {"UDV ", "regression", "target", "U.weight", "stable rank", "SVD, 99 %"})
    EXPECT_NE(ours.out.find(word), std::string::npos) << word << ours;
  const Vector<float> ones = Vector<float>::Ones(200);
  io::write_safetensors<float>(cli_.path("f.safetensors"),
                               {{"layer.weight", {20, 10}, ones.data()}}, {{"made", "elsewhere"}});
  const Outcome foreign = cli_.run("inspect f.safetensors");
  EXPECT_EQ(foreign.code, 0);
  for (const char* word : {"elsewhere", "20 x 10", "rank 1: 15 %"})
    EXPECT_NE(foreign.out.find(word), std::string::npos) << word << foreign;
}

TEST_F(PruneCommand, FactorsMatricesOfAnyFile) {
  const RowMatrix<float> W =
      RowMatrix<float>::Random(30, 2) * RowMatrix<float>::Random(2, 20);  // rank 2
  const Vector<float> bias = Vector<float>::Ones(30);
  io::write_safetensors<float>(
      cli_.path("f.safetensors"),
      {{"a.weight", {30, 20}, W.data()}, {"a.bias", {30}, bias.data()}, {"b", {30, 20}, W.data()}},
      {{"made", "elsewhere"}});
  EXPECT_EQ(cli_.run("prune f.safetensors --tensors *.weight --energy 0.999999 --out out").code, 0);
  const io::SafetensorsFile file(cli_.path("out/model.safetensors"));
  ASSERT_EQ(file.tensors().size(), 4u);
  EXPECT_EQ(file.metadata().at("made"), "elsewhere");
  const auto read = [&](const char* name, Index rows, Index cols) {
    const Vector<float> values = file.read<float>(*file.find(name));
    return RowMatrix<float>(Eigen::Map<const RowMatrix<float>>(values.data(), rows, cols));
  };
  EXPECT_LE((read("a.weight.up", 30, 2) * read("a.weight.down", 2, 20) - W).norm(),
            1e-5f * W.norm());
  EXPECT_NE(file.find("b"), nullptr);
  io::write_safetensors<float>(cli_.path("g.safetensors"),
                               {{"w", {30, 20}, W.data()}, {"w.up", {30}, bias.data()}}, {});
  const Outcome taken = cli_.run("prune g.safetensors --tensors w --energy 0.9 --out taken");
  EXPECT_EQ(taken.code, 3);
  EXPECT_FALSE(cli_.exists("taken"));
  EXPECT_EQ(cli_.run("prune f.safetensors --tensors * --energy nan --out none").code, 2);
  const Outcome none = cli_.run("prune f.safetensors --tensors c* --out none");
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(none.err, "udv: f.safetensors: no matrix of floats fits 'c*'\n");
}

// bf16 in, bf16 out, and a ratio of the whole file.
TEST_F(PruneCommand, KeepsNumberTypesAndMeetsARatio) {
  const RowMatrix<float> W = RowMatrix<float>::Random(40, 30);
  const std::string numbers = io::tensor_bytes("BF16", W.data(), W.size());
  const std::vector<io::Tensor> tensors{{"a", "BF16", {40, 30}, numbers},
                                        {"b", "BF16", {40, 30}, numbers}};
  io::write_atomically(cli_.path("f.safetensors"), io::safetensors_bytes(tensors, {}));
  const Outcome outcome = cli_.run("prune f.safetensors --tensors * --ratio 0.4 --out out");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("bytes left"), std::string::npos) << outcome;
  const io::SafetensorsFile file(cli_.path("out/model.safetensors"));
  Index numbers_left = 0;
  for (const io::Tensor& tensor : file.tensors()) {
    EXPECT_EQ(tensor.type, "BF16");
    numbers_left += tensor.size();
  }
  EXPECT_LE(numbers_left, 0.4 * 2400);
  EXPECT_GE(numbers_left, 0.4 * 2400 - 140);
  EXPECT_EQ(cli_.run("prune f.safetensors --tensors * --ratio 0.001 --out none").code, 3);
  EXPECT_EQ(cli_.run("prune f.safetensors --tensors * --max-loss 0.1 --out none").code, 2);
  EXPECT_EQ(cli_.run("prune f.safetensors --tensors * --ratio 0.5 --rank 1 --out none").code, 2);
  EXPECT_FALSE(cli_.exists("none"));
}

// Inputs that lie in two directions: what the matrix does to others does not matter.
TEST_F(PruneCommand, CutsByWhatTheLossLoses) {
  const RowMatrix<float> W = RowMatrix<float>::Random(30, 20);
  RowMatrix<float> inputs = RowMatrix<float>::Random(500, 20),
                   gradients = RowMatrix<float>::Random(500, 30);
  inputs.rightCols(18) *= 0.01f;
  io::write_safetensors<float>(cli_.path("f.safetensors"), {{"w", {30, 20}, W.data()}}, {});
  io::write_safetensors<float>(
      cli_.path("c.safetensors"),
      {{"w.inputs", {500, 20}, inputs.data()}, {"w.gradients", {500, 30}, gradients.data()}}, {});
  const auto error_after = [&](const std::string& flags) {
    EXPECT_EQ(cli_.run("prune f.safetensors --tensors w --out out --force --quiet " + flags).code,
              0);
    const io::SafetensorsFile file(cli_.path("out/model.safetensors"));
    const auto matrix = [&](const char* name, Index rows) {
      const Vector<float> values = file.read<float>(*file.find(name));
      return RowMatrix<float>(
          Eigen::Map<const RowMatrix<float>>(values.data(), rows, values.size() / rows));
    };
    const RowMatrix<float> up = matrix("w.up", 30);
    const RowMatrix<float> change = up * matrix("w.down", up.cols()) - W;
    return testing::product(inputs, change.transpose()).norm() /
           testing::product(inputs, W.transpose()).norm();
  };
  EXPECT_GE(error_after("--rank 2"), 0.3);
  EXPECT_LE(error_after("--rank 2 --calibrate c.safetensors"), 0.05);
  EXPECT_LE(error_after("--max-loss 0.01 --calibrate c.safetensors"), 0.1);
  EXPECT_NE(cli_.text("out/run.json").find("predicted_loss"), std::string::npos);
  io::write_safetensors<float>(cli_.path("other.safetensors"),
                               {{"x.inputs", {500, 20}, inputs.data()}}, {});
  const Outcome other =
      cli_.run("prune f.safetensors --tensors w --calibrate other.safetensors --out none");
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("no moments of 'w'"), std::string::npos) << other;
}

TEST_F(PruneCommand, ExportsForOtherPrograms) {
  EXPECT_EQ(cli_.run("export m --to onnx --out onnx --quiet").code, 0);
  EXPECT_NE(cli_.text("onnx/model.onnx").find("Gemm"), std::string::npos);
  EXPECT_EQ(cli_.run("export m --to csv --out csv --quiet").code, 0);
  EXPECT_EQ(lines_of(cli_.text("csv/D.weight.csv")).size(), 1u);
  EXPECT_EQ(lines_of(cli_.text("csv/U.weight.csv")).size(), 8u);
  EXPECT_EQ(cli_.run("export m --out st --quiet").code, 0);
  EXPECT_NE(cli_.run("inspect st").out.find("README"), std::string::npos);
  const Outcome script = cli_.run("export m --to torchscript --out script");
#ifdef UDV_WITH_DEEP
  EXPECT_EQ(script.code, 0) << script;
  EXPECT_TRUE(cli_.exists("script/model.pt"));
#else
  EXPECT_EQ(script.code, 3);
  EXPECT_NE(script.err.find("LibTorch component"), std::string::npos);
  EXPECT_FALSE(cli_.exists("script"));
#endif
}

TEST_F(PruneCommand, SaysWhatCannotBe) {
  const auto expect = [&](const std::string& flags, int code, const std::string& words) {
    const Outcome outcome = prune(flags);
    EXPECT_EQ(outcome.code, code) << outcome;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome;
    EXPECT_FALSE(cli_.exists("out"));
  };
  expect("--max-params 2", 3, "the smallest reachable are");
  expect("--max-bytes 2", 3, "the smallest reachable are");
  expect("--rank 99", 3, "the model has");
  expect("--max-drop 1%", 3, "need data");
  cli_.write("few.csv", training_table(3));
  expect("--max-drop 1% --data few.csv", 3, "few.csv: 3 rows to decide by found");
  expect("--max-drop x% --data data.csv", 2, "a share such as 0.5% expected");
  expect("--rank 1 --energy 0.9", 2, "one of rank");
  expect("", 2, "one of rank");
  EXPECT_EQ(cli_.run("prune nothing.safetensors --rank 1 --out out").code, 3);
  const std::string before = cli_.text("m/model.safetensors");
  EXPECT_EQ(cli_.run("prune m --rank 1 --out m").code, 3);
  EXPECT_EQ(cli_.text("m/model.safetensors"), before);
}

// Stopped while it trains on, and resumed: the same network as without a stop.
TEST_F(PruneCommand, ResumesTheTrainingAfterPruning) {
  const std::string flags = "--rank 2 --finetune 20000 --lr 1e-3 --data data.csv --quiet ";
  auto process = cli_.start("prune m --out out " + flags);
  ASSERT_TRUE(process->catches(SIGINT));
  process->send(SIGINT);
  const Outcome stopped = process->wait();
  ASSERT_EQ(stopped.code, 130) << stopped;
  EXPECT_TRUE(cli_.exists("out/checkpoint.bin"));
  EXPECT_FALSE(cli_.exists("out/run.json"));
  EXPECT_EQ(prune(flags + "--resume").code, 0);
  EXPECT_FALSE(cli_.exists("out/checkpoint.bin"));
  EXPECT_EQ(cli_.run("prune m --out whole " + flags).code, 0);
  EXPECT_EQ(cli_.text("out/model.safetensors"), cli_.text("whole/model.safetensors"));
}

}  // namespace prune_test
}  // namespace udv::cli
