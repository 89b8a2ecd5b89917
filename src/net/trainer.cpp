// SPDX-License-Identifier: MIT
#include "udv/net/trainer.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "core/require.hpp"
#include "core/save_clock.hpp"
#include "core/sums.hpp"
#include "net/cross_validation.hpp"
#include "net/relative_steps.hpp"
#include "net/rotation.hpp"
#include "net/scores.hpp"
#include "net/shrink.hpp"
#include "net/temperature.hpp"
#include "net/training_journal.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/net/head.hpp"
#include "udv/net/initialise.hpp"
#include "udv/net/loss.hpp"

namespace udv::net {
namespace {

constexpr Index kMostWeights = Index{1} << 31;
constexpr Index kAverageBlock = 1 << 15;
constexpr double kLookSeconds = 0.05;   // between two looks at the clock, about
constexpr double kSpectrumShare = 0.2;  // of an epoch's work may go into the spectrum of UD
constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

using Clock = std::chrono::steady_clock;

// Epochs between two spectra of m x d: 10 m^3 operations against 6 n d m of an epoch.
Index spectrum_interval(Index width, Index inputs, Index samples) {
  const auto m = static_cast<double>(width);
  const double work = kSpectrumShare * 6 * static_cast<double>(samples * inputs);
  return std::max<Index>(1, static_cast<Index>(std::ceil(10 * m * m / work)));
}

// The step after t at which the validation part is looked at: max(t + 25, 1.05 t).
Index next_look_after(Index step) {
  return std::max(step + 25, static_cast<Index>(1.05 * static_cast<double>(step)));
}

// Nothing better for so long that nothing better will come.
bool has_ended(Index step, Index best) {
  return step > 2 * best + 1000;
}

template <typename Real>
LossSettings loss_settings(const Dataset<Real>& training, const TrainOptions& options) {
  LossSettings settings;
  if (training.task == Task::kRegression) return settings;
  settings.smoothing = options.smoothing;
  if (options.balance) settings.class_weights = balanced_weights(training.labels, training.classes);
  return settings;
}

/// One run of resolved options. With the paper's preset every epoch ends with a look at the test
/// part; otherwise the validation part is looked at, now and then, through the running average of
/// the weights, and the test part once at the end.
template <typename Real>
class Trainer {
 public:
  Trainer(const Dataset<Real>& training, const Dataset<Real>& validation, const Dataset<Real>& test,
          const TrainOptions& options, const TrainHooks<Real>& hooks)
      : training_(training),
        validation_(validation),
        test_(test),
        options_(options),
        hooks_(hooks),
        clock_(hooks),
        resumed_(hooks.resume.empty() ? std::nullopt
                                      : std::optional(train_state_from_bytes<Real>(hooks.resume))),
        batch_size_(options.batch > 0 ? options.batch : training.size()),
        batches_((training.size() + batch_size_ - 1) / batch_size_),
        steps_(options.num_steps(training.size())),
        loss_(loss_settings(training, options)),
        rule_(options.optimizer, options.rule),
        relative_(options.optimizer == "relative"),
        network_(variant_named(options.variant), sizes(), *options.bias),
        work_(network_.workspace(std::max(batch_size_, evaluation_rows()))) {
    batch_.task = training.task;
    batch_.classes = training.classes;
    batch_.X.resize(batch_size_, training.X.cols());
    batch_.Y.resize(training.task == Task::kRegression ? batch_size_ : 0, training.Y.cols());
    batch_.labels.resize(training.task == Task::kRegression ? 0 : static_cast<size_t>(batch_size_));
  }

  TrainResult<Real> run() {
    const FlushToZero flush;
    begin();
    if (resumed_) after_step();  // what the last step left open when the run was stopped
    while (stop_ == TrainStop::kDone && !finished()) {
      take_step();
      if (stop_ == TrainStop::kDone && clock_.due()) save();
      if (stop_ == TrainStop::kDone || stop_ == TrainStop::kDiverged) after_step();
    }
    state_.seconds = seconds();
    if (hooks_.save && (stop_ == TrainStop::kInterrupted || stop_ == TrainStop::kTimeLimit)) save();
    return options_.is_paper() ? paper_result() : kept_result();
  }

 private:
  bool paper() const { return options_.is_paper(); }
  bool validated() const { return validation_.size() > 0; }
  bool keeps_last() const { return options_.is_strong() || options_.keep_last; }
  Index evaluation_rows() const {
    return std::min(kScorePiece, std::max(validation_.size(), test_.size()));
  }

