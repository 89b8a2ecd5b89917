// SPDX-License-Identifier: MIT
#include "cli/finetune_session.hpp"

#include <fmt/format.h>

#include "cli/finetune_features.hpp"
#include "cli/live.hpp"
#include "udv/core/error.hpp"
#include "udv/io/file.hpp"
#include "udv/net/head.hpp"
#include "udv/net/run_folder.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;

Observer observers(const FinetuneFlags& flags, ProgressBar& progress, LiveFile& live) {
  std::vector<Observer> all{progress.observer(), live.observer(), stop_on_interrupt()};
  if (flags.common.time_limit > 0) all.push_back(time_limit_from_now(flags.common.time_limit));
  return combine(std::move(all));
}

deep::FinetuneResult train_all(FinetuneSession& session) {
  const FinetuneFlags& flags = session.flags;
  const ProgressTotal total{session.options.training.epochs * session.data.training.count,
                            flags.common.time_limit};
  const ProgressWords words{"images", "loss", "width"};
  ProgressBar progress(total, flags.common.quiet, words);
  LiveFile live(session.folder, "finetune", total, words);
  deep::FinetuneHooks hooks;
  hooks.settings = session.settings;
  hooks.resume = checkpoint_to_resume(flags.common, session.checkpoint());
  hooks.observer = observers(flags, progress, live);
  hooks.save = [&](const std::string& bytes) { io::write_atomically(session.checkpoint(), bytes); };
  hooks.epoch = [&](const auto& record, const auto& head, const auto& test) {
    session.record_epoch(record, head, test);
  };
  try {
    return session.tuner.train(hooks);
  } catch (const InvalidArgument& error) {
    if (hooks.resume.empty()) throw;
    throw IoError(message(session.checkpoint().string(), ": ", error.what()));
  }
}

// The head alone, by the native engine.
std::optional<deep::FinetuneResult> train_head(FinetuneSession& session) {
  const FinetuneFlags& flags = session.flags;
  const auto training =
      cached_features(flags, session.options, session.tuner, session.data.training);
  if (!training) return std::nullopt;
  const auto test = cached_features(flags, session.options, session.tuner, session.data.test);
  if (!test) return std::nullopt;
  net::TrainOptions options = session.options.training;
  if (options.hidden == 0) options.hidden = session.tuner.num_features();
  net::check_run(flags.data, *training, *test, options);
  std::optional<net::TrainState<float>> state;
  if (const std::string bytes = checkpoint_to_resume(flags.common, session.checkpoint());
      !bytes.empty())
    try {
      state = net::train_state_from_bytes<float>(bytes);
      require(state->settings == session.settings,
              "made by a run of another model or with other settings (", state->settings, ")");
    } catch (const InvalidArgument& error) {
      throw IoError(message(session.checkpoint().string(), ": ", error.what()));
    }
  const Index steps = options.epochs * ((training->size() + options.batch - 1) / options.batch);
  const ProgressTotal total{steps, flags.common.time_limit};
  const ProgressWords words{"step", "loss", "width"};
  ProgressBar progress(total, flags.common.quiet, words);
  LiveFile live(session.folder, "finetune", total, words);
  net::TrainHooks<float> hooks;
  hooks.observer = observers(flags, progress, live);
  hooks.resume = state ? &*state : nullptr;
  hooks.save = [&](const net::TrainState<float>& now) {
    net::TrainState<float> named = now;
    named.settings = session.settings;
    io::write_atomically(session.checkpoint(), to_bytes(named));
  };
  hooks.epoch = [&](const net::EpochRecord& record, const net::Network<float>& head) {
    session.record_epoch(record, head, *test);
  };
  auto result = net::train(*training, *test, options, hooks);
  const double images = static_cast<double>(result.history.size() * training->X.rows());
  return deep::FinetuneResult{std::move(result), images / std::max(result.seconds, 1e-9)};
}

}  // namespace

void FinetuneSession::record_epoch(const net::EpochRecord& record, const net::Network<float>& head,
                                   const net::Dataset<float>& test) {
  spectra.add(record.epoch, spectrum_lines(record.epoch, net::quick_spectrum(head)));
  const bool last = record.epoch == options.training.epochs;
  if (head.variant().has_hidden() && (flags.curves == "every" || (flags.curves == "last" && last)))
    curves.add(record.epoch, curve_lines(record.epoch, head, test));
  std::string lines;
  for (const deep::BlockInfo& block : tuner.blocks())
    lines +=
        fmt::format("{},{},{},{:.6g},{:.6g},{},{}\n", record.epoch, block.name, block.width,
                    net::stable_rank(block.spectrum), net::effective_rank(block.spectrum),
                    net::energy_rank(block.spectrum, 0.9), net::energy_rank(block.spectrum, 0.99));
  if (!lines.empty()) blocks.add(record.epoch, lines);
}

std::optional<deep::FinetuneResult> FinetuneSession::train() {
  return flags.frozen() ? train_head(*this) : std::optional(train_all(*this));
}

}  // namespace udv::cli
