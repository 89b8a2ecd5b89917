// SPDX-License-Identifier: MIT
#include <limits>

#include "cli/support.hpp"

namespace udv::cli {
namespace bad_input_test {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string npy(const std::vector<Index>& shape, const std::vector<double>& values) {
  return io::npy_bytes(shape, values.data());
}

/// A file that `udv complete FILE FLAGS` must refuse, and words that its message must have.
struct BadFile {
  std::string name, file, bytes, flags;
  std::vector<std::string> words;
};

void PrintTo(const BadFile& bad, std::ostream* stream) {
  *stream << bad.file << " " << bad.flags;
}

class BadEntries : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadEntries, ExitWithThreeInOneLineThatNamesThem) {
  const Cli cli;
  const BadFile& bad = GetParam();
  cli.write(bad.file, bad.bytes);
  auto words = bad.words;
  words.push_back("udv: " + bad.file);
  expect_refused(cli, cli.run("complete " + bad.file + " --out out " + bad.flags), 3, words);
}

const auto kNameOf = [](const auto& instance) { return instance.param.name; };

INSTANTIATE_TEST_SUITE_P(
    Text, BadEntries,
    ::testing::Values(
        BadFile{"Empty", "a.csv", "", "", {"empty file found", "expected"}},
        BadFile{"BlankLinesOnly", "a.csv", "\n \n\n", "", {"no line with data", "expected"}},
        BadFile{"HeaderOnly", "a.csv", "r,c,v\n", "", {"only a header", "expected"}},
        BadFile{"RaggedLine", "a.csv", "1,1,2\n1,2\n", "", {":2:", "2 fields found, 3 expected"}},
        BadFile{"TwoColumns", "a.csv", "1,1\n1,2\n", "", {":1:", "2 fields", "3 expected"}},
        BadFile{"TextForAnIndex",
                "a.csv",
                "1,1,2\n1,x,3\n",
                "--base 1",
                {":2:", "'x'", "column index"}},
        BadFile{"TextForAValue", "a.csv", "1,1,2\n1,2,abc\n", "", {":2:", "'abc'", "value"}},
        BadFile{"EmptyField", "a.csv", "1,1,2\n1,,3\n", "", {":2:", "empty field"}},
        BadFile{"Nan", "a.csv", "1,1,2\n1,2,nan\n", "", {":2:", "'nan'", "finite"}},
        BadFile{"Infinite", "a.csv", "1,1,2\n1,2,-inf\n", "", {":2:", "'-inf'", "finite"}},
        BadFile{"TooLargeForADouble", "a.csv", "1,1,2\n1,2,1e999\n", "", {":2:", "1e999"}},
        BadFile{"NegativeIndex", "a.csv", "1,1,2\n-4,2,3\n", "", {":2:", "-4", "expected"}},
        BadFile{"FractionalIndex", "a.csv", "1.5,1,2\n", "", {":1:", "1.5", "whole number"}},
        BadFile{
            "HugeIndex", "a.csv", "1,1,2\n99999999999,2,3\n", "--base 1", {":2:", "99999999999"}},
        BadFile{
            "ImplausibleIndex", "a.csv", "1,1,2\n2147483647,2,3\n", "--base 1", {"2147483647 x 2"}},
        BadFile{
            "ZeroCountedFromOne", "a.csv", "1,1,2\n0,1,3\n", "--base 1", {":2:", "row index 0"}},
        BadFile{
            "IndexOutsideTheShape", "a.csv", "1,1,2\n4,1,3\n", "--shape 3,3", {":2:", "(4, 1)"}},
        BadFile{"TwoValuesForAnEntry",
                "a.csv",
                "1,1,2\n2,2,3\n1,1,4\n",
                "",
                {":3:", "(1, 1)", "value 4", "2 in line 1"}},
        BadFile{"NotSymmetric",
                "a.csv",
                "1,2,2\n2,1,3\n",
                "--symmetric",
                {":2:", "not symmetric", "(2, 1)", "(1, 2)"}},
        BadFile{"AllZero", "a.csv", "1,1,0\n2,2,0\n", "", {"all 2 values are zero"}},
        BadFile{"OneRow", "a.csv", "1,1,2\n1,2,3\n", "", {"1 x 2", "at least 2 x 2"}},
        BadFile{"OneColumn", "a.csv", "1,1,2\n2,1,3\n", "", {"2 x 1", "at least 2 x 2"}},
        BadFile{"OneEntry", "a.csv", "a,b,2\n", "", {"1 x 1", "nothing to be completed from"}},
        BadFile{"Binary",
                "a.csv",
                std::string("\x7f"
                            "ELF\0\1\2",
                            7),
                "",
                {"binary data"}},
        BadFile{"OpenQuote", "a.csv", "\"1\",\"1\",\"2\n", "", {":1:", "closing quote"}},
        BadFile{"NotGzip", "a.csv.gz", "1,1,2\n", "", {"gzip"}}),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Keys, BadEntries,
    ::testing::Values(
        BadFile{"RaggedLine", "a.csv", "a,b,2\na,c\n", "", {":2:", "2 fields", "3 expected"}},
        BadFile{"OpenQuote", "a.csv", "a,b,2\na,\"c,2\n", "", {":2:", "closing quote"}},
        BadFile{"EmptyKey", "a.csv", "a,b,2\n,c,3\n", "", {":2:", "empty field", "row key"}},
        BadFile{"DecimalComma", "a.csv", "a;b;2,5\na;c;3,5\n", "", {":1:", "'2,5'", "point"}},
        BadFile{"TwoValues", "a.csv", "a,b,2\na,b,3\n", "", {":2:", "('a', 'b')", "in line 1"}},
        BadFile{"WeightZero", "a.csv", "a,b,2,0\n", "--weight 4", {":1:", "weight '0'", "above 0"}},
        BadFile{"WeightNegative", "a.csv", "1,1,2,1\n1,2,2,-1\n", "--weight 4", {":2:", "'-1'"}},
        BadFile{"NoValueColumn", "a.csv", "user,item,time\n1,1,2\n", "", {":1:", "value"}},
        BadFile{"NoSuchColumn", "a.csv", "u,i,r\n1,1,2\n", "--value q", {":1:", "'q'", "u, i, r"}},
        BadFile{"NoHeader", "a.csv", "1,1,2\n", "--value q", {":1:", "no header", "'q'"}}),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Tables, BadEntries,
    ::testing::Values(
        BadFile{"RaggedLine", "a.csv", "a,b,c,d,e\n1,2,3,4\n", "", {":2:", "4 fields"}},
        BadFile{"Text", "a.csv", "a,b,c,d,e\n1,2,x,4,5\n", "", {":2:", "'x'", "value"}},
        BadFile{"TwoRowsOfOneKey",
                "a.csv",
                "n,a,b\nx,1,2\ny,1,2\nx,1,3\n",
                "--layout table",
                {":4:", "second row 'x'", "line 2"}},
        BadFile{"TwoColumnsOfOneKey", "a.csv", "n,a,a\nx,1,2\n", "--layout table", {":1:", "'a'"}},
        BadFile{"DecimalComma", "a.csv", "a;b\n1;2,5\n", "--layout table", {":2:", "'2,5'"}},
        BadFile{"OpenQuote", "a.csv", "a,b\n1,\"2\n", "--layout table", {":2:", "closing"}},
        BadFile{"OnlyNa", "a.csv", "a,b\nNA,\n", "--layout table", {"only unknown values"}},
        BadFile{"Weights",
                "a.csv",
                "a,b\n1,2\n",
                "--layout table --weight b",
                {"weight", "not with a table"}},
        BadFile{"WeightsOfAnArray",
                "a.npy",
                npy({2, 2}, {1, 2, 3, 4}),
                "--weight b",
                {"weight", "not with an array"}}),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    MatrixMarket, BadEntries,
    ::testing::Values(BadFile{"Empty", "a.mtx", "", "", {"empty file"}},
                      BadFile{"NoBanner", "a.mtx", "3 3 1\n1 1 1\n", "", {":1:", "%%MatrixMarket"}},
                      BadFile{"Pattern",
                              "a.mtx",
                              "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 1\n",
                              "",
                              {":1:", "pattern", "real or integer"}},
                      BadFile{"TooFew",
                              "a.mtx",
                              "%%MatrixMarket matrix coordinate real general\n3 3 5\n1 1 1\n",
                              "",
                              {"1 entry", "5 expected"}},
                      BadFile{
                          "TooMany",
                          "a.mtx",
                          "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n2 2 2\n",
                          "",
                          {":4:"}},
                      BadFile{"OutOfRange",
                              "a.mtx",
                              "%%MatrixMarket matrix coordinate real general\n3 3 1\n4 1 1\n",
                              "",
                              {":3:", "4"}},
                      BadFile{"NoRows",
                              "a.mtx",
                              "%%MatrixMarket matrix coordinate real general\n0 0 0\n",
                              "",
                              {":2:", "0 x 0"}},
                      BadFile{"RectangularSymmetric",
                              "a.mtx",
                              "%%MatrixMarket matrix coordinate real symmetric\n3 2 1\n1 1 1\n",
                              "",
                              {":2:"}}),
    kNameOf);

INSTANTIATE_TEST_SUITE_P(
    Npy, BadEntries,
    ::testing::Values(
        BadFile{"NotNpy", "a.npy", "1,1,2\n", "", {"NUMPY"}},
        BadFile{"CutShort", "a.npy", npy({2, 2}, {1, 2, 3, 4}).substr(0, 140), "", {"bytes"}},
        BadFile{"NoRows", "a.npy", npy({0, 3}, {}), "", {"0 x 3"}},
        BadFile{"Vector", "a.npy", npy({3}, {1, 2, 3}), "", {"shape 3", "matrix"}},
        BadFile{"OnlyNan", "a.npy", npy({2, 2}, {kNan, kNan, kNan, kNan}), "", {"only NaN"}},
        BadFile{"Infinite", "a.npy", npy({2, 2}, {1, 2, kInfinity, 4}), "", {"(1, 0)", "finite"}},
        BadFile{"NotSquare", "a.npy", npy({2, 3}, {1, 2, 3, 4, 5, 6}), "--symmetric", {"2 x 3"}},
        BadFile{"NotSymmetric",
                "a.npy",
                npy({2, 2}, {1, 2, 3, 4}),
                "--symmetric",
                {"not symmetric", "(1, 0)"}},
        BadFile{"AllZero", "a.npy", npy({2, 2}, {0, 0, kNan, 0}), "", {"all 3 values are zero"}}),
    kNameOf);

/// Data that overflow or vanish when squared: refused by name rather than answered with NaN.
INSTANTIATE_TEST_SUITE_P(
    Size, BadEntries,
    ::testing::Values(
        BadFile{
            "TooLarge", "a.csv", "1,1,1e308\n1,2,1e308\n2,1,1e308\n2,2,1e308\n", "", {"1e+308"}},
        BadFile{"TooSmall", "a.csv", "1,1,1e-300\n1,2,1e-300\n2,1,1e-300\n", "", {"1e-300"}}),
    kNameOf);

TEST(BadPath, ThatIsMissingIsNamed) {
  const Cli cli;
  expect_refused(cli, cli.run("complete no.csv --out out"), 3, {"no.csv", "no such file"});
}

TEST(BadPath, OfAFolderIsNamed) {
  const Cli cli;
  std::filesystem::create_directory(cli.path("folder"));
  expect_refused(cli, cli.run("complete folder --out out"), 3, {"folder: a folder found"});
}

TEST(BadPath, OfAnEmptyDeviceIsNamed) {
  const Cli cli;
  expect_refused(cli, cli.run("complete /dev/null --out out"), 3, {"/dev/null", "empty"});
}

/// Further files of `udv complete` beside good data of 30 x 25.
class BadCompanion : public ::testing::TestWithParam<BadFile> {};

TEST_P(BadCompanion, ExitsWithThreeBeforeAnythingIsSolved) {
  const Cli cli;
  const BadFile& bad = GetParam();
  cli.write("data.csv", triplets(small_planted().entries));
  if (!bad.bytes.empty()) cli.write(bad.file, bad.bytes);
  auto words = bad.words;
  words.push_back(bad.file);
  expect_refused(cli, cli.run("complete data.csv --out out " + bad.flags), 3, words);
}

INSTANTIATE_TEST_SUITE_P(
    Complete, BadCompanion,
    ::testing::Values(
        BadFile{"TestMissing", "no.csv", "", "--test no.csv", {"no such file"}},
        BadFile{"TestOutside", "t.csv", "31,1,2\n", "--test t.csv", {":1:", "(31, 1)", "30 x 25"}},
        BadFile{"TestNan", "t.csv", "1,1,nan\n", "--test t.csv", {":1:", "nan"}},
        BadFile{"PairsMissing", "no.csv", "", "--predict no.csv", {"no such file"}},
        BadFile{"PairOutside", "p.csv", "1,26\n", "--predict p.csv", {":1:", "(1, 26)", "30 x 25"}},
        BadFile{"PairFromZero", "p.csv", "1,1\n0,1\n", "--predict p.csv", {":2:", "0 found"}},
        BadFile{"PairOfText", "p.csv", "1,1\n1,b\n", "--predict p.csv", {":2:", "'b'"}},
        BadFile{"RowsMissing", "no.csv", "", "--recommend 3 --rows no.csv", {"no such file"}},
        BadFile{"RowOutside", "r.csv", "1\n31\n", "--recommend 3 --rows r.csv", {":2:", "'31'"}}),
    kNameOf);

TEST(BadHoldout, ThatLeavesNothingIsRefused) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  expect_refused(cli, cli.run("complete data.csv --out out --holdout 0.9999"), 3, {"300"});
  expect_refused(cli, cli.run("complete data.csv --out out --holdout 1e-6"), 3, {"300"});
}

