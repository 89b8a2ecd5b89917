// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
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

/// Everything that fixes a run, besides its data.
struct UDV_EXPORT TrainOptions {
  std::string variant = "UDV";
  std::string optimizer = "adam";
  std::string initialisation = "pytorch";
  double learning_rate = 1e-3;
  Index epochs = 200;
  Index batch = 32;        ///< 0: all samples at once
  Index hidden = 0;        ///< 0: default_hidden
  Index average_last = 0;  ///< epochs that test_loss and test_accuracy are the mean of; 0: auto
  bool bias = false;
  Schedule schedule;
  OptimizerSettings rule;
  bool shrink = false;
  double shrink_tail = 1e-6;  ///< share of the energy of UD that may go
  Index shrink_every = 2;     ///< epochs
  std::uint64_t seed = 0;     ///< of weights and batches

  /// Throws InvalidArgument naming field and value.
  void validate() const;
  /// Epochs to average: 20 for values and 3 for classes where nobody says it.
  Index averaged_epochs(Task task) const;
  /// Steps of all epochs on so many rows.
  Index num_steps(Index rows) const;
};
UDV_EXPORT void describe(OptionTable& table, TrainOptions& options);

/// One line of history.csv.
struct EpochRecord {
  Index epoch = 0;  ///< counted from 1
  double seconds = 0;
  double train_loss = 0;  ///< mean over the batches, each before its step
  double test_loss = 0;
  double test_accuracy = 0;  ///< share of right labels; 0 for regression
  double learning_rate = 0;
  Index live_width = 0;
  double effective_rank = 0;  ///< of UD; nan where it was not computed
};

/// Loss and accuracy on a data set.
struct Score {
  double loss = 0, accuracy = 0;
};

enum class TrainStop { kDone, kDiverged, kInterrupted, kTimeLimit };
UDV_EXPORT std::string_view to_string(TrainStop stop);

/// A run between two steps: what an interrupted one resumes from, to the same bits.
template <typename Real>
struct TrainState {
  Index epoch = 0, batch = 0;  ///< the next ones
  double loss_sum = 0;         ///< over the samples of this epoch so far
  double seconds = 0;
  Index hidden = 0;
  Vector<Real> parameters;
  OptimizerState<Real> optimizer;
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
  double test_loss = 0, test_accuracy = 0;  ///< means over the last epochs
  double seconds = 0;
  Index steps = 0;
};

/// Throws InvalidArgument that starts with `name` where data and options cannot make a run.
template <typename Real>
UDV_EXPORT void check_run(const std::string& name, const Dataset<Real>& training,
                          const Dataset<Real>& test, const TrainOptions& options);

/// Trains on one part, looks at the other after every epoch. A loss that is not finite ends the run
/// as diverged. The same options and data give the same bits, whatever the number of threads.
template <typename Real>
UDV_EXPORT TrainResult<Real> train(const Dataset<Real>& training, const Dataset<Real>& test,
                                   const TrainOptions& options, const TrainHooks<Real>& hooks = {});

/// Loss and accuracy, in pieces of 512 rows.
template <typename Real>
UDV_EXPORT Score evaluate(const Network<Real>& network, const Dataset<Real>& data);

/// Outputs for all rows of X, n x c.
template <typename Real>
UDV_EXPORT RowMatrix<Real> predict(const Network<Real>& network, const ConstRows<Real>& X);

}  // namespace udv::net
