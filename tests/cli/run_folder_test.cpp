// SPDX-License-Identifier: MIT
#include <cmath>

#include "cli/support.hpp"
#include "support/reference.hpp"
#include "udv/core/version.hpp"

namespace udv::cli {
namespace run_folder_test {

using Is = bool (Json::*)() const noexcept;

void expect_types(const Json& object, const std::vector<std::pair<std::string, Is>>& types) {
  for (const auto& [key, is_right] : types) {
    ASSERT_TRUE(object.contains(key)) << key;
    EXPECT_TRUE((object[key].*is_right)()) << key << " is " << object[key];
  }
}

void complete_small(const Cli& cli, const std::string& flags = "", double noise = 0) {
  cli.write("data.csv", triplets(small_planted(noise).entries));
  const Outcome outcome = cli.run("complete data.csv --out out --quiet " + flags);
  ASSERT_EQ(outcome.code, 0) << outcome;
}

TEST(RunJson, HasEveryKeyOfTheContractWithItsType) {
  const Cli cli;
  complete_small(cli);
  const Json run = cli.run_json();
  expect_types(run, {{"udv", &Json::is_string},
                     {"command", &Json::is_string},
                     {"config", &Json::is_object},
                     {"seed", &Json::is_number_unsigned},
                     {"method", &Json::is_string},
                     {"scalar", &Json::is_string},
                     {"rows", &Json::is_number_integer},
                     {"cols", &Json::is_number_integer},
                     {"measurements", &Json::is_number_integer},
                     {"rank", &Json::is_number_integer},
                     {"spectrum", &Json::is_array},
                     {"rank_gap", &Json::is_number},
                     {"objective", &Json::is_number},
                     {"relative_residual", &Json::is_number},
                     {"iterations", &Json::is_number_integer},
                     {"seconds", &Json::is_number},
                     {"stop_reason", &Json::is_string},
                     {"scale", &Json::is_number},
                     {"alpha", &Json::is_number},
                     {"step", &Json::is_number},
                     {"certificate", &Json::is_object}});
}

TEST(RunJson, HasEveryFigureOfTheCertificate) {
  const Cli cli;
  complete_small(cli);
  const Json certificate = cli.run_json()["certificate"];
  expect_types(certificate, {{"stationarity", &Json::is_number},
                             {"complementarity", &Json::is_number},
                             {"dual_infeasibility", &Json::is_number},
                             {"verdict", &Json::is_string}});
  EXPECT_EQ(certificate["verdict"], "global");
}

TEST(RunJson, LeavesOutWhatIsNotKnown) {
  const Cli cli;
  complete_small(cli);
  EXPECT_FALSE(cli.run_json().contains("test_rmse"));
  EXPECT_FALSE(cli.run_json().contains("relative_error"));
}

TEST(RunJson, SaysWhatWasRun) {
  const Cli cli;
  complete_small(cli, "--seed 7");
  const Json run = cli.run_json();
  EXPECT_EQ(run["udv"], version());
  EXPECT_EQ(run["command"], "complete");
  EXPECT_EQ(run["seed"], 7);
  EXPECT_EQ(run["scalar"], "float64");
  EXPECT_EQ(run["measurements"], 300);
  EXPECT_EQ(run["stop_reason"], "converged");
}

TEST(RunJson, ListsEverySettingAsUsed) {
  const Cli cli;
  complete_small(cli, "--max-rank 9 --step 0.5 --center rows --threads 2");
  const Json config = cli.run_json()["config"];
  EXPECT_EQ(config["file"], "data.csv");
  EXPECT_EQ(config["max-rank"], 9);
  EXPECT_EQ(config["step"], "0.5");
  EXPECT_EQ(config["center"], "rows");
  EXPECT_EQ(config["threads"], 2);
  for (const std::string key : {"symmetric", "base", "method", "alpha", "scale", "init-norm",
                                "max-iterations", "tolerance", "polish", "noise", "record"})
    EXPECT_TRUE(config.contains(key)) << key;
}

TEST(RunJson, SpectrumHoldsTheSingularValuesOfX) {
  const Cli cli;
  complete_small(cli);
  const Factors found = read_factors(cli);
  const RowMatrix<double> X = testing::dense(found.U, found.d, found.V);
  const Json spectrum = cli.run_json()["spectrum"];
  ASSERT_EQ(spectrum.size(), 3u) << "one value past the rank";
  const Matrix<double> gram = testing::product(X.transpose(), X);
  double squares = 0;
  for (const double value : spectrum) squares += value * value;
  // Sums of 25 squares, each rounded: 100 eps is ample.
  EXPECT_NEAR(squares / gram.trace(), 1, 100 * 2.3e-16);
}

TEST(RunFolder, HoldsTheFilesOfARectangularRun) {
  const Cli cli;
  complete_small(cli);
  std::vector<std::string> names;
  for (const auto& [name, bytes] : cli.files("out")) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"U.npy", "V.npy", "d.npy", "history.csv",
                                             "report.html", "run.json"}));
}

