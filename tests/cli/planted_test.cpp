// SPDX-License-Identifier: MIT
#include "cli/support.hpp"

namespace udv::cli {
namespace planted_test {

TEST(PlantedCommand, RecoversACompletionProblemAndKnowsItsError) {
  const Cli cli;
  const Outcome outcome =
      cli.run("planted completion --rows 40 --rank 2 --measurements 400 --out out");
  EXPECT_EQ(outcome.code, 0) << outcome;
  const Json run = cli.run_json();
  EXPECT_EQ(run["rank"], 2);
  EXPECT_LT(run["relative_error"].get<double>(), kExact);
  EXPECT_EQ(run["config"]["problem"], "completion");
}

TEST(PlantedCommand, RecoversARectangle) {
  const Cli cli;
  EXPECT_EQ(cli.run("planted completion --rectangular --rows 40 --cols 30 --rank 2 --measurements "
                    "500 --out out")
                .code,
            0);
  EXPECT_LT(cli.run_json()["relative_error"].get<double>(), kExact);
}

TEST(PlantedCommand, RecoversASignalFromIntensities) {
  const Cli cli;
  const Outcome outcome = cli.run("planted phase --rows 16 --measurements 160 --out out");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(cli.run_json()["rank"], 1);
  EXPECT_LT(cli.run_json()["relative_error"].get<double>(), kExact);
}

TEST(PlantedCommand, RunsTheLiftedGradientOnIntensities) {
  const Cli cli;
  const Outcome outcome = cli.run(
      "planted phase --rows 16 --measurements 160 --method udu --step 1/L --trace 2 --init-norm 1 "
      "--alpha 1 --max-iterations 2000 --polish off --out out");
  EXPECT_TRUE(outcome.code == 0 || outcome.code == 4) << outcome;
  EXPECT_LT(cli.run_json()["relative_error"].get<double>(), 0.5);
  EXPECT_TRUE(cli.exists("out/picture.png"));  // 16 numbers are a picture of 4 x 4
  EXPECT_TRUE(cli.exists("out/truth.png"));
}

TEST(PlantedCommand, SameSeedsSameBits) {
  const Cli cli;
  const std::string command =
      "planted completion --rows 30 --rank 2 --measurements 300 --problem-seed 4 --seed 5 ";
  EXPECT_EQ(cli.run(command + "--threads 1 --out a").code, 0);
  EXPECT_EQ(cli.run(command + "--threads 2 --out b").code, 0);
  EXPECT_EQ(cli.text("a/U.npy"), cli.text("b/U.npy"));
}

TEST(PlantedCommand, RefusesWhatMakesNoSense) {
  const Cli cli;
  expect_refused(cli, cli.run("planted completion --rows 5 --measurements 100 --out out"), 3,
                 {"100"});
  cli.write("image.idx", "no image");
  expect_refused(cli, cli.run("planted phase --image image.idx --out out"), 3, {"image.idx"});
  const Outcome rows = cli.run("planted completion --rows 5 --cols 6 --out out");
  EXPECT_EQ(rows.code, 2) << rows;
}

}  // namespace planted_test
}  // namespace udv::cli