  Sizes sizes() const {
    const Index first = variant_named(options_.variant).has_hidden() ? options_.hidden : 0;
    const Index hidden = resumed_ ? resumed_->hidden : first;
    require(hidden <= first && (hidden > 0 || first == 0), "checkpoint: ", hidden,
            " neurons found, 1 to ", first, " expected");
    return {training_.X.cols(), hidden, training_.outputs(), options_.deeper};
  }

  void begin() {
    if (resumed_) {
      state_ = *resumed_;
      check_state();
      network_.parameters() = state_.parameters;
    } else {
      if (options_.initialisation == "relative")
        initialise_relative(network_, training_, loss_, options_.seed);
      else
        initialise(network_, options_.initialisation, options_.seed);
      state_.optimizer = rule_.start(network_.num_parameters());
      state_.next_look = next_look_after(0);
      state_.best_objective = std::numeric_limits<double>::infinity();
    }
    gradient_.resize(network_.num_parameters());
    const Index width = std::max(options_.hidden, network_.sizes().outputs);
    spectrum_interval_ = spectrum_interval(width, training_.X.cols(), training_.size());
  }

  void check_state() const {
    const Index size = network_.num_parameters();
    require(state_.parameters.size() == size, "checkpoint: ", state_.parameters.size(),
            " parameters found, ", size, " expected");
    const auto expected = rule_.start(0).moments.size();
    require(state_.optimizer.moments.size() == expected,
            "checkpoint: ", state_.optimizer.moments.size(), " moments found, ", expected,
            " expected");
    for (const auto& moment : state_.optimizer.moments)
      require(moment.size() == size, "checkpoint: a moment of size ", moment.size(), " found, ",
              size, " expected");
    for (const Vector<Real>* weights : {&state_.average, &state_.best})
      require(weights->size() == 0 || (!paper() && weights->size() == size),
              "checkpoint: averaged weights of size ", weights->size(), " found, ", size,
              " expected");
    require(state_.epoch >= 0 && state_.batch >= 0 && state_.batch <= batches_ &&
                (!paper() || state_.epoch <= options_.epochs) && state_.best_step >= 0 &&
                state_.optimizer.steps >= 0,
            "checkpoint: epoch ", state_.epoch, " and batch ", state_.batch, " found");
  }

  bool finished() const {
    if (paper()) return state_.epoch >= options_.epochs;
    const Index step = state_.optimizer.steps;
    const bool early = validated() && !keeps_last() && has_ended(step, state_.best_step);
    return step >= steps_ || early;
  }

  // The state after a step, before what follows from it: a resumed run begins with that.
  void save() {
    const double start = std::exchange(state_.seconds, seconds());
    state_.parameters = network_.parameters();
    state_.hidden = network_.sizes().hidden;
    clock_.save([this] { return to_bytes(state_); });
    state_.seconds = start;
  }

  // The order of the samples is drawn anew in every epoch.
  void take_order() {
    if (order_epoch_ == state_.epoch) return;
    const auto stream = kStreamBatches + 16 * static_cast<std::uint64_t>(state_.epoch);
    order_ = Random(options_.seed, stream).permutation(training_.size());
    order_epoch_ = state_.epoch;
  }

  void take_step() {
    take_order();
    const Index first = state_.batch * batch_size_;
    const Index count = std::min(batch_size_, training_.size() - first);
    training_.gather(order_.data() + first, count, batch_);
    const ConstRows<Real> X = batch_.X.topRows(count);
    const Rows<Real> outputs = network_.forward(X, work_);
    const double value = loss<Real>(outputs, batch_, work_.gradients.back().topRows(count), loss_);
    network_.backward(X, work_, gradient_);
    rate_ = options_.schedule.rate(
        options_.learning_rate,
        {state_.epoch, std::max<Index>(1, options_.epochs), state_.optimizer.steps, steps_});
    update();
    state_.loss_sum += value * static_cast<double>(count);
    state_.samples += count;
    ++state_.batch;
    stop_ = std::isfinite(value) ? look(value) : TrainStop::kDiverged;
  }