TEST(RunFolder, FactorsReproduceTheKnownEntries) {
  const Cli cli;
  const Entries entries = small_planted().entries;
  complete_small(cli);
  const Factors found = read_factors(cli);
  for (size_t t = 0; t < entries.value.size(); ++t)
    EXPECT_NEAR(found.at(entries.row[t], entries.col[t]), entries.value[t], kExact);
}

TEST(RunFolder, ObjectiveAndResidualAreThoseOfTheFactors) {
  const Cli cli;
  const Entries entries = small_planted(0.05).entries;
  complete_small(cli, "", 0.05);
  const double objective = objective_of(read_factors(cli), entries);
  double squares = 0;
  for (const double value : entries.value) squares += value * value;
  const Json run = cli.run_json();
  // Residuals are 5 % of the data, rounded at 1e-16 of it: 1e-12 is 100 eps and more to spare.
  EXPECT_NEAR(run["objective"].get<double>() / objective, 1, 1e-12);
  EXPECT_NEAR(run["relative_residual"].get<double>() / std::sqrt(2 * objective / squares), 1,
              1e-12);
}

TEST(RunFolder, ValuesAreInTheUsersUnits) {
  const Cli cli;
  Planted planted = small_planted();
  for (double& value : planted.entries.value) value *= 1e6;
  planted.U *= 1e6;
  cli.write("data.csv", triplets(planted.entries));
  expect_recovered(cli, cli.run("complete data.csv --out out --quiet"), planted);
}

TEST(RunFolder, HistoryHasTheColumnsOfTheContract) {
  const Cli cli;
  complete_small(cli);
  const auto lines = lines_of(cli.text("out/history.csv"));
  EXPECT_EQ(lines[0], "iteration,seconds,objective,rank,norm_U,max_d,step");
  EXPECT_GT(lines.size(), 3u);
  for (size_t k = 1; k < lines.size(); ++k)
    EXPECT_EQ(std::count(lines[k].begin(), lines[k].end(), ','), 6) << lines[k];
}

TEST(RunFolder, DoesNotKeepFilesOfAnEarlierRunThatThisOneDoesNotWrite) {
  const Cli cli;
  complete_small(cli, "--center both");
  cli.write("data.csv", triplets(small_symmetric().entries));
  ASSERT_EQ(cli.run("complete data.csv --symmetric --out out --force --quiet").code, 0);
  EXPECT_FALSE(cli.exists("out/V.npy")) << "of another, rectangular matrix";
  EXPECT_FALSE(cli.exists("out/center.npz"));
}

TEST(RunFolder, IsNotOverwrittenUnlessAskedFor) {
  const Cli cli;
  complete_small(cli);
  const std::string before = cli.text("out/run.json");
  const Outcome finished = cli.run("complete data.csv --out out --seed 3");
  EXPECT_EQ(finished.code, 2);
  EXPECT_NE(finished.err.find("--out: out holds a finished run"), std::string::npos) << finished;
  EXPECT_NE(finished.err.find("force"), std::string::npos) << finished;
  EXPECT_EQ(cli.text("out/run.json"), before);
  std::filesystem::create_directory(cli.path("mine"));
  cli.write("mine/predictions.csv", "precious\n");
  cli.write("mine/U.npy", "precious too");
  EXPECT_EQ(cli.run("complete data.csv --out mine").code, 2);
  EXPECT_EQ(cli.text("mine/predictions.csv"), "precious\n");
  EXPECT_EQ(cli.text("mine/U.npy"), "precious too");
  EXPECT_FALSE(cli.exists("mine/run.json"));
  EXPECT_EQ(cli.run("complete data.csv --out out --force --seed 3 --quiet").code, 0);
  EXPECT_EQ(cli.run_json()["seed"], 3);
}

// The refusal comes before the data are read: these are damaged, and nobody says so.
TEST(RunFolder, IsRefusedBeforeAnythingIsRead) {
  const Cli cli;
  complete_small(cli);
  cli.write("bad.csv", "1,2,three\n");
  cli.write("bad.npy", "none");
  cli.write("sweep.toml", "data = \"bad.csv\"\n");
  for (const char* command :
       {"complete bad.csv", "sense bad.npy bad.npy", "phase bad.npy bad.npy", "train bad.csv",
        "predict bad.npy bad.csv", "evaluate bad.npy bad.csv", "prune bad.npy --rank 1",
        "export bad.npy --to onnx", "fold-in bad.npy bad.csv"}) {
    const Outcome outcome = cli.run(std::string(command) + " --out out");
    EXPECT_EQ(outcome.code, 2) << command << outcome;
    EXPECT_NE(outcome.err.find("holds a finished run"), std::string::npos) << command << outcome;
    EXPECT_FALSE(cli.exists("out/.udv-lock"));
  }
  EXPECT_NE(cli.run("complete bad.csv --out new/deep").code, 0);
  EXPECT_FALSE(cli.exists("new"));
}

TEST(RunFolder, NamesAFileWhoseNameIsNotUtf8) {
  const Cli cli;
  cli.write("\xff.csv", triplets(small_planted().entries));
  const Outcome outcome = cli.run("complete \xff.csv --out out --quiet");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_TRUE(cli.exists("out/run.json"));
}

}  // namespace run_folder_test
}  // namespace udv::cli
