// SPDX-License-Identifier: MIT
#include "jobs/training_files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

using net::EpochRecord;
using net::Task;

// Root of the mean squared error of the last epoch in the units of a single target.
Json target_rmse(const net::Preprocessing& how, double loss) {
  return how.outputs == 1 ? number(std::sqrt(loss) / std::abs(how.targets.factor(0)))
                          : Json(nullptr);
}

void add_scores(const net::Preprocessing& how, const std::vector<EpochRecord>& history,
                double test_loss, double test_accuracy, Json& run) {
  const bool classes = how.task == Task::kClassification;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EpochRecord last;
  last.train_loss = last.test_loss = last.test_accuracy = kNone;
  if (!history.empty()) last = history.back();
  run["test_loss"] = number(test_loss);
  if (classes) run["test_accuracy"] = number(test_accuracy);
  run["last_train_loss"] = number(last.train_loss);
  run["last_test_loss"] = number(last.test_loss);
  if (classes)
    run["last_test_accuracy"] = number(last.test_accuracy);
  else
    run["last_test_rmse"] = target_rmse(how, last.test_loss);
}

template <typename Real>
Json results_json(const Training<Real>& of) {
  const auto& [result, model, options, figures, training_rows, test_rows] = of;
  const net::Sizes& sizes = model.network.sizes();
  const Task task = model.preprocessing.task;
  Json run = {{"variant", options.variant},
              {"optimizer", options.optimizer},
              {"scalar", scalar_name<Real>()},
              {"task", task == Task::kClassification ? "classification" : "regression"},
              {"rows", training_rows},
              {"test_rows", test_rows},
              {"inputs", sizes.inputs},
              {"hidden", sizes.hidden},
              {"outputs", sizes.outputs}};
  add_scores(model.preprocessing, result.history, result.test_loss, result.test_accuracy, run);
  run.update({{"average_last", options.averaged_epochs(task)},
              {"spectrum", list(figures.spectrum)},
              {"stable_rank", number(figures.stable_rank)},
              {"effective_rank", number(figures.effective_rank)},
              {"rank_90", figures.rank_90},
              {"rank_99", figures.rank_99},
              {"rank_999", figures.rank_999},
              {"live_width", figures.live_width},
              {"parameters", figures.parameters},
              {"epochs", result.history.size()},
              {"iterations", result.steps},
              {"seconds", result.seconds},
              {"stop_reason", to_string(result.stop)}});
  return run;
}

}  // namespace

template <typename Real>
void write_training(Run& run, const Training<Real>& training) {
  RunFolder& folder = run.folder();
  const Task task = training.model.preprocessing.task;
  write_model(folder.file("model.safetensors"), training.model);
  io::write_atomically(folder.file("history.csv"), history_csv(training.result.history, task));
  write_run_json(folder, run.info(), results_json(training));
}

std::string history_csv(const std::vector<EpochRecord>& history, Task task) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "epoch,seconds,train_loss,test_loss,test_accuracy,learning_rate,live_width,"
                 "effective_rank\n");
  for (const EpochRecord& r : history) {
    const bool classes = task == Task::kClassification;
    fmt::format_to(
        out, "{},{:.6f},{:.9g},{:.9g},{},{:.9g},{},{}\n", r.epoch, r.seconds, r.train_loss,
        r.test_loss, classes ? fmt::format("{:.9g}", r.test_accuracy) : std::string(),
        r.learning_rate, r.live_width,
        std::isnan(r.effective_rank) ? std::string() : fmt::format("{:.6g}", r.effective_rank));
  }
  return fmt::to_string(text);
}

Outcome outcome_of(net::TrainStop stop) {
  if (stop == net::TrainStop::kInterrupted) return Outcome::kInterrupted;
  return stop == net::TrainStop::kDone ? Outcome::kDone : Outcome::kLimited;
}

template void write_training(Run&, const Training<float>&);
template void write_training(Run&, const Training<double>&);

}  // namespace udv::jobs
