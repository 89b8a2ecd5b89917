// SPDX-License-Identifier: MIT
#include "udv/net/trainer.hpp"

#include <chrono>
#include <cmath>
#include <limits>

#include "core/require.hpp"
#include "core/sums.hpp"
#include "net/shrink.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/net/head.hpp"
#include "udv/net/initialise.hpp"
#include "udv/net/loss.hpp"

namespace udv::net {
namespace {

constexpr Index kPiece = 512;  // rows of one piece of an evaluation
constexpr Index kMostWeights = Index{1} << 31;
constexpr double kLookSeconds = 0.05;   // between two looks at the clock, about
constexpr double kSpectrumShare = 0.2;  // of an epoch's work may go into the spectrum of UD

using Clock = std::chrono::steady_clock;

// Epochs between two spectra of m x d: 10 m^3 operations against 6 n d m of an epoch.
Index spectrum_interval(Index width, Index inputs, Index samples) {
  const auto m = static_cast<double>(width);
  const double work = kSpectrumShare * 6 * static_cast<double>(samples * inputs);
  return std::max<Index>(1, static_cast<Index>(std::ceil(10 * m * m / work)));
}

// Loss and accuracy, piece by piece; the workspace has room for one.
template <typename Real>
Score score_of(const Network<Real>& network, const Dataset<Real>& data,
               typename Network<Real>::Workspace& work) {
  Score sum;
  for (Index begin = 0; begin < data.size(); begin += kPiece) {
    const Index count = std::min(kPiece, data.size() - begin);
    const Rows<Real> outputs = network.forward(data.X.middleRows(begin, count), work);
    Rows<Real> slopes = work.gradients.back().topRows(count);
    if (data.task == Task::kRegression) {
      const auto targets = data.Y.middleRows(begin, count);
      sum.loss += static_cast<double>(count) * mean_squared_error<Real>(outputs, targets, slopes);
    } else {
      const std::int32_t* const labels = data.labels.data() + begin;
      sum.loss += static_cast<double>(count) * cross_entropy<Real>(outputs, labels, slopes);
      sum.accuracy += static_cast<double>(num_correct<Real>(outputs, labels));
    }
  }
  const auto n = static_cast<double>(data.size());
  return {sum.loss / n, sum.accuracy / n};
}

// Before the network shrinks; 0 where it has no hidden neurons.
template <typename Real>
Index hidden_width(const Dataset<Real>& training, const TrainOptions& options) {
  if (!variant_named(options.variant).has_hidden()) return 0;
  return options.hidden > 0 ? options.hidden
                            : default_hidden(training.X.cols(), training.outputs(),
                                             training.task == Task::kClassification);
}

template <typename Real>
class Trainer {
 public:
  Trainer(const Dataset<Real>& training, const Dataset<Real>& test, const TrainOptions& options,
          const TrainHooks<Real>& hooks)
      : training_(training),
        test_(test),
        options_(options),
        hooks_(hooks),
        resumed_(hooks.resume.empty() ? std::nullopt
                                      : std::optional(train_state_from_bytes<Real>(hooks.resume))),
        batch_size_(options.batch > 0 ? options.batch : training.size()),
        batches_((training.size() + batch_size_ - 1) / batch_size_),
        rule_(options.optimizer, options.rule),
        network_(variant_named(options.variant), sizes(), options.bias),
        work_(network_.workspace(std::max(batch_size_, std::min(kPiece, test.size())))) {
    batch_.task = training.task;
    batch_.classes = training.classes;
    batch_.X.resize(batch_size_, training.X.cols());
    batch_.Y.resize(training.task == Task::kRegression ? batch_size_ : 0, training.Y.cols());
    batch_.labels.resize(training.task == Task::kRegression ? 0 : static_cast<size_t>(batch_size_));
  }

  TrainResult<Real> run() {
    const FlushToZero flush;
    begin();
    while (stop_ == TrainStop::kDone && state_.epoch < options_.epochs) run_epoch();
    state_.seconds = seconds();
    if (hooks_.save && (stop_ == TrainStop::kInterrupted || stop_ == TrainStop::kTimeLimit)) {
      state_.parameters = network_.parameters();
      state_.hidden = network_.sizes().hidden;
      hooks_.save(to_bytes(state_));
    }
    TrainResult<Real> result{std::move(network_), std::move(state_.history), stop_};
    average(result);
    result.seconds = state_.seconds;
    result.steps = state_.optimizer.steps;
    return result;
  }

