// SPDX-License-Identifier: MIT
#include "udv/jobs/prune.hpp"

#include <cmath>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "jobs/prune_adapter.hpp"
#include "jobs/prune_model.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/jobs/model_input.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {
namespace {

constexpr double kMost = 1099511627776.0;  // 2^40
constexpr double kDefaultEnergy = 0.99;

using Config = std::map<std::string, Setting>;

// "0.5%" or 0.005
double share_of(std::string text) {
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  double value = 0;
  require(parse_all(text, value) && value >= 0 && std::isfinite(value), "'", text,
          "' found, a share such as 0.5% expected");
  return percent ? value / 100 : value;
}

void describe_budget(OptionTable& table, PruneOptions& options) {
  net::PruneBudget& budget = options.budget;
  table.group("Budget");
  table.add("rank", budget.rank, "Neurons to keep; largest rank of a block of an adapter")
      .between(1, kMost)
      .default_is("");
  table
      .add("energy", budget.energy,
           "Share of the energy of UD, or of every block of an adapter, to keep")
      .share()
      .default_is("0.99 for adapters and tensors");
  table.add("ratio", options.ratio, "Largest ratio of parameters after / before")
      .share()
      .default_is("");
  table
      .add("max-loss", options.max_loss,
           "Adapters and tensors: largest predicted increase of the loss; needs calibrate")
      .positive()
      .default_is("");
  table.add("max-params", budget.max_parameters, "Largest number of parameters")
      .between(1, kMost)
      .default_is("");
  table.add("max-bytes", budget.max_bytes, "Largest size of the file in bytes")
      .between(1, kMost)
      .default_is("");
  table
      .add_custom(
          "max-drop", [&budget](const std::string& text) { budget.max_drop = share_of(text); },
          [&budget]() -> Setting {
            return budget.max_drop ? Setting(*budget.max_drop) : Setting(std::string());
          },
          "Largest relative loss of quality, such as 0.5%: of the accuracy, or of the mean squared "
          "error in the units of the target")
      .called("SHARE");
}

// A budget of 0 is one that nobody set.
Config without_unset_budgets(Config config, const PruneOptions& options) {
  if (options.budget.rank == 0) config.erase("rank");
  if (options.budget.energy == 0) config.erase("energy");
  if (options.ratio == 0) config.erase("ratio");
  if (options.max_loss == 0) config.erase("max-loss");
  if (options.budget.max_parameters == 0) config.erase("max-params");
  if (options.budget.max_bytes == 0) config.erase("max-bytes");
  return config;
}

/// The configuration for run.json, and the fingerprint of the settings that decide the numbers.
struct ConfigAndFingerprint {
  Config config;
  std::string settings;
};

ConfigAndFingerprint config_and_fingerprint(PruneInput input, PruneOptions options) {
  OptionTable table;
  describe(table, input);
  describe(table, options);
  return {without_unset_budgets(table.config(), options), table.fingerprint()};
}

void check_network_options(const PruneOptions& options, bool has_data) {
  if (options.max_loss > 0) throw OptionError("max-loss", "only for adapters and tensors");
  if (options.compact) throw OptionError("compact", "only for the folder of a PEFT adapter");
  const int count = options.budget.count() + (options.ratio > 0 ? 1 : 0);
  if (count > 1 || (count == 0 && !options.curve))
    throw OptionError(
        "rank",
        "one of rank, energy, ratio, max-params, max-bytes and max-drop expected, or curve");
  const bool data_needed =
      options.budget.max_drop || options.curve || options.baseline || options.finetune.epochs > 0;
  require(!data_needed || has_data, "prune: max-drop, curve, baseline and finetune need data");
}

// A ratio is a number of parameters.
PruneOptions with_parameters(PruneOptions options, const net::Model<float>& model) {
  if (options.ratio > 0)
    options.budget.max_parameters = std::max<Index>(
        1, static_cast<Index>(options.ratio * static_cast<double>(model.network.num_parameters())));
  return options;
}

bool wants_network(const PruneOptions& options) {
  return options.budget.max_parameters > 0 || options.budget.max_bytes > 0 ||
         options.budget.max_drop || options.curve || options.baseline ||
         options.finetune.epochs > 0;
}

// Of adapters and tensors: one budget at most, an energy where there is none.
PruneOptions with_one_budget(PruneOptions options, bool calibrated) {
  const int count = (options.budget.rank > 0) + (options.budget.energy > 0) + (options.ratio > 0) +
                    (options.max_loss > 0);
  if (count > 1 || wants_network(options))
    throw OptionError("rank", "one of rank, energy, ratio and max-loss alone expected");
  if (options.max_loss > 0 && !calibrated)
    throw OptionError(
        "max-loss",
        "needs calibrate: the increase of the loss is computed from inputs and gradients");
  if (count == 0) options.budget.energy = kDefaultEnergy;
  return options;
}

PruneOptions checked_adapter_options(const PruneOptions& options, net::AdapterKind kind,
                                     bool has_data, bool calibrated) {
  if (has_data) throw OptionError("data", "an adapter is pruned without data, or with calibrate");
  if (options.compact && kind != net::AdapterKind::kPeft)
    throw OptionError("compact", "only for the folder of a PEFT adapter");
  return with_one_budget(options, calibrated);
}

net::Calibration calibration_of(const PruneInput& input) {
  if (input.calibrate.empty()) return {};
  if (net::is_calibration_file(input.calibrate)) return net::read_calibration(input.calibrate);
  if (!input.measure)
    throw OptionError(
        "calibrate", "'" + input.calibrate +
                         "' found, a safetensors file expected; texts need the LibTorch component");
  return input.measure(input.model, input.calibrate);
}

Json tensors_json(const net::TensorPruningResult& pruned) {
  Json json = {{"by", "svd"},
               {"matrices", pruned.matched},
               {"factored", pruned.factored.size()},
               {"numbers", {{"before", pruned.before}, {"after", pruned.after}}},
               {"bytes", {{"before", pruned.bytes_before}, {"after", pruned.bytes.size()}}}};
  if (pruned.predicted_loss) json["predicted_loss"] = number(*pruned.predicted_loss);
  return json;
}

PruneResult prune_any_tensors(const PruneInput& input, const PruneOptions& given,
                              Session& session) {
  const PruneOptions options = with_one_budget(given, !input.calibrate.empty());
  PruneResult result;
  if (!input.calibrate.empty() && !net::is_calibration_file(input.calibrate))
    throw OptionError("calibrate", "a safetensors file expected; texts are for adapters");
  auto pruned = net::prune_tensors(model_path(input.model),
                                   {options.tensors, options.budget.rank, options.budget.energy,
                                    options.ratio, options.max_loss, calibration_of(input)});
  auto [config, settings] = config_and_fingerprint(input, options);
  Run run(session, "prune", std::move(config), settings);
  result.folder = run.path();
  if (run.has_folder()) {
    io::write_atomically(run.folder().file("model.safetensors"), pruned.bytes);
    write_run_json(run.folder(), run.info(), tensors_json(pruned));
  }
  result.pruned = std::move(pruned);
  return result;
}

// The blocks inside the network that stands before the head, by the same energy.
void prune_blocks(const PruneInput& input, double energy, ModelToPrune& what) {
  const auto path = model_path(input.model).parent_path() / "network.safetensors";
  if (energy == 0 || !std::filesystem::exists(path)) return;
  what.network = net::read_network(path);
  try {
    what.blocks = net::prune_network(*what.network, energy);
  } catch (const InvalidArgument& error) {
    throw IoError(message(path.string(), ": ", error.what()));
  }
}

PruneResult prune_network_file(const PruneInput& input, const PruneOptions& options,
                               Session& session) {
  check_network_options(options, !input.data.empty());
  const auto model = net::read_model<float>(model_path(input.model));
  std::optional<net::PruneParts<float>> parts;
  if (!input.data.empty()) parts = net::read_prune_parts(input.data, input.targets, model);
  ModelToPrune what{input.model, model, parts, {}, input.compare, {}, {}};
  if (!input.compare.empty() && parts)
    what.compared = net::read_model<float>(model_path(input.compare));
  prune_blocks(input, options.budget.energy, what);
  auto [config, settings] = config_and_fingerprint(input, options);
  return prune_model(std::move(what), with_parameters(options, model), std::move(config), settings,
                     session);
}

}  // namespace

