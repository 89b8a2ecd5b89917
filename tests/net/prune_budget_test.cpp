// SPDX-License-Identifier: MIT
#include "udv/net/prune_budget.hpp"

#include <gtest/gtest.h>

#include "support/random_data.hpp"
#include "udv/net/initialise.hpp"

namespace udv::net {
namespace prune_budget_test {

using testing::error_of;
using testing::random_rows;

Model<float> small_model() {
  Network<float> network(variant_named("UDV"), {6, 5, 2}, false);
  initialise(network, "pytorch", 3);
  Preprocessing how;
  how.inputs = 6;
  how.outputs = 2;
  how.features = {Vector<double>::Zero(6), Vector<double>::Ones(6)};
  how.targets = {Vector<double>::Zero(2), Vector<double>::Ones(2)};
  return {network, how, {}};
}

Dataset<float> rows(Index count) {
  Dataset<float> data;
  data.X = random_rows(count, 6, 1).cast<float>();
  data.Y = data.X.leftCols(2);
  return data;
}

TEST(PruneBudget, FindsTheLargestNumberWithin) {
  const auto square = [](Index r) { return r * r; };
  EXPECT_EQ(largest_within("parameters", 100, 50, square), 7);
  EXPECT_EQ(largest_within("parameters", 5, 50, square), 5);
  EXPECT_EQ(largest_within("parameters", 100, 1, square), 1);
  EXPECT_EQ(error_of([&] { largest_within("bytes", 100, 0, square); }),
            "prune: 0 bytes wanted, the smallest reachable are 1");
}

TEST(PruneBudget, ChoosesWhatMeetsIt) {
  const Model<float> model = small_model();
  const Pruning<float> pruning(model.network);
  const auto chosen = [&](const PruneBudget& budget) {
    return choose_rank("m", budget, model, pruning, {}, SmallForm::kLayered);
  };
  EXPECT_EQ(chosen({.rank = 3}), 3);
  EXPECT_EQ(chosen({.energy = 1}), 5);
  EXPECT_EQ(chosen({.max_parameters = 3 * (6 + 1 + 2) + 4}), 3);
  const Index bytes = static_cast<Index>(model_bytes(model).size());
  const Index rank = chosen({.max_bytes = bytes - 20});
  EXPECT_LT(rank, 5);
  EXPECT_GE(rank, 1);
  EXPECT_EQ(error_of([&] { chosen({.rank = 9}); }), "m: rank 9 wanted, the model has 5 neurons");
  EXPECT_EQ((PruneBudget{.rank = 1, .max_drop = 0.5}.count()), 2);
}

TEST(PruneParts, AreCutFromTheRowsOfTheTraining) {
  const PruneParts<float> parts = prune_parts<float>("d", rows(20), std::nullopt, 7);
  EXPECT_EQ(parts.training.size(), 16);
  EXPECT_EQ(parts.validation.size(), 4);
  EXPECT_FALSE(parts.test.has_value());
  EXPECT_EQ(error_of([] { prune_parts<float>("d", rows(4), std::nullopt, 7); }),
            "d: 4 rows to decide by found, at least 5 expected");
}

TEST(Retrain, StartsFromTheWeightsItIsGiven) {
  const Model<float> model = small_model();
  const PruneParts<float> parts = prune_parts<float>("d", rows(40), std::nullopt, 0);
  const Network<float> start =
      smaller_network(Pruning<float>(model.network), 2, SmallForm::kTrainable);
  const auto result = retrain(start, parts, {.epochs = 1, .learning_rate = 1e-12}, {});
  EXPECT_EQ(result.stop, TrainStop::kDone);
  EXPECT_LE((result.network.parameters() - start.parameters()).norm(),
            1e-5f * start.parameters().norm());
  const auto longer = retrain(start, parts, {.epochs = 60, .learning_rate = 1e-2}, {});
  EXPECT_LT(evaluate(longer.network, parts.training).loss, evaluate(start, parts.training).loss);
}

TEST(Retrain, ResumesToTheSameBits) {
  const Model<float> model = small_model();
  const PruneParts<float> parts = prune_parts<float>("d", rows(40), std::nullopt, 0);
  const RetrainOptions options{.epochs = 5, .learning_rate = 1e-2};
  const auto whole = retrain(model.network, parts, options, {});
  TrainHooks<float> hooks;
  std::string saved;
  hooks.observer = [](const IterationRecord&) { return Verdict::kInterrupt; };
  hooks.save = [&](const std::string& state) { saved = state; };
  EXPECT_EQ(retrain(model.network, parts, options, hooks).stop, TrainStop::kInterrupted);
  TrainHooks<float> rest;
  rest.resume = saved;
  EXPECT_EQ(retrain(model.network, parts, options, rest).network.parameters(),
            whole.network.parameters());
}

}  // namespace prune_budget_test
}  // namespace udv::net
