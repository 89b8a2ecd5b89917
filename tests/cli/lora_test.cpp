// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "cli/deep_data.hpp"
#include "udv/io/npy.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::cli {
namespace lora_test {

#ifndef UDV_WITH_DEEP

TEST(Lora, SaysInOneLineThatItIsNotThere) {
  const Cli cli;
  for (const char* command : {"lora --model x", "generate --model x --prompt y"}) {
    const Outcome outcome = cli.run(command);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("without the LibTorch component; `make deep`"), std::string::npos);
  }
}

#else

class LoraCommand : public ::testing::Test {
 protected:
  LoraCommand() {
    for (const char* name : {"m", "other"}) std::filesystem::create_directories(cli_.path(name));
    cli_.write("m/model.bin", model_bytes());
    cli_.write("m/tok.bin", tokenizer_bytes());
    cli_.write("train.txt", some_text(300, 1));
    cli_.write("eval.txt", some_text(80, 2));
  }

  void complains(const std::string& arguments, int code, const std::string& text) {
    const Outcome outcome = cli_.run(arguments);
    EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome;
    EXPECT_NE(outcome.err.find(text), std::string::npos) << arguments << "\n" << outcome;
    EXPECT_EQ(lines_of(outcome.err).size(), code == 3 ? 1u : 2u) << outcome;
    EXPECT_FALSE(cli_.exists("out/run.json"));
  }

  RowMatrix<double> scores(const std::string& arguments) {
    const Outcome outcome = cli_.run("generate " + arguments + " --prompt abac --scores s.npy");
    EXPECT_EQ(outcome.code, 0) << outcome;
    const io::Array array = io::read_npy(cli_.path("s.npy"));
    return Eigen::Map<const RowMatrix<double>>(array.values.data(), array.shape[0], array.shape[1]);
  }

  const std::string run_ =
      "lora --model m/model.bin --train train.txt --eval eval.txt --epochs 3 --sequence 16 "
      "--batch 4 --optimizer adam --lr 0.02 --modules q,v --threads 1 ";
  Cli cli_;
};

TEST_F(LoraCommand, TrainsPrunesAndTellsWhatItDid) {
  const Outcome outcome = cli_.run(run_ + "--rank 4 --out out");
  ASSERT_EQ(outcome.code, 0) << outcome;
  for (const char* word : {"2 layers of 16", "tokens to learn from", "lora-udv", "at 1/10"})
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome;
  const Json run = cli_.run_json();
  EXPECT_EQ(run["command"], "lora");
  EXPECT_EQ(run["method"], "lora-udv");
  EXPECT_EQ(run["rank"], 4);
  EXPECT_EQ(run["parameters"], 2 * (4 * (16 + 16 + 1) + 4 * (16 + 8 + 1)));
  EXPECT_LT(run["perplexity"].get<double>(), 0.8 * run["perplexity_before"].get<double>());
  EXPECT_GE(run["perplexity_at_ratio"]["0.25"].get<double>(), 1);
  EXPECT_EQ(lines_of(cli_.text("out/history.csv")).size(), 5u);
  EXPECT_TRUE(lines_of(cli_.text("out/pruning.csv"))[0].ends_with(",perplexity"));
  EXPECT_EQ(lines_of(cli_.text("out/ranks.csv")).size(), 5u);
  EXPECT_TRUE(cli_.exists("out/report.html"));
  EXPECT_FALSE(cli_.exists("out/checkpoint.bin"));
  // The last row of pruning.csv keeps everything: the perplexity of the run.
  const std::string last = lines_of(cli_.text("out/pruning.csv")).back();
  EXPECT_NEAR(std::stod(last.substr(last.rfind(',') + 1)), run["perplexity"].get<double>(), 1e-3);
  // And so does a test of the adapter alone.
  const Outcome tested =
      cli_.run("lora --model m/model.bin --adapter out --eval eval.txt --sequence 16 --threads 1");
  ASSERT_EQ(tested.code, 0) << tested;
  const std::string text = tested.out.substr(tested.out.find("perplexity") + 10);
  EXPECT_NEAR(std::stod(text), run["perplexity"].get<double>(), 1e-3);
}

TEST_F(LoraCommand, ComparesMethodsAndRanks) {
  ASSERT_EQ(cli_.run(run_ + "--method lora,lora-udv --rank 2,4 --out out --quiet").code, 0);
  for (const char* name : {"lora-r2", "lora-udv-r2", "lora-r4", "lora-udv-r4"})
    EXPECT_TRUE(cli_.exists(std::string("out/") + name + "/run.json")) << name;
  const auto together = lines_of(cli_.text("out/history.csv"));
  EXPECT_EQ(together.size(), 1u + 4 * 4);
  EXPECT_TRUE(together[0].starts_with("method,adapter_rank,epoch,")) << together[0];
  EXPECT_TRUE(together[1].starts_with("lora,2,0,")) << together[1];
  EXPECT_TRUE(cli_.exists("out/pruning.csv"));
  EXPECT_NE(cli_.text("out/report.html").find("Perplexity after pruning"), std::string::npos);
}

