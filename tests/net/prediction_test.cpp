// SPDX-License-Identifier: MIT
#include "udv/net/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/random_data.hpp"

namespace udv::net {
namespace prediction_test {

using testing::error_of;

// One dense layer W: outputs X W^T.
Model<double> single_layer(Task task, const RowMatrix<double>& W) {
  Network<double> network(variant_named("single"), {W.cols(), 0, W.rows()}, false);
  network.at(*network.find("W.weight")) = W;
  Preprocessing how;
  how.task = task;
  how.inputs = W.cols();
  how.outputs = W.rows();
  how.features = {Vector<double>::Zero(W.cols()), Vector<double>::Ones(W.cols())};
  if (task == Task::kRegression)
    how.targets = {Vector<double>::Constant(W.rows(), 10), Vector<double>::Constant(W.rows(), 4)};
  return {network, how, {}};
}

TEST(Predictions, AreInTheUnitsOfTheTarget) {
  const auto model = single_layer(Task::kRegression, RowMatrix<double>::Constant(1, 2, 3));
  const RowMatrix<double> X = RowMatrix<double>::Constant(1, 2, 2);
  const Predictions found = predictions_of(model, X, "data");
  EXPECT_EQ(found.outputs(0, 0), 12.0 / 4 + 10);  // scaled targets are (y - 10) 4
  EXPECT_TRUE(found.labels.empty());
}

TEST(Predictions, OfClassesAreTheMostProbableOnes) {
  Model<double> model = single_layer(Task::kClassification, RowMatrix<double>::Identity(2, 2));
  RowMatrix<double> X(2, 2);
  X << 1000, 999, 0, 0.5;  // exp(1000) alone is no number
  Predictions found = predictions_of(model, X, "data");
  EXPECT_EQ(found.labels, (std::vector<Index>{0, 1}));
  EXPECT_NEAR(found.probabilities(0), 1 / (1 + std::exp(-1.0)), 1e-15);
  EXPECT_NEAR(found.probabilities(1), 1 / (1 + std::exp(-0.5)), 1e-15);
  EXPECT_EQ(found.class_name(1), "1");
  model.preprocessing.classes = {"cat", "dog"};
  found = predictions_of(model, X, "data");
  EXPECT_EQ(found.class_name(1), "dog");
}

TEST(Predictions, NameTheRowThatLeavesAllNumbers) {
  const auto model = single_layer(Task::kRegression, RowMatrix<double>::Constant(1, 2, 1e308));
  RowMatrix<double> X = RowMatrix<double>::Zero(3, 2);
  X.row(2).setConstant(1e10);
  EXPECT_EQ(error_of([&] { predictions_of(model, X, "data.csv"); }),
            "data.csv: row 3: the model's output is not finite");
  EXPECT_EQ(error_of([&] { predictions_of(model, RowMatrix<double>::Zero(1, 5), "x"); }),
            "x: 5 features found, 2 expected, as the model has them");
}

}  // namespace prediction_test
}  // namespace udv::net
