// SPDX-License-Identifier: MIT
#include <cmath>
#include <limits>

#include "core/require.hpp"
#include "core/save_clock.hpp"
#include "deep/gradient_buckets.hpp"
#include "deep/language_model_parts.hpp"
#include "deep/rank_allocator.hpp"
#include "deep/start_weight.hpp"
#include "deep/state_archive.hpp"
#include "deep/training_clock.hpp"
#include "udv/core/random.hpp"
#include "udv/deep/optimizer.hpp"

namespace udv::deep {
namespace {

using net::TrainStop;
using text::Token;
using torch::Tensor;

constexpr int kHistoryColumns = 6;
constexpr Index kStartBatches = 4, kStartTokens = 65536;  // that w0 is found from

Tensor history_tensor(const std::vector<LoraEpoch>& history) {
  std::vector<double> numbers;
  for (const LoraEpoch& e : history)
    numbers.insert(numbers.end(), {static_cast<double>(e.epoch), e.seconds, e.train_loss,
                                   e.eval_loss, e.learning_rate, e.tokens_per_second});
  return torch::tensor(numbers, torch::kFloat64).view({-1, kHistoryColumns});
}

std::vector<LoraEpoch> history_from(const Tensor& numbers) {
  std::vector<LoraEpoch> history;
  for (std::int64_t i = 0; i < numbers.size(0); ++i) {
    const auto at = [&](int k) { return numbers[i][k].item<double>(); };
    history.push_back({static_cast<Index>(at(0)), at(1), at(2), at(3), at(4), at(5)});
  }
  return history;
}

// Of all adapters, in the order of their parameters.
std::vector<StepMeasure> measures_of(const Llama& model, const LoraOptions& options) {
  std::vector<StepMeasure> all;
  if (options.optimizer != "relative") return all;
  for (const auto& block : model.adapter_blocks())
    for (const StepMeasure& measure : step_measures(*block)) all.push_back(measure);
  return all;
}

// A training of all epochs, with options that are resolved.
class LoraRun {
 public:
  LoraRun(Llama& model, const TextWindows& text, const TextWindows& evaluation,
          const LoraOptions& options, const LoraHooks& hooks,
          const std::shared_ptr<Processes>& processes)
      : model_(model),
        text_(text),
        evaluation_(evaluation),
        o_(options),
        hooks_(hooks),
        saves_(hooks),
        micro_batch_(
            std::min(o_.batch, micro_batch_size(o_.micro_batch, text.sequence(), model.device()))),
        rule_(model.adapter_parameters(), o_.optimizer, o_.rule, measures_of(model, o_)),
        projector_(model.adapter_blocks()),
        clock_(hooks.observer, model.device(), processes.get()),
        processes_(processes.get()),
        loss_sum_(torch::zeros({}, torch::TensorOptions(torch::kFloat64).device(model.device()))) {
    if (o_.adapter.method == "adalora")
      allocator_ = std::make_unique<RankAllocator>(model.adapter_blocks(), o_.adapter.rank,
                                                   steps_per_epoch() * o_.epochs);
    if (processes)
      buckets_ = std::make_unique<GradientBuckets>(processes, model.adapter_parameters());
  }

  LoraResult run() {
    projector_.project();
    if (hooks_.resume.empty()) {
      if (o_.optimizer == "relative") start_weights();
      take_state_of_first();
      record_epoch(std::numeric_limits<double>::quiet_NaN(), 0);
    } else {
      restore();
    }
    while (stop_ == TrainStop::kDone && epoch_ < o_.epochs) run_epoch();
    if (stop_ == TrainStop::kInterrupted || stop_ == TrainStop::kTimeLimit) save();
    return {history_, stop_, clock_.seconds(), timed_tokens_ / std::max(timed_seconds_, 1e-9),
            peak_memory(model_.device())};
  }

 private:
  Index steps_per_epoch() const { return (text_.count() + o_.batch - 1) / o_.batch; }

  std::vector<Index> order_of_epoch() const {
    return Random(o_.seed, kStreamBatches + 16 * static_cast<std::uint64_t>(epoch_))
        .permutation(text_.count());
  }

