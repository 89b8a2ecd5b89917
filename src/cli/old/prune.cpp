// SPDX-License-Identifier: MIT
#include "udv/net/prune.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/interrupt.hpp"
#include "cli/network_file.hpp"
#include "cli/prune_adapter.hpp"
#include "cli/prune_curves.hpp"
#include "cli/prune_tensors.hpp"
#include "core/parse.hpp"
#include "io/run_json.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/net/adapter_file.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/head.hpp"
#include "udv/net/model_file.hpp"
#include "udv/net/prune_curve.hpp"
#include "udv/net/trainer.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using Model = net::Model<float>;
using Data = net::Dataset<float>;
using net::Task;

struct Flags {
  std::string model, data, targets, max_drop, compare, optimizer = "adam", tensors;
  Index rank = 0, max_params = 0, max_bytes = 0, finetune = 0;
  double energy = 0, ratio = 0, learning_rate = 1e-4;
  bool curve = false, layered = false, compact = false;
  CommonFlags common;

  int budgets() const {
    return (rank > 0) + (energy > 0) + (max_params > 0) + (max_bytes > 0) + !max_drop.empty();
  }
};

constexpr double kValidationShare = 0.2;
constexpr Index kFewestRows = 5;

// "0.5%" or 0.005
double share_of(const std::string& flag, std::string text) {
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  double value = 0;
  if (!parse_all(text, value) || !(value >= 0) || !std::isfinite(value))
    throw CLI::ValidationError(flag, message("'", text, "' found, a share such as 0.5% expected"));
  return percent ? value / 100 : value;
}

/// What is learned from, what decides, and what is only looked at in the end.
struct Parts {
  Data training, validation;
  std::optional<Data> test;
};

template <typename Number>
Number note(const Model& model, const char* key, Number otherwise) {
  const auto at = model.notes.find(key);
  if (at == model.notes.end()) return otherwise;
  Number value{};
  return parse_all(at->second, value) ? value : otherwise;
}

// The split of the training where the data are those of the training; all rows decide otherwise.
Parts read_parts(const Flags& flags, const Model& model) {
  const auto seed = note<std::uint64_t>(model, "split_seed", 0);
  const auto read = [&](net::FolderPart part) {
    return net::read_for_model<float>(flags.data, flags.targets, model.preprocessing, true, part);
  };
  Parts parts;
  Data all = read(net::FolderPart::kTraining);
  if (std::filesystem::is_directory(flags.data)) {
    parts.test = read(net::FolderPart::kTest);
  } else if (all.size() == note<Index>(model, "rows", 0)) {
    const net::Split split =
        net::split_rows(all.size(), note<double>(model, "test_share", 0.2), seed);
    parts.test = all.subset(split.test);
    all = all.subset(split.train);
  }
  require<IoError>(all.size() >= kFewestRows, flags.data, ": ", all.size(),
                   " rows to decide by found, at least ", kFewestRows, " expected");
  const net::Split split = net::split_rows(all.size(), kValidationShare, seed + 1);
  parts.training = all.subset(split.train);
  parts.validation = all.subset(split.test);
  return parts;
}

void check_flags(const Flags& flags) {
  if (flags.ratio > 0 || flags.compact)
    throw CLI::ValidationError("--ratio and --compact", "go with the folder of an adapter");
  if (flags.budgets() > 1 || (flags.budgets() == 0 && !flags.curve))
    throw CLI::ValidationError(
        "one of --rank, --energy, --max-params, --max-bytes, --max-drop expected, or --curve");
  const bool data_needed = !flags.max_drop.empty() || flags.curve || flags.finetune > 0;
  require<IoError>(!data_needed || !flags.data.empty(),
                   "prune: --max-drop, --curve and --finetune need --data");
}

// What is trained on has to stay what it was, inside its constraint sets.
net::Network<float> smaller_network(const Flags& flags, const net::Pruning<float>& pruning,
                                    Index rank) {
  if (flags.finetune > 0) return pruning.keep(rank, net::PruneForm::kBalanced);
  return flags.layered ? pruning.keep(rank) : pruning.smallest(rank);
}

// The largest number of neurons whose cost, which grows with them, is within the budget.
template <typename Cost>
Index largest_within(const char* what, Index neurons, Index budget, const Cost& cost) {
  require<IoError>(cost(1) <= budget, "prune: ", budget, " ", what,
                   " wanted, the smallest reachable are ", cost(1));
  Index good = 1, bad = neurons + 1;
  while (bad - good > 1) {
    const Index middle = good + (bad - good) / 2;
    (cost(middle) <= budget ? good : bad) = middle;
  }
  return good;
}

