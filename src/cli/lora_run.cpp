// SPDX-License-Identifier: MIT
#include "cli/lora_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "cli/adapter_tables.hpp"
#include "cli/interrupt.hpp"
#include "cli/live.hpp"
#include "cli/training_flags.hpp"
#include "core/hash.hpp"
#include "io/run_json.hpp"
#include "udv/core/error.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/net/adapter_file.hpp"
#include "udv/net/peft.hpp"

namespace udv::cli {
namespace {

using Json = io::detail::RunJson;
using Ranks = net::AdapterPruning::Ranks;
namespace fs = std::filesystem;

constexpr double kRatios[] = {0.5, 0.25, 0.1};

std::string settings_of(const LoraSetup& setup) {
  const auto hash = [](const std::vector<deep::Token>& text) {
    return array_hash(reinterpret_cast<const char*>(text.data()), text.size() * sizeof(text[0]));
  };
  return message("seed ", setup.common.seed, "; ", settings_text(setup.config), "; method ",
                 setup.options.adapter.method, "; rank ", setup.options.adapter.rank,
                 "; tokens of the texts ", hash(setup.text), " ", hash(setup.evaluation),
                 "; weights ", fnv_hash(setup.text_model.model.fingerprint()));
}

std::string field(double value) {
  return std::isfinite(value) ? fmt::format("{:.9g}", value) : "";
}

std::string history_csv(const std::vector<deep::LoraEpoch>& history) {
  std::string text =
      "epoch,seconds,train_loss,eval_loss,perplexity,learning_rate,tokens_per_second\n";
  for (const deep::LoraEpoch& e : history)
    text += fmt::format("{},{:.6g},{},{},{},{:.6g},{:.6g}\n", e.epoch, e.seconds,
                        field(e.train_loss), field(e.eval_loss), field(e.perplexity()),
                        e.learning_rate, e.tokens_per_second);
  return text;
}

class LoraTraining {
 public:
  LoraTraining(const LoraSetup& setup, fs::path folder)
      : s_(setup),
        model_(setup.text_model.model),
        folder_(std::move(folder)),
        settings_(settings_of(setup)) {}

  std::optional<LoraFigures> run() {
    if (s_.common.resume && fs::exists(folder_ / "run.json") && !fs::exists(checkpoint()))
      return finished();
    make_folders();
    const deep::LoraResult result = train();
    if (result.stop == net::TrainStop::kInterrupted) return std::nullopt;
    LoraFigures figures = figures_of_training(result);
    io::write_atomically(folder_ / "history.csv", history_csv(result.history));
    net::Adapter adapter = model_.adapter();
    adapter.base_model = s_.model_name;
    net::write_adapter(folder_ / "model.safetensors", adapter);
    if (result.stop != net::TrainStop::kDiverged) prune(adapter, figures);
    io::detail::write_json(folder_ / "run.json", run_json(figures, result));
    if (result.stop != net::TrainStop::kTimeLimit) remove_file(checkpoint());
    if (result.stop != net::TrainStop::kDiverged) export_adapter(adapter);
    return figures;
  }

 private:
  fs::path checkpoint() const { return folder_ / "checkpoint.bin"; }

  // All that can go wrong with folders goes wrong before the training. What an earlier run has left
  // would be taken for this one's.
  void make_folders() const {
    const auto make = [](const fs::path& folder) {
      std::error_code failure;
      fs::create_directories(folder, failure);
      require<IoError>(!failure, folder.string(), ": cannot make this folder: ", failure.message());
    };
    make(folder_);
    if (!s_.export_to.empty()) make(folder_ / s_.export_to);
    remove_file(folder_ / "run.json");
    if (!s_.common.resume) remove_file(checkpoint());
  }

  deep::LoraResult train() {
    const Index windows = static_cast<Index>(s_.text.size() - 1) /
                          std::min(deep::sequence_length(model_.config(), s_.options.sequence),
                                   static_cast<Index>(s_.text.size() - 1));
    const ProgressTotal total{
        s_.options.epochs * windows *
            std::min(deep::sequence_length(model_.config(), s_.options.sequence),
                     static_cast<Index>(s_.text.size() - 1)),
        s_.common.time_limit};
    const ProgressWords words{"tokens", "loss", "rank"};
    ProgressBar progress(total, s_.common.quiet, words);
    LiveFile live(folder_, "lora", total, words);
    std::vector<deep::LoraEpoch> history;
    deep::LoraHooks hooks;
    hooks.settings = settings_;
    hooks.observer = observer(progress, live);
    hooks.save = [&](const std::string& bytes) { io::write_atomically(checkpoint(), bytes); };
    if (s_.common.resume && fs::exists(checkpoint())) {
      hooks.resume = io::read_bytes(checkpoint());
      require<IoError>(!hooks.resume.empty(), checkpoint().string(),
                       ": empty, a checkpoint expected");
    } else if (s_.common.resume) {
      warn(checkpoint().string() + ": not there, starting anew");
    }
    try {
      return model_.train(s_.text, s_.evaluation, s_.options, hooks);
    } catch (const InvalidArgument& error) {
      if (hooks.resume.empty()) throw;
      throw IoError(message(checkpoint().string(), ": ", error.what()));
    }
  }

  Observer observer(ProgressBar& progress, LiveFile& live) const {
    std::vector<Observer> all{progress.observer(), live.observer(), stop_on_interrupt()};
    if (s_.common.time_limit > 0) all.push_back(time_limit(s_.common.time_limit));
    return combine(std::move(all));
  }