TEST_F(LoraCommand, ComparesInNoFolderOfOthers) {
  std::filesystem::create_directory(cli_.path("out"));
  cli_.write("out/history.csv", "precious");
  const std::string two = run_ + "--rank 2,3 --out out";
  EXPECT_EQ(cli_.run(two).code, 2);
  EXPECT_EQ(cli_.text("out/history.csv"), "precious");
  std::filesystem::remove(cli_.path("out/history.csv"));
  ASSERT_EQ(cli_.run(two).code, 0);
  const std::string joined = cli_.text("out/history.csv");
  EXPECT_EQ(cli_.run(two).code, 2);
  const Outcome again = cli_.run(two + " --resume");
  EXPECT_EQ(again.code, 0) << again;
  EXPECT_EQ(cli_.text("out/history.csv"), joined);
}

TEST_F(LoraCommand, GoesOnAfterCtrlCToTheSameFiles) {
  const std::string longer = run_ + "--method lora,lora-udv --rank 4 --epochs 40 --report off ";
  ASSERT_EQ(cli_.run(longer + "--out whole --quiet").code, 0);
  auto process = cli_.start(longer + "--out part --quiet");
  ASSERT_TRUE(process->catches(SIGINT));
  process->send(SIGINT);
  const Outcome stopped = process->wait();
  ASSERT_EQ(stopped.code, 130) << stopped;
  EXPECT_NE(stopped.err.find("--resume"), std::string::npos);
  const Outcome resumed = cli_.run(longer + "--out part --quiet --resume");
  ASSERT_EQ(resumed.code, 0) << resumed;
  for (const char* name : {"lora-r4", "lora-udv-r4"})
    for (const char* file : {"model.safetensors", "pruning.csv", "ranks.csv"})
      EXPECT_EQ(cli_.text(fmt::format("part/{}/{}", name, file)),
                cli_.text(fmt::format("whole/{}/{}", name, file)))
          << name << " " << file;
  // Finished runs are read again, unless they were made with other settings.
  EXPECT_EQ(cli_.run(longer + "--out part --quiet --resume").code, 0);
  const Outcome other = cli_.run(longer + "--out part --quiet --resume --lr 0.5");
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(other.err.find("other settings"), std::string::npos) << other;
}

TEST_F(LoraCommand, CtrlCWhilePruningKeepsTheTraining) {
  const std::string run = run_ + "--rank 8 --modules q,k,v,o --report off --quiet ";
  ASSERT_EQ(cli_.run(run + "--out whole").code, 0);
  auto process = cli_.start(run + "--out part");
  for (int k = 0; k < 6000 && !cli_.exists("part/.udv-new/model.safetensors"); ++k)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  process->send(SIGINT);
  const Outcome stopped = process->wait();
  EXPECT_EQ(stopped.code, 130) << stopped;
  EXPECT_FALSE(cli_.exists("part/run.json"));
  EXPECT_EQ(cli_.run(run + "--out part --resume").code, 0);
  for (const char* file : {"model.safetensors", "pruning.csv", "ranks.csv"})
    EXPECT_EQ(cli_.text(std::string("part/") + file), cli_.text(std::string("whole/") + file));
}

TEST_F(LoraCommand, ARunThatEndedEarlyGoesOn) {
  const std::string longer = run_ + "--rank 4 --epochs 60 --report off --quiet ";
  ASSERT_EQ(cli_.run(longer + "--out whole").code, 0);
  EXPECT_EQ(cli_.run(longer + "--out part --time-limit 0.05").code, 4);
  EXPECT_TRUE(cli_.exists("part/checkpoint.bin"));
  EXPECT_EQ(cli_.run(longer + "--out part --resume").code, 0);
  EXPECT_EQ(cli_.text("part/model.safetensors"), cli_.text("whole/model.safetensors"));
  // The limit is that of each go, not of all of them together: it comes to an end.
  Outcome go = cli_.run(longer + "--out again --time-limit 0.2");
  for (int k = 0; k < 100 && go.code == 4; ++k)
    go = cli_.run(longer + "--out again --time-limit 0.2 --resume");
  EXPECT_EQ(go.code, 0) << go;
  EXPECT_EQ(cli_.text("again/model.safetensors"), cli_.text("whole/model.safetensors"));
  // A training that has lost everything is no success, now or later.
  const std::string wild =
      run_ + "--rank 4 --method lora --init-std 1e38 --report off --quiet --out wild ";
  EXPECT_EQ(cli_.run(wild).code, 4);
  EXPECT_EQ(cli_.run(wild + "--resume").code, 4);
  // Without --resume nothing of an earlier run counts, and other weights are another model.
  std::string other = model_bytes();
  other[40] ^= 1;
  cli_.write("m/model.bin", other);
  EXPECT_EQ(cli_.run(longer + "--out whole --resume").code, 3);
  EXPECT_EQ(cli_.run(longer + "--out whole --force").code, 0);
}

