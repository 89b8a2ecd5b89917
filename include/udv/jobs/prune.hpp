// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/jobs/session.hpp"
#include "udv/net/adapter.hpp"
#include "udv/net/files/network_file.hpp"
#include "udv/net/prune_budget.hpp"
#include "udv/net/tensor_pruning.hpp"
#include "udv/net/trainer.hpp"

namespace udv::jobs {

/// What is made smaller, and the data that decide.
struct PruneInput {
  std::string model;    ///< model.safetensors, the folder of a run or of a PEFT adapter
  std::string data;     ///< of the training: its validation part decides, never the test part
  std::string targets;  ///< file with the targets of a .npy or IDX file
  std::string compare;  ///< another model whose curve is drawn with that of the first
  /// Inputs and gradients of layers: adapters and tensors are cut by what they do to the loss; or a
  /// text, where `measure` is there.
  std::string calibrate = {};
  /// Makes a calibration of an adapter from a text.
  std::function<net::Calibration(const std::string& adapter, const std::string& text)> measure = {};
};
UDV_EXPORT void describe(OptionTable& table, PruneInput& input);

/// Settings of `prune`. Networks: one field of the budget, or a curve alone. Adapters, and
/// any safetensors file with a pattern of tensors: rank, energy, ratio or max_loss.
struct PruneOptions {
  net::PruneBudget budget;
  double ratio = 0;     ///< parameters after / before at most
  double max_loss = 0;  ///< adapters, tensors: predicted increase of the loss at most
  /// Training after pruning; the seed is that of the session. Epochs below 0: auto, some where a
  /// drop is asked for and whole neurons go.
  net::RetrainOptions finetune{.epochs = -1};
  bool curve = false;     ///< quality against neurons kept
  bool baseline = false;  ///< train a network of the small size from scratch, to compare
  bool layered = false;   ///< keep the layers, also where one would be smaller
  bool compact = false;   ///< PEFT: the own rank of every block instead of zeros
  std::string tensors;    ///< names of tensors of any safetensors file, with *
};
UDV_EXPORT void describe(OptionTable& table, PruneOptions& options);

struct BeforeAfter {
  double before = 0, after = 0;
};
struct ScoreChange {
  BeforeAfter loss;
  std::optional<BeforeAfter> accuracy;  ///< classification
  std::optional<BeforeAfter> rmse;      ///< of values, in the units of the target
};

/// Of a network that was trained from scratch.
struct ScratchScore : net::Score {
  std::optional<double> rmse;  ///< of values, in the units of the target
};

/// A curve of another model, or of another way to prune.
struct UDV_EXPORT NamedCurve {
  std::string name;
  std::vector<net::CurvePoint> points;

  /// nullptr where it has fewer neurons.
  const net::CurvePoint* at(size_t neurons) const {
    return neurons < points.size() ? &points[neurons] : nullptr;
  }
};

/// What decided about neurons.
enum class PrunedBy {
  kSvd,      ///< directions, by the singular values of UD: the network is linear
  kOutputs,  ///< whole neurons by what they add to the outputs for the rows of the training; their
             ///< output weights are fitted anew
  kSize,     ///< whole neurons by |w||u||v|: no data
};

/// A network with fewer neurons.
struct PrunedModel {
  std::optional<net::Model<float>> model;  ///< empty where only a curve was wanted
  net::Task task = net::Task::kRegression;
  std::string variant_before;
  PrunedBy by = PrunedBy::kSvd;
  bool collapsed = false;  ///< to one dense layer
  Index rank = 0;
  Index epochs = 0;      ///< of training after pruning
  Vector<double> sizes;  ///< singular values of UD, or sizes of neurons
  BeforeAfter neurons, parameters, bytes, prediction_microseconds;
  std::optional<ScoreChange> validation, test;
  std::optional<ScratchScore> scratch_validation, scratch_test;  ///< of the baseline
  std::vector<net::CurvePoint> curve;                            ///< empty without data
  std::vector<NamedCurve> other_curves;
  std::vector<net::PrunedBlock> blocks;  ///< of the network that stands before the head
};

/// An adapter with smaller ranks.
struct PrunedAdapter {
  net::Adapter adapter;
  net::RankFigures ranks_before, ranks_after;
  Index parameters_before = 0, parameters_after = 0;
  double ratio = 1;                      ///< of them
  double least_energy = 1;               ///< that a block keeps
  BeforeAfter bytes;                     ///< of its file; 0 where there is none
  std::optional<double> predicted_loss;  ///< increase, where a calibration tells
};

struct PruneResult {
  Outcome outcome = Outcome::kDone;
  std::filesystem::path folder;  ///< of the run; empty where nothing was written
  std::variant<PrunedModel, PrunedAdapter, net::TensorPruningResult> pruned;
};

/// Makes a trained network, an adapter or any file of tensors smaller, to a budget. Throws
/// OptionError naming settings that do not go together, InvalidArgument where a budget cannot be
/// met, IoError naming file and place.
UDV_EXPORT PruneResult prune(const PruneInput& input, const PruneOptions& options,
                             Session& session);

/// The same with a network and data in memory; without `parts` neither a drop, a curve nor
/// fine-tuning can be asked for.
UDV_EXPORT PruneResult prune(const net::Model<float>& model,
                             const std::optional<net::PruneParts<float>>& parts,
                             const PruneOptions& options, Session& session);

/// The same with an adapter in memory, which is written as a native file.
UDV_EXPORT PruneResult prune(const net::Adapter& adapter, const PruneOptions& options,
                             Session& session);

}  // namespace udv::jobs
