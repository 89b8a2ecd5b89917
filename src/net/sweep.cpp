// SPDX-License-Identifier: MIT
#include "udv/net/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>

#include "core/archive.hpp"
#include "core/hash.hpp"
#include "core/require.hpp"
#include "udv/core/parallel.hpp"
#include "udv/net/figures.hpp"

namespace udv::net {

// A run that has begun, and the state to resume it from.
struct OpenRun {
  std::string key, state;
};

template <typename Archive>
void fields(Archive& archive, OpenRun& run) {
  archive(run.key, run.state);
}

namespace {

using Clock = std::chrono::steady_clock;

template <typename Item>
void require_distinct(const char* what, const std::vector<Item>& list) {
  require(!list.empty(), "sweep: no ", what, " found, at least one expected");
  std::set<Item> seen;
  for (const Item& item : list)
    require(seen.insert(item).second, "sweep: ", what, " ", item, " found twice");
}

void require_numbers(const char* what, const std::vector<double>& list) {
  for (const double value : list)
    require(std::isfinite(value), "sweep: ", what, " ", value, " found, a number expected");
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
  row.validation = result.validation;
  return row;
}

/// The states of all runs that have begun and not ended, by key: what a sweep resumes from.
class OpenRuns {
 public:
  explicit OpenRuns(const std::string& bytes) {
    if (bytes.empty()) return;
    ArchiveReader reader(bytes);
    std::vector<OpenRun> runs;
    reader(runs);
    require(reader.at_end(), "checkpoint: more bytes than expected");
    for (OpenRun& run : runs) states_[run.key] = std::move(run.state);
  }

  void keep_only(const std::vector<std::string>& keys) {
    const std::set<std::string> known(keys.begin(), keys.end());
    std::erase_if(states_, [&](const auto& entry) { return !known.contains(entry.first); });
  }
  std::string state_of(const std::string& key) const {
    const auto found = states_.find(key);
    return found == states_.end() ? "" : found->second;
  }
  void set(const std::string& key, const std::string& state) { states_[key] = state; }
  void remove(const std::string& key) { states_.erase(key); }

  std::string to_bytes() const {
    std::vector<OpenRun> runs;
    for (const auto& [key, state] : states_) runs.push_back({key, state});
    ArchiveWriter writer;
    writer(runs);
    return writer.take();
  }

 private:
  std::map<std::string, std::string> states_;
};

// The cells of one sweep, and what its threads share.
template <typename Real>
class Sweep {
 public:
  Sweep(const SweepData<Real>& data, const TrainOptions& base, const SweepHooks<Real>& hooks,
        std::string settings)
      : data_(data),
        base_(base),
        hooks_(hooks),
        settings_(std::move(settings)),
        begun_(hooks.resume) {}

  Verdict run(const std::vector<SweepCell>& cells, const std::vector<std::string>& keys) {
    begun_.keep_only(keys);
    parallel_blocks(static_cast<Index>(cells.size()), 1, [&](Index i, Index) {
      if (verdict_ == Verdict::kContinue)
        run_cell(cells[static_cast<size_t>(i)], keys[static_cast<size_t>(i)]);
    });
    return verdict_;
  }

 private:
  void run_cell(const SweepCell& cell, const std::string& key) {
    const PreparedData<Real>& data = data_.at(cell.split_seed);
    const TrainHooks<Real> hooks = hooks_of(key);
    const auto result =
        train(data.training, data.validation, data.test, options_for(cell, base_), hooks);
    if (result.stop == TrainStop::kInterrupted || result.stop == TrainStop::kTimeLimit) return;
    SweepRow row = row_of(cell, result, data.training.task);
    row.key = key;
    row.settings = settings_;
    const std::lock_guard lock(mutex_);
    ++done_;
    begun_.remove(key);
    if (hooks_.model && row.status == "done") hooks_.model(row, result.network);
    if (hooks_.finished) hooks_.finished(row);
  }