TEST(BadDevice, WithoutItsComponentIsRefusedByName) {
  const Cli cli;
  cli.write("a.csv", "1,1,2\n1,2,3\n2,1,4\n");
  setenv("UDV_CUDA_MODULE", "nowhere.so", 1);
  const Outcome outcome = cli.run("complete a.csv --out out --device cuda");
  unsetenv("UDV_CUDA_MODULE");
  EXPECT_EQ(outcome.code, 2) << outcome;
  for (const char* word : {"--device", "component cuda", "nowhere.so"})
    EXPECT_NE(outcome.err.find(word), std::string::npos) << outcome;
  EXPECT_FALSE(cli.exists("out"));
}

TEST(BadScale, ThatOverflowsIsRefused) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  expect_refused(cli, cli.run("complete data.csv --out out --scale 1e300"), 3, {"scale"});
  expect_refused(cli, cli.run("complete data.csv --out out --scale 1e-300"), 3, {"scale"});
}

/// Arrays that `udv sense A.npy b.npy` must refuse.
struct BadArrays {
  std::string name, A, b, flags;
  std::vector<std::string> words;
};

void PrintTo(const BadArrays& bad, std::ostream* stream) {
  *stream << bad.name;
}

class BadMeasurements : public ::testing::TestWithParam<BadArrays> {};

