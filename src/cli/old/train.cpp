// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <cmath>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/interrupt.hpp"
#include "cli/live.hpp"
#include "cli/training_flags.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/net/run_folder.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

using net::TrainStop;

struct Flags {
  std::string data;
  CommonFlags common;
  DataFlags source;
  TrainFlags training;
};

ExitCode exit_code(TrainStop stop) {
  if (stop == TrainStop::kInterrupted) return kInterrupted;
  return stop == TrainStop::kDone ? kDone : kNotConverged;
}

template <typename Real>
std::optional<net::TrainState<Real>> load_state(const std::filesystem::path& path,
                                                const CommonFlags& common,
                                                const std::string& settings) {
  if (!common.resume) return std::nullopt;
  if (!std::filesystem::exists(path)) {
    warn(path.string() + ": not there, starting anew");
    return std::nullopt;
  }
  try {
    auto state = net::train_state_from_bytes<Real>(io::read_bytes(path));
    require(state.settings == settings, "made by a run with other settings (", state.settings, ")");
    return state;
  } catch (const InvalidArgument& error) {
    throw IoError(message(path.string(), ": ", error.what()));
  }
}

template <typename Real>
void print_summary(const net::PreparedData<Real>& data, const net::TrainResult<Real>& result,
                   const net::TrainOptions& options, const net::TrainFigures& figures,
                   const std::filesystem::path& folder) {
  const auto row = print_fact;
  const net::Sizes& sizes = result.network.sizes();
  const bool classes = data.training.task == net::Task::kClassification;
  row("data", fmt::format("{} rows to learn from, {} to test, {} features", data.training.size(),
                          data.test.size(), sizes.inputs));
  row("network",
      fmt::format("{} {}, {} parameters", options.variant, to_string(sizes), figures.parameters));
  row("training",
      fmt::format("{}, learning rate {}, {} epochs, {}", options.optimizer, options.learning_rate,
                  result.history.size(), report::duration(result.seconds)));
  const double last = result.history.empty() ? NAN : result.history.back().test_loss;
  row("test loss",
      fmt::format("{:.4g}  (mean of the last {} epochs; last {:.4g})", result.test_loss,
                  std::min(static_cast<size_t>(options.average_last), result.history.size()),
                  last));
  if (classes) row("test accuracy", fmt::format("{:.2f} %", 100 * result.test_accuracy));
  row("spectrum", report::spectrum_text(figures.spectrum));
  row("rank", fmt::format("{} / {} / {} carry 90 / 99 / 99.9 % of the energy, stable rank {:.3g}",
                          figures.rank_90, figures.rank_99, figures.rank_999, figures.stable_rank));
  row("live neurons", fmt::format("{}", figures.live_width));
  if (result.stop != TrainStop::kDone) row("stopped", std::string(to_string(result.stop)));
  row("results", folder.string());
}

template <typename Real>
ExitCode run_as(const Flags& flags) {
  net::TrainOptions options = flags.training.read(flags.common.seed);
  set_num_threads(flags.common.threads);
  const net::DataSource<Real> source(flags.data, flags.source.read());
  const net::PreparedData<Real> data = source.prepare(flags.source.split_seed);
  flags.training.set_average(data.training.task, options);
  net::check_run(flags.data, data.training, data.test, options);
  for (const auto& note : data.notes) warn(note);

  io::RunInfo info;
  info.command = "train";
  info.seed = flags.common.seed;
  info.config["data"] = flags.data;
  info.warnings = data.notes;
  flags.source.describe(info.config);
  flags.training.describe(info.config);
  // A checkpoint of other settings, or of other data, is refused.
  const std::string settings = message("seed ", flags.common.seed, "; ", settings_text(info.config),
                                       "; numbers of the data ", data.content_hash());

  const auto folder = make_run_folder(flags.common, "train");
  const auto checkpoint = folder / "checkpoint.bin";
  const auto resumed = load_state<Real>(checkpoint, flags.common, settings);
  catch_interrupts();
  const Index batch = options.batch > 0 ? options.batch : data.training.size();
  const Index steps = options.epochs * ((data.training.size() + batch - 1) / batch);
  const ProgressTotal total{steps, flags.common.time_limit};
  const ProgressWords words{"step", "loss", "width"};
  ProgressBar progress(total, flags.common.quiet, words);
  auto live = std::make_unique<LiveFile>(folder, "train", total, words);
  net::TrainHooks<Real> hooks;
  std::vector<Observer> observers{progress.observer(), live->observer(), stop_on_interrupt()};
  if (flags.common.time_limit > 0)
    observers.push_back(time_limit_from_now(flags.common.time_limit));
  hooks.observer = combine(std::move(observers));
  hooks.resume = resumed ? &*resumed : nullptr;
  hooks.save = [&](const net::TrainState<Real>& state) {
    net::TrainState<Real> named = state;
    named.settings = settings;
    io::write_atomically(checkpoint, to_bytes(named));
  };
  const net::TrainResult<Real> result = net::train(data.training, data.test, options, hooks);
  progress.clear();
  live.reset();
  for (const char* name : {"run.json", "model.safetensors", "history.csv"})
    remove_file(folder / name);
  if (result.stop == TrainStop::kInterrupted) {
    say_interrupted(folder);
    return kInterrupted;
  }
  if (result.stop == TrainStop::kDiverged)
    warn(folder.string() + ": diverged, a smaller --lr expected; the network is of no use");
  info.config["threads"] = static_cast<std::int64_t>(num_threads());
  if (flags.common.time_limit > 0) info.config["time-limit"] = flags.common.time_limit;
  const Index rows = data.training.size() + data.test.size();
  const net::Model<Real> model{
      result.network,
      data.preprocessing,
      {{"settings", settings},
       {"rows", std::to_string(rows)},
       {"split_seed", std::to_string(flags.source.split_seed)},
       {"test_share", fmt::format("{}", flags.source.options.test_share)}}};
  const net::TrainFigures figures = net::figures_of(result.network);
  net::write_run<Real>(
      folder, {result, model, options, figures, data.training.size(), data.test.size()}, info);
  if (result.stop != TrainStop::kTimeLimit) remove_file(checkpoint);
  leave_report(flags.common, "train", folder);
  if (!flags.common.quiet) print_summary(data, result, options, figures, folder);
  return exit_code(result.stop);
}

}  // namespace

Run setup_train(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command =
      program.add_subcommand("train", "Trains a low-rank network on a table, arrays or images");
  command->add_option("data", flags->data, "Table, .npy, .npz, .mat, HDF5, IDX, CIFAR or a folder")
      ->required();
  flags->common.add_to(*command);
  flags->source.add_to(*command);
  flags->training.add_to(*command);
  return
      [flags] { return flags->training.float64 ? run_as<double>(*flags) : run_as<float>(*flags); };
}

}  // namespace udv::cli