  LoraFigures figures_of_training(const deep::LoraResult& result) const {
    LoraFigures figures;
    figures.method = s_.options.adapter.method;
    figures.rank = s_.options.adapter.rank;
    figures.parameters = model_.adapter().parameters();
    figures.before = result.history.front().perplexity();
    figures.after = result.history.back().perplexity();
    figures.tokens_per_second = result.tokens_per_second;
    figures.seconds = result.seconds;
    figures.memory = result.peak_memory;
    figures.stop = result.stop;
    return figures;
  }

  // Perplexity of the adapter with these ranks; many budgets come to the same ones.
  double worth(const net::AdapterPruning& pruning, const Ranks& ranks) {
    const auto at = known_.find(ranks);
    if (at != known_.end()) return at->second;
    model_.set_adapter(pruning.keep(ranks));
    const double loss = model_.loss(s_.evaluation, s_.options.sequence, s_.options.micro_batch);
    return known_[ranks] = std::exp(loss);
  }

  void prune(const net::Adapter& adapter, LoraFigures& figures) {
    const net::AdapterPruning pruning(adapter);
    const auto perplexity = [&](const Ranks& ranks) { return worth(pruning, ranks); };
    io::write_atomically(folder_ / "pruning.csv", pruning_csv(pruning, perplexity));
    for (const double ratio : kRatios) try {
        figures.at_ratio[fmt::format("{}", ratio)] = perplexity(pruning.ranks_of_ratio(ratio));
      } catch (const InvalidArgument&) {
        continue;  // one block of rank 1 is more than that
      }
    const Ranks ranks = pruning.ranks_of_energy(s_.energy);
    io::write_atomically(folder_ / "ranks.csv", ranks_csv(adapter, pruning, ranks));
    model_.set_adapter(adapter);
  }

  void export_adapter(const net::Adapter& whole) const {
    if (s_.export_to.empty()) return;
    const net::Adapter adapter = s_.energy < 1 ? net::prune_to_energy(whole, s_.energy) : whole;
    if (s_.export_to == "peft") {
      const bool empty = adapter.parameters() == 0;
      if (empty) warn(folder_.string() + ": all blocks have rank 0, there is no PEFT adapter");
      if (!empty)
        net::write_peft(folder_ / "peft", adapter,
                        s_.compact ? net::PeftForm::kCompact : net::PeftForm::kPadded);
    } else if (s_.export_to == "merged") {
      deep::LanguageModel merged = deep::LanguageModel::read(s_.model_name, {"cpu", "single"});
      merged.set_adapter(adapter);
      merged.merge_adapters();
      merged.write(folder_ / "merged");
      deep::write_tokenizer(folder_ / "merged", *s_.text_model.tokenizer);
    }
  }

  Json run_json(const LoraFigures& f, const deep::LoraResult& result) const {
    Json ratios = Json::object();
    for (const auto& [ratio, perplexity] : f.at_ratio)
      ratios[ratio] = io::detail::number(perplexity);
    return {{"udv", version()},
            {"command", "lora"},
            {"config", io::detail::config_json(s_.config)},
            {"seed", s_.common.seed},
            {"method", f.method},
            {"rank", f.rank},
            {"optimizer", s_.options.optimizer},
            {"base_model", s_.model_name},
            {"parameters", f.parameters},
            {"perplexity_before", io::detail::number(f.before)},
            {"perplexity", io::detail::number(f.after)},
            {"perplexity_at_ratio", ratios},
            {"tokens_per_second", f.tokens_per_second},
            {"peak_memory", f.memory},
            {"epochs", result.history.back().epoch},
            {"seconds", f.seconds},
            {"stop_reason", std::string(to_string(f.stop))},
            {"settings", settings_}};
  }

  // A run of an earlier call with the same settings.
  LoraFigures finished() const {
    const fs::path path = folder_ / "run.json";
    const Json run = io::detail::read_json(path);
    require<IoError>(run.contains("settings") && run["settings"] == settings_, path.string(),
                     ": made with other settings; take another --out");
    try {
      const LoraFigures figures = figures_from(run);
      export_adapter(net::read_adapter(folder_ / "model.safetensors"));
      return figures;
    } catch (const Json::exception& error) {
      throw IoError(message(path.string(), ": damaged: ", error.what()));
    }
  }

  static LoraFigures figures_from(const Json& run) {
    LoraFigures f;
    f.method = run.value("method", "");
    f.rank = run.value("rank", Index{0});
    f.parameters = run.value("parameters", Index{0});
    f.before = number(run, "perplexity_before");
    f.after = number(run, "perplexity");
    for (const auto& [ratio, value] : run.at("perplexity_at_ratio").items())
      f.at_ratio[ratio] = value.is_number() ? value.get<double>() : std::nan("");
    f.tokens_per_second = number(run, "tokens_per_second");
    f.seconds = number(run, "seconds");
    f.memory = number(run, "peak_memory");
    if (run.at("stop_reason") == to_string(net::TrainStop::kDiverged))
      f.stop = net::TrainStop::kDiverged;
    return f;
  }

  static double number(const Json& run, const char* key) {
    return run.contains(key) && run[key].is_number() ? run[key].get<double>() : std::nan("");
  }

  const LoraSetup& s_;
  deep::LanguageModel& model_;
  fs::path folder_;
  std::string settings_;
  std::map<Ranks, double> known_;
};

}  // namespace

std::optional<LoraFigures> run_lora_training(const LoraSetup& setup, const fs::path& folder) {
  return LoraTraining(setup, folder).run();
}

}  // namespace udv::cli
