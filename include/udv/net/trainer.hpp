// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/core/options.hpp"
#include "udv/net/dataset.hpp"
#include "udv/net/network.hpp"
#include "udv/net/optimizer.hpp"
#include "udv/net/schedule.hpp"

namespace udv::net {

/// What the default settings depend on.
struct DataShape {
  Task task = Task::kRegression;
  Index rows = 0, inputs = 0, outputs = 0;  ///< of the training part
};

template <typename Real>
DataShape shape_of(const Dataset<Real>& training) {
  return {training.task, training.size(), training.X.cols(), training.outputs()};
}

/// Everything that fixes a run, besides its data. What is left at "auto" (or the number that stands
/// for it) is found from the preset and the data: resolved().
struct UDV_EXPORT TrainOptions {
  /// auto: relative steps, averaged weights, early stopping; paper: the paper's settings.
  std::string preset = "auto";
  std::string variant = "auto";         ///< UDV-ReLU; paper: UDV
  std::string optimizer = "auto";       ///< relative where the variant has balls, else adam
  std::string initialisation = "auto";  ///< relative with the optimizer of this name, else pytorch
  double learning_rate = 0;             ///< 0: auto
  Index epochs = 0;                     ///< 0: as long as the validation part gains; paper: 200
  Index batch = -1;                     ///< -1: auto; 0: all samples at once
  Index hidden = 0;                     ///< 0: auto
  std::vector<Index> deeper;            ///< widths of further hidden layers
  Index average_last = 0;               ///< paper: epochs that test_loss is the mean of; 0: auto
  std::optional<Bias> bias;             ///< a constant feature; paper: none
  Schedule schedule{"auto"};
  OptimizerSettings rule;
  std::optional<bool> average;       ///< evaluate and keep the running average of the weights
  double smoothing = -1;             ///< of the labels; below 0: auto
  bool balance = false;              ///< all classes weigh the same
  std::string metric = "auto";       ///< what the validation part is judged by
  std::string low_rank = "default";  ///< bias to low rank: default or strong
  Index max_steps = 0;               ///< 0: auto
  bool keep_last = false;  ///< the last weights are kept, whatever the validation part says
  /// Second moments of relative steps: of each entry, shared by neurons (feature) or by a whole
  /// matrix (tensor); auto: entry, with the strong bias to low rank feature.
  std::string moments = "auto";
  bool shrink = false;
  double shrink_tail = 1e-6;  ///< share of the energy of UD that may go
  Index shrink_every = 2;     ///< epochs
  std::uint64_t seed = 0;     ///< of weights and batches

  /// The paper's settings: UDV, Adam at 0.001, 200 epochs in batches of 32, no bias.
  static TrainOptions paper();
  bool is_paper() const { return preset == "paper"; }
  bool is_strong() const { return low_rank == "strong"; }
  /// The same with nothing left at auto. Throws InvalidArgument where a setting contradicts the
  /// preset.
  TrainOptions resolved(const DataShape& shape) const;

