// SPDX-License-Identifier: MIT
#include "udv/recover/solver/options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "udv/recover/factors/factorization.hpp"

namespace udv {
namespace {

void require_positive(const char* name, double value) {
  require(std::isfinite(value) && value > 0, name, " is ", value, ", a positive number expected");
}

// "auto", "unit", "none" or a number.
void set_scale(const std::string& text, RecoverOptions& options) {
  const std::pair<const char*, ScaleRule> words[] = {
      {"auto", ScaleRule::kAuto}, {"unit", ScaleRule::kUnit}, {"none", ScaleRule::kNone}};
  for (const auto& [word, rule] : words)
    if (text == word) {
      options.scale_rule = rule;
      return;
    }
  double value = 0;
  require(parse_all(text, value) && std::isfinite(value) && value > 0, "'", text,
          "' found, 'auto', 'unit', 'none' or a positive number expected");
  options.scale_rule = ScaleRule::kValue;
  options.scale_value = value;
}

std::string scale_text(const RecoverOptions& options) {
  switch (options.scale_rule) {
    case ScaleRule::kAuto:
      return "auto";
    case ScaleRule::kUnit:
      return "unit";
    case ScaleRule::kNone:
      return "none";
    default:
      return fmt::format("{}", options.scale_value);
  }
}

// "LOW,HIGH"; either may be infinite.
void set_range(const std::string& text, RecoverOptions& options) {
  const size_t comma = text.find(',');
  double low = 0, high = 0;
  const bool parsed = comma != text.npos && parse_all(text.substr(0, comma), low) &&
                      parse_all(text.substr(comma + 1), high);
  require(parsed && low < high, "'", text, "' found, two numbers LOW,HIGH expected, LOW < HIGH");
  options.range = {low, high};
}

std::string range_text(const RecoverOptions& options) {
  return options.range ? fmt::format("{},{}", options.range->first, options.range->second) : "";
}

// What is known of the noise, and what is done about it.
void describe_noise(OptionTable& table, RecoverOptions& o) {
  RecoverOptions* const at = &o;
  table.add("noise", o.noise_sigma, "Standard deviation of the noise, where known")
      .positive()
      .default_is("estimated");
  table.add("noise-model", o.noise_model,
            {{"auto", NoiseModel::kAuto},
             {"gaussian", NoiseModel::kGaussian},
             {"rows", NoiseModel::kRows},
             {"poisson", NoiseModel::kPoisson}},
            "Noise of entries: equal, a level for each row, or counts");
  table
      .add_custom(
          "range", [at](const std::string& text) { set_range(text, *at); },
          [at] { return range_text(*at); }, "Limits of the predictions")
      .called("LOW,HIGH")
      .default_is("none");
  table
      .add("robust", o.robust,
           "auto: entries that are gross errors are left out; off: they are only listed")
      .as_switch_word({"auto", "off"});
  table.add("holdout", o.holdout, "Share of the data to hold out: it chooses the rank")
      .between(1e-9, 0.999999)
      .default_is("none");
  table.add(
      "float32", o.float32,
      "Store the posteriors of noisy entries in single precision, as large problems always do");
  table.add("shrinkage", o.shrinkage, "Ridge on the final fit of noisy data")
      .as_switch_word({"auto", "off"});
}

}  // namespace

void describe(OptionTable& table, RecoverOptions& o) {
  constexpr double kMostColumns = 2147483648.0, kMostIterations = 1e18;
  table.group("Method");
  table.add("method", o.method, "bm and udu are for symmetric problems, uv and udv for others")
      .one_of({"auto", "bm", "udu", "uv", "udv"})
      .default_is("udu or udv");
  table.add("max-rank", o.max_rank, "Largest number of columns of U")
      .between(1, kMostColumns)
      .default_is("min(rows, columns)");
  table.add("step", o.step, "Gradient step");
  table.add("alpha", o.alpha, "Radius of the Frobenius balls");
  table.add("center", o.center,
            {{"auto", Centering::kAuto},
             {"none", Centering::kNone},
             {"global", Centering::kGlobal},
             {"rows", Centering::kRows},
             {"cols", Centering::kCols},
             {"both", Centering::kBoth}},
            "Offsets added to the low-rank part, for entries of rectangular matrices");
  RecoverOptions* const at = &o;
  table
      .add_custom(
          "scale", [at](const std::string& text) { set_scale(text, *at); },
          [at] { return scale_text(*at); },
          "Factor on the data: auto, unit (1/|b|), none or a number")
      .called("auto|unit|none|REAL");
  table.add("init-norm", o.init_norm, "|U_0|_F").positive();
  table.add("max-iterations", o.max_iterations, "Largest number of iterations")
      .between(1, kMostIterations)
      .default_is("100000 gradient steps; no limit for the walk in the rank")
      .keeps_numbers();
  table.add("tolerance", o.tolerance, "Relative residual that counts as exact; auto: 1e-10");
  table
      .add("polish", o.rank_walk,
           "on: search over ranks (walk) with second-order fits; off: gradient alone")
      .as_switch_word();
  table.add(
      "start", o.start,
      {{"nothing", Start::kNothing}, {"dynamics", Start::kDynamics}, {"bayes", Start::kBayes}},
      "Start of the walk: nothing (rank 0) or dynamics (a short gradient run); bayes: noisy "
      "entries need no walk if variational Bayes explains them at once, which is faster");
  describe_noise(table, o);
  table
      .add("record", o.record,
           {{"every", Recording::kEvery}, {"log", Recording::kLog}, {"none", Recording::kNone}},
           "Iterations that the history keeps; log: at growing intervals")
      .keeps_numbers();
  table.add("device", o.device, "Device to run on; cuda needs the component cuda")
      .one_of({"cpu", "cuda"});
}

void RecoverOptions::validate() const {
  if (method != "auto") method_named(method);
  require(device == "cpu" || device == "cuda", "device is '", device, "', cpu or cuda expected");
  require(max_rank >= 0, "max_rank is ", max_rank, ", 0 or more expected");
  if (step) require_positive("step", *step);
  if (alpha) require_positive("alpha", *alpha);
  if (scale_rule == ScaleRule::kValue) require_positive("scale", scale_value);
  require_positive("init_norm", init_norm);
  require(max_iterations >= 0, "max_iterations is ", max_iterations, ", 0 or more expected");
  if (tolerance)
    require(std::isfinite(*tolerance) && *tolerance >= 0, "tolerance is ", *tolerance,
            ", 0 or more expected");
  require(std::isfinite(noise_sigma) && noise_sigma >= 0, "noise is ", noise_sigma,
          ", 0 or more expected");
  require(holdout >= 0 && holdout < 1, "holdout is ", holdout, ", a share in [0, 1) expected");
  if (range)
    require(range->first < range->second, "range is ", range->first, ",", range->second,
            ", LOW < HIGH expected");
  require(!(holdout > 0 && noise_sigma > 0),
          "noise and holdout are two ways to choose the rank, "
          "one of them expected");
}

}  // namespace udv
