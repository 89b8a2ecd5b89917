// SPDX-License-Identifier: MIT
// Training with nothing given: relative steps, averaged weights, early stopping.
#include <gtest/gtest.h>

#include "net/cross_validation.hpp"
#include "net/relative_steps.hpp"
#include "net/rotation.hpp"
#include "net/temperature.hpp"
#include "support/random_data.hpp"
#include "udv/core/parallel.hpp"
#include "udv/net/choose_head.hpp"
#include "udv/net/metrics.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {
namespace defaults_test {

using testing::error_of;
using testing::random_rows;

// y = |x_0| + x_1, a little noise.
Dataset<float> bent(Index rows, std::uint64_t seed) {
  Dataset<float> data;
  data.X = random_rows<float>(rows, 4, seed);
  data.Y = data.X.col(0).cwiseAbs() + data.X.col(1) + 0.05f * random_rows<float>(rows, 1, seed + 1);
  return data;
}

// Two classes: inside and outside of a ball.
Dataset<float> ring(Index rows, std::uint64_t seed) {
  Dataset<float> data;
  data.task = Task::kClassification;
  data.classes = 2;
  data.X = random_rows<float>(rows, 2, seed);
  for (Index i = 0; i < rows; ++i) data.labels.push_back(data.X.row(i).norm() > 1.2f ? 1 : 0);
  return data;
}

TrainOptions quick() {
  TrainOptions options;
  options.hidden = 32;
  options.max_steps = 600;
  return options;
}

class Defaults : public ::testing::Test {
 protected:
  ~Defaults() override { set_num_threads(0); }
  Dataset<float> training_ = bent(300, 1), validation_ = bent(60, 5), test_ = bent(200, 9);
};

TEST_F(Defaults, LearnWhatIsNotLinearWithoutAnySetting) {
  const auto result = train(training_, validation_, test_, quick());
  EXPECT_EQ(result.options.variant, "UDV-ReLU");
  EXPECT_EQ(result.options.optimizer, "relative");
  EXPECT_LT(result.test_loss, 0.03);
  EXPECT_DOUBLE_EQ(result.test_loss, evaluate(result.network, test_).loss);
  for (const char* name : {"U.weight", "V.weight"})
    EXPECT_LE(result.network.at(*result.network.find(name)).norm(), 1 + 1e-5f);
}

TEST_F(Defaults, KeepTheWeightsThatWereBestOnTheValidationPart) {
  const auto result = train(training_, validation_, test_, quick());
  double best = std::numeric_limits<double>::infinity();
  for (const EpochRecord& record : result.history) best = std::min(best, record.validation_loss);
  EXPECT_DOUBLE_EQ(evaluate(result.network, validation_).loss, best);
  EXPECT_DOUBLE_EQ(result.validation, best);
  EXPECT_EQ(result.history[0].step, 25);
  EXPECT_TRUE(std::isnan(result.history[0].test_loss));  // the test part is looked at once
}

TEST_F(Defaults, GiveTheSameBitsForAnyThreadsAndAfterInterrupts) {
  TrainOptions options = quick();
  options.hidden = 300;
  options.max_steps = 60;
  set_num_threads(1);
  const auto one = train(training_, validation_, test_, options);
  set_num_threads(3);
  TrainHooks<float> hooks;
  std::string saved;
  hooks.observer = [](const IterationRecord&) { return Verdict::kInterrupt; };
  hooks.save = [&](const std::string& state) { saved = state; };
  auto result = train(training_, validation_, test_, options, hooks);
  for (int part = 0; part < 3; ++part) {
    EXPECT_EQ(result.stop, TrainStop::kInterrupted);
    hooks.resume = saved;
    if (part == 2) hooks.observer = {};
    result = train(training_, validation_, test_, options, hooks);
  }
  EXPECT_EQ(result.network.parameters(), one.network.parameters());
}

TEST_F(Defaults, TrainEveryVariantAndSeveralHiddenLayers) {
  for (const Variant& variant : variants()) {
    TrainOptions options = quick();
    options.variant = variant.name;
    const auto result = train(training_, validation_, test_, options);
    EXPECT_EQ(result.stop, TrainStop::kDone) << variant.name;
    EXPECT_LT(result.test_loss, 1.2) << variant.name;
  }
  TrainOptions deep = quick();
  deep.deeper = {16};
  const auto result = train(training_, validation_, test_, deep);
  EXPECT_EQ(to_string(result.network.sizes()), "4-32-16-1");
  EXPECT_LT(result.test_loss, 0.05);
  deep.variant = "UDV";
  EXPECT_NE(
      error_of([&] { train(training_, validation_, test_, deep); }).find("with ReLU expected"),
      std::string::npos);
}

TEST_F(Defaults, KeepTheLastWeightsWhereAsked) {
  TrainOptions options = quick();
  options.variant = "UDV";  // cannot learn |x|: the validation part is best somewhere on the way
  options.keep_last = true;
  const auto result = train(training_, validation_, test_, options);
  EXPECT_EQ(result.steps, options.max_steps);
  EXPECT_EQ(result.best_step, result.steps);
  EXPECT_EQ(result.history.back().step, result.steps);
  EXPECT_DOUBLE_EQ(evaluate(result.network, validation_).loss,
                   result.history.back().validation_loss);
  // Without a validation part to look at the weights are the same.
  const auto blind = train(training_, training_.subset({}), test_, options);
  EXPECT_EQ(result.network.parameters(), blind.network.parameters());
}

// More features than rows, two factors, the sign of the first is the class.
Dataset<float> factors(Index rows, std::uint64_t seed) {
  constexpr Index kFeatures = 600;
  Dataset<float> data;
  data.task = Task::kClassification;
  data.classes = 2;
  const RowMatrix<float> F = random_rows<float>(rows, 2, seed);
  data.X = F * random_rows<float>(2, kFeatures, 77) + random_rows<float>(rows, kFeatures, seed + 1);
  for (Index i = 0; i < rows; ++i) data.labels.push_back(F(i, 0) > 0 ? 1 : 0);
  return data;
}

TEST_F(Defaults, LearnFromAllRowsWhereTheValidationPartDecidesNothing) {
  const Dataset<float> training = factors(50, 1), validation = factors(12, 5),
                       test = factors(80, 9);
  TrainOptions options;
  options.variant = "UDV";
  options.hidden = 8;
  const auto result = train(training, validation, test, options);
  EXPECT_TRUE(result.on_all_rows);
  EXPECT_EQ(result.network.sizes().inputs, 600);
  EXPECT_GT(result.test_accuracy, 0.9);
  EXPECT_DOUBLE_EQ(result.test_loss, evaluate(result.network, test).loss);
  // The weights are those of a training on all rows; the temperature is that of the validation
  // part.
  auto all = train(joined(training, validation), training.subset({}), test, options);
  EXPECT_FALSE(all.on_all_rows);
  apply_temperature(all.network, result.temperature);
  EXPECT_EQ(all.network.parameters(), result.network.parameters());
  // Who gives the number of steps gets the validation part's choice, on the training rows alone.
  options.max_steps = 100;
  EXPECT_FALSE(train(training, validation, test, options).on_all_rows);
}

TEST_F(Defaults, CrossValidateFewRows) {
  const auto result = train(bent(40, 3), test_, TrainOptions());
  EXPECT_EQ(result.folds, 5);
  EXPECT_LT(result.steps, 8000);
}

TEST_F(Defaults, PreferALinearHeadWhereTheTruthIsLinear) {
  PreparedData<float> data{training_, test_, validation_};
  for (Dataset<float>* part : {&data.training, &data.test, &data.validation})
    part->Y = 3 * part->X.col(0) - part->X.col(2);
  TrainOptions options;
  EXPECT_FALSE(choose_head(data, options).head.empty());
  EXPECT_EQ(options.variant, "UDV");
  PreparedData<float> curved{training_, test_, validation_};
  TrainOptions other;
  EXPECT_TRUE(choose_head(curved, other).head.empty());
  EXPECT_EQ(other.variant, "UDV-ReLU");
}

TEST_F(Defaults, BendASkewedTargetWhereThatIsBetter) {
  PreparedData<double> data;
  const auto part = [](Index rows, std::uint64_t seed) {
    Dataset<double> some;
    some.X.resize(rows, 3);
    Random(seed, 0).fill_normal(some.X);
    some.Y = (2 * some.X.col(0) + some.X.col(1) + 0.3 * some.X.col(2)).unaryExpr([](double t) {
      return unbend(t - 3, 10);
    });
    some.X.col(2).setZero();  // noise
    return some;
  };
  data.training = part(150, 1);
  data.validation = part(30, 2);
  data.test = part(30, 3);
  data.preprocessing.targets = {Vector<double>::Zero(1), Vector<double>::Ones(1)};
  PreparedData<double> plain = data;
  TrainOptions options, other;
  EXPECT_TRUE(choose_head(plain, other).target.empty());  // nobody asked
  EXPECT_EQ(plain.preprocessing.targets.bend.size(), 0);
  data.may_bend = true;
  const RowMatrix<double> truth = data.test.Y;
  EXPECT_NE(choose_head(data, options).target.find("is better in cross-validation"),
            std::string::npos);
  ASSERT_EQ(data.preprocessing.targets.bend.size(), 1);
  EXPECT_LE((data.preprocessing.in_target_units(data.test.Y) - truth).norm(), 1e-9 * truth.norm());
}

TEST(Classes, GetProbabilitiesThatFitTheValidationPart) {
  TrainOptions options = quick();
  const auto result = train(ring(400, 1), ring(100, 3), ring(400, 5), options);
  EXPECT_GT(result.test_accuracy, 0.93);
  EXPECT_LT(result.test_loss, 0.25);
  EXPECT_NE(result.temperature, 1);
  options.balance = true;
  options.metric = "balanced";
  EXPECT_GT(train(ring(400, 1), ring(100, 3), ring(400, 5), options).test_accuracy, 0.9);
}

TEST(Classes, TemperatureScalesOutputsOfEveryVariant) {
  const RowMatrix<double> X = random_rows(7, 5, 1);
  for (const Variant& variant : variants())
    for (const Bias bias : {Bias(Bias::kNone), Bias(Bias::kAll), Bias(Bias::kConstant)}) {
      Network<double> network(variant, {5, variant.has_hidden() ? 4 : 0, 3}, bias);
      network.parameters() = random_rows(network.num_parameters(), 1, 2).cwiseAbs();
      const RowMatrix<double> before = predict<double>(network, X);
      apply_temperature(network, 2);
      EXPECT_LE((2 * predict<double>(network, X) - before).norm(), 1e-12 * before.norm())
          << variant.name;
    }
}

TEST(RelativeSteps, HaveTheLengthOfTheLearningRate) {
  Network<double> network(variant_named("UDV"), {6, 5, 3}, Bias::kConstant);
  network.parameters() = random_rows(network.num_parameters(), 1, 3).cwiseAbs();
  const auto segments = relative_segments(network);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_DOUBLE_EQ(segments[0].scale, 1 / std::sqrt(35.0));  // U with its constant feature
  EXPECT_DOUBLE_EQ(segments[1].scale, network.at(*network.find("D.weight")).mean());
  EXPECT_DOUBLE_EQ(segments[2].scale, 1 / std::sqrt(15.0));
}

TEST(ConstantFeature, LiesInTheBallOfTheFirstLayer) {
  for (const char* variant : {"UDV", "UDV-v1"}) {
    Network<double> network(variant_named(variant), {3, 4, 2}, Bias::kConstant);
    network.parameters() = random_rows(network.num_parameters(), 1, 3) * 5;
    network.project();
    const auto U = network.at(*network.find("U.weight"));
    const auto b = network.at(*network.find("U.bias"));
    const double norm = variant == std::string("UDV") ? std::sqrt(U.squaredNorm() + b.squaredNorm())
                                                      : std::hypot(U.row(1).norm(), b(0, 1));
    EXPECT_NEAR(norm, 1, 1e-12) << variant;
    EXPECT_EQ(network.find("V.bias"), nullptr);
  }
}

TEST(Rotation, ChangesCoordinatesAndNothingElse) {
  Dataset<double> data;
  data.X = random_rows(9, 30, 1);
  data.Y = random_rows(9, 1, 2);
  const Rotation<double> rotation(data.X);
  const Dataset<double> turned = rotation.turned(data);
  Network<double> network(variant_named("UDV-ReLU"), {turned.X.cols(), 6, 1}, Bias::kConstant);
  network.parameters() = random_rows(network.num_parameters(), 1, 4);
  const RowMatrix<double> here = predict<double>(network, turned.X);
  const RowMatrix<double> there = predict<double>(rotation.turned_back(network), data.X);
  EXPECT_LE((here - there).norm(), 1e-10 * here.norm());
}

TEST(Rotation, FindsTheFactors) {
  const RowMatrix<double> X =
      3 * random_rows(80, 3, 1) * random_rows(3, 400, 2) + random_rows(80, 400, 3);
  EXPECT_EQ(Rotation<double>(X).num_signals(), 3);
  EXPECT_EQ(Rotation<double>(random_rows(80, 400, 4)).num_signals(), 0);
}

TEST(PaperPreset, RefusesWhatThePaperDoesNotHave) {
  TrainOptions options;
  options.preset = "paper";
  EXPECT_EQ(options.resolved({}).optimizer, "adam");
  options.average = true;
  EXPECT_EQ(error_of([&] { options.resolved({}); }),
            "preset paper found together with average on, which the paper does not have");
}

TEST(Metrics, AreInTheUnitsOfTheTarget) {
  Dataset<double> data;
  data.X = random_rows(4, 1, 1);
  data.Y.resize(4, 1);
  data.Y << 0, 1, 2, 3;
  Preprocessing how;
  how.targets = {Vector<double>::Zero(1), Vector<double>::Constant(1, 0.1), {}};
  RowMatrix<double> outputs = data.Y;
  outputs(0, 0) += 2;
  const Metrics metrics = metrics_of(outputs, data, how);
  EXPECT_DOUBLE_EQ(metrics.mean_rmse(), 10);  // sqrt(4 / 4) / 0.1
  EXPECT_DOUBLE_EQ(metrics.mean_mae(), 5);
  EXPECT_DOUBLE_EQ(metrics.mean_r2(), 1 - 4.0 / 5);
  EXPECT_TRUE(is_better_than(metrics, baseline_of(data, data, how)));
}

TEST(Metrics, CountClasses) {
  Dataset<double> data;
  data.task = Task::kClassification;
  data.classes = 3;
  data.X = random_rows(4, 1, 1);
  data.labels = {0, 0, 1, 0};
  RowMatrix<double> outputs(4, 3);
  outputs << 5, 0, 0, 0, 5, 0, 0, 5, 0, 5, 0, 0;
  const Metrics metrics = metrics_of(outputs, data, {});
  EXPECT_DOUBLE_EQ(metrics.accuracy, 0.75);
  EXPECT_DOUBLE_EQ(metrics.precision[1], 0.5);
  EXPECT_DOUBLE_EQ(metrics.recall[0], 2.0 / 3);
  EXPECT_TRUE(std::isnan(metrics.recall[2]));
  EXPECT_EQ(metrics.confusion(0, 1), 1);
  EXPECT_FALSE(is_better_than(metrics, baseline_of(data, data, {})));  // always 0 is as good
}

}  // namespace defaults_test
}  // namespace udv::net
