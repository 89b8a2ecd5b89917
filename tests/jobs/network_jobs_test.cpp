// SPDX-License-Identifier: MIT
// Jobs on networks, called from C++ with data in memory and without a folder.
#include <gtest/gtest.h>

#include <cmath>

#include "jobs/prune_search.hpp"
#include "support/random_data.hpp"
#include "udv/jobs/evaluate.hpp"
#include "udv/jobs/predict.hpp"
#include "udv/jobs/prune.hpp"
#include "udv/jobs/sweep.hpp"
#include "udv/jobs/train.hpp"

namespace udv::jobs {
namespace network_jobs_test {

using testing::error_of;

// y = x_0 - 2 x_1, no scaling.
template <typename Real>
net::PreparedData<Real> linear_data() {
  net::PreparedData<Real> data;
  const auto part = [](Index rows, std::uint64_t seed) {
    net::Dataset<Real> set;
    set.X = testing::random_rows(rows, 3, seed).template cast<Real>();
    set.Y = set.X.col(0) - 2 * set.X.col(1);
    return set;
  };
  data.training = part(80, 1);
  data.test = part(20, 2);
  data.preprocessing.inputs = 3;
  data.preprocessing.outputs = 1;
  data.preprocessing.features = {Vector<double>::Zero(3), Vector<double>::Ones(3), {}};
  data.preprocessing.targets = {Vector<double>::Zero(1), Vector<double>::Ones(1), {}};
  return data;
}

template <typename Real>
net::Model<Real> trained(const net::PreparedData<Real>& data) {
  TrainJobOptions options;
  options.training.preset = "paper";
  options.training.epochs = 120;
  options.training.hidden = 6;
  options.training.learning_rate = 1e-2;
  Session session;
  return std::get<net::Model<Real>>(train(data, options, session).model);
}

TEST(NetworkJobs, PredictAndEvaluateWithDataInMemory) {
  const auto data = linear_data<double>();
  const auto model = trained(data);
  Session session;
  const PredictResult predicted = predict(model, data.test.X, {}, session);
  EXPECT_TRUE(predicted.folder.empty());
  EXPECT_EQ(predicted.predictions.size(), 20);
  const EvaluateResult measured = evaluate(model, data.test, {}, session);
  const double error = (predicted.predictions.outputs - data.test.Y).squaredNorm() / 20;
  EXPECT_NEAR(measured.loss, error, 1e-12 * (1 + error));
  EXPECT_NEAR(*measured.rmse, std::sqrt(error), 1e-9);
  EXPECT_LT(measured.loss, 0.1);
  net::Dataset<double> other = data.test;
  other.Y = RowMatrix<double>::Zero(20, 2);
  EXPECT_NE(error_of([&] { evaluate(model, other, {}, session); }).find("other outputs"),
            std::string::npos);
}

TEST(NetworkJobs, PruneWithDataInMemory) {
  const auto data = linear_data<float>();
  const auto model = trained(data);
  Session session;
  PruneOptions options;
  options.budget.max_drop = 0.05;
  options.layered = true;
  const auto parts = net::prune_parts<float>("data", data.training, data.test, 0);
  const PruneResult result = prune(model, parts, options, session);
  EXPECT_TRUE(result.folder.empty());
  const auto& pruned = std::get<PrunedModel>(result.pruned);
  EXPECT_LT(pruned.neurons.after, pruned.neurons.before);
  EXPECT_EQ(pruned.model->network.sizes().hidden, pruned.rank);
  EXPECT_LE(pruned.validation->loss.after, 1.05 * pruned.validation->loss.before + 1e-9);
  EXPECT_TRUE(pruned.test.has_value());
  EXPECT_NEAR(pruned.test->rmse->after, std::sqrt(pruned.test->loss.after), 1e-6);
}

// A drop is a share of the error in the user's units, not of that of logarithms.
TEST(NetworkJobs, DropsAreInTheUnitsOfTheTarget) {
  net::PreparedData<float> data = linear_data<float>();
  RowMatrix<double> prices(80, 1);
  for (Index i = 0; i < 80; ++i) prices(i, 0) = std::exp(0.1 * static_cast<double>(i));
  data.preprocessing.targets = net::fit_targets("standard", true, prices);
  const net::Preprocessing& how = data.preprocessing;
  const RowMatrix<double> units = how.in_target_units(data.training.Y),
                          other = how.in_target_units(RowMatrix<float>(2 * data.training.Y));
  const double expected = (other - units).squaredNorm() / 80;
  const DropError error(data.training, how);
  EXPECT_NEAR(error.of(RowMatrix<double>(2 * data.training.Y.cast<double>())), expected,
              1e-6 * expected);
  EXPECT_DOUBLE_EQ(DropError::change(3, 2), 0.5);
  EXPECT_NEAR(DropError::change(-0.9, -1), 0.1, 1e-12);  // accuracies
}

TEST(NetworkJobs, PruneNamesSettingsThatDoNotGoTogether) {
  const auto model = trained(linear_data<float>());
  Session session;
  PruneOptions options;
  EXPECT_THROW(prune(model, {}, options, session), OptionError);
  options.budget.max_drop = 0.1;
  EXPECT_EQ(error_of([&] { prune(model, {}, options, session); }),
            "prune: max-drop, curve, baseline and finetune need data");
  options.budget = {.rank = 2};
  options.ratio = 0.5;
  EXPECT_THROW(prune(model, {}, options, session), OptionError);
}

TEST(NetworkJobs, SweepWithDataInMemory) {
  const net::SweepData<float> data{{0, linear_data<float>()}};
  SweepSpec spec;
  spec.grid.variants = {"UDV", "UV"};
  spec.grid.seeds = {0, 1};
  spec.training.training.preset = "paper";
  spec.training.training.epochs = 2;
  Session session;
  const SweepResult result = sweep(spec, data, session);
  EXPECT_EQ(result.cells, 4);
  EXPECT_EQ(result.trained, 4);
  EXPECT_EQ(result.rows.size(), 4u);
  spec.grid.split_seeds = {7};
  EXPECT_EQ(error_of([&] { sweep(spec, data, session); }), "sweep: no data for the split seed 7");
}

}  // namespace network_jobs_test
}  // namespace udv::jobs