  /// Throws InvalidArgument naming field and value.
  void validate() const;
  /// Epochs to average: 20 for values and 3 for classes where nobody says it.
  Index averaged_epochs(Task task) const;
  /// Steps at most on so many rows; of resolved options.
  Index num_steps(Index rows) const;
};
UDV_EXPORT void describe(OptionTable& table, TrainOptions& options);

/// What the validation part can be judged by: "auto, loss, accuracy, balanced, mae".
UDV_EXPORT std::vector<std::string> metric_names();

/// One line of history.csv: an epoch of the paper's training, else a look at the validation part.
struct EpochRecord {
  Index epoch = 0;  ///< counted from 1
  double seconds = 0;
  double train_loss = 0;     ///< mean over the batches since the last record, each before its step
  double test_loss = 0;      ///< nan where the test part was not looked at
  double test_accuracy = 0;  ///< share of right labels; 0 for regression
  double learning_rate = 0;
  Index live_width = 0;
  double effective_rank = 0;  ///< of UD; nan where it was not computed
  Index step = 0;             ///< steps so far
  /// Of the averaged weights; nan without a validation part.
  double validation_loss = std::numeric_limits<double>::quiet_NaN();
  double validation_accuracy = 0;  ///< 0 for regression
};

/// Loss and accuracy on a data set.
struct Score {
  double loss = 0, accuracy = 0;
  double mae = 0;       ///< mean absolute error of the scaled targets; regression
  double balanced = 0;  ///< mean over the classes of the share of right labels; classification
};

/// What is made smallest on a validation part: auto is the loss for values and
/// 1 - accuracy + 0.001 loss for classes.
UDV_EXPORT double objective_of(const Score& score, const std::string& metric, Task task);

enum class TrainStop { kDone, kDiverged, kInterrupted, kTimeLimit };
UDV_EXPORT std::string_view to_string(TrainStop stop);

/// A run between two steps: what an interrupted one resumes from, to the same bits.
template <typename Real>
struct TrainState {
  Index epoch = 0, batch = 0;  ///< the next ones
  double loss_sum = 0;         ///< over the samples since the last record
  Index samples = 0;           ///< that loss_sum is over
  double seconds = 0;
  Index hidden = 0;
  Vector<Real> parameters;
  OptimizerState<Real> optimizer;
  Vector<Real> average, best;  ///< of the weights; empty where there is none
  double best_objective = 0;
  Index best_step = 0, next_look = 0;
  std::vector<EpochRecord> history;
};

template <typename Real>
UDV_EXPORT std::string to_bytes(const TrainState<Real>& state);
/// Throws InvalidArgument where these are no bytes of such a state.
template <typename Real>
UDV_EXPORT TrainState<Real> train_state_from_bytes(std::string_view bytes);

/// The observer sees the steps so far as iteration, the loss of the batch as objective and the
/// width as rank.
template <typename Real>
struct TrainHooks : Hooks {
  /// Called after every epoch.
  std::function<void(const EpochRecord&, const Network<Real>&)> epoch;
};

template <typename Real>
struct TrainResult {
  Network<Real> network;
  std::vector<EpochRecord> history;
  TrainStop stop = TrainStop::kDone;
  TrainOptions options{};                   ///< resolved
  double test_loss = 0, test_accuracy = 0;  ///< paper: means over the last epochs
  double seconds = 0;
  Index steps = 0;
  Index best_step = 0;  ///< whose averaged weights were kept
  double validation = std::numeric_limits<double>::quiet_NaN();  ///< their objective; nan: none
  Index folds = 0;  ///< of the cross-validation that found it; 0: a validation part, or none
  bool on_all_rows = false;  ///< the validation part was trained on in the end
  double temperature = 1;    ///< that the outputs were divided by, found on the validation part
};

/// Throws InvalidArgument that starts with `name` where data and options cannot make a run.
template <typename Real>
UDV_EXPORT void check_run(const std::string& name, const Dataset<Real>& training,
                          const Dataset<Real>& test, const TrainOptions& options);

/// Trains on one part and looks at the test part: after every epoch with the paper's preset, once
/// at the end otherwise. A loss that is not finite ends the run as diverged. The same options and
/// data give the same bits, whatever the number of threads.
template <typename Real>
UDV_EXPORT TrainResult<Real> train(const Dataset<Real>& training, const Dataset<Real>& test,
                                   const TrainOptions& options, const TrainHooks<Real>& hooks = {});

/// The same with a validation part, which decides when to stop and which weights are kept. Where it
/// is empty and there are fewer than kCrossRows training rows, five-fold cross-validation decides
/// on the number of steps; with more rows training runs to its last step.
inline constexpr Index kCrossRows = 50;
template <typename Real>
UDV_EXPORT TrainResult<Real> train(const Dataset<Real>& training, const Dataset<Real>& validation,
                                   const Dataset<Real>& test, const TrainOptions& options,
                                   const TrainHooks<Real>& hooks = {});

/// Loss and accuracy, in pieces of 512 rows.
template <typename Real>
UDV_EXPORT Score evaluate(const Network<Real>& network, const Dataset<Real>& data);

/// Outputs for all rows of X, n x c.
template <typename Real>
UDV_EXPORT RowMatrix<Real> predict(const Network<Real>& network, const ConstRows<Real>& X);

}  // namespace udv::net
