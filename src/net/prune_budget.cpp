// SPDX-License-Identifier: MIT
#include "udv/net/prune_budget.hpp"

#include <algorithm>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace {

constexpr double kValidationShare = 0.2;
constexpr Index kFewestRows = 5;
constexpr Index kBatch = 32;

// What the training noted about itself in the model file.
template <typename Number, typename Real>
Number note(const Model<Real>& model, const char* key, Number otherwise) {
  const auto at = model.notes.find(key);
  if (at == model.notes.end()) return otherwise;
  Number value{};
  return parse_all(at->second, value) ? value : otherwise;
}

}  // namespace

int PruneBudget::count() const {
  return (rank > 0) + (energy > 0) + (max_parameters > 0) + (max_bytes > 0) + max_drop.has_value();
}

template <typename Real>
Network<Real> smaller_network(const Pruning<Real>& pruning, Index rank, SmallForm form) {
  if (form == SmallForm::kTrainable) return pruning.keep(rank, PruneForm::kBalanced);
  return form == SmallForm::kLayered ? pruning.keep(rank) : pruning.smallest(rank);
}

template <typename Real>
PruneParts<Real> prune_parts(const std::string& name, const Dataset<Real>& rows,
                             std::optional<Dataset<Real>> test, std::uint64_t split_seed) {
  require(rows.size() >= kFewestRows, name, ": ", rows.size(),
          " rows to decide by found, at least ", kFewestRows, " expected");
  // Another seed than that of the test part: the same one would choose the same rows.
  const Split split = split_rows(rows.size(), kValidationShare, split_seed + 1);
  return {rows.subset(split.train), rows.subset(split.test), std::move(test)};
}

namespace {

// Labels in the order of the names of their classes, by which the training cut its validation part.
std::vector<std::int32_t> labels_by_name(const std::vector<std::int32_t>& labels,
                                         const std::vector<std::string>& classes) {
  if (classes.empty() || labels.empty()) return labels;
  std::vector<std::string> names = classes;
  std::sort(names.begin(), names.end());
  std::vector<std::int32_t> places;
  for (const std::string& name : classes)
    places.push_back(static_cast<std::int32_t>(std::lower_bound(names.begin(), names.end(), name) -
                                               names.begin()));
  std::vector<std::int32_t> result;
  for (const std::int32_t label : labels) result.push_back(places[static_cast<size_t>(label)]);
  return result;
}

// The parts of the training itself where it had a validation part: it decides.
template <typename Real>
PruneParts<Real> parts_of_training(const std::string& name, const Dataset<Real>& known,
                                   std::optional<Dataset<Real>> test, const Model<Real>& model) {
  const auto seed = note<std::uint64_t>(model, "split_seed", 0);
  const auto share = note<double>(model, "validation_share", 0);
  const Split parts = validation_split(
      known.size(), labels_by_name(known.labels, model.preprocessing.classes), share, seed);
  if (!(share > 0) || parts.test.empty())
    return prune_parts<Real>(name, known, std::move(test), seed);
  return {known.subset(parts.train), known.subset(parts.test), std::move(test)};
}

}  // namespace

template <typename Real>
PruneParts<Real> read_prune_parts(const std::string& path, const std::string& targets,
                                  const Model<Real>& model) {
  const auto seed = note<std::uint64_t>(model, "split_seed", 0);
  const auto read = [&](FolderPart part) {
    return read_for_model<Real>(path, targets, model.preprocessing, true, part);
  };
  const Dataset<Real> all = read(FolderPart::kTraining);
  if (std::filesystem::is_directory(path))
    return parts_of_training<Real>(path, all, read(FolderPart::kTest), model);
  if (all.size() != note<Index>(model, "rows", 0))
    return prune_parts<Real>(path, all, std::nullopt, seed);
  const auto share = note<double>(model, "test_share", 0.2);
  if (share == 0) return parts_of_training<Real>(path, all, std::nullopt, model);
  const Split split = split_rows(all.size(), share, seed);
  return parts_of_training<Real>(path, all.subset(split.train), all.subset(split.test), model);
}

Index largest_within(const std::string& what, Index neurons, Index budget,
                     const std::function<Index(Index)>& cost) {
  require(cost(1) <= budget, "prune: ", budget, " ", what, " wanted, the smallest reachable are ",
          cost(1));
  Index good = 1, bad = neurons + 1;
  while (bad - good > 1) {
    const Index middle = good + (bad - good) / 2;
    (cost(middle) <= budget ? good : bad) = middle;
  }
  return good;
}