TEST_F(LoraCommand, ExportsTheSameFunction) {
  ASSERT_EQ(cli_.run(run_ + "--rank 4 --energy 1 --export peft --out a --quiet").code, 0);
  ASSERT_EQ(cli_.run(run_ + "--rank 4 --energy 1 --export merged --out b --quiet").code, 0);
  ASSERT_EQ(cli_.run("lora --model m/model.bin --export-base base --quiet").code, 0);
  const RowMatrix<double> plain = scores("--model m/model.bin"),
                          trained = scores("--model m/model.bin --adapter a");
  EXPECT_GT((trained - plain).cwiseAbs().maxCoeff(), 0.1);
  const auto expect_same = [&](const std::string& arguments, const RowMatrix<double>& wanted) {
    EXPECT_LT((scores(arguments) - wanted).cwiseAbs().maxCoeff(), 1e-4) << arguments;
  };
  // Later, of a finished run.
  EXPECT_EQ(cli_.run(run_ + "--rank 4 --energy 1 --export merged --out a --quiet --resume").code,
            0);
  expect_same("--model a/merged", trained);
  expect_same("--model base", plain);
  expect_same("--model m/model.bin --adapter a/peft", trained);
  expect_same("--model base --adapter a/peft", trained);
  expect_same("--model b/merged", trained);
  // And of an adapter without its training.
  const std::string given = "lora --model m/model.bin --adapter b --quiet --out c ";
  EXPECT_EQ(cli_.run(given + "--export merged").code, 0);
  EXPECT_EQ(cli_.run(given + "--export peft").code, 0);
  expect_same("--model c/merged", trained);
  expect_same("--model m/model.bin --adapter c/peft", trained);
}

TEST_F(LoraCommand, GeneratesText) {
  const std::string words = "generate --model m/model.bin --prompt ab --tokens 8 --threads 1";
  const Outcome first = cli_.run(words), again = cli_.run(words);
  ASSERT_EQ(first.code, 0) << first;
  EXPECT_EQ(first.out, again.out);
  EXPECT_TRUE(first.out.starts_with("ab")) << first;
  const std::string warm = words + " --temperature 1.2 --seed 3";
  EXPECT_EQ(cli_.run(warm).out, cli_.run(warm).out);
}

TEST_F(LoraCommand, NamesWhatIsWrongWithItsInput) {
  const std::string start = "lora --model m/model.bin ",
                    texts = "--train train.txt --eval eval.txt ";
  cli_.write("empty.txt", "");
  cli_.write("cut.bin", model_bytes().substr(0, 1000));
  cli_.write("other/tokenizer.json", "{");
  complains(start + "--train empty.txt --eval eval.txt --out out", 3, "empty.txt: empty");
  complains(start + "--train gone.txt --eval eval.txt --out out", 3, "gone.txt");
  complains(start + texts + "--sequence 33 --out out", 3, "the model takes up to 32");
  complains(start + texts + "--modules q,z --out out", 2, "--modules: 'z' found");
  complains(start + texts + "--modules q,q --out out", 2, "--modules: 'q' found twice");
  complains(start + texts + "--rank 4,4 --out out", 2, "--rank: '4' found twice");
  complains(start + texts + "--rank 40000 --out out", 3, "rank 40000 found, up to 16 expected");
  complains(start + texts + "--lr 1e308 --out out", 3, "learning rate is 1e+308");
  complains(start + texts + "--rank 0 --out out", 2, "--rank: '0' found");
  complains(start + texts + "--method svd --out out", 2, "--method: 'svd' found");
  complains(start + texts + "--optimizer best --out out", 2, "--optimizer: 'best' found");
  complains(start + texts + "--device cuda --out out", 2, "no CUDA device");
  complains(start + "--train train.txt --out out", 2, "--eval");
  complains(start + "--out out", 2, "--train: texts");
  complains("lora --model nowhere " + texts + "--out out", 3, "nowhere: no such file or folder");
  complains("lora --model cut.bin --tokenizer m/tok.bin " + texts + "--out out", 3,
            "cut.bin: 1000 bytes found");
  complains(start + "--tokenizer other " + texts + "--out out", 3, "other/tokenizer.json");
  complains(start + "--adapter nowhere --eval eval.txt --out out", 3, "nowhere");
  complains("generate --model m/model.bin --prompt " + std::string(60, 'c'), 3,
            "the model takes up to 32");
  net::Adapter adapter;
  adapter.blocks.push_back({"model.layers.9.self_attn.q_proj", RowMatrix<float>::Ones(1, 16),
                            Vector<float>::Ones(1), RowMatrix<float>::Ones(16, 1)});
  std::filesystem::create_directories(cli_.path("foreign"));
  net::write_adapter(cli_.path("foreign/model.safetensors"), adapter);
  complains(start + "--adapter foreign --eval eval.txt", 3, "foreign: made for another model");
}

#endif

}  // namespace lora_test
}  // namespace udv::cli
