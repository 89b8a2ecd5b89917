// SPDX-License-Identifier: MIT
#include "udv/net/trainer.hpp"

#include <gtest/gtest.h>

#include "net/shrink.hpp"
#include "support/random_data.hpp"
#include "udv/core/parallel.hpp"
#include "udv/net/head.hpp"
#include "udv/net/initialise.hpp"

namespace udv::net {
namespace trainer_test {

using testing::error_of;
using testing::random_rows;

// y = a linear map of rank 2, plus noise.
Dataset<float> planted(Index samples, std::uint64_t seed) {
  Dataset<float> data;
  data.X = random_rows<float>(samples, 12, seed);
  data.Y = data.X * random_rows<float>(12, 2, 100) * random_rows<float>(2, 3, 101) / 5;
  data.Y += 0.01f * random_rows<float>(samples, 3, seed + 1);
  return data;
}

TrainOptions short_run() {
  TrainOptions options = TrainOptions::paper();
  options.epochs = 12;
  options.hidden = 9;
  options.learning_rate = 0.01;
  options.average_last = 3;
  return options;
}

class Training : public ::testing::Test {
 protected:
  ~Training() override { set_num_threads(0); }
  Dataset<float> training_ = planted(150, 1), test_ = planted(60, 5);
};

TEST_F(Training, RecordsEveryEpochAndAveragesTheLast) {
  const auto result = train(training_, test_, short_run());
  ASSERT_EQ(result.history.size(), 12u);
  EXPECT_EQ(result.steps, 12 * 5);  // 150 rows in batches of 32: the last one has 22
  double mean = 0;
  for (size_t e = 9; e < 12; ++e) mean += result.history[e].test_loss / 3;
  EXPECT_DOUBLE_EQ(result.test_loss, mean);
  EXPECT_DOUBLE_EQ(result.history.back().test_loss, evaluate(result.network, test_).loss);
  EXPECT_LT(result.test_loss, 0.5 * result.history.front().test_loss);
}

TEST_F(Training, GivesTheSameBitsForAnyThreads) {
  Dataset<float> wide;
  wide.task = Task::kClassification;
  wide.X = random_rows<float>(256, 300, 1);
  wide.labels.assign(256, 0);
  for (size_t i = 0; i < 256; i += 3) wide.labels[i] = 1;
  wide.classes = 2;
  TrainOptions options = TrainOptions::paper();
  options.epochs = 2;
  options.batch = 128;
  options.hidden = 260;
  set_num_threads(1);
  const auto one = train(wide, wide, options);
  set_num_threads(3);
  const auto three = train(wide, wide, options);
  EXPECT_EQ(one.network.parameters(), three.network.parameters());
  EXPECT_EQ(one.test_loss, three.test_loss);
}

TEST_F(Training, GoesOnToTheSameBitsAfterAnInterrupt) {
  for (const char* optimizer : {"adam", "nadam", "mbgdm"}) {
    TrainOptions options = short_run();
    options.optimizer = optimizer;
    const auto whole = train(training_, test_, options);
    std::string saved;
    TrainHooks<float> hooks;
    hooks.observer = [](const IterationRecord&) { return Verdict::kInterrupt; };
    hooks.save = [&](const std::string& state) { saved = state; };
    auto result = train(training_, test_, options, hooks);
    for (int part = 0; part < 4; ++part) {
      EXPECT_EQ(result.stop, TrainStop::kInterrupted);
      hooks.resume = saved;
      if (part == 3) hooks.observer = {};
      result = train(training_, test_, options, hooks);
    }
    EXPECT_EQ(result.stop, TrainStop::kDone);
    EXPECT_EQ(result.network.parameters(), whole.network.parameters()) << optimizer;
    ASSERT_EQ(result.history.size(), whole.history.size());
    EXPECT_EQ(result.history.back().train_loss, whole.history.back().train_loss);
  }
}

TEST_F(Training, GoesOnToTheSameBitsFromEveryStateSavedOnTheWay) {
  TrainOptions shrinking = short_run();
  shrinking.shrink = true;
  for (const TrainOptions& options : {short_run(), shrinking, TrainOptions{}}) {
    std::vector<std::string> saved;
    TrainHooks<float> hooks;
    hooks.save_every_seconds = 0;
    hooks.save = [&](const std::string& state) { saved.push_back(state); };
    const auto whole = train(training_, test_, test_, options, hooks);
    ASSERT_GE(saved.size(), 5u);
    for (size_t k = 0; k < saved.size(); k += 1 + saved.size() / 7) {
      TrainHooks<float> resumed;
      resumed.resume = saved[k];
      const auto again = train(training_, test_, test_, options, resumed);
      EXPECT_EQ(again.network.parameters(), whole.network.parameters()) << k;
      ASSERT_EQ(again.history.size(), whole.history.size());
      EXPECT_EQ(again.history.back().train_loss, whole.history.back().train_loss);
      EXPECT_EQ(again.test_loss, whole.test_loss);
    }
  }
}

TEST_F(Training, RefusesAStateThatDoesNotFit) {
  TrainHooks<float> hooks;
  std::string saved;
  hooks.observer = [](const IterationRecord&) { return Verdict::kInterrupt; };
  hooks.save = [&](const std::string& state) { saved = state; };
  train(training_, test_, short_run(), hooks);
  const auto refused = [&](const auto& spoil) {
    TrainState<float> state = train_state_from_bytes<float>(saved);
    spoil(state);
    hooks.resume = to_bytes(state);
    return error_of([&] { train(training_, test_, short_run(), hooks); }).substr(0, 12);
  };
  EXPECT_EQ(refused([](auto& s) { s.optimizer.moments.clear(); }), "checkpoint: ");
  EXPECT_EQ(refused([](auto& s) { s.optimizer.moments[1].resize(1); }), "checkpoint: ");
  EXPECT_EQ(refused([](auto& s) { s.parameters.resize(3); }), "checkpoint: ");
  EXPECT_EQ(refused([](auto& s) { s.batch = -7; }), "checkpoint: ");
  EXPECT_EQ(refused([](auto& s) { s.epoch = 1000; }), "checkpoint: ");
  EXPECT_EQ(refused([](auto& s) { s.hidden = 0; }), "checkpoint: ");
}

TEST_F(Training, ASingleLayerHasNoHiddenNeurons) {
  TrainOptions options = short_run();
  options.variant = "single";
  const auto result = train(training_, test_, options);
  EXPECT_EQ(result.network.sizes().hidden, 0);
  EXPECT_EQ(result.network.num_parameters(), 36);
}

TEST_F(Training, ThatDivergesSaysSo) {
  TrainOptions options = short_run();
  options.variant = "UV";
  options.optimizer = "mbgd";
  options.learning_rate = 1e6;
  const auto result = train(training_, test_, options);
  EXPECT_EQ(result.stop, TrainStop::kDiverged);
  EXPECT_FALSE(result.history.empty());
}

TEST_F(Training, RefusesWhatMakesNoSense) {
  TrainOptions options = short_run();
  options.batch = 151;
  EXPECT_EQ(error_of([&] { train(training_, test_, options); }),
            "train: 150 training rows found, at least one batch of 151 expected");
  training_.X(3, 2) = std::nanf("");
  EXPECT_EQ(error_of([&] { train(training_, test_, short_run()); }),
            "train: a feature is not finite");
  EXPECT_EQ(error_of([] { train_state_from_bytes<float>("garbage"); }).substr(0, 11),
            "checkpoint:");
}

// A head whose diagonal has zeros and whose spectrum ends.
Network<double> low_rank_head(const std::string& variant, bool bias) {
  Network<double> network(variant_named(variant), {8, 6, 3}, bias);
  network.parameters() = 0.3 * random_rows(network.num_parameters(), 1, 4);
  auto U = network.at(*network.find("U.weight"));
  U = random_rows(6, 2, 5) * random_rows(2, 8, 6) / 20;
  if (bias) network.at(*network.find("U.bias")) = 0.5 * U.col(0).transpose();
  if (const ParameterBlock* D = network.find("D.weight"))
    network.at(*D) = network.at(*D).cwiseAbs();
  network.project();
  return network;
}

TEST(Shrink, ReFactorsWithoutChangingTheFunction) {
  const RowMatrix<double> X = random_rows(20, 8, 7);
  for (const char* variant : {"UDV", "UDV-s", "UDV-v1", "UDV-v2", "UDV-unconstrained", "UV"})
    for (const bool bias : {false, true}) {
      Network<double> network = low_rank_head(variant, bias);
      const RowMatrix<double> before = predict<double>(network, X);
      auto state = Optimizer<double>("adam", {}).start(network.num_parameters());
      EXPECT_TRUE(shrink_head(network, state, 1e-9));
      EXPECT_EQ(network.sizes().hidden, 2) << variant;
      EXPECT_EQ(state.moments[1].size(), network.num_parameters());
      EXPECT_LE((predict<double>(network, X) - before).norm(), 1e-12 * before.norm()) << variant;
    }
}

TEST(Shrink, TakesMomentsThroughTheMapsOfTheGradients) {
  for (const char* variant : {"UDV-unconstrained", "UV"}) {
    Network<double> network = low_rank_head(variant, true);
    Dataset<double> data;
    data.X = random_rows(9, 8, 8);
    data.Y = random_rows(9, 3, 9);
    const auto gradient = [&] {
      auto work = network.workspace(9);
      const RowMatrix<double> outputs = network.forward(data.X, work);
      work.gradients.back() = 2.0 / 27 * (outputs - data.Y);
      Vector<double> result;
      network.backward(data.X, work, result);
      return result;
    };
    auto state = Optimizer<double>("mbgdm", {}).start(network.num_parameters());
    state.moments[0] = gradient();
    EXPECT_TRUE(shrink_head(network, state, 1e-9));
    const Vector<double> expected = gradient();
    EXPECT_LE((state.moments[0] - expected).norm(), 1e-9 * expected.norm()) << variant;
  }
}

TEST(Shrink, LetsInertNeuronsLeaveAtOnce) {
  for (const char* variant : {"UDV", "UDV-ReLU", "UV-ReLU"}) {
    Network<double> network(variant_named(variant), {8, 6, 3}, false);
    initialise(network, "pytorch", 1);
    network.at(*network.find("U.weight")).row(2).setZero();
    network.at(*network.find("V.weight")).col(2).setZero();
    network.at(*network.find("V.weight")).col(4).setZero();  // can come back
    const RowMatrix<double> X = random_rows(5, 8, 1), before = predict<double>(network, X);
    auto state = Optimizer<double>("adam", {}).start(network.num_parameters());
    EXPECT_EQ(live_width(network), 4);
    EXPECT_TRUE(remove_inert(network, state));
    EXPECT_EQ(network.sizes().hidden, 5);
    EXPECT_LE((predict<double>(network, X) - before).norm(), 1e-14 * before.norm());
    EXPECT_FALSE(remove_inert(network, state));
  }
}

TEST(Shrink, LeavesSeveralHiddenLayersAlone) {
  Network<double> network(variant_named("UV-ReLU"), {8, 6, 2, {3}}, false);
  initialise(network, "pytorch", 1);
  network.at(*network.find("U.weight")).row(2).setZero();
  network.at(*network.find("U2.weight")).col(2).setZero();
  auto state = Optimizer<double>("adam", {}).start(network.num_parameters());
  EXPECT_FALSE(remove_inert(network, state));
  EXPECT_FALSE(shrink_head(network, state, 0.1));
  EXPECT_EQ(to_string(network.sizes()), "8-6-3-2");
}

TEST(LiveWidth, IsThatOfTheFirstOfSeveralHiddenLayers) {
  Network<double> network(variant_named("UDV-ReLU"), {8, 6, 2, {3}}, false);
  initialise(network, "pytorch", 1);
  EXPECT_EQ(live_width(network), 6);
  network.at(*network.find("U.weight")).row(1).setZero();
  network.at(*network.find("U2.weight")).col(5).setZero();
  network.at(*network.find("V.weight")).col(0).setZero();
  EXPECT_EQ(live_width(network), 4);
}

TEST_F(Training, ShrinksToTheRankOfTheData) {
  TrainOptions options = short_run();
  options.epochs = 150;
  options.learning_rate = 0.03;
  const auto full = train(training_, test_, options);
  options.shrink = true;
  options.shrink_tail = 1e-4;
  const auto shrunk = train(training_, test_, options);
  EXPECT_LT(shrunk.network.sizes().hidden, 9);
  EXPECT_GE(shrunk.network.sizes().hidden, 2);
  EXPECT_LT(shrunk.test_loss, 1.1 * full.test_loss);
}

TEST(Spectra, CountEnergy) {
  Vector<double> spectrum(3);
  spectrum << 3, 1, 0;
  EXPECT_DOUBLE_EQ(stable_rank(spectrum), 10.0 / 9);
  EXPECT_EQ(energy_rank(spectrum, 0.9), 1);
  EXPECT_EQ(energy_rank(spectrum, 0.95), 2);
  EXPECT_EQ(energy_rank(Vector<double>::Zero(3), 0.9), 0);
  EXPECT_DOUBLE_EQ(effective_rank(Vector<double>::Ones(4)), 4);
}

TEST(Spectra, QuickOnesAgree) {
  for (const char* variant : {"UDV", "UFV", "UV", "single"}) {
    Network<double> network(variant_named(variant), {8, 6, 3}, false);
    network.parameters() = random_rows(network.num_parameters(), 1, 2);
    const Vector<double> exact = spectrum(network), quick = quick_spectrum(network);
    EXPECT_LE((exact - quick).norm(), 1e-7 * exact(0)) << variant;
  }
}

}  // namespace trainer_test
}  // namespace udv::net