TEST_P(BadMeasurements, ExitWithThreeInOneLineThatNamesThem) {
  const Cli cli;
  cli.write("A.npy", GetParam().A);
  cli.write("b.npy", GetParam().b);
  expect_refused(cli, cli.run("sense A.npy b.npy --out out " + GetParam().flags), 3,
                 GetParam().words);
}

const std::string kA = npy({3, 2, 2}, {1, 0, 0, 1, 2, 1, 0, 1, 1, 1, 1, 0});
const std::string kFlatA = npy({3, 4}, {1, 0, 0, 1, 2, 1, 0, 1, 1, 1, 1, 0});
const std::string kB = npy({3}, {1, 2, 3});

INSTANTIATE_TEST_SUITE_P(
    Sense, BadMeasurements,
    ::testing::Values(
        BadArrays{"ShapesDisagree", kA, npy({2}, {1, 2}), "", {"b.npy: 2 values", "3 expected"}},
        BadArrays{"NoShape", kFlatA, kB, "", {"A.npy: shape 3 x 4", "option shape"}},
        BadArrays{"WrongShape", kFlatA, kB, "--shape 3,2", {"A.npy: shape 3 x 4", "3*2"}},
        BadArrays{"OtherShape", kA, kB, "--shape 4,1", {"A.npy: shape 3 x 2 x 2", "option shape"}},
        BadArrays{"NoMeasurements", npy({0, 2, 2}, {}), npy({0}, {}), "", {"A.npy: shape 0 x 2"}},
        BadArrays{"NoColumns", npy({3, 2, 0}, {}), kB, "", {"A.npy: shape 3 x 2 x 0"}},
        BadArrays{"FourDimensions",
                  npy({3, 1, 2, 2}, std::vector<double>(12, 1)),
                  kB,
                  "",
                  {"A.npy: shape 3 x 1 x 2 x 2"}},
        BadArrays{"ValuesInAMatrix", kA, npy({1, 3}, {1, 2, 3}), "", {"b.npy: shape 1 x 3"}},
        BadArrays{"AllZeroValues", kA, npy({3}, {0, 0, 0}), "", {"b.npy: all 3 values are zero"}},
        BadArrays{"AllZeroMeasurements",
                  npy({3, 2, 2}, std::vector<double>(12, 0)),
                  kB,
                  "",
                  {"A.npy", "zero"}},
        BadArrays{"NanValue", kA, npy({3}, {1, kNan, 3}), "", {"b.npy: value 1", "nan", "finite"}},
        BadArrays{"InfiniteMeasurement",
                  npy({1, 2, 2}, {1, 2, kInfinity, 3}),
                  npy({1}, {1}),
                  "",
                  {"A.npy: value 2", "inf", "finite"}},
        BadArrays{
            "OneRow", npy({2, 1, 2}, {1, 0, 0, 1}), npy({2}, {1, 2}), "", {"A.npy: X is 1 x 2"}},
        BadArrays{"NotSquare",
                  npy({1, 2, 3}, {1, 2, 3, 4, 5, 6}),
                  npy({1}, {1}),
                  "--symmetric",
                  {"A.npy: X is 2 x 3", "square"}},
        BadArrays{"NotNpy", "1,2,3\n", kB, "", {"A.npy", "NUMPY"}},
        BadArrays{"RankOneOfAnotherShape",
                  kFlatA,
                  kB,
                  "--operator rank-one --shape 2,2",
                  {"A.npy: shape 3 x 4", "option shape"}},
        BadArrays{"RankOneInThreeDimensions", kA, kB, "--operator rank-one", {"A.npy", "n x p"}},
        BadArrays{"HugeMeasurements",
                  npy({1, 2, 2}, {1e300, 1, 1, 1}),
                  npy({1}, {1}),
                  "",
                  {"A.npy", "1e+300"}},
        BadArrays{"TinyMeasurements",
                  npy({1, 2, 2}, std::vector<double>(4, 1e-300)),
                  npy({1}, {1}),
                  "",
                  {"A.npy", "1e-300"}}),
    kNameOf);

