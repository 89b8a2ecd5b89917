// SPDX-License-Identifier: MIT
#include "udv/net/run_folder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "io/run_json.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace {

using io::detail::number;
using Json = io::detail::RunJson;

// Root of the mean squared error of the last epoch in the units of a single target.
Json target_rmse(const Preprocessing& how, double loss) {
  return how.outputs == 1 ? number(std::sqrt(loss) / std::abs(how.targets.factor(0)))
                          : Json(nullptr);
}

void add_scores(const Preprocessing& how, const std::vector<EpochRecord>& history, double test_loss,
                double test_accuracy, Json& run) {
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

}  // namespace

template <typename Real>
TrainFigures figures_of(const Network<Real>& network) {
  TrainFigures figures;
  figures.spectrum = spectrum(network);
  figures.stable_rank = stable_rank(figures.spectrum);
  figures.effective_rank = effective_rank(figures.spectrum);
  figures.rank_90 = energy_rank(figures.spectrum, 0.9);
  figures.rank_99 = energy_rank(figures.spectrum, 0.99);
  figures.rank_999 = energy_rank(figures.spectrum, 0.999);
  figures.live_width = live_width(network);
  figures.parameters = network.num_parameters();
  return figures;
}

template <typename Real>
void write_run(const std::filesystem::path& folder, const TrainRun<Real>& of,
               const io::RunInfo& info) {
  const auto& [result, model, options, figures, training_rows, test_rows] = of;
  const Network<Real>& network = model.network;
  const Preprocessing& how = model.preprocessing;
  const bool classes = how.task == Task::kClassification;
  Json run = {{"udv", version()},
              {"command", info.command},
              {"config", io::detail::config_json(info.config)},
              {"seed", info.seed},
              {"variant", options.variant},
              {"optimizer", options.optimizer},
              {"scalar", scalar_name<Real>()},
              {"task", classes ? "classification" : "regression"},
              {"rows", training_rows},
              {"test_rows", test_rows},
              {"inputs", network.sizes().inputs},
              {"hidden", network.sizes().hidden},
              {"outputs", network.sizes().outputs}};
  add_scores(how, result.history, result.test_loss, result.test_accuracy, run);
  run.update({{"average_last", options.average_last},
              {"spectrum", io::detail::list(figures.spectrum)},
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
              {"stop_reason", to_string(result.stop)},
              {"warnings", info.warnings}});
  io::detail::add_figures(info, run);
  write_model(folder / "model.safetensors", model);
  io::write_atomically(folder / "history.csv", history_csv(result.history, how.task));
  io::detail::write_json(folder / "run.json", run);
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

#define UDV_INSTANTIATE(Real)                             \
  template TrainFigures figures_of(const Network<Real>&); \
  template void write_run(const std::filesystem::path&, const TrainRun<Real>&, const io::RunInfo&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
