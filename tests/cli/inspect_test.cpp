// SPDX-License-Identifier: MIT
#include "cli/training_data.hpp"
#include "recover/solver/solve_state.hpp"
#include "udv/core/checkpoint.hpp"
#include "udv/io/png.hpp"
#include "udv/io/safetensors.hpp"
#include "udv/io/tiff.hpp"
#include "udv/net/trainer.hpp"

namespace udv::cli {
namespace inspect_test {

void expect_words(const Outcome& outcome, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "") << outcome;
  for (const auto& word : words)
    EXPECT_NE(outcome.out.find(word), std::string::npos) << word << "\n" << outcome;
}

// 4 x 3 of rank 1 with the singular value 2 sqrt(12).
const RowMatrix<double> kTwos = RowMatrix<double>::Constant(4, 3, 2);

TEST(Inspect, ShowsARunOfRecoveryAndItsFiles) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  ASSERT_EQ(cli.run("complete data.csv --seed 3 --out out --quiet").code, 0);
  const std::vector<std::string> run{"written by         udv ",
                                     "command            complete",
                                     "seed               3",
                                     "method             udv",
                                     "rank               2",
                                     "spectrum",
                                     "stable rank",
                                     "certificate",
                                     "relative_residual"};
  expect_words(cli.run("inspect out/run.json"), run);
  expect_words(cli.run("inspect out"), run);
  expect_words(cli.run("inspect out"), {"U.npy", "30 x 2 float64", "V.npy", "25 x 2 float64",
                                        "history.csv", "rows of 7", "run of udv complete"});
}

TEST(Inspect, ShowsTrainingExportsAndSweeps) {
  const Cli cli;
  cli.write("data.csv", training_table(100));
  ASSERT_EQ(cli.run("train data.csv --preset paper --target y --drop kind --hidden 4 --epochs 3 "
                    "--out m --quiet")
                .code,
            0);
  expect_words(cli.run("inspect m"), {"UDV ", "regression", "U.weight", "stable rank",
                                      "effective rank", "history.csv", "3 rows of 11", "run.json"});
  expect_words(cli.run("inspect m/history.csv"),
               {"rows               3", "columns            11", "epoch", "train_loss"});
  ASSERT_EQ(cli.run("export m --to onnx --out onnx --quiet").code, 0);
  expect_words(cli.run("inspect onnx/model.onnx"),
               {"written by         udv ", "opset              13", "size: F32 N x", "2 Gemm",
                "Mul", "U.weight", "V.weight", "README", "SVD, 99 %"});
  expect_words(cli.run("inspect onnx"), {"model.onnx", "ONNX model"});
  ASSERT_EQ(cli.run("export m --to csv --out csv --quiet").code, 0);
  expect_words(cli.run("inspect csv/U.weight.csv"),
               {"rows               4", "no line of names", "spectrum", "stable rank"});
  expect_words(cli.run("inspect csv"), {"D.weight.csv", "1 rows of 4"});
  cli.write("sweep.toml", "data = \"data.csv\"\ntarget = \"y\"\nepochs = 2\n");
  expect_words(cli.run("inspect sweep.toml"), {"target             y", "epochs             2"});
}

TEST(Inspect, ShowsArraysAndTheirSpectra) {
  const Cli cli;
  io::write_npy<double>(cli.path("a.npy"), kTwos);
  expect_words(cli.run("inspect a.npy"),
               {"4 x 3 float64", "2 to 2", "spectrum           6.93", "stable rank 1,",
                "effective rank 1\n", "1 / 1 / 1 carry"});
  const RowMatrix<std::complex<float>> z =
      RowMatrix<std::complex<float>>::Identity(2, 2) * std::complex<float>(3, 4);
  io::write_npy<std::complex<float>>(cli.path("x.npy"), z);
  expect_words(cli.run("inspect x.npy"), {"2 x 2 complex64", "magnitudes         0 to 5",
                                          "spectrum           5  5\n", "stable rank 2,"});
  io::write_npy<double>(cli.path("v.npy"), Vector<double>(Vector<double>::LinSpaced(3, -1, 1)));
  const Outcome vector = cli.run("inspect v.npy");
  expect_words(vector, {"3 float64", "-1 to 1"});
  EXPECT_EQ(vector.out.find("spectrum"), std::string::npos);
  io::write_npy<double>(cli.path("n.npy"),
                        RowMatrix<double>(RowMatrix<double>::Constant(2, 2, NAN)));
  expect_words(cli.run("inspect n.npy"), {"4 of 4", "some numbers are not finite"});
}