TEST(BadMeasurements, ThatAreMissingAreNamed) {
  const Cli cli;
  cli.write("A.npy", kA);
  expect_refused(cli, cli.run("sense A.npy no.npy --out out"), 3, {"no.npy", "no such file"});
  expect_refused(cli, cli.run("sense no.npy A.npy --out out"), 3, {"no.npy", "no such file"});
}

TEST(BadInput, LeavesAnEarlierRunAsItWas) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  ASSERT_EQ(cli.run("complete data.csv --out out --quiet").code, 0);
  const auto before = cli.files("out");
  cli.write("data.csv", "1,1,2\n1,2\n");
  EXPECT_EQ(cli.run("complete data.csv --out out --force --quiet").code, 3);
  EXPECT_EQ(cli.files("out"), before);
}

TEST(BadOut, BelowAFileIsRefusedByName) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  cli.write("A.npy", kA);
  cli.write("b.npy", kB);
  for (const std::string command : {"complete data.csv", "sense A.npy b.npy", "demo"})
    expect_refused(cli, cli.run(command + " --out data.csv/out"), 3, {"data.csv/out", "folder"});
}

TEST(BadOut, WhereAFolderStandsInTheWayOfAFileIsRefusedByName) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  for (const std::string name : {"run.json", "U.npy", "checkpoint.bin"}) {
    std::filesystem::create_directories(cli.path(name + "-out") / name / "inside");
    const Outcome outcome = cli.run("complete data.csv --quiet --force --out " + name + "-out");
    EXPECT_EQ(outcome.code, 3) << outcome;
    EXPECT_NE(outcome.err.find(name), std::string::npos) << outcome;
  }
}

