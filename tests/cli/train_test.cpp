// SPDX-License-Identifier: MIT
#include <csignal>
#include <thread>

#include "cli/training_data.hpp"
#include "udv/net/files/model_file.hpp"
#include "udv/net/variant.hpp"

namespace udv::cli {
namespace train_test {

Outcome train(const Cli& cli, const std::string& flags = "", const std::string& out = "out") {
  return cli.run("train data.csv --preset paper --target y --drop kind --quiet --out " + out + " " +
                 flags);
}

TEST(Train, WritesARunAModelAndItsHistory) {
  const Cli cli;
  cli.write("data.csv", training_table(200));
  const Outcome outcome = train(cli, "--epochs 60 --lr 0.01");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const Json run = cli.run_json();
  EXPECT_EQ(run["command"], "train");
  EXPECT_EQ(run["variant"], "UDV");
  EXPECT_EQ(run["rows"], 160);
  EXPECT_EQ(run["test_rows"], 40);
  EXPECT_EQ(run["inputs"], 4);  // size, colour, day of month and of week; ids do not count
  EXPECT_EQ(run["spectrum"].size(), run["hidden"].get<size_t>() < 4 ? 3u : 4u);
  EXPECT_LT(run["test_loss"], 0.01);
  EXPECT_GE(run["stable_rank"], 1.0);
  EXPECT_GE(run["live_width"], 1);
  EXPECT_EQ(run["stop_reason"], "done");
  EXPECT_EQ(lines_of(cli.text("out/history.csv")).size(), 61u);
  EXPECT_EQ(lines_of(cli.text("out/history.csv"))[0],
            "epoch,step,seconds,train_loss,validation_loss,validation_accuracy,test_loss,"
            "test_accuracy,learning_rate,live_width,effective_rank");
  const auto model = net::read_model<float>(cli.path("out/model.safetensors"));
  EXPECT_EQ(model.network.num_parameters(), run["parameters"]);
  EXPECT_FALSE(cli.exists("out/checkpoint.bin"));
}

TEST(Train, TrainsEveryVariant) {
  const Cli cli;
  cli.write("data.csv", training_table(100));
  for (const auto& variant : net::variants()) {
    const Outcome outcome = train(cli, "--epochs 3 --variant " + variant.name, variant.name);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(cli.run_json(variant.name)["variant"], variant.name);
  }
}

TEST(Train, LearnsClassesFromATable) {
  const Cli cli;
  cli.write("data.csv", training_table(300));
  EXPECT_EQ(cli.run("train data.csv --preset paper --target kind --drop y --task classification "
                    "--bias --lr 0.05 "
                    "--epochs 150 --out out --quiet")
                .code,
            0);
  EXPECT_GT(cli.run_json()["test_accuracy"], 0.9);
  EXPECT_EQ(cli.run("predict out data.csv --out p --quiet").code, 0);
  const auto lines = lines_of(cli.text("p/predictions.csv"));
  EXPECT_EQ(lines[0], "row,class,probability,p_a,p_b");
  EXPECT_TRUE(lines[1].starts_with("0,a,") || lines[1].starts_with("0,b,")) << lines[1];
}

TEST(Train, SameSeedSameBytesForAnyThreads) {
  const Cli cli;
  cli.write("data.csv", training_table(300));
  train(cli, "--epochs 5 --threads 1", "one");
  train(cli, "--epochs 5 --threads 3", "two");
  train(cli, "--epochs 5 --seed 1", "three");
  EXPECT_EQ(cli.text("one/model.safetensors"), cli.text("two/model.safetensors"));
  EXPECT_NE(cli.run_json("one")["test_loss"], cli.run_json("three")["test_loss"]);
}

TEST(Train, InterruptedGoesOnToTheSameBytes) {
  const Cli cli;
  cli.write("data.csv", training_table(400));
  const std::string flags = "--epochs 20000 --batch 8";
  EXPECT_EQ(train(cli, flags, "whole").code, 0);
  const double seconds = cli.run_json("whole")["seconds"];
  auto process =
      cli.start("train data.csv --preset paper --target y --drop kind --quiet --out out " + flags);
  std::this_thread::sleep_for(std::chrono::duration<double>(0.4 * seconds + 0.05));
  process->send(SIGINT);
  const Outcome stopped = process->wait();
  EXPECT_EQ(stopped.code, 130) << stopped;
  EXPECT_TRUE(cli.exists("out/checkpoint.bin"));
  EXPECT_FALSE(cli.exists("out/run.json"));
  const Outcome other = train(cli, "--epochs 20000 --batch 9 --resume");
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("other settings"), std::string::npos) << other;
  EXPECT_EQ(train(cli, flags + " --resume").code, 0);
  EXPECT_EQ(cli.text("out/model.safetensors"), cli.text("whole/model.safetensors"));
}

TEST(Train, StopsAtItsTimeLimitAndCanGoOn) {
  const Cli cli;
  cli.write("data.csv", training_table(400));
  EXPECT_EQ(train(cli, "--epochs 100000 --time-limit 0.3").code, 4);
  EXPECT_EQ(cli.run_json()["stop_reason"], "time limit");
  EXPECT_TRUE(cli.exists("out/checkpoint.bin"));
}

TEST(Train, SaysThatItDiverged) {
  const Cli cli;
  cli.write("data.csv", training_table(100));
  EXPECT_EQ(train(cli, "--variant UV --optimizer mbgd --lr 1e6").code, 4);
  const Json run = cli.run_json();
  EXPECT_EQ(run["stop_reason"], "diverged");
  EXPECT_TRUE(run["test_loss"].is_null() || run["test_loss"].is_number());
}

TEST(Train, ShrinksAndRecordsTheWidth) {
  const Cli cli;
  cli.write("data.csv", training_table(300));
  EXPECT_EQ(train(cli, "--shrink --shrink-tail 1e-3 --hidden 12 --epochs 60 --lr 0.03").code, 0);
  EXPECT_LT(cli.run_json()["hidden"], 12);
  const auto lines = lines_of(cli.text("out/history.csv"));
  EXPECT_NE(lines[1].find(",12,"), std::string::npos) << lines[1];
}

TEST(Predict, AppliesThePreprocessingOfTheTraining) {
  const Cli cli;
  cli.write("data.csv", training_table(200));
  cli.write("new.csv", "kind,colour,size,day\na,red,0.5,2020-02-03\na,violet,NA,\n");
  train(cli, "--epochs 60 --lr 0.01");
  EXPECT_EQ(cli.run("predict out new.csv --out p --quiet").code, 0);
  const auto lines = lines_of(cli.text("p/predictions.csv"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "row,prediction");
  EXPECT_NEAR(std::stod(lines[1].substr(2)), 2 * 0.5 + 0, 0.8);
}

TEST(Evaluate, AgreesWithTheTrainingsTestPart) {
  const Cli cli;
  cli.write("data.csv", training_table(200));
  cli.write("other.csv", training_table(80, 2));
  train(cli, "--epochs 20 --lr 0.01 --test other.csv");
  EXPECT_EQ(cli.run("evaluate out/model.safetensors other.csv --out e --quiet").code, 0);
  EXPECT_NEAR(cli.run_json("e")["test_loss"], cli.run_json()["last_test_loss"],
              1e-5 * cli.run_json()["last_test_loss"].get<double>());
  EXPECT_NEAR(cli.run_json("e")["test_rmse"], cli.run_json()["test_rmse"], 1e-3);
}

TEST(Train, TakesArraysAndImages) {
  const Cli cli;
  const auto X = std::vector<double>(40 * 6, 0.5);
  std::vector<double> labels(40);
  for (size_t i = 0; i < 40; ++i) labels[i] = static_cast<double>(i % 2);
  cli.write("x.npy", io::npy_bytes({40, 6}, X.data()));
  cli.write("labels.npy", io::npy_bytes({40}, labels.data()));
  EXPECT_EQ(
      cli.run("train x.npy --preset paper --targets labels.npy --epochs 2 --out a --quiet").code,
      0);
  EXPECT_EQ(cli.run_json("a")["task"], "classification");
  EXPECT_EQ(
      cli.run(
             "train x.npy --preset paper --targets labels.npy --task regression --epochs 2 --out b "
             "--quiet")
          .code,
      0);
  EXPECT_EQ(cli.run_json("b")["task"], "regression");
  cli.write("train-images-idx3-ubyte",
            io::bytes_of_hex("00000803000000280000000100000002") + std::string(80, '\x7f'));
  std::string classes = io::bytes_of_hex("0000080100000028");
  for (int i = 0; i < 40; ++i) classes += static_cast<char>(i % 3);
  cli.write("train-labels-idx1-ubyte", classes);
  EXPECT_EQ(
      cli.run("train train-images-idx3-ubyte --preset paper --epochs 2 --out c --quiet --batch 8")
          .code,
      0);
  EXPECT_EQ(cli.run_json("c")["outputs"], 3);
  EXPECT_EQ(cli.run("train . --preset paper --epochs 2 --out d --quiet --batch 8").code, 0);
}

struct Bad {
  std::string name, arguments;
  int code;
  std::string words;
};

class BadTraining : public ::testing::TestWithParam<Bad> {};

TEST_P(BadTraining, IsRefusedInOneLine) {
  const Cli cli;
  cli.write("data.csv", training_table(60));
  cli.write("text.csv", "a,y\n1,2\n2,x\n3,4\n");
  cli.write("nan.csv", "a,y\n1,2\nnan,3\n3,4\n");
  cli.write("few.csv", "a,y\n1,2\n2,3\n3,4\n");
  cli.write("one.csv", "a,y\n1,k\n2,k\n3,k\n");
  const std::vector<double> bad{1, 2, NAN, 4}, labels{0, -1, 1, 0}, same{1, 1, 1, 1};
  cli.write("nan.npy", io::npy_bytes({4, 1}, bad.data()));
  cli.write("x.npy", io::npy_bytes({4, 1}, labels.data()));
  cli.write("labels.npy", io::npy_bytes({4}, labels.data()));
  cli.write("same-labels.npy", io::npy_bytes({4}, same.data()));
  cli.write("t-images-idx3-ubyte", io::bytes_of_hex("000008030000000400000001000000020102"));
  cli.write("t-labels-idx1-ubyte", io::bytes_of_hex("000008010000000401020304"));
  cli.write("torn.bin", std::string(3000, 'x'));
  cli.write("junk.safetensors", "junk");
  const Outcome outcome = cli.run(GetParam().arguments + " --out out");
  EXPECT_EQ(outcome.code, GetParam().code) << outcome;
  EXPECT_NE(outcome.err.find(GetParam().words), std::string::npos) << outcome;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), GetParam().code == 3 ? 1 : 2)
      << outcome;
  EXPECT_FALSE(cli.exists("out"));
}

