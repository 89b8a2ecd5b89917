// SPDX-License-Identifier: MIT
#include "cli/training_flags.hpp"

#include <sstream>

#include "cli/common.hpp"
#include "core/parse.hpp"
#include "udv/core/error.hpp"
#include "udv/net/initialise.hpp"

namespace udv::cli {
namespace {

using CLI::IsMember;

// A whole number of at least 1, or `otherwise` for the word.
Index whole_or(const std::string& flag, const std::string& text, const std::string& word,
               Index otherwise) {
  if (text == word) return otherwise;
  Index value = 0;
  if (!parse_all(text, value) || value < 1 || value > (Index{1} << 31))
    throw CLI::ValidationError(
        flag, message("'", text, "' found, '", word, "' or a whole number of at least 1 expected"));
  return value;
}

}  // namespace

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> result;
  std::istringstream stream(list);
  for (std::string word; std::getline(stream, word, ',');)
    if (!word.empty()) result.push_back(word);
  return result;
}

std::string settings_text(const std::map<std::string, io::Setting>& config) {
  std::string text;
  for (const auto& [name, setting] : config)
    std::visit(
        [&](const auto& value) { text += message(text.empty() ? "" : "; ", name, " ", value); },
        setting);
  return text;
}

void DataFlags::add_to(CLI::App& command) {
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command.add_option(name, value, text)->group("Data");
  };
  add("--target", options.table.target, "Column of a table that is predicted");
  add("--task", options.task, "regression or classification (default: classes for images)")
      ->check(IsMember({"auto", "regression", "classification"}));
  add("--targets", options.targets, "File with the targets of a .npy or IDX file of features");
  add("--encoding", options.table.encoding, "Text columns: label (one number) or onehot")
      ->capture_default_str()
      ->check(IsMember({"label", "onehot"}));
  add("--missing", options.table.missing, "Missing text: a category of its own, or the commonest")
      ->capture_default_str()
      ->check(IsMember({"category", "mean"}));
  add("--scaling", options.scaling, "Features: auto, minmax, standard or none")
      ->capture_default_str()
      ->check(IsMember({"auto", "minmax", "standard", "none"}));
  add("--target-scaling", options.table.target_scaling, "Targets: minmax, standard or none")
      ->capture_default_str()
      ->check(IsMember({"minmax", "standard", "none"}));
  add("--drop", drop, "Columns to leave out: a,b,c");
  add("--keep", keep, "Columns to use although they seem to number the rows");
  add("--test", options.test, "File with the test part (default: a share of the data)");
  add("--test-share", options.test_share, "Share of the rows that are the test part")
      ->capture_default_str()
      ->check(positive());
  add("--split-seed", split_seed, "Seed of the split")->capture_default_str()->check(seed_number());
}

net::DataOptions DataFlags::read() const {
  net::DataOptions result = options;
  result.table.drop = words(drop);
  result.table.keep = words(keep);
  result.validate();
  return result;
}

void DataFlags::describe(std::map<std::string, io::Setting>& config) const {
  if (!options.table.target.empty()) config["target"] = options.table.target;
  if (!options.targets.empty()) config["targets"] = options.targets;
  if (!options.test.empty()) config["test"] = options.test;
  if (!drop.empty()) config["drop"] = drop;
  if (!keep.empty()) config["keep"] = keep;
  config["task"] = options.task;
  config["encoding"] = options.table.encoding;
  config["missing"] = options.table.missing;
  config["scaling"] = options.scaling;
  config["target-scaling"] = options.table.target_scaling;
  config["test-share"] = options.test_share;
  config["split-seed"] = static_cast<std::int64_t>(split_seed);
}

void TrainFlags::add_to(CLI::App& command) {
  const auto add = [&](const char* name, auto& value, const std::string& text) {
    return command.add_option(name, value, text)->group("Training");
  };
  const CLI::Range whole(Index{1}, Index{1} << 31);
  add("--variant", options.variant, net::variant_names())->capture_default_str();
  add("--optimizer", options.optimizer, net::optimizer_names())->capture_default_str();
  add("--lr", options.learning_rate, "Learning rate")->capture_default_str()->check(positive());
  add("--epochs", options.epochs, "Passes over the training part")
      ->capture_default_str()
      ->check(whole);
  add("--batch", batch, "Samples per step, or all")->capture_default_str();
  add("--hidden", hidden, "Hidden neurons: a number, or auto as in the paper")
      ->capture_default_str();
  add("--average-last", average_last,
      "Epochs whose mean is reported: a number, or auto (20 for values, 3 for classes)")
      ->capture_default_str();
  add("--weight-decay", options.rule.weight_decay, "Weight decay of the optimizer")
      ->capture_default_str();
  add("--momentum", options.rule.momentum, "Momentum of mbgdm")->capture_default_str();
  add("--schedule", options.schedule.name, net::schedule_names())->capture_default_str();
  add("--schedule-length", options.schedule.length, "Epochs between two steps of the schedule step")
      ->capture_default_str();
  add("--schedule-factor", options.schedule.factor, "Factor of each of them")
      ->capture_default_str();
  add("--init", options.initialisation, net::initialisation_names())->capture_default_str();
  command.add_flag("--bias", options.bias, "Dense layers have biases")->group("Training");
  command.add_flag("--shrink", options.shrink, "Let neurons go while training")->group("Training");
  add("--shrink-tail", options.shrink_tail, "Share of the energy of UD that may go")
      ->capture_default_str();
  add("--shrink-every", options.shrink_every, "Epochs between two looks at the spectrum")
      ->capture_default_str();
  command.add_flag("--float64", float64, "Double precision")->group("Training");
}

net::TrainOptions TrainFlags::read(std::uint64_t seed) const {
  net::TrainOptions result = options;
  result.hidden = whole_or("--hidden", hidden, "auto", 0);
  result.batch = whole_or("--batch", batch, "all", 0);
  result.average_last = whole_or("--average-last", average_last, "auto", 20);
  result.seed = seed;
  result.validate();
  return result;
}

void TrainFlags::set_average(net::Task task, net::TrainOptions& result) const {
  if (average_last == "auto") result.average_last = task == net::Task::kRegression ? 20 : 3;
}

void TrainFlags::describe(std::map<std::string, io::Setting>& config) const {
  config["variant"] = options.variant;
  config["optimizer"] = options.optimizer;
  config["lr"] = options.learning_rate;
  config["epochs"] = static_cast<std::int64_t>(options.epochs);
  config["batch"] = batch;
  config["hidden"] = hidden;
  config["average-last"] = average_last;
  config["weight-decay"] = options.rule.weight_decay;
  config["momentum"] = options.rule.momentum;
  config["schedule"] = options.schedule.name;
  config["schedule-length"] = static_cast<std::int64_t>(options.schedule.length);
  config["schedule-factor"] = options.schedule.factor;
  config["init"] = options.initialisation;
  config["bias"] = options.bias;
  config["shrink"] = options.shrink;
  config["shrink-tail"] = options.shrink_tail;
  config["shrink-every"] = static_cast<std::int64_t>(options.shrink_every);
  config["float64"] = float64;
}

}  // namespace udv::cli
