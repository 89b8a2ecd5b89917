// SPDX-License-Identifier: MIT
#include "jobs/training_files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "jobs/run_json.hpp"
#include "udv/core/options.hpp"
#include "udv/io/file.hpp"

namespace udv::jobs {
namespace {

using net::EpochRecord;
using net::Task;

constexpr Index kMostPredictions = 20'000;

void add_scores(Task task, const std::vector<EpochRecord>& history, double test_loss,
                double test_accuracy, Json& run) {
  const bool classes = task == Task::kClassification;
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  EpochRecord last;
  last.train_loss = last.test_loss = last.test_accuracy = kNone;
  if (!history.empty()) last = history.back();
  run["test_loss"] = number(test_loss);
  if (classes) run["test_accuracy"] = number(test_accuracy);
  run["last_train_loss"] = number(last.train_loss);
  run["last_test_loss"] = number(last.test_loss);
  if (classes) run["last_test_accuracy"] = number(last.test_accuracy);
}

std::string bias_word(net::Bias bias) {
  constexpr const char* kWords[] = {"none", "all", "constant"};
  return kWords[bias.kind];
}

template <typename Real>
Json results_json(const Training<Real>& of) {
  const net::TrainResult<Real>& result = of.result;
  const net::TrainFigures& figures = of.figures;
  const net::Sizes& sizes = of.model.network.sizes();
  const Task task = of.model.preprocessing.task;
  Json run = {{"variant", of.options.variant},
              {"optimizer", of.options.optimizer},
              {"scalar", scalar_name<Real>()},
              {"task", task == Task::kClassification ? "classification" : "regression"},
              {"rows", of.training_rows},
              {"validation_rows", of.validation_rows},
              {"test_rows", of.test_rows},
              {"inputs", sizes.inputs},
              {"hidden", sizes.hidden},
              {"outputs", sizes.outputs}};
  if (!sizes.deeper.empty()) run["deeper"] = sizes.deeper;
  run["bias"] = bias_word(of.model.network.biases());
  if (task == Task::kRegression)
    run["target_transform"] = of.model.preprocessing.targets.bend.size() > 0 ? "log" : "none";
  add_scores(task, result.history, result.test_loss, result.test_accuracy, run);
  if (of.metrics) run.update(metrics_json(*of.metrics, of.model.preprocessing));
  if (task == Task::kClassification) run["test_accuracy"] = number(result.test_accuracy);
  if (of.baseline) run["baseline"] = baseline_json(*of.baseline, of.model.preprocessing);
  if (of.options.is_paper()) run["average_last"] = of.options.averaged_epochs(task);
  run.update({{"spectrum", list(figures.spectrum)},
              {"stable_rank", number(figures.stable_rank)},
              {"effective_rank", number(figures.effective_rank)},
              {"rank_90", figures.rank_90},
              {"rank_99", figures.rank_99},
              {"rank_999", figures.rank_999},
              {"live_width", figures.live_width},
              {"parameters", figures.parameters},
              {"epochs", result.history.empty() ? 0 : result.history.back().epoch},
              {"iterations", result.steps},
              {"best_step", result.best_step},
              {"folds", result.folds},
              {"temperature", number(result.temperature)},
              {"seconds", result.seconds},
              {"stop_reason", to_string(result.stop)}});
  return run;
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::vector<std::string> target_list(const net::Preprocessing& how) {
  if (how.outputs == 1 || how.task == Task::kClassification) return {how.target};
  std::vector<std::string> names = comma_words(how.target);
  if (static_cast<Index>(names.size()) == how.outputs) return names;
  names.clear();
  for (Index k = 0; k < how.outputs; ++k) names.push_back(fmt::format("output_{}", k));
  return names;
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

Json metrics_json(const net::Metrics& m, const net::Preprocessing& how) {
  Json json;
  if (m.task == Task::kRegression) {
    json["test_rmse"] = number(m.mean_rmse());
    json["test_mae"] = number(m.mean_mae());
    json["test_r2"] = number(m.mean_r2());
    const std::vector<std::string> names = target_list(how);
    if (names.size() > 1)
      for (size_t k = 0; k < names.size(); ++k)
        json["targets"].push_back({{"target", names[k]},
                                   {"test_rmse", number(m.rmse[k])},
                                   {"test_mae", number(m.mae[k])},
                                   {"test_r2", number(m.r2[k])}});
    return json;
  }
  json["test_accuracy"] = number(m.accuracy);
  json["test_log_loss"] = number(m.log_loss);
  json["test_balanced_accuracy"] = number(m.balanced_accuracy);
  constexpr size_t kMostListed = 100;
  for (size_t k = 0; k < std::min(kMostListed, m.support.size()); ++k)
    json["classes"].push_back({{"class", class_name(how, k)},
                               {"precision", number(m.precision[k])},
                               {"recall", number(m.recall[k])},
                               {"rows", m.support[k]}});
  if (m.support.size() > kMostListed) return json;
  for (Index i = 0; i < m.confusion.rows(); ++i) {
    const auto row = m.confusion.row(i);
    json["confusion"].push_back(std::vector<Index>(row.begin(), row.end()));
  }
  return json;
}

Json baseline_json(const net::Baseline& baseline, const net::Preprocessing& how) {
  if (how.task == Task::kRegression)
    return {{"rmse", number(baseline.mean_rmse())}, {"mae", number(baseline.mean_mae())}};
  return {{"accuracy", number(baseline.accuracy)},
          {"class", class_name(how, static_cast<size_t>(baseline.label))}};
}

template <typename Real>
std::string test_predictions_csv(const RowMatrix<Real>& outputs, const net::Dataset<Real>& test,
                                 const net::Preprocessing& how) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  const Index rows = std::min(kMostPredictions, test.size());
  if (how.task == Task::kClassification) {
    fmt::format_to(out, "true,predicted\n");
    for (Index i = 0; i < rows; ++i) {
      Index best = 0;
      outputs.row(i).maxCoeff(&best);
      const auto label = static_cast<size_t>(test.labels[static_cast<size_t>(i)]);
      fmt::format_to(out, "{},{}\n", csv_field(class_name(how, label)),
                     csv_field(class_name(how, static_cast<size_t>(best))));
    }
    return fmt::to_string(text);
  }
  const RowMatrix<double> truth = how.in_target_units(RowMatrix<Real>(test.Y.topRows(rows)));
  const RowMatrix<double> found = how.in_target_units(RowMatrix<Real>(outputs.topRows(rows)));
  const std::vector<std::string> names = target_list(how);
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string suffix = names.size() == 1 ? "" : "_" + names[k];
    fmt::format_to(out, "{}{},{}", k == 0 ? "" : ",", csv_field("true" + suffix),
                   csv_field("predicted" + suffix));
  }
  for (Index i = 0; i < rows; ++i)
    for (Index k = 0; k < truth.cols(); ++k)
      fmt::format_to(out, "{}{:.9g},{:.9g}", k == 0 ? "\n" : ",", truth(i, k), found(i, k));
  fmt::format_to(out, "\n");
  return fmt::to_string(text);
}

std::string class_name(const net::Preprocessing& how, size_t label) {
  return label < how.classes.size() ? how.classes[label] : std::to_string(label);
}

std::string history_csv(const std::vector<EpochRecord>& history, Task task) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  const bool classes = task == Task::kClassification;
  const auto text_of = [](double value, bool there) {
    return there && !std::isnan(value) ? fmt::format("{:.9g}", value) : std::string();
  };
  fmt::format_to(out,
                 "epoch,step,seconds,train_loss,validation_loss,validation_accuracy,test_loss,"
                 "test_accuracy,learning_rate,live_width,effective_rank\n");
  for (const EpochRecord& r : history) {
    const bool validated = !std::isnan(r.validation_loss), tested = !std::isnan(r.test_loss);
    fmt::format_to(
        out, "{},{},{:.6f},{:.9g},{},{},{},{},{:.9g},{},{}\n", r.epoch, r.step, r.seconds,
        r.train_loss, text_of(r.validation_loss, validated),
        text_of(r.validation_accuracy, classes && validated), text_of(r.test_loss, tested),
        text_of(r.test_accuracy, classes && tested), r.learning_rate, r.live_width,
        std::isnan(r.effective_rank) ? std::string() : fmt::format("{:.6g}", r.effective_rank));
  }
  return fmt::to_string(text);
}

Outcome outcome_of(net::TrainStop stop) {
  if (stop == net::TrainStop::kInterrupted) return Outcome::kInterrupted;
  return stop == net::TrainStop::kDone ? Outcome::kDone : Outcome::kLimited;
}

template std::string test_predictions_csv(const RowMatrix<float>&, const net::Dataset<float>&,
                                          const net::Preprocessing&);
template std::string test_predictions_csv(const RowMatrix<double>&, const net::Dataset<double>&,
                                          const net::Preprocessing&);
template void write_training(Run&, const Training<float>&);
template void write_training(Run&, const Training<double>&);

}  // namespace udv::jobs