  void update() {
    if (!relative_) {
      rule_.step(rate_, gradient_, state_.optimizer, network_.parameters());
    } else {
      const bool shared = options_.moments != "entry";
      if (shared) share_squares(network_, gradient_, options_.moments == "tensor", squares_);
      rule_.step(rate_, gradient_, relative_segments(network_), shared ? &squares_ : nullptr,
                 state_.optimizer, network_.parameters());
    }
    network_.project();
    if (*options_.average) update_average();
  }

  // A_mean += 9 / (t + 9) (A - A_mean), t = 0, 1, ...: about the last tenth counts. It stays in the
  // balls, which are convex.
  void update_average() {
    const Index t = state_.optimizer.steps - 1;
    const Vector<Real>& now = network_.parameters();
    if (t == 0) {
      state_.average = now;
      return;
    }
    const auto share = static_cast<Real>(9 / (static_cast<double>(t) + 9));
    parallel_blocks(now.size(), kAverageBlock, [&](Index begin, Index end) {
      auto mean = state_.average.segment(begin, end - begin);
      mean += share * (now.segment(begin, end - begin) - mean);
    });
  }

  // Asks the observer, but not more often than it makes sense.
  TrainStop look(double value) {
    if (!hooks_.observer || state_.optimizer.steps < next_look_) return TrainStop::kDone;
    IterationRecord record;
    record.iteration = state_.optimizer.steps;
    record.seconds = seconds();
    record.objective = value;
    record.rank = network_.sizes().hidden;
    record.step = rate_;
    const std::function<Vector<double>()> sizes = [this] { return quick_spectrum(network_); };
    record.column_sizes = &sizes;
    const double per_step =
        (record.seconds - state_.seconds) / static_cast<double>(++steps_here_ + skipped_);
    const auto skip = static_cast<Index>(kLookSeconds / std::max(per_step, 1e-7));
    skipped_ += skip;
    next_look_ = state_.optimizer.steps + 1 + skip;
    switch (hooks_.observer(record)) {
      case Verdict::kInterrupt:
        return TrainStop::kInterrupted;
      case Verdict::kTimeLimit:
        return TrainStop::kTimeLimit;
      default:
        return TrainStop::kDone;
    }
  }

  void after_step() {
    const bool epoch_ends = state_.batch == batches_;
    if (epoch_ends) {
      ++state_.epoch;
      state_.batch = 0;
    }
    const Index step = state_.optimizer.steps;
    const bool diverged = stop_ == TrainStop::kDiverged;
    if (paper()) {
      if (epoch_ends || diverged) end_epoch(epoch_ends);
    } else if (step >= state_.next_look || step >= steps_ || diverged) {
      look_at_validation();
    }
  }

  EpochRecord record_now() const {
    EpochRecord record;
    record.epoch = state_.epoch;
    record.step = state_.optimizer.steps;
    record.train_loss = state_.loss_sum / static_cast<double>(std::max<Index>(1, state_.samples));
    record.test_loss = record.validation_loss = record.effective_rank = kNone;
    record.learning_rate = rate_;
    record.live_width = live_width(network_);
    return record;
  }

  void keep(EpochRecord record) {
    record.seconds = seconds();
    state_.history.push_back(record);
    state_.loss_sum = 0;
    state_.samples = 0;
    if (hooks_.epoch && stop_ == TrainStop::kDone) hooks_.epoch(record, network_);
  }

  void look_at_validation() {
    EpochRecord record = record_now();
    record.epoch = state_.optimizer.steps / batches_;
    state_.next_look = next_look_after(state_.optimizer.steps);
    if (validated() && stop_ == TrainStop::kDone) {
      exchange_average();
      const Score score = score_of(network_, validation_, work_);
      exchange_average();
      record.validation_loss = score.loss;
      record.validation_accuracy = score.accuracy;
      note_best(objective_of(score, options_.metric, training_.task));
    }
    keep(record);
  }

  // Ties go to the later one. Who wants the strongest low rank needs the last steps.
  void note_best(double objective) {
    if (!(objective <= state_.best_objective) && !keeps_last()) return;
    state_.best_objective = objective;
    state_.best_step = state_.optimizer.steps;
    state_.best = *options_.average ? state_.average : network_.parameters();
  }

  void exchange_average() {
    if (*options_.average) state_.average.swap(network_.parameters());
  }