  TrainHooks<Real> hooks_of(const std::string& key) {
    TrainHooks<Real> hooks;
    hooks.observer = [this](const IterationRecord& record) { return look(record); };
    hooks.save_every_seconds = hooks_.save_every_seconds;
    const std::lock_guard lock(mutex_);
    hooks.resume = begun_.state_of(key);
    if (hooks_.save)
      hooks.save = [this, key](const std::string& state) {
        const std::lock_guard lock(mutex_);
        begun_.set(key, state);
        hooks_.save(begun_.to_bytes());
      };
    return hooks;
  }

  // All threads look at the same clock and the same Ctrl-C.
  Verdict look(IterationRecord record) {
    const std::lock_guard lock(mutex_);
    record.iteration = done_;
    record.seconds = std::chrono::duration<double>(Clock::now() - started_).count();
    if (hooks_.observer && verdict_ == Verdict::kContinue) verdict_ = hooks_.observer(record);
    return verdict_;
  }

  const SweepData<Real>& data_;
  const TrainOptions& base_;
  const SweepHooks<Real>& hooks_;
  std::string settings_;
  std::mutex mutex_;
  std::atomic<Verdict> verdict_{Verdict::kContinue};
  Index done_ = 0;
  OpenRuns begun_;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

void SweepGrid::validate() const {
  require_distinct("variant", variants);
  require_distinct("optimizer", optimizers);
  require_numbers("learning rate", learning_rates);
  require_numbers("weight decay", weight_decays);
  require_distinct("learning rate", learning_rates);
  require_distinct("weight decay", weight_decays);
  require_distinct("seed", seeds);
  require_distinct("split seed", split_seeds);
  SweepGrid once = *this;  // seeds are all alike
  once.seeds = once.split_seeds = {0};
  for (const SweepCell& cell : cells_of(once)) options_for(cell, {}).validate();
}

SweepGrid SweepGrid::resolved(const TrainOptions& base) const {
  SweepGrid grid = *this;
  for (std::string& variant : grid.variants)
    if (variant == "auto") variant = base.is_paper() || base.is_strong() ? "UDV" : "UDV-ReLU";
  for (std::string& optimizer : grid.optimizers)
    if (optimizer == "auto" && base.is_paper()) optimizer = "adam";
  for (double& rate : grid.learning_rates)
    if (rate == 0 && base.is_paper()) rate = 1e-3;
  return grid;
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

std::string settings_key(const std::string& settings) {
  return fmt::format("{:08x}", fnv_hash(settings) >> 32);
}

std::string cell_key(const SweepCell& c, const std::string& settings) {
  const std::string text =
      fmt::format("{};{};{};{};{};{};{}", c.variant, c.optimizer, c.learning_rate, c.weight_decay,
                  c.seed, c.split_seed, settings);
  return fmt::format("{:016x}", fnv_hash(text));
}

template <typename Real>
Verdict run_sweep(const SweepData<Real>& data, const std::vector<SweepCell>& cells,
                  const TrainOptions& base, const std::string& settings,
                  const std::set<std::string>& finished, const SweepHooks<Real>& hooks) {
  std::vector<SweepCell> open;
  std::vector<std::string> keys;
  for (const SweepCell& cell : cells) {
    const std::string key = cell_key(cell, settings);
    if (finished.contains(key)) continue;
    open.push_back(cell);
    keys.push_back(key);
  }
  return Sweep<Real>(data, base, hooks, settings_key(settings)).run(open, keys);
}

template Verdict run_sweep(const SweepData<float>&, const std::vector<SweepCell>&,
                           const TrainOptions&, const std::string&, const std::set<std::string>&,
                           const SweepHooks<float>&);
template Verdict run_sweep(const SweepData<double>&, const std::vector<SweepCell>&,
                           const TrainOptions&, const std::string&, const std::set<std::string>&,
                           const SweepHooks<double>&);

}  // namespace udv::net