Index choose_rank(const Flags& flags, const Model& model, const net::Pruning<float>& pruning,
                  const std::vector<net::CurvePoint>& curve) {
  if (flags.rank > 0) {
    require<IoError>(flags.rank <= pruning.neurons(), flags.model, ": rank ", flags.rank,
                     " wanted, the model has ", pruning.neurons(), " neurons");
    return flags.rank;
  }
  if (flags.energy > 0) return std::max<Index>(1, net::energy_rank(pruning.sizes(), flags.energy));
  if (flags.max_params > 0)
    return largest_within("parameters", pruning.neurons(), flags.max_params, [&](Index r) {
      return smaller_network(flags, pruning, r).num_parameters();
    });
  if (flags.max_bytes > 0)
    return largest_within("bytes", pruning.neurons(), flags.max_bytes, [&](Index r) {
      return static_cast<Index>(
          model_bytes(Model{smaller_network(flags, pruning, r), model.preprocessing, model.notes})
              .size());
    });
  return net::smallest_within(curve, share_of("--max-drop", flags.max_drop));
}

net::TrainResult<float> finetune(const Flags& flags, const net::Network<float>& network,
                                 const Parts& parts) {
  net::TrainOptions options;
  options.variant = network.variant().name;
  options.optimizer = flags.optimizer;
  options.learning_rate = flags.learning_rate;
  options.epochs = flags.finetune;
  options.batch = std::min<Index>(32, parts.training.size());
  options.hidden = network.sizes().hidden;
  options.bias = network.bias();
  options.seed = flags.common.seed;
  net::TrainState<float> start;
  start.hidden = network.sizes().hidden;
  start.parameters = network.parameters();
  start.optimizer =
      net::Optimizer<float>(options.optimizer, options.rule).start(network.num_parameters());
  net::TrainHooks<float> hooks;
  hooks.resume = &start;
  std::vector<Observer> observers{stop_on_interrupt()};
  if (flags.common.time_limit > 0) observers.push_back(time_limit(flags.common.time_limit));
  hooks.observer = combine(std::move(observers));
  catch_interrupts();
  return net::train(parts.training, parts.validation, options, hooks);
}

// Microseconds for one row, the fastest of several tries.
double prediction_time(const net::Network<float>& network) {
  using Clock = std::chrono::steady_clock;
  const RowMatrix<float> X = RowMatrix<float>::Ones(1, network.sizes().inputs);
  auto work = network.workspace(1);
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    constexpr int kRepeats = 200;
    const auto begin = Clock::now();
    for (int i = 0; i < kRepeats; ++i) network.forward(X, work);
    best = std::min(
        best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / kRepeats);
  }
  return best;
}

/// Before and after, as the terminal shows it and run.json has it.
struct Comparison {
  std::vector<std::vector<std::string>> rows;
  io::detail::RunJson json = io::detail::RunJson::object();

  void add(const std::string& name, const std::string& key, double before, double after,
           const std::string& format) {
    rows.push_back({name, fmt::format(fmt::runtime(format), before),
                    fmt::format(fmt::runtime(format), after)});
    json[key] = {{"before", io::detail::number(before)}, {"after", io::detail::number(after)}};
  }
};

void add_scores(const char* part, const Data& data, const Model& before, const Model& after,
                Comparison& table) {
  const net::Score old_score = net::evaluate(before.network, data),
                   new_score = net::evaluate(after.network, data);
  const std::string name = part;
  table.add(name + " loss", name + "_loss", old_score.loss, new_score.loss, "{:.5g}");
  if (data.task == Task::kClassification)
    table.add(name + " accuracy", name + "_accuracy", old_score.accuracy, new_score.accuracy,
              "{:.4f}");
}

Comparison compare(const Model& before, const Model& after, const std::optional<Parts>& parts) {
  Comparison table;
  const auto live = [](const Model& m) {
    return m.network.variant().has_hidden() ? static_cast<double>(m.network.sizes().hidden) : 0.0;
  };
  table.add("neurons", "neurons", live(before), live(after), "{:.0f}");
  table.add("parameters", "parameters", static_cast<double>(before.network.num_parameters()),
            static_cast<double>(after.network.num_parameters()), "{:.0f}");
  table.add("bytes", "bytes", static_cast<double>(model_bytes(before).size()),
            static_cast<double>(model_bytes(after).size()), "{:.0f}");
  if (parts) add_scores("validation", parts->validation, before, after, table);
  if (parts && parts->test) add_scores("test", *parts->test, before, after, table);
  table.add("microseconds a row", "prediction_microseconds", prediction_time(before.network),
            prediction_time(after.network), "{:.2f}");
  return table;
}

