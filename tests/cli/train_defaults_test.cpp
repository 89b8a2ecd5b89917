// SPDX-License-Identifier: MIT
// udv train, predict and evaluate without settings.
#include <cmath>

#include "cli/training_data.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::cli {
namespace train_defaults_test {

TEST(TrainDefaults, PredictValuesInTheUnitsOfTheUser) {
  const Cli cli;
  cli.write("data.csv", training_table(300));
  const Outcome outcome =
      cli.run("train data.csv --target y --drop kind --out out --max-steps 600");
  ASSERT_EQ(outcome.code, 0) << outcome;
  const Json run = cli.run_json();
  EXPECT_EQ(run["rows"], 216);
  EXPECT_EQ(run["validation_rows"], 24);
  EXPECT_EQ(run["task"], "regression");
  EXPECT_LT(run["test_rmse"].get<double>(), 0.35 * run["baseline"]["rmse"].get<double>());
  EXPECT_GT(run["test_r2"], 0.9);
  EXPECT_NE(outcome.out.find("the mean of the training part"), std::string::npos) << outcome;
  EXPECT_TRUE(cli.exists("out/test_predictions.csv"));
  EXPECT_EQ(cli.run("evaluate out data.csv --out e --quiet").code, 0);
  EXPECT_LT(cli.run_json("e")["test_rmse"], 1);
}

TEST(TrainDefaults, FindClassesAndWriteAllProbabilities) {
  const Cli cli;
  cli.write("data.csv", training_table(300));
  const Outcome outcome =
      cli.run("train data.csv --target kind --drop y --out out --max-steps 500");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("the target has words; --task sets it"), std::string::npos);
  const Json run = cli.run_json();
  EXPECT_GT(run["test_accuracy"], 0.85);
  EXPECT_EQ(run["classes"].size(), 2u);
  EXPECT_EQ(run["confusion"].size(), 2u);
  EXPECT_EQ(cli.run("predict out data.csv --out p --quiet").code, 0);
  EXPECT_EQ(lines_of(cli.text("p/predictions.csv"))[0], "row,class,probability,p_a,p_b");
}

TEST(TrainDefaults, TakeTheLogarithmOfATargetWhereThatIsBetter) {
  const Cli cli;
  std::string table = "a,b,price\n";
  for (int i = 0; i < 120; ++i) {
    const double a = (i * 37 % 120) / 40.0, b = (i * 71 % 120) / 40.0;
    const double t = 2 * (a + b) - 9 + 0.2 * std::sin(i * i);  // straight from 100 on
    table +=
        fmt::format("{},{},{:.6f}\n", a, b, 100 * (std::exp(std::min(t, 0.0)) + std::max(t, 0.0)));
  }
  cli.write("data.csv", table);
  const std::string train = "train data.csv --target price --max-steps 300 --out ";
  const Outcome outcome = cli.run(train + "out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("its logarithm, below the 90 % quantile, is better"),
            std::string::npos)
      << outcome;
  EXPECT_EQ(cli.run_json()["target_transform"], "log");
  EXPECT_GT(cli.run_json()["test_r2"], 0.9);
  EXPECT_EQ(cli.run("evaluate out data.csv --out e --quiet").code, 0);
  EXPECT_GT(cli.run_json("e")["test_r2"], 0.9);
  EXPECT_EQ(cli.run("export out --to onnx --out x --quiet").code, 0);
  EXPECT_EQ(cli.run(train + "plain --quiet --target-transform none").code, 0);
  EXPECT_EQ(cli.run_json("plain")["target_transform"], "none");
  EXPECT_EQ(cli.run(train + "paper --quiet --preset paper --target-transform log").code, 3);
}