  // All w_j = w0, from the first batches.
  void start_weights() {
    std::vector<Index> windows = order_of_epoch();
    const Index most =
        std::min(kStartBatches * o_.batch, std::max<Index>(1, kStartTokens / text_.sequence()));
    windows.resize(static_cast<size_t>(std::min(most, text_.count())));
    const double weight = start_weight(model_, text_, windows, micro_batch_);
    const torch::NoGradGuard no_grad;
    for (const auto& block : model_.adapter_blocks())
      block->find("D.weight")->detach().fill_(weight);
  }

  // All processes start with the same bits.
  void take_state_of_first() {
    if (processes_ == nullptr) return;
    std::vector<Tensor> all = rule_.state();
    take_from_first(*processes_, all);
    rule_.load_state(all);
  }

  double rate_now() const {
    const Index step = rule_.steps(), steps = steps_per_epoch() * o_.epochs;
    if (o_.schedule.name == "cosine-step")
      return net::Schedule().rate(o_.learning_rate, step, steps);
    return o_.schedule.rate(o_.learning_rate, epoch_, o_.epochs);
  }

  void run_epoch() {
    order_ = order_of_epoch();
    const auto began = TrainingClock::Clock::now();
    const Index first = step_;
    while (stop_ == TrainStop::kDone && step_ < steps_per_epoch()) {
      make_step();
      ++step_;
      look();
      if (stop_ == TrainStop::kDone && saves_.due()) save();
    }
    const double sum = loss_sum_.item<double>();  // waits for the device
    const double took = TrainingClock::since(began);
    const auto tokens = static_cast<double>(std::min(text_.count(), step_ * o_.batch) -
                                            std::min(text_.count(), first * o_.batch));
    count_time(tokens * static_cast<double>(text_.sequence()), took);
    if (!std::isfinite(sum)) stop_ = TrainStop::kDiverged;
    if (stop_ == TrainStop::kInterrupted || stop_ == TrainStop::kTimeLimit) return;
    ++epoch_;
    step_ = 0;
    loss_sum_.zero_();
    record_epoch(sum / static_cast<double>(text_.count() * text_.sequence()),
                 tokens * static_cast<double>(text_.sequence()) / std::max(took, 1e-9));
    if (stop_ == TrainStop::kDone && epoch_ < o_.epochs && saves_.due_at_point()) save();
  }

  // Libraries are loaded in the first epoch: it does not count where there are others.
  void count_time(double tokens, double took) {
    if (++epochs_here_ == 2) timed_tokens_ = timed_seconds_ = 0;
    timed_tokens_ += tokens;
    timed_seconds_ += took;
  }

  // Adds the gradients of sequences begin .. end - 1, some of them at a time. Returns the sum of
  // their losses.
  Tensor accumulate(Index begin, Index end, double scale) {
    Tensor sum = torch::zeros_like(loss_sum_);
    for (Index at = begin; at < end; at += micro_batch_) {
      const auto batch = text_.batch(order_.data() + at, std::min(micro_batch_, end - at));
      sum.add_(model_.accumulate(batch.inputs, batch.targets, scale, o_.checkpointing));
    }
    return sum;
  }

  // The same with every process on its share.
  Tensor accumulate_together(Index begin, Index end, double scale) {
    const auto [first, last] = processes_->share(begin, end);
    buckets_->start(static_cast<int>((last - first + micro_batch_ - 1) / micro_batch_));
    const Tensor sum = accumulate(first, last, scale);
    buckets_->finish();
    processes_->group().sum(sum);
    return sum;
  }

  // One step on `batch` sequences; the mean over all their tokens.
  void make_step() {
    const Index begin = step_ * o_.batch, end = std::min(text_.count(), begin + o_.batch);
    const double scale = 1 / static_cast<double>((end - begin) * text_.sequence());
    rule_.zero_grad();
    const Tensor sum =
        processes_ ? accumulate_together(begin, end, scale) : accumulate(begin, end, scale);
    if (o_.clip > 0) rule_.clip_gradients(o_.clip);
    if (allocator_) allocator_->before_step();
    rate_ = rate_now();
    rule_.step(rate_);
    projector_.project();
    if (allocator_) allocator_->after_step(rule_.steps());
    loss_sum_.add_(sum);
    last_loss_ = sum * scale;
  }

  void look() {
    IterationRecord record;
    record.iteration =
        (epoch_ * text_.count() + std::min(text_.count(), step_ * o_.batch)) * text_.sequence();
    record.rank = o_.adapter.rank;
    record.step = rate_;
    clock_.look(last_loss_, record, stop_);
  }