INSTANTIATE_TEST_SUITE_P(
    , BadTraining,
    ::testing::Values(
        Bad{"UnknownTarget", "train data.csv --preset paper --target z", 3,
            "its columns are id, size, colour, day, y, kind"},
        Bad{"NoTarget", "train data.csv", 3, "option target"},
        Bad{"UnknownVariant", "train data.csv --preset paper --target y --variant UDW", 3,
            "variant 'UDW' found, one of UDV, UDV-s"},
        Bad{"UnknownOptimizer", "train data.csv --preset paper --target y --optimizer sgd", 3,
            "one of relative, adam, nadam, mbgd, mbgdm, adamw expected"},
        Bad{"TextTarget", "train text.csv --preset paper --target y --batch 1", 3,
            "text.csv:3: column 'y': 'x' found, a number expected"},
        Bad{"NanFeature", "train nan.csv --preset paper --target y --batch 1", 3,
            "nan.csv:3: column 'a': 'nan' found"},
        Bad{"FewerRowsThanABatch", "train few.csv --preset paper --target y", 3,
            "2 training rows found, at least one batch of 32 expected"},
        Bad{"OneClass", "train one.csv --target y --task classification", 3, "one class only"},
        Bad{"OneLabel", "train x.npy --preset paper --targets same-labels.npy --batch 1", 3,
            "one class only"},
        Bad{"NanInArray", "train nan.npy --targets labels.npy", 3,
            "nan.npy: value 1 of row 3 is not finite"},
        Bad{"NegativeLabel", "train x.npy --preset paper --targets labels.npy", 3,
            "label -1 in row 2 found, 0, 1, 2, ... expected"},
        Bad{"NoTargets", "train x.npy", 3, "no targets found"},
        Bad{"TornIdx", "train t-images-idx3-ubyte", 3, "announced (8 bytes), 2 found"},
        Bad{"TornCifar", "train torn.bin", 3, "3000 bytes found, a multiple of 3073"},
        Bad{"NoFile", "train nothing.csv --target y", 3, "nothing.csv: no such file"},
        Bad{"UnknownKind", "train junk.safetensors", 3, "unknown kind of file"},
        Bad{"NoModel", "predict junk.safetensors data.csv", 3, "safetensors"},
        Bad{"BadHidden", "train data.csv --preset paper --target y --hidden x", 2, "--hidden"},
        Bad{"BadRate", "train data.csv --preset paper --target y --lr -1", 2, "--lr"},
        Bad{"BadShare", "train data.csv --preset paper --target y --test-share 1.5", 3,
            "test share 1.5"}),
    [](const auto& instance) { return instance.param.name; });