TEST(BadOut, WithoutSpaceIsRefusedAndLeavesNoTemporaryFile) {
  const Cli cli;
  cli.write("data.csv", triplets(small_planted().entries));
  // Through a pipe: the limit binds every regular file.
  const std::string limited = std::string("(ulimit -f 0; exec ") + UDV_PROGRAM +
                              " complete data.csv --quiet --out out 2>&1) | cat";
  const Outcome outcome = cli.run_words({"/bin/sh", "-c", limited})->wait();
  EXPECT_NE(outcome.out.find("out/U.npy: writing"), std::string::npos) << outcome;
  EXPECT_FALSE(cli.exists("out"));
}

TEST(ClosedStreams, DoNotAbortTheProgram) {
  const Cli cli;
  const std::string program = UDV_PROGRAM;
  const auto code = [&](const std::string& line) {
    return cli.run_words({"/bin/sh", "-c", program + line})->wait().code;
  };
  const std::string text = triplets(small_planted().entries);
  cli.write("data.csv", text + lines_of(text)[0] + "\n");  // a repeat, for a warning
  EXPECT_EQ(code(" complete no.csv --out out 2>&-"), 3);
  EXPECT_EQ(code(" complete data.csv --out out 2>&-"), 0);
  EXPECT_EQ(code(" complete data.csv --out out --force >&-"), 0);
  EXPECT_EQ(code(" complete data.csv --out out --force >/dev/full"), 3);
  EXPECT_EQ(code(" --help >/dev/full"), 3);
}

}  // namespace bad_input_test
}  // namespace udv::cli