template <typename Real>
Index choose_rank(const std::string& name, const PruneBudget& budget, const Model<Real>& model,
                  const Pruning<Real>& pruning, const std::vector<CurvePoint>& curve,
                  SmallForm form) {
  if (budget.rank > 0) {
    require(budget.rank <= pruning.neurons(), name, ": rank ", budget.rank,
            " wanted, the model has ", pruning.neurons(), " neurons");
    return budget.rank;
  }
  if (budget.energy > 0) return std::max<Index>(1, energy_rank(pruning.sizes(), budget.energy));
  if (budget.max_parameters > 0)
    return largest_within("parameters", pruning.neurons(), budget.max_parameters, [&](Index rank) {
      return smaller_network(pruning, rank, form).num_parameters();
    });
  if (budget.max_bytes > 0)
    return largest_within("bytes", pruning.neurons(), budget.max_bytes, [&](Index rank) {
      const Model<Real> smaller{smaller_network(pruning, rank, form), model.preprocessing,
                                model.notes};
      return static_cast<Index>(model_bytes(smaller).size());
    });
  require(budget.max_drop.has_value() && !curve.empty(), "prune: no budget given");
  return smallest_within(curve, *budget.max_drop);
}

template <typename Real>
TrainOptions retrain_options(const Network<Real>& network, const PruneParts<Real>& parts,
                             const RetrainOptions& how) {
  // The paper has no constant feature; the same steps without its preset.
  const bool paper = !(network.biases() == Bias(Bias::kConstant)) && network.sizes().deeper.empty();
  TrainOptions options = paper ? TrainOptions::paper() : TrainOptions();
  if (!paper) {
    options.schedule.name = "cosine";
    options.initialisation = "pytorch";
    options.average = false;
    options.smoothing = 0;
  }
  options.variant = network.variant().name;
  options.optimizer = how.optimizer;
  options.learning_rate = how.learning_rate;
  options.epochs = how.epochs;
  options.batch = std::min(kBatch, parts.training.size());
  options.hidden = network.sizes().hidden;
  options.deeper = network.sizes().deeper;
  options.bias = network.biases();
  options.seed = how.seed;
  return options;
}

template <typename Real>
TrainResult<Real> train_from_scratch(const Network<Real>& network, const PruneParts<Real>& parts,
                                     std::uint64_t seed, const TrainHooks<Real>& hooks) {
  TrainOptions options;
  options.variant = network.variant().name;
  options.hidden = network.sizes().hidden;
  options.deeper = network.sizes().deeper;
  options.bias = network.biases();
  options.seed = seed;
  return train(parts.training, parts.validation, parts.test ? *parts.test : parts.validation,
               options, hooks);
}

template <typename Real>
TrainResult<Real> retrain(const Network<Real>& network, const PruneParts<Real>& parts,
                          const RetrainOptions& how, TrainHooks<Real> hooks) {
  const TrainOptions options = retrain_options(network, parts, how);
  if (hooks.resume.empty()) {
    TrainState<Real> start;
    start.hidden = network.sizes().hidden;
    start.parameters = network.parameters();
    start.optimizer =
        Optimizer<Real>(options.optimizer, options.rule).start(network.num_parameters());
    hooks.resume = to_bytes(start);
  }
  return train(parts.training, parts.validation, options, hooks);
}

#define UDV_INSTANTIATE(Real)                                                                  \
  template Network<Real> smaller_network(const Pruning<Real>&, Index, SmallForm);              \
  template PruneParts<Real> prune_parts(const std::string&, const Dataset<Real>&,              \
                                        std::optional<Dataset<Real>>, std::uint64_t);          \
  template PruneParts<Real> read_prune_parts(const std::string&, const std::string&,           \
                                             const Model<Real>&);                              \
  template Index choose_rank(const std::string&, const PruneBudget&, const Model<Real>&,       \
                             const Pruning<Real>&, const std::vector<CurvePoint>&, SmallForm); \
  template TrainOptions retrain_options(const Network<Real>&, const PruneParts<Real>&,         \
                                        const RetrainOptions&);                                \
  template TrainResult<Real> train_from_scratch(const Network<Real>&, const PruneParts<Real>&, \
                                                std::uint64_t, const TrainHooks<Real>&);       \
  template TrainResult<Real> retrain(const Network<Real>&, const PruneParts<Real>&,            \
                                     const RetrainOptions&, TrainHooks<Real>);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
