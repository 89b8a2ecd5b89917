// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>
#include <sstream>

#include "cli/recovery_command.hpp"

namespace udv::cli {
namespace {

using CLI::IsMember;

// A number, or empty for the word.
std::optional<double> number_or(const std::string& flag, const std::string& text,
                                const std::string& word) {
  if (text == word) return std::nullopt;
  size_t used = 0;
  double value = std::nan("");
  try {
    value = std::stod(text, &used);
  } catch (const std::logic_error&) {
    used = 0;
  }
  if (used != text.size() || !std::isfinite(value) || value < 0)
    throw CLI::ValidationError(
        flag, "'" + text + "' found, '" + word + "' or a number of at least 0 expected");
  return value;
}

void set_scale(const std::string& text, RecoverOptions& options) {
  if (text == "auto") {
    options.scale_rule = ScaleRule::kAuto;
  } else if (text == "unit") {
    options.scale_rule = ScaleRule::kUnit;
  } else if (text == "none") {
    options.scale_rule = ScaleRule::kNone;
  } else {
    options.scale_rule = ScaleRule::kValue;
    const auto value = number_or("--scale", text, "auto, unit, none");
    options.scale_value = *value;
  }
}

}  // namespace

void RecoveryFlags::add_to(CLI::App& command) {
  const std::string group = "Method";
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group(group);
  };
  add("--method", method, "bm, udu (symmetric), uv, udv (rectangular); default udu or udv")
      ->check(IsMember({"auto", "bm", "udu", "uv", "udv"}));
  add("--max-rank", max_rank, "Columns of U at most (default: min(rows, cols))")
      ->check(CLI::Range(Index{1}, Index{1} << 31));
  add("--step", step, "Gradient step: auto or a number")->capture_default_str();
  add("--alpha", alpha, "Radius of the Frobenius balls: auto or a number")->capture_default_str();
  add("--scale", scale, "Factor on the data: auto, unit (1/|b|), none or a number")
      ->capture_default_str();
  add("--init-norm", init_norm, "|U_0|_F")->capture_default_str()->check(positive());
  add("--max-iterations", max_iterations, "Iterations at most")
      ->check(CLI::Range(Index{1}, Index{1} << 60));
  add("--tolerance", tolerance, "Relative residual that counts as exact: auto (1e-10) or a number")
      ->capture_default_str();
  add("--polish", polish, "on: walk in the rank with second-order fits; off: gradient alone")
      ->capture_default_str()
      ->check(IsMember({"on", "off"}));
  add("--start", start, "Where the walk starts: nothing, or dynamics (a short gradient run)")
      ->capture_default_str()
      ->check(IsMember({"nothing", "dynamics"}));
  add("--noise", noise, "Standard deviation of the noise, where known")->check(positive());
  add("--holdout", holdout, "Share of the data to hold out: it chooses the rank")
      ->check(CLI::Range(1e-9, 0.999999));
  add("--shrinkage", shrinkage, "Ridge on the final fit of noisy data: auto or off")
      ->capture_default_str()
      ->check(IsMember({"auto", "off"}));
  add("--record", record, "History: every iteration, log-spaced ones or none")
      ->capture_default_str()
      ->check(IsMember({"every", "log", "none"}));
}

RecoverOptions RecoveryFlags::options(std::uint64_t seed) const {
  RecoverOptions options;
  options.method = method;
  options.max_rank = max_rank;
  options.step = number_or("--step", step, "auto");
  options.alpha = number_or("--alpha", alpha, "auto");
  set_scale(scale, options);
  options.init_norm = init_norm;
  options.max_iterations = max_iterations;
  options.tolerance = number_or("--tolerance", tolerance, "auto");
  options.polish = polish == "on";
  options.start = start == "dynamics" ? Start::kDynamics : Start::kNothing;
  options.noise_sigma = noise;
  options.holdout = holdout;
  options.shrinkage = shrinkage == "auto";
  options.record = record == "every" ? Recording::kEvery
                   : record == "log" ? Recording::kLog
                                     : Recording::kNone;
  options.seed = seed;
  try {
    options.validate();
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError(error.what());
  }
  return options;
}

void RecoveryFlags::check_for_intensities() const {
  const auto refuse = [](const char* flag) {
    throw CLI::ValidationError(flag, "has no meaning here: only with --polish off or a --step");
  };
  if (alpha != "auto") refuse("--alpha");
  if (scale != "auto") refuse("--scale");
  if (noise > 0) refuse("--noise");
  if (holdout > 0) refuse("--holdout");
  if (start != "nothing") refuse("--start");
  if (shrinkage != "auto") refuse("--shrinkage");
}

void RecoveryFlags::describe(std::map<std::string, io::Setting>& config) const {
  config["method"] = method;
  config["max-rank"] = static_cast<std::int64_t>(max_rank);
  config["step"] = step;
  config["alpha"] = alpha;
  config["scale"] = scale;
  config["init-norm"] = init_norm;
  config["max-iterations"] = static_cast<std::int64_t>(max_iterations);
  config["tolerance"] = tolerance;
  config["polish"] = polish;
  config["start"] = start;
  config["noise"] = noise;
  config["holdout"] = holdout;
  config["shrinkage"] = shrinkage;
  config["record"] = record;
}

void ShapeFlag::add_to(CLI::App& command, const char* description) {
  command.add_option("--shape", text_, description)->type_name("ROWS,COLUMNS");
}

std::optional<std::pair<Index, Index>> ShapeFlag::value() const {
  if (text_.empty()) return std::nullopt;
  Index rows = 0, cols = 0;
  char comma = 0;
  std::istringstream stream(text_);
  const bool read = stream >> rows >> comma >> cols && comma == ',' && stream.eof();
  constexpr Index kLargest = std::numeric_limits<std::int32_t>::max();
  if (!read || rows < 1 || cols < 1 || rows > kLargest || cols > kLargest)
    throw CLI::ValidationError(
        "--shape",
        "'" + text_ + "' found, rows,columns expected, each from 1 to " + std::to_string(kLargest));
  return std::pair(rows, cols);
}

}  // namespace udv::cli
