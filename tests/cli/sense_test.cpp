// SPDX-License-Identifier: MIT
#include <cmath>

#include "cli/support.hpp"
#include "support/reference.hpp"
#include "udv/core/random.hpp"

namespace udv::cli {
namespace sense_test {

/// n Gaussian measurements <A_i, X> of a p x q matrix of rank 2, row by row.
struct Measured {
  Planted planted;
  RowMatrix<double> A;
  Vector<double> b;
};

Measured measured(Index n, Index p, Index q, bool symmetric) {
  Measured m;
  m.planted = planted_completion(
      {.rows = p, .cols = q, .symmetric = symmetric, .rank = 2, .measurements = 1, .seed = 4});
  Random random(11, 0);
  m.A.resize(n, p * q);
  random.fill_normal(m.A);
  const RowMatrix<double> X = testing::product(m.planted.U, m.planted.V.transpose());
  m.b = m.A * Eigen::Map<const Vector<double>>(X.data(), X.size());
  return m;
}

void write(const Cli& cli, const Measured& m, const std::vector<Index>& shape) {
  cli.write("A.npy", io::npy_bytes(shape, m.A.data()));
  cli.write("b.npy", io::npy_bytes({m.b.size()}, m.b.data()));
}

Outcome sense(const Cli& cli, const std::string& flags = "") {
  return cli.run("sense A.npy b.npy --out out --quiet " + flags);
}

TEST(Sense, RecoversARectangleFromThreeDimensions) {
  const Cli cli;
  const Measured m = measured(150, 9, 7, false);
  write(cli, m, {150, 9, 7});
  expect_recovered(cli, sense(cli), m.planted);
  EXPECT_EQ(cli.run_json()["command"], "sense");
  EXPECT_EQ(cli.run_json()["method"], "udv");
}

TEST(Sense, RecoversARectangleFromRowsAndAShape) {
  const Cli cli;
  const Measured m = measured(150, 9, 7, false);
  write(cli, m, {150, 63});
  expect_recovered(cli, sense(cli, "--shape 9,7"), m.planted);
}

TEST(Sense, GivesTheSameBytesForBothLayouts) {
  const Cli cli;
  const Measured m = measured(150, 9, 7, false);
  write(cli, m, {150, 9, 7});
  ASSERT_EQ(cli.run("sense A.npy b.npy --out a --quiet").code, 0);
  write(cli, m, {150, 63});
  ASSERT_EQ(cli.run("sense A.npy b.npy --out b --quiet --shape 9,7").code, 0);
  EXPECT_EQ(cli.text("a/U.npy"), cli.text("b/U.npy"));
}

TEST(Sense, RecoversAPositiveSemidefiniteMatrix) {
  const Cli cli;
  const Measured m = measured(150, 10, 10, true);
  write(cli, m, {150, 10, 10});
  expect_recovered(cli, sense(cli, "--symmetric"), m.planted);
  EXPECT_EQ(cli.run_json()["method"], "udu");
  EXPECT_FALSE(cli.exists("out/V.npy"));
}

TEST(Sense, RecoversAnIndefiniteMatrix) {
  const Cli cli;
  Measured m = measured(150, 10, 10, true);
  m.planted.V.col(1) *= -1;
  const RowMatrix<double> X = testing::product(m.planted.U, m.planted.V.transpose());
  m.b = m.A * Eigen::Map<const Vector<double>>(X.data(), X.size());
  write(cli, m, {150, 10, 10});
  expect_recovered(cli, sense(cli, "--symmetric indefinite"), m.planted);
  EXPECT_FALSE(cli.exists("out/V.npy"));
}

TEST(Sense, TakesTheValuesAsAColumn) {
  const Cli cli;
  const Measured m = measured(150, 9, 7, false);
  write(cli, m, {150, 9, 7});
  cli.write("b.npy", io::npy_bytes({150, 1}, m.b.data()));
  expect_recovered(cli, sense(cli), m.planted);
}

TEST(Sense, RecoversFromRankOneMeasurements) {
  const Cli cli;
  Measured m = measured(1, 10, 10, true);
  Random random(12, 0);
  m.A.resize(200, 10);
  random.fill_normal(m.A);
  m.b = (m.A * m.planted.U).rowwise().squaredNorm();
  write(cli, m, {200, 10});
  expect_recovered(cli, sense(cli, "--operator rank-one"), m.planted);
}

TEST(Sense, ObjectiveIsThatOfTheFactors) {
  const Cli cli;
  Measured m = measured(150, 9, 7, false);
  Random random(13, 0);
  for (double& value : m.b) value += 0.1 * random.normal();
  write(cli, m, {150, 9, 7});
  ASSERT_EQ(sense(cli).code, 0);
  const Factors found = read_factors(cli);
  const RowMatrix<double> X = testing::dense(found.U, found.d, found.V);
  const Vector<double> r = m.A * Eigen::Map<const Vector<double>>(X.data(), X.size()) - m.b;
  const Json run = cli.run_json();
  EXPECT_EQ(run["rank"], 2);
  // The residual is 1 % of the data: 1e-12 is 100 eps and more to spare.
  EXPECT_NEAR(run["objective"].get<double>() / (r.squaredNorm() / 2), 1, 1e-12);
  EXPECT_NEAR(run["relative_residual"].get<double>() / (r.norm() / m.b.norm()), 1, 1e-12);
}

TEST(Sense, DoesNotDependOnThreads) {
  const Cli cli;
  const Measured m = measured(400, 16, 14, false);
  write(cli, m, {400, 16, 14});
  for (const std::string n : {"1", "2", "5"})
    ASSERT_EQ(cli.run("sense A.npy b.npy --quiet --out t" + n + " --threads " + n).code, 0);
  EXPECT_EQ(cli.text("t1/U.npy"), cli.text("t2/U.npy"));
  EXPECT_EQ(cli.text("t1/U.npy"), cli.text("t5/U.npy"));
}

TEST(Sense, SaysThatTooFewMeasurementsDoNotDetermineX) {
  const Cli cli;
  const Measured m = measured(5, 9, 7, false);
  write(cli, m, {5, 9, 7});
  const Outcome outcome = sense(cli);
  EXPECT_NE(outcome.err.find("not determined"), std::string::npos) << outcome;
}

}  // namespace sense_test
}  // namespace udv::cli