// A file with a hole of 72 MiB: nothing of it is read.
TEST(Inspect, ReadsOnlyTheHeaderOfALargeArray) {
  const Cli cli;
  std::string bytes =
      io::npy_bytes<double>({3072, 3072}, RowMatrix<double>::Zero(3072, 3072).eval().data());
  cli.write("a.npy", bytes.substr(0, 128));
  std::filesystem::resize_file(cli.path("a.npy"), bytes.size());
  expect_words(cli.run("inspect a.npy"),
               {"3072 x 3072 float64", "not read: more than 8388608 numbers"});
  // Few bytes in the file, many numbers in memory.
  std::string small = bytes.substr(0, 128);
  small.replace(small.find("<f8"), 3, "|b1");
  cli.write("b.npy", small);
  std::filesystem::resize_file(cli.path("b.npy"), 128 + 3072 * 3072);
  expect_words(cli.run("inspect b.npy"), {"3072 x 3072 bool", "not read: more than"});
  const Outcome unknown = cli.run("inspect b.npy --max-expand 1");
  EXPECT_EQ(unknown.code, 0) << unknown;
}

TEST(Inspect, ListsNamedArraysAndPictures) {
  const Cli cli;
  io::write_npz(cli.path("c.npz"), {{"norms", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"d", {{1}, {7}}}});
  expect_words(cli.run("inspect c.npz"), {"variables          2", "norms", "2 x 3", "float64"});
  io::write_tiff(cli.path("p.tif"), RowMatrix<float>::Constant(3, 5, 7));
  expect_words(cli.run("inspect p.tif"), {"images", "1 x 3 x 5", "float32"});
  io::write_png(cli.path("p.png"), RowMatrix<std::uint8_t>::Constant(3, 5, 7));
  expect_words(cli.run("inspect p.png"),
               {"width              5 pixels", "height             3 pixels", "gray, 8 bits"});
  expect_words(cli.run("inspect ."), {"norms (2 x 3 float64), d (1 float64)", "5 x 3 pixels"});
}

TEST(Inspect, DescribesColumnsOfTables) {
  const Cli cli;
  cli.write("t.csv", "size,colour,empty\n1,red,\n-2.5,blue,\ninf,red,\n,3,\n");
  const Outcome outcome = cli.run("inspect t.csv");
  expect_words(outcome, {"rows               4", "columns            3"});
  const auto lines = lines_of(outcome.out);
  const auto cells = [&](const std::string& name) {
    std::vector<std::string> words;
    for (const auto& line : lines)
      if (line.starts_with("  " + name + " ")) {
        std::istringstream stream(line);
        for (std::string word; stream >> word;) words.push_back(word);
      }
    return words;
  };
  // numbers, min, max, inf or nan, different words, empty: those that there are
  EXPECT_EQ(cells("size"), (std::vector<std::string>{"size", "2", "-2.5", "1", "1", "1"}));
  EXPECT_EQ(cells("colour"), (std::vector<std::string>{"colour", "1", "3", "3", "2"}));
  EXPECT_EQ(cells("empty"), (std::vector<std::string>{"empty", "4"}));
}