TEST(Train, StoppedWithinTheFirstEpochHasNoLoss) {
  const Cli cli;
  cli.write("data.csv", training_table(400));
  EXPECT_EQ(train(cli, "--time-limit 1e-7").code, 4);
  for (const char* key : {"test_loss", "last_test_loss", "last_train_loss"})
    EXPECT_TRUE(cli.run_json()[key].is_null()) << key;
}

TEST(Train, RefusesADamagedCheckpointAndOtherData) {
  const Cli cli;
  cli.write("data.csv", training_table(400));
  const std::string flags = "--epochs 100000 --time-limit 0.2";
  EXPECT_EQ(train(cli, flags).code, 4);
  const std::string whole = cli.text("out/checkpoint.bin");
  for (const size_t at : {whole.size() / 3, whole.size() / 2, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    cli.write("out/checkpoint.bin", damaged);
    const Outcome outcome = train(cli, flags + " --resume");
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find("checkpoint.bin: checkpoint: the check sum"), std::string::npos)
        << outcome;
  }
  cli.write("out/checkpoint.bin", whole);
  cli.write("data.csv", training_table(400, 7));
  const Outcome outcome = train(cli, flags + " --resume");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("other settings"), std::string::npos) << outcome;
}

TEST(Train, TwoSignalsAtOnceAreOneWish) {
  const Cli cli;
  cli.write("data.csv", training_table(400));
  auto process = cli.start(
      "train data.csv --preset paper --target y --drop kind --quiet --out out --epochs 1000000");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  process->send(SIGINT);
  process->send(SIGTERM);
  EXPECT_EQ(process->wait().code, 130);
  EXPECT_TRUE(cli.exists("out/checkpoint.bin"));
}