 private:
  Index first_hidden() const { return hidden_width(training_, options_); }

  Sizes sizes() const {
    const Index hidden = resumed_ ? resumed_->hidden : first_hidden();
    require(hidden <= first_hidden() && (hidden > 0 || first_hidden() == 0), "checkpoint: ", hidden,
            " neurons found, 1 to ", first_hidden(), " expected");
    return {training_.X.cols(), hidden, training_.outputs()};
  }

  void begin() {
    if (resumed_) {
      state_ = *resumed_;
      check_state();
      network_.parameters() = state_.parameters;
    } else {
      initialise(network_, options_.initialisation, options_.seed);
      state_.optimizer = rule_.start(network_.num_parameters());
    }
    gradient_.resize(network_.num_parameters());
    const Index width = std::max(first_hidden(), network_.sizes().outputs);
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
    require(state_.epoch >= 0 && state_.epoch <= options_.epochs && state_.batch >= 0 &&
                state_.batch <= batches_,
            "checkpoint: epoch ", state_.epoch, " and batch ", state_.batch, " found");
  }

  void run_epoch() {
    const auto stream = kStreamBatches + 16 * static_cast<std::uint64_t>(state_.epoch);
    order_ = Random(options_.seed, stream).permutation(training_.size());
    rate_ = options_.schedule.rate(options_.learning_rate, state_.epoch, options_.epochs);
    while (stop_ == TrainStop::kDone && state_.batch < batches_) take_step();
    if (stop_ == TrainStop::kDone || stop_ == TrainStop::kDiverged) end_epoch();
  }