  void end_epoch(bool whole) {
    if (!whole) ++state_.epoch;  // diverged on the way
    state_.batch = 0;
    const bool last = state_.epoch == options_.epochs;
    EpochRecord record = record_now();
    const Score score = score_of(network_, test_, work_);
    record.train_loss = state_.loss_sum / static_cast<double>(training_.size());
    record.test_loss = score.loss;
    record.test_accuracy = score.accuracy;
    if (last || record.epoch % spectrum_interval_ == 0)
      record.effective_rank = effective_rank(quick_spectrum(network_));
    if (!std::isfinite(record.test_loss)) stop_ = TrainStop::kDiverged;
    keep(record);
    if (options_.shrink && stop_ == TrainStop::kDone && !last) shrink();
  }

  void shrink() {
    bool smaller = remove_inert(network_, state_.optimizer);
    if (state_.epoch % options_.shrink_every == 0)
      smaller = shrink_head(network_, state_.optimizer, options_.shrink_tail) || smaller;
    if (!smaller) return;
    work_ = network_.workspace(work_.values.front().rows());
    gradient_.resize(network_.num_parameters());
  }

  TrainResult<Real> result_now() {
    TrainResult<Real> result{std::move(network_), std::move(state_.history), stop_, {}};
    result.seconds = state_.seconds;
    result.steps = result.best_step = state_.optimizer.steps;
    result.options = options_;
    return result;
  }

  TrainResult<Real> paper_result() {
    TrainResult<Real> result = result_now();
    const auto& history = result.history;
    if (history.empty()) result.test_loss = result.test_accuracy = kNone;
    const auto wanted = static_cast<size_t>(options_.averaged_epochs(training_.task));
    const size_t count = std::min(wanted, history.size());
    for (size_t i = history.size() - count; i < history.size(); ++i) {
      result.test_loss += history[i].test_loss / static_cast<double>(count);
      result.test_accuracy += history[i].test_accuracy / static_cast<double>(count);
    }
    return result;
  }

  // The best weights on the validation part, else the last ones; then the test part, once.
  TrainResult<Real> kept_result() {
    if (state_.best.size() > 0)
      network_.parameters() = state_.best;
    else if (state_.average.size() > 0)
      network_.parameters() = state_.average;
    double temperature = 1;
    if (validated() && training_.task == Task::kClassification && stop_ != TrainStop::kDiverged)
      temperature = fit_temperature(predict<Real>(network_, validation_.X), validation_.labels);
    apply_temperature(network_, temperature);
    const Score score = score_of(network_, test_, work_);
    if (!state_.history.empty()) {
      state_.history.back().test_loss = score.loss;
      state_.history.back().test_accuracy = score.accuracy;
      state_.history.back().effective_rank = effective_rank(quick_spectrum(network_));
    }
    const Index best = state_.best_step;
    TrainResult<Real> result = result_now();
    if (best > 0) {
      result.best_step = best;
      result.validation = state_.best_objective;
    }
    result.test_loss = score.loss;
    result.test_accuracy = score.accuracy;
    result.temperature = temperature;
    return result;
  }

  double seconds() const {
    const double before = resumed_ ? resumed_->seconds : 0;
    return before + std::chrono::duration<double>(Clock::now() - started_).count();
  }

