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
                 "; weights ", fnv_hash(setup.weights));
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
    io::make_folder(folder_);
    s_.exported.prepare(folder_);
    // What an earlier run has left would be taken for this one's.
    if (!s_.common.resume)
      for (const fs::path& old : {folder_ / "run.json", checkpoint()}) remove_file(old);
    const deep::LoraResult result = train();
    if (result.stop == net::TrainStop::kInterrupted) return std::nullopt;
    LoraFigures figures = figures_of_training(result);
    io::write_atomically(folder_ / "history.csv", history_csv(result.history));
    net::Adapter adapter = model_.adapter();
    adapter.base_model = s_.model_name;
    net::write_adapter(folder_ / "model.safetensors", adapter);
    const bool good = result.stop != net::TrainStop::kDiverged;
    if (good && !prune(adapter, figures)) return std::nullopt;
    io::detail::write_json(folder_ / "run.json", run_json(figures, result));
    if (result.stop != net::TrainStop::kTimeLimit) remove_file(checkpoint());
    if (good) export_adapter(adapter);
    return figures;
  }

 private:
  fs::path checkpoint() const { return folder_ / "checkpoint.bin"; }

  deep::LoraResult train() {
    const Index sequence = deep::sequence_length(model_.config(), s_.options.sequence);
    const ProgressTotal total{s_.options.epochs * deep::tokens_of_epoch(s_.text, sequence),
                              s_.common.time_limit};
    const ProgressWords words{"tokens", "loss", "rank"};
    ProgressBar progress(total, s_.common.quiet, words);
    LiveFile live(folder_, "lora", total, words);
    deep::LoraHooks hooks;
    hooks.settings = settings_;
    hooks.observer = observer(progress, live);
    hooks.save = [&](const std::string& bytes) { io::write_atomically(checkpoint(), bytes); };
    hooks.resume = checkpoint_to_resume(s_.common, checkpoint());
    try {
      return model_.train(s_.text, s_.evaluation, s_.options, hooks);
    } catch (const InvalidArgument& error) {
      if (hooks.resume.empty()) throw;
      throw IoError(message(checkpoint().string(), ": ", error.what()));
    }
  }

  Observer observer(ProgressBar& progress, LiveFile& live) const {
    std::vector<Observer> all{progress.observer(), live.observer(), stop_on_interrupt()};
    if (s_.common.time_limit > 0) all.push_back(time_limit_from_now(s_.common.time_limit));
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

  // Perplexity of the adapter with these ranks; many budgets come to the same ones. No number once
  // Ctrl-C was pressed.
  double worth(const net::AdapterPruning& pruning, const Ranks& ranks) {
    const auto at = known_.find(ranks);
    if (at != known_.end()) return at->second;
    if (interrupted()) return std::nan("");
    model_.set_adapter(pruning.keep(ranks));
    const double loss = model_.loss(s_.evaluation, s_.options.sequence, s_.options.micro_batch);
    return known_[ranks] = std::exp(loss);
  }

  // False where Ctrl-C ended it; the training goes on from its last checkpoint then.
  bool prune(const net::Adapter& adapter, LoraFigures& figures) {
    const net::AdapterPruning pruning(adapter);
    ProgressBar progress({}, s_.common.quiet, {"pruned adapters", "perplexity", "rank"});
    const auto perplexity = [&](const Ranks& ranks) {
      IterationRecord record;
      record.objective = worth(pruning, ranks);
      record.iteration = static_cast<Index>(known_.size());
      record.rank = figures_of(ranks).most;
      progress.observer()(record);
      return record.objective;
    };
    const std::string table = pruning_csv(pruning, perplexity);
    for (const double ratio : kRatios) try {
        figures.at_ratio[fmt::format("{}", ratio)] = perplexity(pruning.ranks_of_ratio(ratio));
      } catch (const InvalidArgument&) {
        continue;  // one block of rank 1 is more than that
      }
    model_.set_adapter(adapter);
    if (interrupted()) return false;
    io::write_atomically(folder_ / "pruning.csv", table);
    io::write_atomically(folder_ / "ranks.csv",
                         ranks_csv(adapter, pruning, pruning.ranks_of_energy(s_.exported.energy)));
    return true;
  }

  void export_adapter(const net::Adapter& adapter) const {
    s_.exported.write(folder_, adapter, s_.model_name, *s_.text_model.tokenizer);
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
      throw IoError(message(path.string(), ": damaged: ", io::detail::problem_of(error)));
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