net::Pruning<float> pruning_of(const std::string& path, const Model& model) {
  require<IoError>(model.network.variant().has_hidden(), path, ": a ", model.network.variant().name,
                   " network has no hidden neurons to prune");
  return net::Pruning<float>(model.network);
}

// Whole neurons by their size, and another model where one is given.
std::vector<Beside> other_curves(const Flags& flags, const Model& model, const Parts& parts) {
  std::vector<Beside> others;
  if (!model.network.variant().has(net::LayerKind::kRelu))  // else that is what is done anyway
    others.push_back({"magnitude", net::prune_curve(net::Pruning<float>(model.network, true),
                                                    parts.validation)});
  if (flags.compare.empty()) return others;
  const Model other = net::read_model<float>(model_path(flags.compare));
  require<IoError>(other.preprocessing.inputs == parts.validation.X.cols() &&
                       other.preprocessing.outputs == parts.validation.outputs(),
                   flags.compare, ": a model of another shape (", other.preprocessing.inputs,
                   " inputs, ", other.preprocessing.outputs, " outputs)");
  others.push_back(
      {"compared", net::prune_curve(pruning_of(flags.compare, other), parts.validation)});
  return others;
}

// The matrices of any safetensors file.
ExitCode run_tensors(const Flags& flags) {
  if (flags.max_params > 0 || flags.max_bytes > 0 || !flags.max_drop.empty() || flags.curve ||
      flags.finetune > 0)
    throw CLI::ValidationError("--tensors", "goes with --rank or --energy alone");
  TensorPruning how;
  how.pattern = flags.tensors;
  how.rank = flags.rank;
  if (flags.energy > 0) how.energy = flags.energy;
  return prune_tensors(model_path(flags.model).string(), how, flags.common);
}

// LoRA and LoRA-UDV.
ExitCode run_adapter(const Flags& flags) {
  const bool others = flags.max_params > 0 || flags.max_bytes > 0 || !flags.max_drop.empty() ||
                      !flags.data.empty() || flags.curve || flags.finetune > 0;
  if (others || (flags.rank > 0) + (flags.energy > 0) + (flags.ratio > 0) > 1)
    throw CLI::ValidationError("an adapter is pruned by one of --energy, --rank, --ratio");
  AdapterBudget budget;
  budget.rank = flags.rank;
  budget.ratio = flags.ratio;
  if (flags.energy > 0) budget.energy = flags.energy;
  budget.compact = flags.compact;
  return prune_adapter(flags.model, budget, flags.common);
}

// The blocks inside the network that stands before the head, by the same energy.
void prune_blocks(const Flags& flags, const std::filesystem::path& folder) {
  const auto path = model_path(flags.model).parent_path() / "network.safetensors";
  if (flags.energy == 0 || !std::filesystem::exists(path)) return;
  NetworkFile file = read_network(path);
  try {
    const auto rows = prune_network(file, flags.energy);
    write_network(folder / "network.safetensors", file);
    if (!flags.common.quiet && !rows.empty())
      fmt::print("{}\n", report::table({"block", "before", "after"}, rows));
  } catch (const InvalidArgument& error) {
    throw IoError(message(path.string(), ": ", error.what()));
  }
}