void describe(OptionTable& table, PruneInput& input) {
  table.add("model", input.model, "model.safetensors, the folder of a run or of a PEFT adapter")
      .is_input()
      .called("MODEL");
  table.group("Data");
  table
      .add("data", input.data,
           "Data of the training: the validation part decides, the test part is only evaluated")
      .called("DATA");
  table.add("targets", input.targets, "File with the targets of a .npy or IDX file").called("FILE");
  table
      .add("compare", input.compare,
           "Another model, such as UV, whose curve is drawn in the same chart")
      .called("MODEL");
  table
      .add("calibrate", input.calibrate,
           "Inputs and gradients of layers (safetensors), or a text for the adapter of a language "
           "model: adapters and tensors are cut by their predicted effect on the loss")
      .called("FILE");
}

void describe(OptionTable& table, PruneOptions& options) {
  describe_budget(table, options);
  table.group("Pruning");
  table
      .add("finetune", options.finetune.epochs,
           "Epochs of training after pruning; max-drop then applies to the quality after this "
           "training; auto: 5 to 100 for max-drop and ReLU, else 0")
      .between(0, kMost)
      .word("auto", -1);
  table.add("lr", options.finetune.learning_rate, "Learning rate of this training").positive();
  table.add("optimizer", options.finetune.optimizer, "Optimizer of this training");
  table.add("curve", options.curve, "Show quality against neurons kept");
  table.add("baseline", options.baseline,
            "Also train a network of the small size from scratch, for comparison");
  table.add("layered", options.layered,
            "Keep the layers, even if one dense layer would be smaller");
  table.add("compact", options.compact,
            "PEFT adapters: every block keeps its own rank, without padding by zeros");
  table
      .add("tensors", options.tensors,
           "Matrices of any safetensors file, by name (* for any text): W becomes W.up W.down")
      .called("PATTERN");
}