  const Dataset<Real>& training_;
  const Dataset<Real>& validation_;
  const Dataset<Real>& test_;
  const TrainOptions& options_;
  const TrainHooks<Real>& hooks_;
  SaveClock clock_;
  std::optional<TrainState<Real>> resumed_;
  Index batch_size_, batches_, steps_;
  LossSettings loss_;
  Optimizer<Real> rule_;
  bool relative_;
  Network<Real> network_;
  typename Network<Real>::Workspace work_;
  Dataset<Real> batch_;
  Vector<Real> gradient_, squares_;
  std::vector<Index> order_;
  Index order_epoch_ = -1;
  double rate_ = 0;
  TrainState<Real> state_;
  TrainStop stop_ = TrainStop::kDone;
  Index spectrum_interval_ = 1, next_look_ = 0, steps_here_ = 0, skipped_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

std::string_view to_string(TrainStop stop) {
  switch (stop) {
    case TrainStop::kDiverged:
      return "diverged";
    case TrainStop::kInterrupted:
      return "interrupted";
    case TrainStop::kTimeLimit:
      return "time limit";
    default:
      return "done";
  }
}

template <typename Real>
void check_run(const std::string& name, const Dataset<Real>& training, const Dataset<Real>& test,
               const TrainOptions& options) {
  options.validate();
  training.validate(name);
  test.validate(name);
  require(test.X.cols() == training.X.cols() && test.outputs() == training.outputs() &&
              test.task == training.task,
          name, ": the test part has ", test.X.cols(), " features and ", test.outputs(),
          " outputs, the training part ", training.X.cols(), " and ", training.outputs());
  const bool classes = training.task == Task::kClassification;
  require(classes || !options.balance, name,
          ": balance found, which is for classes; the target has values");
  require(
      options.metric == "auto" || options.metric == "loss" || (options.metric == "mae") != classes,
      name, ": metric ", options.metric, " found, one of ",
      classes ? "loss, accuracy, balanced expected for classes" : "loss, mae expected for values");
  const TrainOptions used = options.resolved(shape_of(training));
  require(used.batch <= training.size(), name, ": ", training.size(),
          " training rows found, at least one batch of ", used.batch, " expected");
  const Index hidden = variant_named(used.variant).has_hidden() ? used.hidden : 0;
  const Index widest = std::max(training.X.cols(), training.outputs());
  Index before = hidden;
  bool small = hidden <= kMostWeights / (widest + 1);
  for (const Index width : used.deeper) {
    small = small && width <= kMostWeights / std::max<Index>(1, std::max(before, widest));
    before = width;
  }
  require(small, name, ": a network of ",
          to_string(Sizes{training.X.cols(), hidden, training.outputs(), used.deeper}),
          " has more than ", kMostWeights, " weights");
}

namespace {

bool is_cross_validated(const TrainOptions& options, Index rows, Index validation_rows) {
  return !options.is_paper() && !options.is_strong() && options.epochs == 0 &&
         validation_rows == 0 && rows >= kFolds && rows < kCrossRows;
}

// What a part of the training has when it is stopped stands for the whole.
template <typename Real>
TrainResult<Real> cut_short(TrainResult<Real> result, const Dataset<Real>& test,
                            const TrainOptions& options) {
  const Score score = evaluate(result.network, test);
  result.test_loss = score.loss;
  result.test_accuracy = score.accuracy;
  result.options = options;
  return result;
}

// Of resolved options; `chosen` says that the number of steps is the caller's.
template <typename Real>
TrainResult<Real> train_here(const Dataset<Real>& training, const Dataset<Real>& validation,
                             const Dataset<Real>& test, TrainOptions options, bool chosen,
                             const TrainHooks<Real>& given) {
  TrainingJournal<Real> journal(given);
  CrossValidation found;
  if (!chosen && is_cross_validated(options, training.size(), validation.size())) {
    Index fold = 0;
    found = cross_validate<Real>(
        training, options, [&](const auto& part, const auto& held_out, const TrainOptions& how) {
          return journal.part(message("fold ", ++fold), [&](const TrainHooks<Real>& hooks) {
            return Trainer<Real>(part, held_out, held_out, how, hooks).run();
          });
        });
    if (journal.stopped()) return cut_short(*journal.stopped(), test, options);
    options.max_steps = found.steps;
  }
  TrainResult<Real> result = journal.last([&](const TrainHooks<Real>& hooks) {
    return Trainer<Real>(training, validation, test, options, hooks).run();
  });
  result.folds = found.folds;
  if (found.folds > 0 && training.task == Task::kClassification) {
    result.temperature = found.temperature;
    apply_temperature(result.network, found.temperature);
    result.test_loss = evaluate(result.network, test).loss;
  }
  return result;
}

// The directions that stand out from noise, where there are some and the validation part does not
// speak for all of them.
template <typename Real>
Rotation<Real> chosen_directions(const Rotation<Real>& all, const Dataset<Real>& training,
                                 const Dataset<Real>& validation, const TrainOptions& options,
                                 TrainingJournal<Real>& journal) {
  constexpr Index kRaceSteps = 500;
  constexpr double kFewerLosses = 0.9, kFewerMistakes = 1.5;
  if (all.num_signals() == 0 || 2 * all.num_signals() > all.size()) return all;
  const Rotation<Real> few = all.first(all.num_signals());
  if (validation.size() == 0) return few;
  const auto objective = [&](const char* name, const Rotation<Real>& rotation) {
    TrainOptions race = options;
    race.max_steps = std::min(kRaceSteps, options.max_steps);
    if (rotation.size() == all.size()) race.moments = "tensor";
    const Dataset<Real> held_out = rotation.turned(validation);
    const Dataset<Real> part = rotation.turned(training);
    return journal
        .part(name,
              [&](const TrainHooks<Real>& hooks) {
                auto result = Trainer<Real>(part, held_out, held_out, race, hooks).run();
                result.network = rotation.turned_back(result.network);
                return result;
              })
        .validation;
  };
  const double by_few = objective("few directions", few), by_all = objective("all directions", all);
  const double limit = training.task == Task::kRegression
                           ? kFewerLosses * by_few
                           : by_few - kFewerMistakes / static_cast<double>(validation.size());
  return by_all < limit ? all : few;
}

// A linear head on a few directions does not overfit: it learns to the end, and a handful of
// validation rows does not stop it. Classes that can be told apart have no end: margins grow for
// ever, and the few rows nearest to the border decide more and more.
Index safe_steps(Task task) {
  return task == Task::kClassification ? 500 : 2000;
}
bool is_safe(const TrainOptions& options, Index directions, Index rows) {
  constexpr Index kRowsPerDirection = 10;
  return !variant_named(options.variant).has(LayerKind::kRelu) && !options.is_strong() &&
         kRowsPerDirection * directions <= rows;
}

// Where the validation part decides nothing but the temperature, its rows are worth more in the
// training. `first` was trained without them.
template <typename Real>
TrainResult<Real> train_on_all(const Dataset<Real>& training, const Dataset<Real>& validation,
                               const Dataset<Real>& test, const TrainOptions& options,
                               const TrainResult<Real>& first, const TrainHooks<Real>& hooks) {
  TrainResult<Real> result =
      train(joined(training, validation), training.subset({}), test, options, hooks);
  apply_temperature(result.network, first.temperature);
  result.temperature = first.temperature;
  result.validation = first.validation;
  result.best_step = first.best_step;
  result.on_all_rows = true;
  result.test_loss = evaluate(result.network, test).loss;
  return result;
}

}  // namespace

template <typename Real>
TrainResult<Real> train(const Dataset<Real>& training, const Dataset<Real>& validation,
                        const Dataset<Real>& test, const TrainOptions& options,
                        const TrainHooks<Real>& hooks) {
  check_run("train", training, test, options);
  TrainOptions used = options.resolved(shape_of(training));
  const bool chosen = options.max_steps > 0;
  if (used.is_paper() || !Rotation<Real>::wanted(training.size(), training.X.cols()))
    return train_here(training, validation, test, used, chosen, hooks);
  TrainingJournal<Real> journal(hooks);
  const Rotation<Real> all(training.X),
      rotation = chosen_directions(all, training, validation, used, journal);
  if (journal.stopped()) return cut_short(*journal.stopped(), test, used);
  if (options.moments == "auto" && !used.is_strong() && rotation.size() == all.size())
    used.moments = "tensor";
  const bool safe = is_safe(used, rotation.size(), training.size());
  if (safe) {
    used.keep_last = true;
    if (!chosen && used.epochs == 0) used.max_steps = safe_steps(training.task);
  }
  const auto turned = [&](const TrainHooks<Real>& own) {
    TrainResult<Real> result = train_here(rotation.turned(training), rotation.turned(validation),
                                          rotation.turned(test), used, chosen, own);
    result.network = rotation.turned_back(result.network);
    return result;
  };
  if (!(safe && !chosen && used.epochs == 0 && validation.size() > 0)) return journal.last(turned);
  const TrainResult<Real> first = journal.part("without the validation part", turned);
  if (journal.stopped()) return cut_short(first, test, used);
  return journal.last([&](const TrainHooks<Real>& own) {
    return train_on_all(training, validation, test, options, first, own);
  });
}

template <typename Real>
TrainResult<Real> train(const Dataset<Real>& training, const Dataset<Real>& test,
                        const TrainOptions& options, const TrainHooks<Real>& hooks) {
  return train(training, training.subset({}), test, options, hooks);
}

#define UDV_INSTANTIATE(Real)                                                             \
  template void check_run(const std::string&, const Dataset<Real>&, const Dataset<Real>&, \
                          const TrainOptions&);                                           \
  template TrainResult<Real> train(const Dataset<Real>&, const Dataset<Real>&,            \
                                   const TrainOptions&, const TrainHooks<Real>&);         \
  template TrainResult<Real> train(const Dataset<Real>&, const Dataset<Real>&,            \
                                   const Dataset<Real>&, const TrainOptions&,             \
                                   const TrainHooks<Real>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
