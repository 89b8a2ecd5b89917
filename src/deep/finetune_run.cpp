// SPDX-License-Identifier: MIT
#include "deep/finetune_run.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/save_clock.hpp"
#include "deep/finetune_state.hpp"
#include "deep/runtime.hpp"
#include "deep/training_clock.hpp"
#include "udv/net/head.hpp"

namespace udv::deep {
namespace {

using net::TrainStop;
using torch::Tensor;

// Means over the last epochs.
void average(Index last, net::TrainResult<float>& result) {
  const auto& history = result.history;
  if (history.empty())
    result.test_loss = result.test_accuracy = std::numeric_limits<double>::quiet_NaN();
  const size_t count = std::min(static_cast<size_t>(last), history.size());
  for (size_t i = history.size() - count; i < history.size(); ++i) {
    result.test_loss += history[i].test_loss / static_cast<double>(count);
    result.test_accuracy += history[i].test_accuracy / static_cast<double>(count);
  }
}

class Run {
 public:
  Run(Classifier& classifier, Learner& learner, const FinetuneHooks& hooks)
      : classifier_(classifier),
        learner_(learner),
        hooks_(hooks),
        saves_(hooks),
        options_(classifier.options().training),
        size_(classifier.training().size()),
        batches_((size_ + options_.batch - 1) / options_.batch),
        clock_(hooks.observer, classifier.device(), classifier.processes()),
        loss_sum_(
            torch::zeros({}, torch::TensorOptions(torch::kFloat64).device(classifier.device()))) {}

  FinetuneResult run() {
    if (!hooks_.resume.empty()) restore();
    while (stop_ == TrainStop::kDone && state_.epoch < options_.epochs) run_epoch();
    state_.seconds = clock_.seconds();
    if (stop_ == TrainStop::kInterrupted || stop_ == TrainStop::kTimeLimit) save();
    classifier_.take_head();
    FinetuneResult result{{classifier_.head_network(), state_.history, stop_}, 0};
    average(options_.averaged_epochs(net::Task::kClassification), result.training);
    result.training.seconds = state_.seconds;
    result.training.steps = learner_.steps();
    result.images_per_second = timed_images_ / std::max(state_.learning_seconds, 1e-9);
    return result;
  }

 private:
  void run_epoch() {
    classifier_.training().start_epoch(options_.seed, state_.epoch);
    const auto began = TrainingClock::Clock::now();
    classifier_.network().set_training(true);
    while (stop_ == TrainStop::kDone && state_.batch < batches_) step();
    const double sum = loss_sum_.item<double>();  // waits for the device
    state_.learning_seconds += TrainingClock::since(began);
    // Libraries are loaded and kernels chosen in the first epoch: it does not count for the rate.
    if (++epochs_here_ == 1 && state_.epoch + 1 < options_.epochs)
      timed_images_ = state_.learning_seconds = 0;
    if (!std::isfinite(sum)) stop_ = TrainStop::kDiverged;
    if (stop_ == TrainStop::kDone || stop_ == TrainStop::kDiverged) end_epoch(sum);
  }

  double rate_now() const {
    if (options_.schedule.name == "cosine-step")
      return net::Schedule().rate(options_.learning_rate, learner_.steps(),
                                  batches_ * options_.epochs);
    return options_.schedule.rate(options_.learning_rate, state_.epoch, options_.epochs);
  }

  void step() {
    const Index begin = state_.batch * options_.batch;
    const Index end = std::min(size_, begin + options_.batch);
    const auto count = static_cast<double>(end - begin);
    rate_ = rate_now();
    const Tensor loss = learner_.step(begin, end, rate_);
    loss_sum_.add_(loss.to(torch::kFloat64) * count);
    ++state_.batch;
    timed_images_ += count;
    look(loss);
    if (stop_ == TrainStop::kDone && saves_.due()) save();
  }

  void look(const Tensor& loss) {
    IterationRecord record;
    record.iteration = state_.epoch * size_ + state_.batch * options_.batch;
    record.rank = options_.hidden;
    record.step = rate_;
    clock_.look(loss, record, stop_);
  }

  void end_epoch(double sum) {
    const Tensor seen = classifier_.test_features();
    const net::Score score = classifier_.score(seen);
    const net::Network<float> head = classifier_.head()->to_network();
    net::EpochRecord record;
    record.epoch = ++state_.epoch;
    record.train_loss = sum / static_cast<double>(size_);
    record.test_loss = score.loss;
    record.test_accuracy = score.accuracy;
    record.learning_rate = rate_;
    record.live_width = net::live_width(head);
    record.effective_rank = net::effective_rank(net::quick_spectrum(head));
    record.seconds = clock_.seconds();
    state_.history.push_back(record);
    state_.batch = 0;
    loss_sum_.zero_();
    if (!std::isfinite(score.loss)) stop_ = TrainStop::kDiverged;
    clock_.agree(stop_);
    if (hooks_.epoch && stop_ == TrainStop::kDone)
      hooks_.epoch(record, head, classifier_.test_dataset(seen));
    if (stop_ == TrainStop::kDone && state_.epoch < options_.epochs && saves_.due_at_point())
      save();
    BlasThreads::use_all();  // the hooks may have used net
  }

  void save() {
    if (!hooks_.save) return;
    state_.loss_sum = loss_sum_.item<double>();
    state_.seconds = clock_.seconds();
    saves_.save([this] { return to_bytes(state_, learner_.state()); });
  }

  void restore() {
    Tensors arrays = learner_.state();
    state_ = finetune_state_from_bytes(hooks_.resume, arrays);
    learner_.load_state(arrays);
    loss_sum_.fill_(state_.loss_sum);
    clock_.resume_from(state_.seconds);
  }

  Classifier& classifier_;
  Learner& learner_;
  const FinetuneHooks& hooks_;
  SaveClock saves_;
  const net::TrainOptions& options_;
  Index size_, batches_;
  TrainingClock clock_;
  Tensor loss_sum_;
  FinetuneState state_;
  Index epochs_here_ = 0;
  double rate_ = 0, timed_images_ = 0;
  TrainStop stop_ = TrainStop::kDone;
};

}  // namespace

FinetuneResult run_finetuning(Classifier& classifier, Learner& learner,
                              const FinetuneHooks& hooks) {
  return Run(classifier, learner, hooks).run();
}

}  // namespace udv::deep