ExitCode run_prune(const Flags& flags) {
  if (!flags.tensors.empty()) return run_tensors(flags);
  if (net::adapter_kind(flags.model) != net::AdapterKind::kNone) return run_adapter(flags);
  check_flags(flags);
  if (!flags.max_drop.empty()) share_of("--max-drop", flags.max_drop);
  set_num_threads(flags.common.threads);
  const Model model = net::read_model<float>(model_path(flags.model));
  const net::Pruning<float> pruning = pruning_of(flags.model, model);
  std::optional<Parts> parts;
  std::vector<net::CurvePoint> curve;
  std::vector<Beside> others;
  if (!flags.data.empty()) {
    parts = read_parts(flags, model);
    curve = net::prune_curve(pruning, parts->validation);
    require<IoError>(std::isfinite(curve.back().loss), flags.model,
                     ": the loss on the test rows is not finite, its weights are too large");
    others = other_curves(flags, model, *parts);
  }
  const bool only_curve = flags.budgets() == 0;
  const Index rank = only_curve ? pruning.neurons() : choose_rank(flags, model, pruning, curve);

  net::Network<float> network = smaller_network(flags, pruning, rank);
  net::TrainStop stop = net::TrainStop::kDone;
  if (flags.finetune > 0) {
    auto tuned = finetune(flags, network, *parts);
    stop = tuned.stop;
    if (stop == net::TrainStop::kInterrupted) return kInterrupted;
    if (stop == net::TrainStop::kDiverged)
      warn("the training after pruning diverged: the network is written as it was before it");
    else
      network = std::move(tuned.network);
  }
  require<IoError>(network.parameters().allFinite(), flags.model,
                   ": products of its weights are too large for single precision");
  const ExitCode code = stop == net::TrainStop::kDone ? kDone : kNotConverged;
  const Model smaller{std::move(network), model.preprocessing, model.notes};
  const Comparison table = compare(model, smaller, parts);

  const auto folder = make_run_folder(flags.common, "prune");
  if (!curve.empty()) io::write_atomically(folder / "curve.csv", curve_csv(curve, pruning, others));
  if (!only_curve) write_model(folder / "model.safetensors", smaller);
  io::detail::RunJson run = {{"udv", version()},
                             {"command", "prune"},
                             {"config", {{"model", flags.model}, {"data", flags.data}}},
                             {"by", pruning.by_svd() ? "svd" : "neurons"},
                             {"rank", rank},
                             {"spectrum", io::detail::list(pruning.sizes())},
                             {"variant", smaller.network.variant().name}};
  run.update(table.json);
  io::detail::write_json(folder / "run.json", run);
  prune_blocks(flags, folder);
  leave_report(flags.common, "prune", folder);
  if (flags.common.quiet) return code;
  if (flags.curve) {
    const bool classes = model.preprocessing.task == Task::kClassification;
    fmt::print("{}", curve_sketch(curve, others, classes));
  }
  if (!only_curve) fmt::print("{}\n", report::table({"", "before", "after"}, table.rows));
  if (!pruning.by_svd())
    fmt::print("  a {} network is not linear: whole neurons left, by |w||u||v|\n",
               model.network.variant().name);
  if (smaller.network.variant().name == "single")
    fmt::print("  one dense layer is smaller than {} neurons: collapsed\n", rank);
  fmt::print("  results        {}\n", folder.string());
  return code;
}

}  // namespace

Run setup_prune(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command =
      program.add_subcommand("prune", "Makes a trained network smaller, to a budget");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command->add_option(name, value, text);
  };
  const CLI::Range whole(Index{1}, Index{1} << 40);
  add("model", flags->model, "model.safetensors, the folder of a run or of a PEFT adapter")
      ->required();
  add("--rank", flags->rank, "Neurons to keep; rank at most of every block of an adapter")
      ->check(whole);
  add("--energy", flags->energy,
      "Share of the energy of UD, or of every block of an adapter (default there: 0.99), to keep")
      ->check(share_number());
  add("--ratio", flags->ratio, "Adapters: parameters after / before at most, by one energy")
      ->check(share_number());
  add("--max-params", flags->max_params, "Parameters at most")->check(whole);
  add("--max-bytes", flags->max_bytes, "Bytes of the file at most")->check(whole);
  add("--max-drop", flags->max_drop, "Relative loss of quality at most, such as 0.5%");
  add("--data", flags->data,
      "Data of the training: its validation part decides, never the test part");
  add("--targets", flags->targets, "File with the targets of a .npy or IDX file");
  add("--finetune", flags->finetune, "Epochs of training after pruning")->check(whole);
  add("--lr", flags->learning_rate, "Learning rate of it")
      ->capture_default_str()
      ->check(positive());
  add("--optimizer", flags->optimizer, "Optimizer of it")->capture_default_str();
  command->add_flag("--curve", flags->curve, "Show quality against neurons kept");
  command->add_flag("--layered", flags->layered,
                    "Keep the layers, also where one would be smaller");
  command->add_flag("--compact", flags->compact,
                    "PEFT adapters: every block with its own rank, not padded with zeros");
  add("--tensors", flags->tensors,
      "Matrices of any safetensors file, by name (* for any text): W becomes W.up W.down");
  add("--compare", flags->compare, "Another model (UV, say) whose curve stands beside");
  flags->common.add_to(*command);
  return [flags] { return run_prune(*flags); };
}

}  // namespace udv::cli
