// SPDX-License-Identifier: MIT
#include "udv/net/optimizer.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "support/csv.hpp"
#include "support/random_data.hpp"
#include "udv/net/loss.hpp"
#include "udv/net/network.hpp"
#include "udv/net/schedule.hpp"

namespace udv::net {
namespace optimizer_test {

using Json = nlohmann::json;
using testing::error_of;

RowMatrix<double> matrix(const Json& rows) {
  RowMatrix<double> result(rows.size(), rows[0].size());
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < rows[i].size(); ++j)
      result(static_cast<Index>(i), static_cast<Index>(j)) = rows[i][j];
  return result;
}

Json golden() {
  std::ifstream file(testing::data_folder("golden_optimizers") / "golden.json");
  return Json::parse(file);
}

Network<double> start(const Json& values) {
  const RowMatrix<double> U = matrix(values["U"]), V = matrix(values["V"]);
  Network<double> network(variant_named("UDV"), {U.cols(), U.rows(), V.rows()}, false);
  network.at(*network.find("U.weight")) = U;
  network.at(*network.find("V.weight")) = V;
  network.project();
  return network;
}

// 20 losses and the weights after them, as PyTorch computes them in float64.
TEST(Optimizers, TakeTheStepsOfPyTorch) {
  const Json values = golden();
  Dataset<double> data;
  data.X = matrix(values["X"]);
  data.Y = matrix(values["Y"]);
  EXPECT_EQ(values["runs"].size(), 10u);
  for (const Json& run : values["runs"]) {
    Network<double> network = start(values);
    OptimizerSettings settings;
    settings.weight_decay = run["weight_decay"];
    const Optimizer<double> rule(run["optimizer"].get<std::string>(), settings);
    auto state = rule.start(network.num_parameters());
    auto work = network.workspace(data.size());
    Vector<double> gradient;
    for (const double expected : run["losses"]) {
      const auto outputs = network.forward(data.X, work);
      EXPECT_NEAR(loss<double>(outputs, data, work.gradients.back()), expected, 1e-12)
          << run["optimizer"];
      network.backward(data.X, work, gradient);
      rule.step(values["rate"], gradient, state, network.parameters());
      network.project();
    }
    for (Index i = 0; i < network.num_parameters(); ++i)
      EXPECT_NEAR(network.parameters()(i), run["weights"][static_cast<size_t>(i)].get<double>(),
                  1e-12)
          << run["optimizer"] << " " << i;
  }
}

TEST(Optimizers, AreKnownByName) {
  EXPECT_EQ(error_of([] { Optimizer<float>("sgd", {}); }),
            "optimizer 'sgd' found, one of relative, adam, nadam, mbgd, mbgdm, adamw expected");
}

TEST(Schedule, IsThatOfPyTorch) {
  EXPECT_DOUBLE_EQ((Schedule{"cosine"}.rate(2, 0, 10)), 2);
  EXPECT_DOUBLE_EQ((Schedule{"cosine"}.rate(2, 5, 10)), 1);
  EXPECT_DOUBLE_EQ((Schedule{"constant"}.rate(2, 7, 10)), 2);
  EXPECT_DOUBLE_EQ((Schedule{"step", 0.5, 3}.rate(2, 7, 10)), 0.5);
  EXPECT_EQ(error_of([] { Schedule{"linear"}.validate(); }),
            "schedule 'linear' found, one of cosine, constant, step, root, cosine-step expected");
}

TEST(CrossEntropy, SurvivesHugeOutputs) {
  RowMatrix<double> P(2, 3), dP(2, 3);
  P << 1e30, -1e30, 0, 5, 5, 5;
  const std::int32_t labels[] = {0, 1};
  EXPECT_NEAR((cross_entropy<double>(P, labels, dP)), std::log(3.0) / 2, 1e-15);
  EXPECT_TRUE(dP.allFinite());
  EXPECT_EQ((num_correct<double>(P, labels)), 1);  // of equal outputs the first counts
}

}  // namespace optimizer_test
}  // namespace udv::net