TEST(Train, TakesLatin1ForWhatItIs) {
  const Cli cli;
  std::string table = "farbe,y\n";
  const char* const colours[] = {"gr\xfcn", "r\xf6t", "wei\xdf"};
  for (int i = 0; i < 90; ++i) table += fmt::format("{},{}\n", colours[i % 3], i % 3);
  cli.write("data.csv", table);
  EXPECT_EQ(cli.run("train data.csv --preset paper --target y --encoding onehot --epochs 60 --lr "
                    "0.05 --out out "
                    "--quiet")
                .code,
            0);
  EXPECT_EQ(cli.run("evaluate out data.csv --out e --quiet").code, 0);
  EXPECT_NEAR(cli.run_json("e")["test_loss"], cli.run_json()["last_test_loss"], 1e-3);
}

TEST(Train, AColumnWithoutWordsSaysNothing) {
  const Cli cli;
  std::string table = "a,b,y\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},NA,{}\n", i, i);
  cli.write("data.csv", table + "1,q,1\n");
  cli.write("rest.csv", "a,b,y\n1,q,1\n2,z,2\n");
  const Outcome outcome = cli.run(
      "train data.csv --preset paper --target y --encoding onehot --missing mean --split-seed 4 "
      "--epochs 2 --out "
      "out --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run("predict out rest.csv --out p --quiet").code, 0);
}

TEST(Train, PointsAtWordsAmongNumbers) {
  const Cli cli;
  std::string table = "a,y\n";
  for (int i = 0; i < 40; ++i) table += fmt::format("{},{}\n", i % 9, i);
  cli.write("data.csv", table + "l4,14\n");
  const Outcome outcome =
      cli.run("train data.csv --preset paper --target y --epochs 1 --out out --quiet --batch 8");
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("udv: warning: data.csv:42: column 'a': 'l4' found among numbers: the "
                             "whole column is taken for words\n"),
            std::string::npos)
      << outcome;
}

TEST(Predict, NamesARowThatLeavesAllNumbers) {
  const Cli cli;
  cli.write("data.csv", "a,y\n1,2\n2,3\n3,4\n4,5\n5,6\n");
  cli.write("huge.csv", "a\n1\n1.7e308\n");
  EXPECT_EQ(cli.run("train data.csv --preset paper --target y --epochs 9 --batch 2 --lr 1 --out "
                    "out --quiet")
                .code,
            0);
  const Outcome outcome = cli.run("predict out huge.csv --out p");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "udv: huge.csv: row 2: the model's output is not finite\n");
  EXPECT_FALSE(cli.exists("p"));
}

TEST(Model, OfAnotherWidthIsRefused) {
  const Cli cli;
  cli.write("data.csv", training_table(100));
  train(cli, "--epochs 2");
  cli.write("narrow.csv", "size,y\n1,2\n");
  const Outcome narrow = cli.run("predict out narrow.csv --out p");
  EXPECT_EQ(narrow.code, 3);
  EXPECT_EQ(narrow.err, "udv: narrow.csv: no column 'colour', which the model reads\n");
  std::string bytes = cli.text("out/model.safetensors");
  const size_t at = bytes.find("\"hidden\":\"");
  bytes[at + 10] = static_cast<char>(bytes[at + 10] == '9' ? '1' : bytes[at + 10] + 1);
  cli.write("other.safetensors", bytes);
  const Outcome other = cli.run("predict other.safetensors data.csv --out p");
  EXPECT_EQ(other.code, 3) << other;
  EXPECT_NE(other.err.find("tensor 'U.weight' has shape"), std::string::npos) << other;
  EXPECT_FALSE(cli.exists("p"));
}

}  // namespace train_test
}  // namespace udv::cli
