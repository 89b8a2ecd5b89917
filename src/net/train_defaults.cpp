// SPDX-License-Identifier: MIT
// Settings that nobody gave: the paper's, or those that were best on the validation parts of ten
// data sets (docs/training.md).
#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "net/relative_steps.hpp"
#include "udv/net/initialise.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {
namespace {

constexpr Index kManyRows = 10'000;
constexpr Index kWidth = 256, kLargeWidth = 512;
constexpr Index kSteps = 8'000, kManySteps = 16'000;
constexpr Index kFewestEpochs = 2;  // of a very large table
constexpr double kRate = 0.0575, kDeepRate = 0.025, kPlainRate = 3e-3;
constexpr double kStrongRate = 7;  // over sqrt(steps)
constexpr double kSmoothing = 0.1;

// A power of two near rows / 256, from 32 to 256.
Index batch_for(Index rows) {
  const double power = std::round(std::log2(std::max(1.0, static_cast<double>(rows) / 256)));
  const auto size = static_cast<Index>(std::exp2(power));
  return std::min(rows, std::clamp<Index>(size, 32, 256));
}

template <typename Value>
void fill(Value& value, const Value& unset, const Value& found) {
  if (value == unset) value = found;
}

void refuse_beside_paper(const TrainOptions& o) {
  const auto refuse = [](bool given, const char* what) {
    require(!given, "preset paper found together with ", what, ", which the paper does not have");
  };
  refuse(o.optimizer == "relative", "optimizer relative");
  refuse(o.initialisation == "relative", "init relative");
  refuse(o.schedule.name == "root" || o.schedule.name == "cosine-step", "schedule root");
  refuse(o.average.value_or(false), "average on");
  refuse(o.smoothing > 0, "label-smoothing");
  refuse(o.balance, "balance");
  refuse(o.metric != "auto", "metric");
  refuse(o.is_strong(), "bias-to-low-rank strong");
  refuse(o.bias && *o.bias == Bias(Bias::kConstant), "bias constant");
  refuse(!o.deeper.empty(), "several hidden layers");
  refuse(o.max_steps > 0, "max-steps");
}

TrainOptions with_paper(TrainOptions o, const DataShape& shape) {
  refuse_beside_paper(o);
  const std::string unset = "auto";
  fill(o.variant, unset, std::string("UDV"));
  fill(o.optimizer, unset, std::string("adam"));
  fill(o.initialisation, unset, std::string("pytorch"));
  fill(o.schedule.name, unset, std::string("cosine"));
  fill(o.learning_rate, 0.0, 1e-3);
  fill<Index>(o.epochs, 0, 200);
  fill<Index>(o.batch, -1, 32);
  if (shape.inputs > 0 && variant_named(o.variant).has_hidden())
    fill<Index>(o.hidden, 0,
                default_hidden(shape.inputs, shape.outputs, shape.task == Task::kClassification));
  o.bias = o.bias.value_or(Bias(Bias::kNone));
  o.average = false;
  o.smoothing = 0;
  return o;
}

double rate_for(const TrainOptions& o) {
  if (o.optimizer != "relative") return kPlainRate;
  if (o.is_strong()) return kStrongRate / std::sqrt(static_cast<double>(o.max_steps));
  return o.deeper.empty() ? kRate : kDeepRate;
}

TrainOptions with_defaults(TrainOptions o, const DataShape& shape) {
  require(!o.shrink, "shrink found, which needs preset paper: averaged weights keep their width");
  const std::string unset = "auto";
  fill(o.variant, unset, std::string(o.is_strong() ? "UDV" : "UDV-ReLU"));
  const Variant& variant = variant_named(o.variant);
  fill(o.optimizer, unset, std::string(variant.has_balls() ? "relative" : "adam"));
  require(o.optimizer != "relative" || variant.has_balls(), "optimizer relative with ", o.variant,
          " found, a variant with balls expected");
  require(
      !o.is_strong() || o.optimizer == "relative",
      "bias-to-low-rank strong found, a variant with balls and the optimizer relative expected");
  fill(o.initialisation, unset, std::string(o.optimizer == "relative" ? "relative" : "pytorch"));
  fill(o.schedule.name, unset, std::string(o.is_strong() ? "cosine-step" : "root"));
  const bool many = shape.rows >= kManyRows;
  if (variant.has_hidden()) fill<Index>(o.hidden, 0, many ? kLargeWidth : kWidth);
  fill<Index>(o.batch, -1, batch_for(std::max<Index>(1, shape.rows)));
  const Index size = o.batch > 0 ? o.batch : std::max<Index>(1, shape.rows);
  const Index batches = (std::max<Index>(1, shape.rows) + size - 1) / size;
  if (o.epochs > 0)
    fill<Index>(o.max_steps, 0, o.epochs * batches);
  else
    fill<Index>(o.max_steps, 0, std::max(many ? kManySteps : kSteps, kFewestEpochs * batches));
  fill(o.learning_rate, 0.0, rate_for(o));
  fill(o.moments, unset, std::string(o.is_strong() ? "feature" : "entry"));
  o.bias = o.bias.value_or(Bias(Bias::kConstant));
  o.average = o.average.value_or(!o.is_strong());
  // A linear head with smoothed labels is close to least squares and loses the margin.
  const bool smooth = shape.task == Task::kClassification && variant.has(LayerKind::kRelu);
  if (o.smoothing < 0) o.smoothing = smooth ? kSmoothing : 0;
  return o;
}

}  // namespace

