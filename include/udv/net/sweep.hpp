// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {

/// What a sweep runs over: every combination of one entry of each list is a cell.
struct UDV_EXPORT SweepGrid {
  std::vector<std::string> variants{"auto"}, optimizers{"auto"};
  std::vector<double> learning_rates{0}, weight_decays{0};  ///< a rate of 0 is auto
  std::vector<std::uint64_t> seeds{0}, split_seeds{0};

  /// The same with the words of a preset in place of auto.
  SweepGrid resolved(const TrainOptions& base) const;
  /// Throws InvalidArgument where a list is empty, names something unknown or twice the same.
  void validate() const;
};

struct SweepCell {
  std::string variant, optimizer;
  double learning_rate = 0, weight_decay = 0;
  std::uint64_t seed = 0, split_seed = 0;
};

/// All cells, splits outermost: cells of one split share its data.
UDV_EXPORT std::vector<SweepCell> cells_of(const SweepGrid& grid);

/// One line of results.csv.
struct SweepRow {
  std::string key;       ///< hash of all that fixes the run
  std::string settings;  ///< hash of what is the same for all cells of its sweep
  std::string status;    ///< "done" or "diverged"
  SweepCell cell;
  double test_loss = 0;
  std::optional<double> test_accuracy;
  double last_test_loss = 0, last_train_loss = 0;
  double stable_rank = 0, effective_rank = 0;
  Index rank_90 = 0, rank_99 = 0, rank_999 = 0, live_width = 0, hidden = 0, parameters = 0;
  Index epochs = 0;
  double seconds = 0;
  /// The objective on the validation part; nan where there is none.
  double validation = std::numeric_limits<double>::quiet_NaN();
};

/// 16 hexadecimal digits of the cell and of `settings`, which says all else that fixes its numbers.
UDV_EXPORT std::string cell_key(const SweepCell& cell, const std::string& settings);

/// 8 hexadecimal digits of the settings alone.
UDV_EXPORT std::string settings_key(const std::string& settings);

UDV_EXPORT std::string sweep_header();
UDV_EXPORT std::string sweep_line(const SweepRow& row);
/// Rows of a results.csv; a last line that was cut off is left out. Throws IoError naming the line.
UDV_EXPORT std::vector<SweepRow> read_sweep(const std::filesystem::path& path);

/// The observer sees the cells done as iteration. Nothing is called twice at the same time. A state
/// holds all runs that have begun and not ended: resumed from it, they go on where they were.
/// `model` gets the row and the network of a run that ended well, before `finished`.
template <typename Real>
struct SweepHooks : Hooks {
  std::function<void(const SweepRow&)> finished;
  std::function<void(const SweepRow&, const Network<Real>&)> model{};
};

/// Both parts for every split seed.
template <typename Real>
using SweepData = std::map<std::uint64_t, PreparedData<Real>>;

/// Runs the cells whose key is not in `finished`, one per thread at a time. A run that diverges is
/// a row like others. Returns the verdict that ended the sweep early, or kContinue.
template <typename Real>
UDV_EXPORT Verdict run_sweep(const SweepData<Real>& data, const std::vector<SweepCell>& cells,
                             const TrainOptions& base, const std::string& settings,
                             const std::set<std::string>& finished, const SweepHooks<Real>& hooks);

/// Mean and standard deviation of one metric over seeds and splits.
struct SweepSummary {
  SweepCell cell;  ///< seeds do not count
  Index runs = 0, diverged = 0;
  double mean = 0, deviation = 0;
  double validation = 0;  ///< mean objective on the validation part; nan where there is none
  double stable_rank = 0, effective_rank = 0, rank_99 = 0;  ///< means over the runs that ended well
  bool best = false;  ///< of the learning rates of this variant, optimizer and decay
};

/// Of rows of one sweep, sorted as the grid is: by split, variant, optimizer, rate, decay and seed,
/// so that the sums are the same whatever run finished first; cells in the order of the first
/// appearance of their variant and optimizer in the rows. The metric is test_accuracy where there
/// is one (larger is better), else test_loss. The best learning rate is that with the best mean on
/// the validation part, without one on the test part. Runs that diverged are counted, not averaged.
UDV_EXPORT std::vector<SweepSummary> summarise(const std::vector<SweepRow>& rows);

/// Is row a better than b? By the validation part; without one by the test part, as the paper does.
UDV_EXPORT bool is_better(const SweepRow& a, const SweepRow& b);

/// The number that the paper prints for this data set ("HPART", "MNIST/MaxViT-T", ...), if any.
UDV_EXPORT std::optional<double> paper_value(const std::string& dataset,
                                             const std::string& optimizer,
                                             const std::string& variant, double learning_rate);

}  // namespace udv::net