  void record_epoch(double train_loss, double rate) {
    LoraEpoch record;
    record.epoch = epoch_;
    record.train_loss = train_loss;
    record.eval_loss = mean_loss(
        model_, evaluation_,
        micro_batch_size(o_.micro_batch, evaluation_.sequence(), model_.device()), processes_);
    record.learning_rate = epoch_ == 0 ? 0 : rate_;
    record.tokens_per_second = rate;
    record.seconds = clock_.seconds();
    history_.push_back(record);
    if (!std::isfinite(record.eval_loss) || is_lost(record.eval_loss)) stop_ = TrainStop::kDiverged;
    clock_.agree(stop_);
    if (hooks_.epoch) hooks_.epoch(record);
    BlasThreads::use_all();  // the hooks may have used net
  }

  // No better than a guess, and worse than at the start.
  bool is_lost(double loss) const {
    const double guess = std::log(static_cast<double>(model_.config().vocabulary));
    return loss > history_.front().eval_loss && loss >= (1 - 1e-6) * guess;
  }

  void save() {
    if (!hooks_.save) return;
    const Tensor numbers = torch::tensor({static_cast<double>(epoch_), static_cast<double>(step_),
                                          loss_sum_.item<double>(), clock_.seconds()},
                                         torch::kFloat64);
    std::vector<Tensor> arrays{numbers, history_tensor(history_)};
    for (const Tensor& values : rule_.state()) arrays.push_back(values);
    if (allocator_)
      for (const Tensor& values : allocator_->state()) arrays.push_back(values);
    saves_.save([&] { return pack_arrays(arrays); });
  }

  void restore() {
    const auto arrays = unpack_arrays(hooks_.resume);
    require(arrays.size() > 2 && arrays[0].numel() == 4 && arrays[1].dim() == 2 &&
                arrays[1].size(1) == kHistoryColumns,
            "not a checkpoint of this training");
    const auto number = [&](int i) { return arrays[0][i].item<double>(); };
    epoch_ = static_cast<Index>(number(0));
    step_ = static_cast<Index>(number(1));
    loss_sum_.fill_(number(2));
    clock_.resume_from(number(3));
    history_ = history_from(arrays[1]);
    const auto rest = static_cast<std::ptrdiff_t>(allocator_ ? allocator_->state_size() : 0);
    require(static_cast<std::ptrdiff_t>(arrays.size()) > 2 + rest,
            "not a checkpoint of this training");
    rule_.load_state({arrays.begin() + 2, arrays.end() - rest});
    if (allocator_) allocator_->load_state({arrays.end() - rest, arrays.end()});
  }

  Llama& model_;
  const TextWindows &text_, &evaluation_;
  const LoraOptions& o_;
  const LoraHooks& hooks_;
  SaveClock saves_;
  Index micro_batch_;
  Optimizer rule_;
  Projector projector_;
  std::unique_ptr<RankAllocator> allocator_;  // of adalora
  TrainingClock clock_;
  Processes* processes_;                      // nullptr: this one alone
  std::unique_ptr<GradientBuckets> buckets_;  // of several processes
  Tensor loss_sum_, last_loss_;

  Index epoch_ = 0, step_ = 0, epochs_here_ = 0;
  std::vector<Index> order_;
  std::vector<LoraEpoch> history_;
  double rate_ = 0, timed_tokens_ = 0, timed_seconds_ = 0;
  TrainStop stop_ = TrainStop::kDone;
};

}  // namespace

Index training_steps(const std::vector<Token>& text, Index sequence, const LoraOptions& options) {
  const TextWindows windows(text, sequence, torch::kCPU);
  return options.epochs * ((windows.count() + options.batch - 1) / options.batch);
}

LoraResult LanguageModel::train(const std::vector<Token>& text,
                                const std::vector<Token>& evaluation, const LoraOptions& given,
                                const LoraHooks& hooks) {
  given.validate();
  const BlasThreads threads;
  return guarded("lora", [&] {
    const Index sequence = sequence_length(config(), given.sequence);
    const LoraOptions options = given.resolved(training_steps(text, sequence, given));
    parts_->model.add_adapters(options.adapter, options.seed);
    const TextWindows to_learn(text, sequence, parts_->device),
        to_test(evaluation, sequence, parts_->device);
    return LoraRun(parts_->model, to_learn, to_test, options, hooks, parts_->processes).run();
  });
}

}  // namespace udv::deep