TrainOptions TrainOptions::paper() {
  TrainOptions options;
  options.preset = "paper";
  return options.resolved({});
}

TrainOptions TrainOptions::resolved(const DataShape& shape) const {
  return is_paper() ? with_paper(*this, shape) : with_defaults(*this, shape);
}

std::vector<std::string> metric_names() {
  return {"auto", "loss", "accuracy", "balanced", "mae"};
}

void TrainOptions::validate() const {
  require(preset == "auto" || preset == "paper", "train: preset '", preset,
          "' found, auto or paper expected");
  if (variant != "auto") variant_named(variant);
  if (optimizer != "auto") Optimizer<double>(optimizer, rule);
  if (schedule.name != "auto") schedule.validate();
  require(learning_rate >= 0 && std::isfinite(learning_rate), "train: learning rate is ",
          learning_rate, ", a positive number expected");
  require(epochs >= 0, "train: epochs is ", epochs, ", at least 1 expected");
  require(batch >= -1, "train: batch is ", batch, ", at least 0 expected");
  require(hidden >= 0, "train: hidden is ", hidden, ", at least 0 expected");
  require(average_last >= 0, "train: average_last is ", average_last, ", at least 0 expected");
  require(max_steps >= 0, "train: max_steps is ", max_steps, ", at least 0 expected");
  require(smoothing < 1, "train: label smoothing is ", smoothing, ", below 1 expected");
  require(rule.weight_decay >= 0 && std::isfinite(rule.weight_decay), "train: weight decay is ",
          rule.weight_decay, ", a number of at least 0 expected");
  require(rule.momentum >= 0 && rule.momentum < 1, "train: momentum is ", rule.momentum,
          ", 0 <= momentum < 1 expected");
  if (initialisation != "auto" && initialisation != "relative")
    check_initialisation(initialisation);
  const std::vector<std::string> metrics = metric_names();
  require(std::find(metrics.begin(), metrics.end(), metric) != metrics.end(), "train: metric '",
          metric, "' found, one of auto, loss, accuracy, balanced, mae expected");
  require(low_rank == "default" || low_rank == "strong", "train: bias to low rank '", low_rank,
          "' found, default or strong expected");
  require(shrink_tail > 0 && shrink_tail < 1, "train: shrink_tail is ", shrink_tail,
          ", a number between 0 and 1 expected");
  require(shrink_every > 0, "train: shrink_every is ", shrink_every, ", at least 1 expected");
}

Index TrainOptions::averaged_epochs(Task task) const {
  if (average_last > 0) return average_last;
  return task == Task::kRegression ? 20 : 3;
}

Index TrainOptions::num_steps(Index rows) const {
  const Index size = batch > 0 ? batch : rows;
  return max_steps > 0 ? max_steps : epochs * ((rows + size - 1) / size);
}

}  // namespace udv::net
