// SPDX-License-Identifier: MIT
#include "deep/lora_run.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/require.hpp"
#include "deep/lora_export.hpp"
#include "deep/progress.hpp"
#include "deep/shared_session.hpp"
#include "jobs/adapter_files.hpp"
#include "jobs/run_files.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {
namespace {

using Ranks = net::AdapterPruning::Ranks;
namespace fs = std::filesystem;

constexpr double kRatios[] = {0.5, 0.25, 0.1};
constexpr double kMostMoments = 67108864;  // numbers, 256 MiB
constexpr const char* kCalibrationFile = "calibration.safetensors";

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

// ---- run.json

Json results_json(const LoraTraining& t, Index epochs, const std::string& base_model,
                  const std::string& settings) {
  Json ratios = Json::object();
  for (const auto& [ratio, perplexity] : t.perplexity_at_ratio) ratios[ratio] = number(perplexity);
  return {{"method", t.method},
          {"rank", t.rank},
          {"optimizer", t.optimizer},
          {"learning_rate", t.learning_rate},
          {"base_model", base_model},
          {"parameters", t.parameters},
          {"perplexity_before", number(t.perplexity_before)},
          {"perplexity", number(t.perplexity)},
          {"perplexity_at_ratio", ratios},
          {"tokens_per_second", t.tokens_per_second},
          {"peak_memory", t.peak_memory},
          {"epochs", epochs},
          {"seconds", t.seconds},
          {"stop_reason", std::string(to_string(t.stop))},
          {"settings", settings}};
}

double number_in(const Json& run, const char* key) {
  return run.contains(key) && run[key].is_number() ? run[key].get<double>() : std::nan("");
}

LoraTraining training_from(const Json& run) {
  LoraTraining t;
  t.method = run.value("method", "");
  t.rank = run.value("rank", Index{0});
  t.parameters = run.value("parameters", Index{0});
  t.optimizer = run.value("optimizer", "");
  t.learning_rate = run.value("learning_rate", 0.0);
  t.perplexity_before = number_in(run, "perplexity_before");
  t.perplexity = number_in(run, "perplexity");
  for (const auto& [ratio, value] : run.at("perplexity_at_ratio").items())
    t.perplexity_at_ratio[ratio] = value.is_number() ? value.get<double>() : std::nan("");
  t.tokens_per_second = number_in(run, "tokens_per_second");
  t.seconds = number_in(run, "seconds");
  t.peak_memory = number_in(run, "peak_memory");
  if (run.at("stop_reason") == to_string(net::TrainStop::kDiverged))
    t.stop = net::TrainStop::kDiverged;
  return t;
}

// ---- one training

std::map<std::string, Setting> config_of(const LoraSetup& setup, const std::string& method,
                                         Index rank) {
  std::map<std::string, Setting> config = setup.config;
  config["method"] = method;
  config["rank"] = static_cast<std::int64_t>(rank);
  return config;
}

Index steps_of(const LoraSetup& setup) {
  const deep::LoraOptions& training = setup.options.training;
  const Index sequence = deep::sequence_length(setup.model.model.config(), training.sequence);
  return deep::training_steps(setup.train, sequence, training);
}

class LoraRun {
 public:
  LoraRun(const LoraSetup& setup, const std::string& method, Index rank,
          const std::string& subfolder)
      : s_(setup),
        model_(setup.model.model),
        options_(options_for(setup.options, method, rank).resolved(steps_of(setup))),
        run_(setup.session, "lora", config_of(setup, method, rank),
             message(setup.fingerprint, "; method ", method, "; rank ", rank), subfolder, kRunFile),
        processes_(setup.model.model.processes()) {
    if (processes_) run_.info().config["processes"] = static_cast<std::int64_t>(processes_->size());
  }

  std::optional<LoraTraining> run() {
    const bool finished_before = is_finished();
    if (processes_ ? processes_->largest(finished_before ? 1 : 0) > 0 : finished_before)
      return finished_before ? finished() : LoraTraining{};
    prepare_export();
    const deep::LoraResult result = train();
    if (result.stop == net::TrainStop::kInterrupted) return std::nullopt;
    LoraTraining training = summary_of(result);
    net::Adapter adapter = model_.adapter();
    adapter.base_model = s_.model.path;
    write_training_files(adapter, result);
    const bool good = result.stop != net::TrainStop::kDiverged;
    if (good) calibrate();
    if (good && !prune(adapter, training)) return std::nullopt;
    if (!run_.has_folder()) return training;
    write_run_json(
        run_.folder(), run_.info(),
        results_json(training, result.history.back().epoch, s_.model.path, run_.fingerprint()));
    if (result.stop != net::TrainStop::kTimeLimit) run_.remove_checkpoint();
    if (good) export_adapter(adapter);
    return training;
  }

 private:
  deep::LoraResult train() {
    const Index sequence = deep::sequence_length(model_.config(), options_.sequence);
    const Index tokens = options_.epochs * deep::tokens_of_epoch(s_.train, sequence);
    const deep::LoraHooks hooks{
        shared_hooks(run_, processes_, {tokens, s_.session.options().time_limit},
                     {"tokens", "loss", "rank"}),
        nullptr};
    deep::LoraResult result = model_.train(s_.train, s_.eval, options_, hooks);
    run_.stop_watching();
    return result;
  }

