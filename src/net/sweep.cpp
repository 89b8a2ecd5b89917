// SPDX-License-Identifier: MIT
#include "udv/net/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>

#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"

namespace udv::net {
namespace {

using Clock = std::chrono::steady_clock;

template <typename Item>
void require_distinct(const char* what, const std::vector<Item>& list) {
  require(!list.empty(), "sweep: no ", what, " found, at least one expected");
  for (size_t i = 0; i < list.size(); ++i)
    require(std::count(list.begin(), list.end(), list[i]) == 1, "sweep: ", what, " ", list[i],
            " found twice");
}

TrainOptions options_for(const SweepCell& cell, TrainOptions options) {
  options.variant = cell.variant;
  options.optimizer = cell.optimizer;
  options.learning_rate = cell.learning_rate;
  options.rule.weight_decay = cell.weight_decay;
  options.seed = cell.seed;
  return options;
}

template <typename Real>
SweepRow row_of(const SweepCell& cell, const TrainResult<Real>& result, Task task) {
  const TrainFigures figures = figures_of(result.network);
  SweepRow row;
  row.cell = cell;
  row.status = result.stop == TrainStop::kDiverged ? "diverged" : "done";
  row.test_loss = result.test_loss;
  if (task == Task::kClassification) row.test_accuracy = result.test_accuracy;
  row.last_test_loss = result.history.back().test_loss;
  row.last_train_loss = result.history.back().train_loss;
  row.stable_rank = figures.stable_rank;
  row.effective_rank = figures.effective_rank;
  row.rank_90 = figures.rank_90;
  row.rank_99 = figures.rank_99;
  row.rank_999 = figures.rank_999;
  row.live_width = figures.live_width;
  row.hidden = result.network.sizes().hidden;
  row.parameters = figures.parameters;
  row.epochs = static_cast<Index>(result.history.size());
  row.seconds = result.seconds;
  return row;
}

// The cells of one sweep, and what its threads share.
template <typename Real>
class Sweep {
 public:
  Sweep(const DataSource<Real>& source, const TrainOptions& base, const SweepHooks& hooks)
      : source_(source), base_(base), hooks_(hooks) {}

  Verdict run(const std::vector<SweepCell>& cells, const std::vector<std::string>& keys) {
    parallel_blocks(static_cast<Index>(cells.size()), 1, [&](Index i, Index) {
      if (verdict_ == Verdict::kContinue)
        run_cell(cells[static_cast<size_t>(i)], keys[static_cast<size_t>(i)]);
    });
    return verdict_;
  }

 private:
  void run_cell(const SweepCell& cell, const std::string& key) {
    const auto data = data_for(cell.split_seed);
    TrainHooks<Real> hooks;
    hooks.observer = [&](const IterationRecord& record) { return look(record); };
    const auto result = train(data->training, data->test, options_for(cell, base_), hooks);
    if (result.stop == TrainStop::kInterrupted || result.stop == TrainStop::kTimeLimit) return;
    SweepRow row = row_of(cell, result, data->training.task);
    row.key = key;
    const std::lock_guard lock(mutex_);
    ++done_;
    if (hooks_.finished) hooks_.finished(row);
  }

  // All threads look at the same clock and the same Ctrl-C.
  Verdict look(IterationRecord record) {
    const std::lock_guard lock(mutex_);
    record.iteration = done_;
    record.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    if (hooks_.observer && verdict_ == Verdict::kContinue) verdict_ = hooks_.observer(record);
    return verdict_;
  }

  std::shared_ptr<const PreparedData<Real>> data_for(std::uint64_t split_seed) {
    const std::lock_guard lock(data_mutex_);
    auto& data = data_[split_seed];
    if (!data) data = std::make_shared<const PreparedData<Real>>(source_.prepare(split_seed));
    return data;
  }

  const DataSource<Real>& source_;
  const TrainOptions& base_;
  const SweepHooks& hooks_;
  std::mutex mutex_, data_mutex_;
  std::map<std::uint64_t, std::shared_ptr<const PreparedData<Real>>> data_;
  std::atomic<Verdict> verdict_{Verdict::kContinue};
  Index done_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

void SweepGrid::validate() const {
  require_distinct("variant", variants);
  require_distinct("optimizer", optimizers);
  require_distinct("learning rate", learning_rates);
  require_distinct("weight decay", weight_decays);
  require_distinct("seed", seeds);
  require_distinct("split seed", split_seeds);
  for (const SweepCell& cell : cells_of(*this)) options_for(cell, {}).validate();
}

std::vector<SweepCell> cells_of(const SweepGrid& grid) {
  std::vector<SweepCell> cells;
  for (const auto split : grid.split_seeds)
    for (const auto& variant : grid.variants)
      for (const auto& optimizer : grid.optimizers)
        for (const double rate : grid.learning_rates)
          for (const double decay : grid.weight_decays)
            for (const auto seed : grid.seeds)
              cells.push_back({variant, optimizer, rate, decay, seed, split});
  return cells;
}

std::string cell_key(const SweepCell& c, const std::string& settings) {
  const std::string text =
      fmt::format("{};{};{};{};{};{};{}", c.variant, c.optimizer, c.learning_rate, c.weight_decay,
                  c.seed, c.split_seed, settings);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

template <typename Real>
Verdict run_sweep(const DataSource<Real>& source, const std::vector<SweepCell>& cells,
                  const TrainOptions& base, const std::string& settings,
                  const std::set<std::string>& finished, const SweepHooks& hooks) {
  std::vector<SweepCell> open;
  std::vector<std::string> keys;
  for (const SweepCell& cell : cells) {
    const std::string key = cell_key(cell, settings);
    if (finished.contains(key)) continue;
    open.push_back(cell);
    keys.push_back(key);
  }
  return Sweep<Real>(source, base, hooks).run(open, keys);
}

template Verdict run_sweep(const DataSource<float>&, const std::vector<SweepCell>&,
                           const TrainOptions&, const std::string&, const std::set<std::string>&,
                           const SweepHooks&);
template Verdict run_sweep(const DataSource<double>&, const std::vector<SweepCell>&,
                           const TrainOptions&, const std::string&, const std::set<std::string>&,
                           const SweepHooks&);

}  // namespace udv::net