TEST(Inspect, SaysWhatRunACheckpointBelongsTo) {
  const Cli cli;
  SolveState<double> solve;
  solve.has_gradient = true;
  solve.gradient.factors = Factorization<double>(method_named("udv"), 6, 5, 3, 1, 0);
  solve.gradient.iteration = 77;
  cli.write("checkpoint.bin", to_bytes(Checkpoint{"complete", "seed 3; rank 4", to_bytes(solve)}));
  expect_words(cli.run("inspect checkpoint.bin"),
               {"job                complete", "seed 3; rank 4", "6 x 5, 3 columns",
                "iteration          77", "solve float64"});
  net::TrainState<float> state;
  state.epoch = 4;
  state.batch = 2;
  state.hidden = 3;
  state.parameters = Vector<float>::Ones(12);
  cli.write("other",
            to_bytes(Checkpoint{"train", "seed 5; data houses.csv", net::to_bytes(state)}));
  expect_words(cli.run("inspect other"),
               {"seed 5; data houses.csv", "epoch 4, batch 2", "hidden neurons     3",
                "parameters         12", "training float32"});
  cli.write("unknown", to_bytes(Checkpoint{"lora", "seed 5", "\x01\x02\x03"}));
  expect_words(cli.run("inspect unknown"), {"job                lora", "3 bytes"});
  expect_words(cli.run("inspect ."), {"complete: iteration 77, 0 fits", "train: epoch 4, batch 2"});
}

TEST(Inspect, TakesTensorsByTheirFirstBytesToo) {
  const Cli cli;
  const Vector<float> ones = Vector<float>::Ones(200);
  io::write_safetensors<float>(cli.path("weights"), {{"w", {20, 10}, ones.data()}}, {});
  expect_words(cli.run("inspect weights"), {"1 tensor, 200 numbers", "rank 1: 15 %"});
}

TEST(Inspect, NamesWhatItDoesNotKnow) {
  const Cli cli;
  const auto expect = [&](const std::string& file, const std::string& bytes,
                          const std::string& words) {
    if (!file.empty()) cli.write(file, bytes);
    expect_refused(cli, cli.run("inspect " + file), 3, {file + ":", words});
  };
  expect("a.xyz", "hello", "'.xyz' and first bytes 'hello' found, .safetensors, .onnx, .npy");
  expect("empty", "", "first bytes '' found");
  expect("a.npy", "hello", "\\x93NUMPY of an .npy file expected");
  expect("a.npz", "hello", "an .npz archive expected");
  expect("a.csv", "", "0 bytes found, a table expected");
  expect("b.csv", "a,b\n1\n", "1 field found, 2 expected");
  expect("c.csv", std::string("a\0b\n", 4), "binary data found");
  expect("a.png", "hello", "PNG file expected");
  expect("a.onnx", "hello", "found at byte");
  expect("a.json", "{\"a\": ", "no JSON at byte 7");
  expect("b.json", "[1]", "array found, a JSON object expected");
  expect("a.safetensors", "hello", "a safetensors file expected");
  expect("checkpoint.bin", "udv checkpoint 0.0.1 float64\n", "not a checkpoint of udv");
  expect("a.toml", "a = ", "a.toml");
  expect_refused(cli, cli.run("inspect nothing.npy"), 3, {"nothing.npy: no such file"});
  std::filesystem::create_directory(cli.path("none"));
  expect_refused(cli, cli.run("inspect none"), 3, {"none: 0 files and folders found"});
}

// Names and texts of others: no escape sequence reaches the terminal, no depth the stack.
TEST(Inspect, IsNotTakenInByFilesOfOthers) {
  const Cli cli;
  cli.write("a.json", "{\"a\\u001b[31m\": \"\\u001b[2J\", \"deep\": " + std::string(50000, '[') +
                          std::string(50000, ']') + "}");
  const Outcome outcome = cli.run("inspect a.json");
  expect_words(outcome, {"deep               1 items"});
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  cli.write("b.json", "{\"spectrum\": [1, null], \"warnings\": [\"w\", 2], \"list\": [1, \"x\"]}");
  expect_words(cli.run("inspect b.json"),
               {"spectrum           1, null", "warning            w", "list               1, x"});
}

}  // namespace inspect_test
}  // namespace udv::cli
