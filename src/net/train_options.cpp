// SPDX-License-Identifier: MIT
// The table of settings, apart from the trainer: a build of the LibTorch component alone needs the
// trainer and has no command line.
#include "core/parse.hpp"
#include "core/require.hpp"
#include "udv/net/initialise.hpp"
#include "udv/net/trainer.hpp"
#include "udv/net/variant.hpp"

namespace udv::net {

namespace {

constexpr double kMost = 2147483648.0;

// auto, all, or a number of samples.
void add_batch(OptionTable& table, Index& batch) {
  Index* const at = &batch;
  const auto set = [at](const std::string& text) {
    Index value = text == "auto" ? -1 : 0;
    const bool word = text == "auto" || text == "all";
    require(word || (parse_all(text, value) && value >= 1 && static_cast<double>(value) <= kMost),
            "'", text, "' found, 'auto', 'all' or a whole number from 1 to 2147483648 expected");
    *at = value;
  };
  const auto get = [at]() -> Setting {
    return *at < 0 ? std::string("auto") : *at == 0 ? std::string("all") : message(*at);
  };
  table.add_custom("batch", set, get, "Samples of one step, or all; auto: by the number of rows")
      .called("NUMBER");
}

// 256, or 256,128: the widths of the hidden layers.
void add_hidden(OptionTable& table, TrainOptions& options) {
  TrainOptions* const at = &options;
  const auto set = [at](const std::string& text) {
    std::vector<Index> widths;
    for (const std::string& word : comma_words(text == "auto" ? "" : text)) {
      widths.push_back(0);
      require(parse_all(word, widths.back()) && widths.back() >= 1 &&
                  static_cast<double>(widths.back()) <= kMost,
              "'", word, "' found, 'auto' or whole numbers from 1 to 2147483648 expected");
    }
    require(text == "auto" || !widths.empty(), "'", text, "' found, 'auto' or numbers expected");
    at->hidden = widths.empty() ? 0 : widths[0];
    at->deeper.assign(widths.empty() ? widths.end() : widths.begin() + 1, widths.end());
  };
  const auto get = [at]() -> Setting {
    if (at->hidden == 0) return "auto";
    std::string text = message(at->hidden);
    for (const Index width : at->deeper) text += message(",", width);
    return text;
  };
  table
      .add_custom("hidden", set, get,
                  "Hidden neurons; several numbers: several hidden layers (variants with ReLU)")
      .called("N,N,...");
}

void add_bias(OptionTable& table, std::optional<Bias>& bias) {
  std::optional<Bias>* const at = &bias;
  const auto set = [at](const std::string& text) {
    if (text == "auto") at->reset();
    if (text == "none") *at = Bias(Bias::kNone);
    if (text == "all") *at = Bias(Bias::kAll);
    if (text == "constant") *at = Bias(Bias::kConstant);
  };
  const auto get = [at]() -> Setting {
    if (!*at) return "auto";
    constexpr const char* kWords[] = {"none", "all", "constant"};
    return kWords[(*at)->kind];
  };
  table
      .add_custom("bias", set, get,
                  "Biases: an additional constant feature, one in every dense layer, or none; "
                  "auto: constant")
      .one_of({"auto", "constant", "all", "none"})
      .when_bare("all");
}

void add_average(OptionTable& table, std::optional<bool>& average) {
  std::optional<bool>* const at = &average;
  table
      .add_custom(
          "average",
          [at](const std::string& text) {
            *at = text == "auto" ? std::nullopt : std::optional(text == "on");
          },
          [at]() -> Setting { return !*at   ? "auto"
                                     : **at ? "on"
                                            : "off"; },
          "Evaluate and keep the running average of the weights")
      .one_of({"auto", "on", "off"});
}

void describe_defaults(OptionTable& table, TrainOptions& o) {
  add_average(table, o.average);
  table
      .add("label-smoothing", o.smoothing,
           "Share of a label that is spread over all classes; auto: 0.1 with ReLU. Probabilities "
           "are calibrated on the validation part")
      .between(0, 0.999)
      .word("auto", -1);
  table.add("balance", o.balance, "Give all classes the same weight in the loss");
  table.add("metric", o.metric, "Metric on the validation part").one_of(metric_names());
  table
      .add("bias-to-low-rank", o.low_rank,
           "strong: linear head, no smoothing, larger steps, second moments shared by neurons; "
           "the fastest decay of the spectrum, at a price in accuracy")
      .one_of({"default", "strong"});
  table
      .add("max-steps", o.max_steps,
           "Largest number of steps; auto: 8000, from 10,000 rows on 16,000")
      .between(1, kMost)
      .word("auto", 0);
}

}  // namespace

void describe(OptionTable& table, TrainOptions& o) {
  table.group("Training");
  table
      .add("preset", o.preset,
           "paper: all settings of the paper (UDV, Adam at 0.001 with a cosine, 200 epochs in "
           "batches of 32, no bias, no validation part)")
      .one_of({"auto", "paper"});
  table.add("variant", o.variant, "auto, " + variant_names());
  table.add(
      "optimizer", o.optimizer,
      "auto, " + optimizer_names() + "; auto: relative where the variant has balls, else adam");
  table.add("lr", o.learning_rate, "Learning rate of the first step").positive().word("auto", 0);
  table
      .add("epochs", o.epochs,
           "Passes over the training part; auto: until the validation part no longer improves")
      .between(1, kMost)
      .word("auto", 0);
  add_batch(table, o.batch);
  add_hidden(table, o);
  describe_defaults(table, o);
  table
      .add("average-last", o.average_last,
           "Preset paper: epochs whose mean is reported; auto: 20 for values, 3 for classes")
      .between(1, kMost)
      .word("auto", 0);
  table.add("weight-decay", o.rule.weight_decay, "Weight decay of the optimizer");
  table.add("momentum", o.rule.momentum, "Momentum of mbgdm");
  table.add("schedule", o.schedule.name, "auto, " + schedule_names());
  table.add("schedule-length", o.schedule.length, "Epochs between two steps of the schedule step");
  table.add("schedule-factor", o.schedule.factor, "Factor of each of these steps");
  table.add("init", o.initialisation, "auto, relative, " + initialisation_names());
  add_bias(table, o.bias);
  table.add("shrink", o.shrink, "Preset paper: remove neurons while training");
  table.add("shrink-tail", o.shrink_tail, "Share of the energy of UD that may be removed");
  table.add("shrink-every", o.shrink_every, "Epochs between two computations of the spectrum");
}

}  // namespace udv::net