PruneResult prune(const PruneInput& input, const PruneOptions& options, Session& session) {
  require_other_folder(session, input.model);
  const EarlyFolder early(session);
  if (!options.tensors.empty()) return prune_any_tensors(input, options, session);
  const net::AdapterKind kind = net::adapter_kind(input.model);
  if (kind == net::AdapterKind::kNone) return prune_network_file(input, options, session);
  const PruneOptions used =
      checked_adapter_options(options, kind, !input.data.empty(), !input.calibrate.empty());
  auto [config, settings] = config_and_fingerprint(input, used);
  return prune_adapter({input.model, net::read_adapter(input.model), kind, calibration_of(input)},
                       used, std::move(config), settings, session);
}

PruneResult prune(const net::Model<float>& model,
                  const std::optional<net::PruneParts<float>>& parts, const PruneOptions& options,
                  Session& session) {
  check_network_options(options, parts.has_value());
  auto [config, settings] = config_and_fingerprint({}, options);
  return prune_model({"prune", model, parts, {}, "", {}, {}}, with_parameters(options, model),
                     std::move(config), settings, session);
}

PruneResult prune(const net::Adapter& adapter, const PruneOptions& options, Session& session) {
  const auto kind = net::AdapterKind::kNative;
  const PruneOptions used = checked_adapter_options(options, kind, false, false);
  auto [config, settings] = config_and_fingerprint({}, used);
  return prune_adapter({"prune", adapter, kind, {}}, used, std::move(config), settings, session);
}

}  // namespace udv::jobs
