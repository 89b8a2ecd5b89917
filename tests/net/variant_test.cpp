// SPDX-License-Identifier: MIT
#include "udv/net/variant.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "udv/net/initialise.hpp"
#include "udv/net/loss.hpp"
#include "udv/net/trainer.hpp"

// Laws that every head keeps; a new entry of the table is tested the day it lands.
namespace udv::net {
namespace variant_test {

using testing::error_of;
using testing::random_rows;

constexpr Sizes kSizes{5, 4, 3};
constexpr Index kSamples = 7;

Dataset<double> random_data(Task task) {
  Dataset<double> data;
  data.task = task;
  data.X = random_rows(kSamples, kSizes.inputs, 1);
  if (task == Task::kRegression) data.Y = random_rows(kSamples, kSizes.outputs, 2);
  if (task == Task::kClassification) data.labels = {0, 1, 2, 2, 1, 0, 1};
  data.classes = task == Task::kClassification ? kSizes.outputs : 0;
  return data;
}

Network<double> random_network(const Variant& variant, bool bias) {
  Network<double> network(variant, kSizes, bias);
  network.parameters() = random_rows(network.num_parameters(), 1, 3);
  return network;
}

double loss_of(const Network<double>& network, const Dataset<double>& data) {
  return evaluate(network, data).loss;
}

Vector<double> gradient_of(const Network<double>& network, const Dataset<double>& data) {
  auto work = network.workspace(data.size());
  const auto outputs = network.forward(data.X, work);
  loss<double>(outputs, data, work.gradients.back());
  Vector<double> gradient;
  network.backward(data.X, work, gradient);
  return gradient;
}

struct Case {
  std::string variant;
  bool bias;
  Task task;
};

class EveryHead : public ::testing::TestWithParam<Case> {
 protected:
  Network<double> network_ = random_network(variant_named(GetParam().variant), GetParam().bias);
  Dataset<double> data_ = random_data(GetParam().task);
};

// Central differences with h = 1e-5: both errors, h^2 f''' and eps f / h, are near 1e-10.
TEST_P(EveryHead, GradientAgreesWithCentralDifferences) {
  const Vector<double> gradient = gradient_of(network_, data_);
  Vector<double> differences(gradient.size());
  constexpr double h = 1e-5;
  for (Index i = 0; i < gradient.size(); ++i) {
    Network<double> up = network_, down = network_;
    up.parameters()(i) += h;
    down.parameters()(i) -= h;
    differences(i) = (loss_of(up, data_) - loss_of(down, data_)) / (2 * h);
  }
  EXPECT_LE((gradient - differences).norm(), 1e-7 * gradient.norm());
}

TEST_P(EveryHead, ABatchIsItsRowsOneByOne) {
  const RowMatrix<double> together = predict<double>(network_, data_.X);
  for (Index i = 0; i < kSamples; ++i) {
    const RowMatrix<double> alone = predict<double>(network_, data_.X.middleRows(i, 1));
    EXPECT_LE((together.row(i) - alone.row(0)).norm(), 100 * testing::kEps * together.norm());
  }
}

TEST_P(EveryHead, ProjectionIsFeasibleAndDoneOnce) {
  network_.parameters() *= 3;
  network_.project();
  for (const ParameterBlock& block : network_.blocks()) {
    const auto W = network_.at(block);
    if (block.constraint == Constraint::kBall) {
      EXPECT_LE(W.norm(), 1 + 1e-12);
    }
    if (block.constraint == Constraint::kNonnegative) {
      EXPECT_GE(W.minCoeff(), 0);
    }
    if (block.constraint == Constraint::kNeuronBalls) {
      const bool rows = block.neurons == Neurons::kRows;
      EXPECT_LE(rows ? W.rowwise().norm().maxCoeff() : W.colwise().norm().maxCoeff(), 1 + 1e-12);
      EXPECT_EQ(rows ? W.rows() : W.cols(), kSizes.hidden);
    }
  }
  const Vector<double> once = network_.parameters();
  network_.project();
  EXPECT_LE((network_.parameters() - once).norm(), 10 * testing::kEps * once.norm());
}

TEST_P(EveryHead, BlocksCoverAllParametersOnce) {
  Index at = 0;
  for (const ParameterBlock& block : network_.blocks()) {
    EXPECT_EQ(block.offset, at) << block.name;
    at += block.size();
  }
  EXPECT_EQ(at, network_.num_parameters());
}

TEST_P(EveryHead, LearnsItsTrainingData) {
  TrainOptions options = TrainOptions::paper();
  options.variant = GetParam().variant;
  options.bias = GetParam().bias;
  options.batch = 0;
  options.epochs = 60;
  options.learning_rate = 0.02;
  const auto result = train(data_, data_, options);
  EXPECT_EQ(result.stop, TrainStop::kDone);
  EXPECT_LT(result.history.back().train_loss, 0.98 * result.history.front().train_loss);
}

std::vector<Case> every_case() {
  std::vector<Case> cases;
  for (const Variant& variant : variants())
    for (const bool bias : {false, true})
      for (const Task task : {Task::kRegression, Task::kClassification})
        cases.push_back({variant.name, bias, task});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(, EveryHead, ::testing::ValuesIn(every_case()), [](const auto& instance) {
  std::string name = instance.param.variant + (instance.param.bias ? "_bias" : "") +
                     (instance.param.task == Task::kRegression ? "_values" : "_classes");
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Variants, HaveTheNamesOfTheDesign) {
  EXPECT_EQ(variant_names(),
            "UDV, UDV-s, UDV-v1, UDV-v2, UDV-unconstrained, UDV-ReLU, UDV-ReLU-s, "
            "ReLU-constrained, UFV, UV-ReLU, UV, single");
  EXPECT_EQ(error_of([] { variant_named("UDW"); }),
            "variant 'UDW' found, one of " + variant_names() + " expected");
}

TEST(Variants, HiddenWidthsAreThoseOfThePaper) {
  EXPECT_EQ(default_hidden(79, 1, false), 26);
  EXPECT_EQ(default_hidden(12, 1, false), 10);
  EXPECT_EQ(default_hidden(784, 10, true), 522);
  EXPECT_EQ(default_hidden(1, 2, true), 1);
}

TEST(Initialise, DrawsWithinItsBoundsAndKeepsTheDiagonal) {
  Network<float> network(variant_named("UDV-unconstrained"), {100, 40, 3}, true);
  initialise(network, "pytorch", 1);
  EXPECT_LE(network.at(*network.find("U.weight")).cwiseAbs().maxCoeff(), 0.1f);
  EXPECT_GT(network.at(*network.find("U.bias")).cwiseAbs().maxCoeff(), 0.05f);
  EXPECT_EQ(network.at(*network.find("D.weight")), RowMatrix<float>::Ones(1, 40));
  initialise(network, "truncated-normal", 1);
  const auto U = network.at(*network.find("U.weight"));
  EXPECT_LE(U.cwiseAbs().maxCoeff(), 0.04f);
  EXPECT_NEAR(U.norm() / std::sqrt(4000.0f), 0.0176f, 5e-4f);  // sd of a normal cut at 2 sd: 0.88
  EXPECT_EQ(network.at(*network.find("U.bias")), RowMatrix<float>::Zero(1, 40));
  EXPECT_EQ(error_of([&] { initialise(network, "zero", 1); }),
            "initialisation 'zero' found, one of pytorch, truncated-normal expected");
}

}  // namespace variant_test
}  // namespace udv::net
