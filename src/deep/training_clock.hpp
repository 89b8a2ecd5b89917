// SPDX-License-Identifier: MIT
#pragma once

#include <torch/torch.h>

#include <chrono>
#include <cmath>

#include "udv/core/observer.hpp"
#include "udv/deep/processes.hpp"
#include "udv/net/trainer.hpp"

namespace udv::deep {

/// The time of a training, and looks at its loss for an observer: five times a second on a GPU,
/// where a look waits for it, else after every step.
class TrainingClock {
 public:
  TrainingClock(const Observer& observer, const torch::Device& device, Processes* processes)
      : observer_(observer), processes_(processes), interval_(device.is_cuda() ? 0.2 : 0) {}

  /// With what earlier parts of the training took.
  double seconds() const { return before_ + since(started_); }
  void resume_from(double seconds) { before_ = seconds; }

  /// Completes the record and shows it; says what is to happen next, in all processes.
  void look(const torch::Tensor& loss, const IterationRecord& record, net::TrainStop& stop) {
    show(loss, record, stop);
    agree(stop);
  }

  /// One process that has to stop stops all.
  void agree(net::TrainStop& stop) const {
    if (processes_) stop = static_cast<net::TrainStop>(processes_->largest(static_cast<int>(stop)));
  }

  using Clock = std::chrono::steady_clock;
  static double since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

 private:
  void show(const torch::Tensor& loss, IterationRecord record, net::TrainStop& stop) {
    if (!observer_ || seconds() - last_look_ < interval_) return;
    record.objective = loss.item<double>();
    record.seconds = last_look_ = seconds();
    if (!std::isfinite(record.objective)) stop = net::TrainStop::kDiverged;
    const Verdict verdict = observer_(record);
    if (verdict == Verdict::kInterrupt) stop = net::TrainStop::kInterrupted;
    if (verdict == Verdict::kTimeLimit) stop = net::TrainStop::kTimeLimit;
  }

  const Observer& observer_;
  Processes* processes_;
  double interval_, before_ = 0, last_look_ = 0;
  Clock::time_point started_ = Clock::now();
};

}  // namespace udv::deep