TEST(TrainDefaults, TakeSeveralTargets) {
  const Cli cli;
  std::string table = "a,u,v\n";
  for (int i = 0; i < 80; ++i)
    table += fmt::format("{},{},{}\n", 0.1 * i, 0.2 * i + 0.5, 3 - 0.1 * i);
  cli.write("data.csv", table);
  ASSERT_EQ(cli.run("train data.csv --target u,v --out out --max-steps 400 --quiet").code, 0);
  EXPECT_EQ(cli.run_json()["targets"].size(), 2u);
  EXPECT_EQ(cli.run("predict out data.csv --out p --quiet").code, 0);
  EXPECT_EQ(lines_of(cli.text("p/predictions.csv"))[0], "row,prediction_u,prediction_v");
}

TEST(TrainDefaults, SeveralHiddenLayersGoThroughFiles) {
  const Cli cli;
  cli.write("data.csv", training_table(200));
  ASSERT_EQ(
      cli.run("train data.csv --target y --drop kind --hidden 24,12 --out out --max-steps 200 "
              "--quiet")
          .code,
      0);
  const auto model = net::read_model<double>(cli.path("out/model.safetensors"));
  EXPECT_EQ(model.network.sizes().deeper, std::vector<Index>{12});
  EXPECT_EQ(cli.run("evaluate out data.csv --out e --quiet").code, 0);
  EXPECT_EQ(cli.run("export out --to onnx --out x --quiet").code, 0);
}

TEST(TrainDefaults, ResumeToTheSameBytes) {
  const Cli cli;
  cli.write("data.csv", training_table(400));
  const std::string flags =
      "train data.csv --target y --drop kind --quiet --variant UDV-ReLU "
      "--lr 0.0005 --max-steps 20000 ";
  EXPECT_EQ(cli.run(flags + "--out whole").code, 0);
  EXPECT_EQ(cli.run(flags + "--out out --time-limit 0.1").code, 4);
  EXPECT_EQ(cli.run(flags + "--out out --resume").code, 0);
  EXPECT_EQ(cli.text("out/model.safetensors"), cli.text("whole/model.safetensors"));
}

TEST(TrainDefaults, CrossValidateFewRowsAndSayIt) {
  const Cli cli;
  cli.write("data.csv", training_table(50));
  const Outcome outcome = cli.run("train data.csv --target y --drop kind --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.out.find("too few rows for a validation part: 5-fold"), std::string::npos)
      << outcome;
}

TEST(TrainDefaults, WarnWhereTheNetworkIsOfNoUse) {
  const Cli cli;
  Random random(3, 1);
  std::string table = "a,y\n";
  for (int i = 0; i < 120; ++i) table += fmt::format("{},{}\n", random.normal(), random.normal());
  cli.write("data.csv", table);
  const Outcome outcome = cli.run(
      "train data.csv --target y --out out --average off --lr 0.5 "
      "--validation-share 0 --max-steps 3000 --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_NE(outcome.err.find("no better than predicting the mean"), std::string::npos) << outcome;
}

TEST(TrainDefaults, RefuseWhatContradictsThePreset) {
  const Cli cli;
  cli.write("data.csv", training_table(60));
  for (const char* flags :
       {"--average on", "--label-smoothing 0.1", "--validation-share 0.2", "--scaling robust",
        "--bias-to-low-rank strong", "--hidden 8,4", "--optimizer relative", "--bias constant"}) {
    const Outcome outcome =
        cli.run(std::string("train data.csv --target y --preset paper --out out ") + flags);
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find("preset paper found together with"), std::string::npos) << outcome;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome;
  }
}

TEST(TrainDefaults, NameARowWithoutATarget) {
  const Cli cli;
  cli.write("data.csv", "a,y\n1,2.5\n2,NaN\n3,4\n4,5\n5,1\n6,2\n");
  const Outcome outcome = cli.run("train data.csv --target y --out out");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("data.csv:3: column 'y': 'NaN' found, a number expected"),
            std::string::npos)
      << outcome;
}

}  // namespace train_defaults_test
}  // namespace udv::cli