  LoraTraining summary_of(const deep::LoraResult& result) const {
    LoraTraining training;
    training.method = options_.adapter.method;
    training.rank = options_.adapter.rank;
    training.optimizer = options_.optimizer;
    training.learning_rate = options_.learning_rate;
    training.parameters = model_.adapter().parameters();
    training.perplexity_before = result.history.front().perplexity();
    training.perplexity = result.history.back().perplexity();
    training.tokens_per_second = result.tokens_per_second;
    training.seconds = result.seconds;
    training.peak_memory = result.peak_memory;
    training.stop = result.stop;
    return training;
  }

  void write_training_files(const net::Adapter& adapter, const deep::LoraResult& result) {
    if (!run_.has_folder()) return;
    io::write_atomically(run_.folder().file("history.csv"), history_csv(result.history));
    net::write_adapter(run_.folder().file("model.safetensors"), adapter);
  }

  // ---- pruning

  // What goes into the layers and what their outputs do to the loss, for this pruning and others.
  void calibrate() {
    if (s_.options.calibrate == 0) return;
    if (model_.calibration_size() > kMostMoments) {
      s_.session.listener().warning(
          "the moments of the layers are too large for calibrated pruning; energies decide");
      return;
    }
    calibration_ =
        model_.calibrate(s_.train, s_.options.calibrate, options_.sequence, options_.micro_batch);
    if (run_.has_folder())
      io::write_atomically(run_.folder().file(kCalibrationFile),
                           net::calibration_bytes(calibration_));
  }

  // Perplexity of the adapter with these ranks; many budgets come to the same ones. No number once
  // the session is interrupted.
  double perplexity_of(const net::AdapterPruning& pruning, const Ranks& ranks) {
    const auto at = known_.find(ranks);
    if (at != known_.end()) return at->second;
    if (interrupted(s_.session, processes_)) return std::nan("");
    model_.set_adapter(pruning.keep(ranks));
    const double loss = model_.loss(s_.eval, options_.sequence, options_.micro_batch);
    return known_[ranks] = std::exp(loss);
  }

  // False where it is interrupted; the training resumes from its last checkpoint then.
  bool prune(const net::Adapter& adapter, LoraTraining& training) {
    const net::AdapterPruning pruning(adapter, calibration_);
    Progress progress(s_.session, {}, {"pruned adapters", "perplexity", "rank"});
    const auto perplexity = [&](const Ranks& ranks) {
      IterationRecord record;
      record.objective = perplexity_of(pruning, ranks);
      record.iteration = static_cast<Index>(known_.size());
      record.rank = figures_of(ranks).most;
      progress.show(record);
      return record.objective;
    };
    const std::string table = pruning_csv(pruning, perplexity);
    for (const double ratio : kRatios) try {
        training.perplexity_at_ratio[fmt::format("{}", ratio)] =
            perplexity(pruning.ranks_of_ratio(ratio));
      } catch (const InvalidArgument&) {
        continue;  // one block of rank 1 is more than that
      }
    model_.set_adapter(adapter);
    if (interrupted(s_.session, processes_)) return false;
    if (!run_.has_folder()) return true;
    io::write_atomically(run_.folder().file("pruning.csv"), table);
    io::write_atomically(run_.folder().file("ranks.csv"),
                         ranks_csv(adapter, pruning, pruning.ranks_of_energy(s_.options.energy)));
    return true;
  }

  // ---- the exported adapter: part of the run, but written after run.json, so that a training does
  // not get lost where the export fails

  fs::path export_folder() { return run_.folder().growing_file(s_.options.export_to); }
  bool exports() const { return run_.has_folder() && !s_.options.export_to.empty(); }

  // Found before time is spent: whether it can be written.
  void prepare_export() {
    if (exports()) io::make_folder(export_folder());
  }
  void export_adapter(const net::Adapter& adapter) {
    if (!exports()) return;
    const net::AdapterPruning pruning(adapter, calibration_);
    const bool whole = s_.options.energy >= 1;
    export_lora(export_folder(),
                whole ? adapter : pruning.keep(pruning.ranks_of_energy(s_.options.energy)),
                s_.options, s_.model, s_.session);
  }

  // ---- a training of an earlier call

  bool is_finished() const {
    return s_.session.options().resume && run_.has_folder() && !run_.has_checkpoint() &&
           fs::exists(run_.path() / kRunFile);
  }

  LoraTraining finished() {
    const fs::path path = run_.path() / kRunFile;
    const Json run = io::detail::read_json(path);
    require<IoError>(run.contains("settings") && run["settings"] == run_.fingerprint(),
                     path.string(), ": made with other settings; take another folder");
    try {
      const LoraTraining training = training_from(run);
      const fs::path moments = run_.path() / kCalibrationFile;
      if (fs::exists(moments)) calibration_ = net::read_calibration(moments);
      export_adapter(net::read_adapter(run_.path() / "model.safetensors"));
      return training;
    } catch (const Json::exception& error) {
      throw IoError(message(path.string(), ": damaged: ", io::detail::problem_of(error)));
    }
  }

  const LoraSetup& s_;
  deep::LanguageModel& model_;
  deep::LoraOptions options_;
  Run run_;
  std::shared_ptr<deep::Processes> processes_;  // nullptr: this one alone
  net::Calibration calibration_;                // empty: energies decide
  std::map<Ranks, double> known_;
};

}  // namespace

std::optional<LoraTraining> run_lora_training(const LoraSetup& setup, const std::string& method,
                                              Index rank, const std::string& subfolder) {
  return LoraRun(setup, method, rank, subfolder).run();
}

}  // namespace udv::jobs
