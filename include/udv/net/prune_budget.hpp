// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/files/model_file.hpp"
#include "udv/net/prune.hpp"
#include "udv/net/prune_curve.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

/// How small a network is wanted: one of these.
struct UDV_EXPORT PruneBudget {
  Index rank = 0;                                 ///< neurons to keep
  double energy = 0;                              ///< share of the energy of UD to keep
  Index max_parameters = 0, max_bytes = 0;        ///< bytes: of model.safetensors
  std::optional<double> max_drop = std::nullopt;  ///< relative loss of quality on validation rows

  int count() const;  ///< how many of them are set
};

/// How the smaller network is written.
enum class SmallForm {
  kSmallest,   ///< one dense layer where that is smaller
  kLayered,    ///< the layers stay
  kTrainable,  ///< inside the constraint sets of the variant, to train it further
};

template <typename Real>
UDV_EXPORT Network<Real> smaller_network(const Pruning<Real>& pruning, Index rank, SmallForm form);

/// What is learned from, what decides, and what is only looked at in the end.
template <typename Real>
struct PruneParts {
  Dataset<Real> training, validation;
  std::optional<Dataset<Real>> test;
};

/// Cuts validation rows out of the rows of a training. Throws InvalidArgument that starts with
/// `name` where there are fewer than five rows.
template <typename Real>
UDV_EXPORT PruneParts<Real> prune_parts(const std::string& name, const Dataset<Real>& rows,
                                        std::optional<Dataset<Real>> test,
                                        std::uint64_t split_seed);

/// Reads data for a model and repeats the split of its training, where these are its data: the
/// validation part that the training left alone decides. Else all rows decide and there is no test
/// part. Throws IoError naming the file.
template <typename Real>
UDV_EXPORT PruneParts<Real> read_prune_parts(const std::string& path, const std::string& targets,
                                             const Model<Real>& model);

/// The largest number of neurons, 1 to `neurons`, whose cost is within the budget; the cost grows
/// with them. Throws InvalidArgument that says what is reachable, in units of `what`, where one is
/// too many.
UDV_EXPORT Index largest_within(const std::string& what, Index neurons, Index budget,
                                const std::function<Index(Index)>& cost);

/// The neurons to keep. `curve` may be empty unless the budget is a drop. Throws InvalidArgument
/// that starts with `name` where the budget cannot be met.
template <typename Real>
UDV_EXPORT Index choose_rank(const std::string& name, const PruneBudget& budget,
                             const Model<Real>& model, const Pruning<Real>& pruning,
                             const std::vector<CurvePoint>& curve, SmallForm form);

/// How a pruned network is trained further.
struct RetrainOptions {
  Index epochs = 0;
  double learning_rate = 1e-4;
  std::string optimizer = "adam";
  std::uint64_t seed = 0;
};

/// The options of net::train for it.
template <typename Real>
UDV_EXPORT TrainOptions retrain_options(const Network<Real>& network, const PruneParts<Real>& parts,
                                        const RetrainOptions& options);

/// A new network of the same kind and size, trained with the usual settings: what a pruned one has
/// to be held against.
template <typename Real>
UDV_EXPORT TrainResult<Real> train_from_scratch(const Network<Real>& network,
                                                const PruneParts<Real>& parts, std::uint64_t seed,
                                                const TrainHooks<Real>& hooks = {});

/// Trains on from the weights of `network`, or from hooks.resume where that is not empty.
template <typename Real>
UDV_EXPORT TrainResult<Real> retrain(const Network<Real>& network, const PruneParts<Real>& parts,
                                     const RetrainOptions& options, TrainHooks<Real> hooks);

}  // namespace udv::net