  void take_step() {
    const Index first = state_.batch * batch_size_;
    const Index count = std::min(batch_size_, training_.size() - first);
    training_.gather(order_.data() + first, count, batch_);
    const ConstRows<Real> X = batch_.X.topRows(count);
    const Rows<Real> outputs = network_.forward(X, work_);
    const double value = loss<Real>(outputs, batch_, work_.gradients.back().topRows(count));
    network_.backward(X, work_, gradient_);
    rule_.step(rate_, gradient_, state_.optimizer, network_.parameters());
    network_.project();
    state_.loss_sum += value * static_cast<double>(count);
    ++state_.batch;
    stop_ = std::isfinite(value) ? look(value) : TrainStop::kDiverged;
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

  void end_epoch() {
    const bool last = state_.epoch + 1 == options_.epochs;
    EpochRecord record;
    record.epoch = ++state_.epoch;
    record.train_loss = state_.loss_sum / static_cast<double>(training_.size());
    const Score score = score_of(network_, test_, work_);
    record.test_loss = score.loss;
    record.test_accuracy = score.accuracy;
    record.learning_rate = rate_;
    record.live_width = live_width(network_);
    record.effective_rank = last || record.epoch % spectrum_interval_ == 0
                                ? effective_rank(quick_spectrum(network_))
                                : std::numeric_limits<double>::quiet_NaN();
    record.seconds = seconds();
    state_.history.push_back(record);
    state_.batch = 0;
    state_.loss_sum = 0;
    if (!std::isfinite(record.test_loss)) stop_ = TrainStop::kDiverged;
    if (hooks_.epoch && stop_ == TrainStop::kDone) hooks_.epoch(record, network_);
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

  void average(TrainResult<Real>& result) const {
    const auto& history = result.history;
    if (history.empty())
      result.test_loss = result.test_accuracy = std::numeric_limits<double>::quiet_NaN();
    const auto wanted = static_cast<size_t>(options_.averaged_epochs(training_.task));
    const size_t count = std::min(wanted, history.size());
    for (size_t i = history.size() - count; i < history.size(); ++i) {
      result.test_loss += history[i].test_loss / static_cast<double>(count);
      result.test_accuracy += history[i].test_accuracy / static_cast<double>(count);
    }
  }

  double seconds() const {
    const double before = resumed_ ? resumed_->seconds : 0;
    return before + std::chrono::duration<double>(Clock::now() - started_).count();
  }

  const Dataset<Real>& training_;
  const Dataset<Real>& test_;
  const TrainOptions& options_;
  const TrainHooks<Real>& hooks_;
  std::optional<TrainState<Real>> resumed_;
  Index batch_size_, batches_;
  Optimizer<Real> rule_;
  Network<Real> network_;
  typename Network<Real>::Workspace work_;
  Dataset<Real> batch_;
  Vector<Real> gradient_;
  std::vector<Index> order_;
  double rate_ = 0;
  TrainState<Real> state_;
  TrainStop stop_ = TrainStop::kDone;
  Index spectrum_interval_ = 1, next_look_ = 0, steps_here_ = 0, skipped_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace

void TrainOptions::validate() const {
  variant_named(variant);
  Optimizer<double>(optimizer, rule);
  schedule.validate();
  require(learning_rate > 0 && std::isfinite(learning_rate), "train: learning rate is ",
          learning_rate, ", a positive number expected");
  require(epochs > 0, "train: epochs is ", epochs, ", at least 1 expected");
  require(batch >= 0, "train: batch is ", batch, ", at least 0 expected");
  require(hidden >= 0, "train: hidden is ", hidden, ", at least 0 expected");
  require(average_last >= 0, "train: average_last is ", average_last, ", at least 0 expected");
  require(rule.weight_decay >= 0 && std::isfinite(rule.weight_decay), "train: weight decay is ",
          rule.weight_decay, ", a number of at least 0 expected");
  require(rule.momentum >= 0 && rule.momentum < 1, "train: momentum is ", rule.momentum,
          ", 0 <= momentum < 1 expected");
  check_initialisation(initialisation);
  require(shrink_tail > 0 && shrink_tail < 1, "train: shrink_tail is ", shrink_tail,
          ", a number between 0 and 1 expected");
  require(shrink_every > 0, "train: shrink_every is ", shrink_every, ", at least 1 expected");
}

Index TrainOptions::averaged_epochs(Task task) const {
  if (average_last > 0) return average_last;
  return task == Task::kRegression ? 20 : 3;
}

Index TrainOptions::num_steps(Index rows) const {
  const Index size = batch > 0 ? batch : rows;
  return epochs * ((rows + size - 1) / size);
}

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
  require(options.batch <= training.size(), name, ": ", training.size(),
          " training rows found, at least one batch of ", options.batch, " expected");
  const Index width = training.X.cols() + training.outputs();
  const Index hidden = hidden_width(training, options);
  require(hidden <= kMostWeights / width, name, ": a network of ", training.X.cols(), "-", hidden,
          "-", training.outputs(), " has more than ", kMostWeights, " weights");
}

template <typename Real>
TrainResult<Real> train(const Dataset<Real>& training, const Dataset<Real>& test,
                        const TrainOptions& options, const TrainHooks<Real>& hooks) {
  check_run("train", training, test, options);
  return Trainer<Real>(training, test, options, hooks).run();
}

template <typename Real>
RowMatrix<Real> predict(const Network<Real>& network, const ConstRows<Real>& X) {
  RowMatrix<Real> outputs(X.rows(), network.sizes().outputs);
  auto work = network.workspace(std::min(kPiece, X.rows()));
  for (Index begin = 0; begin < X.rows(); begin += kPiece) {
    const Index count = std::min(kPiece, X.rows() - begin);
    outputs.middleRows(begin, count) = network.forward(X.middleRows(begin, count), work);
  }
  return outputs;
}

template <typename Real>
Score evaluate(const Network<Real>& network, const Dataset<Real>& data) {
  auto work = network.workspace(std::min(kPiece, data.size()));
  return score_of(network, data, work);
}

#define UDV_INSTANTIATE(Real)                                                             \
  template void check_run(const std::string&, const Dataset<Real>&, const Dataset<Real>&, \
                          const TrainOptions&);                                           \
  template TrainResult<Real> train(const Dataset<Real>&, const Dataset<Real>&,            \
                                   const TrainOptions&, const TrainHooks<Real>&);         \
  template RowMatrix<Real> predict(const Network<Real>&, const ConstRows<Real>&);         \
  template Score evaluate(const Network<Real>&, const Dataset<Real>&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
