// SPDX-License-Identifier: MIT
#include "jobs/prune_model.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <memory>

#include "core/hash.hpp"
#include "core/require.hpp"
#include "jobs/prune_search.hpp"
#include "jobs/run_json.hpp"
#include "jobs/training_files.hpp"
#include "udv/io/file.hpp"
#include "udv/net/layer_pruning.hpp"
#include "udv/net/metrics.hpp"

namespace udv::jobs {
namespace {

using Model = net::Model<float>;
using Network = net::Network<float>;
using Parts = std::optional<net::PruneParts<float>>;
using Pruning = net::Pruning<float>;
using net::TrainStop;

net::SmallForm form_of(const PruneOptions& options) {
  if (options.finetune.epochs > 0) return net::SmallForm::kTrainable;
  return options.layered ? net::SmallForm::kLayered : net::SmallForm::kSmallest;
}

// Neurons of ReLU are chosen, and their outputs fitted, on the rows of the training where there are
// some.
Pruning pruning_of(const std::string& name, const Model& model, const Parts& parts) {
  const net::Variant& variant = model.network.variant();
  require(variant.has_hidden(), name, ": a ", variant.name,
          " network has no hidden neurons to prune");
  if (!parts || !variant.has(net::LayerKind::kRelu)) return Pruning(model.network);
  return Pruning(model.network, parts->training.X);
}

std::vector<net::CurvePoint> curve_of(const Pruning& pruning, const ModelToPrune& what) {
  const DropError error(what.parts->validation, what.model.preprocessing);
  return net::prune_curve(pruning, what.parts->validation,
                          [&](const RowMatrix<double>& outputs) { return error.of(outputs); });
}

// Whole neurons by |w||u||v|, and another model where one is given.
std::vector<NamedCurve> other_curves(const ModelToPrune& what) {
  std::vector<NamedCurve> others;
  const net::Dataset<float>& rows = what.parts->validation;
  others.push_back({"magnitude", curve_of(Pruning(what.model.network, true), what)});
  if (!what.compared) return others;
  const net::Preprocessing& how = what.compared->preprocessing;
  require(how.inputs == rows.X.cols() && how.outputs == rows.outputs(), what.compared_name,
          ": a model of another shape (", how.inputs, " inputs, ", how.outputs, " outputs)");
  others.push_back(
      {"compared", curve_of(pruning_of(what.compared_name, *what.compared, what.parts), what)});
  return others;
}

// Microseconds for one row, the fastest of several tries.
double prediction_time(const Network& network) {
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

// In the units of the target.
double rmse_of(const Network& network, const net::Dataset<float>& data,
               const net::Preprocessing& how) {
  return net::metrics_of(net::predict<float>(network, data.X), data, how).mean_rmse();
}

bool has_units(const net::Preprocessing& how) {
  return how.task == net::Task::kRegression && how.targets.factor.size() > 0;
}

ScoreChange score_change(const net::Dataset<float>& data, const Model& before, const Model& after) {
  const net::Score old_score = net::evaluate(before.network, data),
                   new_score = net::evaluate(after.network, data);
  ScoreChange change{{old_score.loss, new_score.loss}, {}, {}};
  if (has_units(before.preprocessing))
    change.rmse = {rmse_of(before.network, data, before.preprocessing),
                   rmse_of(after.network, data, before.preprocessing)};
  if (data.task == net::Task::kClassification)
    change.accuracy = {old_score.accuracy, new_score.accuracy};
  return change;
}

void compare(const Model& before, const Model& after, const Parts& parts, PrunedModel& pruned) {
  const auto change = [&](const auto& figure) {
    return BeforeAfter{static_cast<double>(figure(before)), static_cast<double>(figure(after))};
  };
  pruned.neurons = change([](const Model& m) {
    return m.network.variant().has_hidden() ? net::hidden_neurons(m.network.sizes()) : Index{0};
  });
  pruned.parameters = change([](const Model& m) { return m.network.num_parameters(); });
  pruned.bytes = change([](const Model& m) { return model_bytes(m).size(); });
  if (parts) pruned.validation = score_change(parts->validation, before, after);
  if (parts && parts->test) pruned.test = score_change(*parts->test, before, after);
  pruned.prediction_microseconds =
      change([](const Model& m) { return prediction_time(m.network); });
}

/// What is to be done: the smaller networks that there are, and the one that was chosen.
struct Plan {
  PruneOptions options;  ///< nothing is left at auto
  PrunedModel pruned;
  Network network;                            ///< chosen
  std::function<Network(Index)> candidate;    ///< of growing size, inside the constraint sets
  std::function<Index(size_t)> parameters{};  ///< at a point of the curve
};

// One line per number of neurons, 1 to all.
std::string curve_csv(const Plan& plan) {
  const PrunedModel& pruned = plan.pruned;
  std::string text = "neurons,parameters,loss,accuracy,relative_change";
  for (const NamedCurve& other : pruned.other_curves)
    text += fmt::format(",{0}_loss,{0}_accuracy,{0}_change", other.name);
  for (size_t r = 1; r < pruned.curve.size(); ++r) {
    const net::CurvePoint& p = pruned.curve[r];
    text += fmt::format("\n{},{},{:.9g},{:.9g},{:.9g}", p.neurons, plan.parameters(r), p.loss,
                        p.accuracy, p.relative_change);
    for (const NamedCurve& other : pruned.other_curves) {
      const net::CurvePoint* const q = other.at(r);
      text += q ? fmt::format(",{:.9g},{:.9g},{:.9g}", q->loss, q->accuracy, q->relative_change)
                : std::string(",,,");
    }
  }
  return text + "\n";
}

Json change_json(const BeforeAfter& change) {
  return {{"before", number(change.before)}, {"after", number(change.after)}};
}

void add_scores(const std::string& part, const std::optional<ScoreChange>& change, Json& json) {
  if (!change) return;
  json[part + "_loss"] = change_json(change->loss);
  if (change->rmse) json[part + "_rmse"] = change_json(*change->rmse);
  if (change->accuracy) json[part + "_accuracy"] = change_json(*change->accuracy);
}

// The network of the same size that was trained from scratch.
void add_baseline(const PrunedModel& pruned, Json& json) {
  const auto add = [&](const std::string& part, const std::optional<ScratchScore>& score) {
    if (!score) return;
    json["baseline"][part + "_loss"] = number(score->loss);
    if (score->rmse) json["baseline"][part + "_rmse"] = number(*score->rmse);
    if (pruned.task == net::Task::kClassification)
      json["baseline"][part + "_accuracy"] = number(score->accuracy);
  };
  add("validation", pruned.scratch_validation);
  add("test", pruned.scratch_test);
}

const char* to_string(PrunedBy by) {
  return by == PrunedBy::kSvd ? "svd" : by == PrunedBy::kOutputs ? "outputs" : "neurons";
}

Json results_json(const PrunedModel& pruned, const std::string& variant) {
  Json json = {{"by", to_string(pruned.by)},
               {"rank", pruned.rank},
               {"spectrum", list(pruned.sizes)},
               {"variant", variant},
               {"finetune_epochs", pruned.epochs},
               {"neurons", change_json(pruned.neurons)},
               {"parameters", change_json(pruned.parameters)},
               {"bytes", change_json(pruned.bytes)}};
  add_scores("validation", pruned.validation, json);
  add_scores("test", pruned.test, json);
  add_baseline(pruned, json);
  json["prediction_microseconds"] = change_json(pruned.prediction_microseconds);
  return json;
}

// Training after pruning where nobody says it: it pays where whole neurons go and a drop is given.
// At least five epochs, and as many as have about 64,000 rows (2,000 steps), but at most 100.
PruneOptions resolved(PruneOptions options, bool by_outputs, const Parts& parts) {
  constexpr Index kEpochs = 5, kMostEpochs = 100, kRows = 64'000;
  if (options.finetune.epochs >= 0) return options;
  const Index rows = parts ? std::max<Index>(1, parts->training.size()) : 1;
  options.finetune.epochs =
      options.budget.max_drop && by_outputs ? std::clamp(kRows / rows, kEpochs, kMostEpochs) : 0;
  return options;
}

PrunedModel started(const ModelToPrune& what, PrunedBy by) {
  PrunedModel pruned;
  pruned.task = what.model.preprocessing.task;
  pruned.variant_before = what.model.network.variant().name;
  pruned.by = by;
  pruned.blocks = what.blocks;
  return pruned;
}

void require_finite(const ModelToPrune& what, const PrunedModel& pruned) {
  require(std::isfinite(pruned.curve.back().loss), what.name,
          ": the loss on the test rows is not finite, its weights are too large");
}

// One hidden layer: curves, and the neurons to keep.
Plan plan_head(const ModelToPrune& what, const PruneOptions& given) {
  const auto pruning =
      std::make_shared<const Pruning>(pruning_of(what.name, what.model, what.parts));
  const PruneOptions options = resolved(given, pruning->by_outputs(), what.parts);
  PrunedModel pruned = started(what, pruning->by_svd()       ? PrunedBy::kSvd
                                     : pruning->by_outputs() ? PrunedBy::kOutputs
                                                             : PrunedBy::kSize);
  pruned.sizes = pruning->sizes();
  if (what.parts) {
    pruned.curve = curve_of(*pruning, what);
    require_finite(what, pruned);
    pruned.other_curves = other_curves(what);
  }
  pruned.rank = options.budget.count() == 0
                    ? pruning->neurons()
                    : net::choose_rank(what.name, options.budget, what.model, *pruning,
                                       pruned.curve, form_of(options));
  Network network = net::smaller_network(*pruning, pruned.rank, form_of(options));
  const auto candidate = [pruning](Index rank) {
    return net::smaller_network(*pruning, rank, net::SmallForm::kTrainable);
  };
  const auto parameters = [pruning](size_t r) {
    return pruning->parameters(static_cast<Index>(r));
  };
  return {options, std::move(pruned), std::move(network), candidate, parameters};
}

// The quality of every network of a ladder; nothing stands for no neurons at all.
std::vector<net::CurvePoint> ladder_curve(const std::vector<Network>& ladder,
                                          const net::Dataset<float>& rows, const DropError& error) {
  const double whole = error.of(ladder.back());
  std::vector<net::CurvePoint> curve(1);
  for (const Network& network : ladder) {
    const net::Score score = net::evaluate(network, rows);
    curve.push_back({net::hidden_neurons(network.sizes()), score.loss, score.accuracy,
                     DropError::change(error.of(network), whole)});
  }
  curve[0] = curve[1];
  return curve;
}

// The place in the ladder, from 1, of the largest network within a budget of parameters or bytes,
// or the smallest within a drop.
Index place_in(const std::vector<Network>& ladder, const ModelToPrune& what,
               const net::PruneBudget& budget, const std::vector<net::CurvePoint>& curve) {
  const auto count = static_cast<Index>(ladder.size());
  const auto at = [&](Index i) -> const Network& { return ladder[static_cast<size_t>(i - 1)]; };
  if (budget.max_parameters > 0)
    return net::largest_within("parameters", count, budget.max_parameters,
                               [&](Index i) { return at(i).num_parameters(); });
  if (budget.max_bytes > 0)
    return net::largest_within("bytes", count, budget.max_bytes, [&](Index i) {
      const Model smaller{at(i), what.model.preprocessing, what.model.notes};
      return static_cast<Index>(model_bytes(smaller).size());
    });
  return budget.max_drop ? net::smallest_within(curve, *budget.max_drop) : count;
}

// Several hidden layers: whole neurons of every one of them.
Plan plan_layers(const ModelToPrune& what, const PruneOptions& given) {
  require(what.parts.has_value(), what.name, ": a network of ",
          to_string(what.model.network.sizes()),
          " has several hidden layers: data expected to choose its neurons by (option data)");
  require(!what.compared, what.compared_name, ": compare is for networks with one hidden layer");
  const PruneOptions options = resolved(given, true, what.parts);
  const net::LayerPruning<float> pruning(what.model.network, what.parts->training.X);
  const auto ladder = std::make_shared<const std::vector<Network>>(
      net::pruning_ladder(what.model.network, pruning));
  PrunedModel pruned = started(what, PrunedBy::kOutputs);
  pruned.curve = ladder_curve(*ladder, what.parts->validation,
                              DropError(what.parts->validation, what.model.preprocessing));
  require_finite(what, pruned);
  const net::PruneBudget& budget = options.budget;
  pruned.rank = place_in(*ladder, what, budget, pruned.curve);
  const auto candidate = [ladder](Index i) { return (*ladder)[static_cast<size_t>(i - 1)]; };
  Network network = budget.rank > 0     ? pruning.keep_most(budget.rank)
                    : budget.energy > 0 ? pruning.keep_energy(1 - std::min(1.0, budget.energy))
                                        : candidate(pruned.rank);
  const auto parameters = [ladder](size_t r) { return (*ladder)[r - 1].num_parameters(); };
  return {options, std::move(pruned), std::move(network), candidate, parameters};
}

net::RetrainOptions with_seed(net::RetrainOptions how, const Session& session) {
  how.seed = session.seed();
  return how;
}

void check_training(const ModelToPrune& what, const net::RetrainOptions& how,
                    const Network& network) {
  net::check_run(what.name, what.parts->training, what.parts->validation,
                 net::retrain_options(network, *what.parts, how));
}

// Trains the small network further; one that diverges stays as it was.
TrainStop train_further(Run& run, const ModelToPrune& what, const net::RetrainOptions& how,
                        net::TrainingJournal<float>& journal, Network& network) {
  auto result = journal.part(
      "after the cut",
      [&](const net::TrainHooks<float>& hooks) {
        return net::retrain(network, *what.parts, how, hooks);
      },
      net::PartProgress::kShown);
  if (result.stop == TrainStop::kInterrupted) return result.stop;
  if (result.stop == TrainStop::kDiverged || !result.network.parameters().allFinite()) {
    run.warn("the training after pruning diverged: the network is written as it was before it");
    return TrainStop::kDiverged;
  }
  network = std::move(result.network);
  return result.stop;
}

// Trains a network of the size of `smaller` from scratch, to hold the pruned one against.
TrainStop train_baseline(const ModelToPrune& what, std::uint64_t seed, const Network& smaller,
                         net::TrainingJournal<float>& journal, PrunedModel& pruned) {
  const auto result = journal.part("from scratch", [&](const net::TrainHooks<float>& hooks) {
    return net::train_from_scratch(smaller, *what.parts, seed, hooks);
  });
  if (journal.stopped()) return result.stop;
  const auto scored = [&](const net::Dataset<float>& rows) {
    ScratchScore scratch{net::evaluate(result.network, rows), {}};
    if (has_units(what.model.preprocessing))
      scratch.rmse = rmse_of(result.network, rows, what.model.preprocessing);
    return scratch;
  };
  pruned.scratch_validation = scored(what.parts->validation);
  if (what.parts->test) pruned.scratch_test = scored(*what.parts->test);
  return TrainStop::kDone;
}

// A drop that is asked for holds after training, so that fewer neurons will do than the curve has.
TrainStop search_drop(const ModelToPrune& what, const net::RetrainOptions& how,
                      net::TrainingJournal<float>& journal, Plan& plan) {
  const DropError error(what.parts->validation, what.model.preprocessing);
  TrainedSmaller found =
      search_smaller(what.model.network, error, plan.pruned.rank, *plan.options.budget.max_drop,
                     plan.candidate, *what.parts, how, journal);
  if (found.rank > 0) {
    plan.pruned.rank = found.rank;
    plan.network = std::move(found.network);
  } else {
    plan.pruned.epochs = 0;  // the plain cut is better
  }
  return found.stop;
}

Index most_steps(const ModelToPrune& what, const net::RetrainOptions& how, const Plan& plan) {
  if (how.epochs == 0) return 0;
  const Index trainings = plan.options.budget.max_drop ? kMostTrainings : 1;
  return trainings * net::retrain_options(plan.network, *what.parts, how)
                         .num_steps(what.parts->training.size());
}

// The trainings that follow a cut are parts of one computation, which can be resumed.
TrainStop train_networks(Run& run, const ModelToPrune& what, bool baseline, Plan& plan) {
  const net::RetrainOptions how = with_seed(plan.options.finetune, run.session());
  const net::TrainHooks<float> hooks{
      run.hooks({most_steps(what, how, plan), run.session().options().time_limit},
                {"step", "loss", "width"}),
      nullptr};
  return run.compute(hooks, [&] {
    net::TrainingJournal<float> journal(hooks);
    TrainStop stop = TrainStop::kDone;
    if (how.epochs > 0)
      stop = plan.options.budget.max_drop ? search_drop(what, how, journal, plan)
                                          : train_further(run, what, how, journal, plan.network);
    if (baseline && !journal.stopped()) {
      const TrainStop scratch =
          train_baseline(what, run.session().seed(), plan.network, journal, plan.pruned);
      if (scratch != TrainStop::kDone) stop = scratch;
    }
    if (baseline && stop == TrainStop::kTimeLimit)
      run.warn("no time was left for a network of the small size trained from scratch: left out");
    return stop;
  });
}

void write_files(Run& run, const ModelToPrune& what, const Plan& plan, const std::string& variant) {
  const PrunedModel& pruned = plan.pruned;
  RunFolder& folder = run.folder();
  if (!pruned.curve.empty()) io::write_atomically(folder.file("curve.csv"), curve_csv(plan));
  if (pruned.model) write_model(folder.file("model.safetensors"), *pruned.model);
  if (what.network) net::write_network(folder.file("network.safetensors"), *what.network);
  write_run_json(folder, run.info(), results_json(pruned, variant));
}

// The numbers that a checkpoint depends on besides settings.
std::string content_text(const ModelToPrune& what) {
  const std::uint64_t model = fnv_hash(model_bytes(what.model));
  const std::uint64_t data =
      what.parts ? what.parts->validation.content_hash(what.parts->training.content_hash()) : 0;
  return message("; numbers of the model ", model, "; numbers of the data ", data);
}

}  // namespace

PruneResult prune_model(ModelToPrune what, const PruneOptions& given,
                        std::map<std::string, Setting> config, const std::string& settings,
                        Session& session) {
  const bool several = !what.model.network.sizes().deeper.empty();
  Plan plan = several ? plan_layers(what, given) : plan_head(what, given);
  PrunedModel& pruned = plan.pruned;
  require(plan.network.parameters().allFinite(), what.name,
          ": products of its weights are too large for single precision");
  const net::RetrainOptions training = with_seed(plan.options.finetune, session);
  if (training.epochs > 0) check_training(what, training, plan.network);
  PruneResult result;
  Run run(session, "prune", std::move(config), settings + content_text(what));
  result.folder = run.path();
  pruned.epochs = training.epochs;
  const TrainStop stop = training.epochs > 0 || given.baseline
                             ? train_networks(run, what, given.baseline, plan)
                             : TrainStop::kDone;
  result.outcome = outcome_of(stop);
  if (stop == TrainStop::kInterrupted) return result;
  Model smaller{std::move(plan.network), what.model.preprocessing, what.model.notes};
  const std::string variant = smaller.network.variant().name;
  pruned.collapsed = variant == "single";
  if (several) pruned.rank = net::hidden_neurons(smaller.network.sizes());
  compare(what.model, smaller, what.parts, pruned);
  if (given.budget.count() > 0) pruned.model = std::move(smaller);
  if (run.has_folder()) write_files(run, what, plan, variant);
  if (stop != TrainStop::kTimeLimit) run.remove_checkpoint();
  result.pruned = std::move(pruned);
  return result;
}

}  // namespace udv::jobs
