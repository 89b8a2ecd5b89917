// SPDX-License-Identifier: MIT
#include "udv/deep/lora_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/hash.hpp"
#include "core/require.hpp"
#include "deep/lora_export.hpp"
#include "deep/lora_run.hpp"
#include "deep/shared_session.hpp"
#include "jobs/run_files.hpp"
#include "udv/io/file.hpp"
#include "udv/net/files/adapter_file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr double kMost = 2147483648.0;

// ---- settings

// Each word once, and one of those that are known.
void check_words(const std::string& name, const std::vector<std::string>& words,
                 const std::vector<std::string>& known) {
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (std::find(words.begin(), word, *word) != word)
      throw OptionError(name, "'" + *word + "' found twice");
    if (!known.empty() && std::find(known.begin(), known.end(), *word) == known.end())
      throw OptionError(
          name, fmt::format("'{}' found, one of {} expected", *word, fmt::join(known, ", ")));
  }
  if (words.empty()) throw OptionError(name, "one at least expected");
}

void check_ranks(const std::vector<Index>& ranks) {
  std::vector<std::string> words;
  for (const Index rank : ranks) {
    if (rank < 1) throw OptionError("rank", message("'", rank, "' found, at least 1 expected"));
    words.push_back(std::to_string(rank));
  }
  check_words("rank", words, {});
}

void check_optimizer(const std::string& name) {
  std::string optimizers = net::optimizer_names();
  std::erase(optimizers, ' ');
  std::vector<std::string> known = comma_words(optimizers);
  for (const char* own : {"relative", "auto"})
    if (std::find(known.begin(), known.end(), own) == known.end()) known.insert(known.begin(), own);
  check_words("optimizer", {name}, known);
}

void check_options(const LoraJobOptions& options) {
  check_words("method", options.methods, deep::adapter_methods());
  check_ranks(options.ranks);
  if (!options.training.adapter.modules.empty())
    check_words("modules", options.training.adapter.modules, deep::adapter_modules());
  check_optimizer(options.training.optimizer);
  if (options.compact && options.export_to != "peft")
    throw OptionError("compact", "goes with export peft");
  for (const std::string& method : options.methods)
    for (const Index rank : options.ranks) options_for(options, method, rank).validate();
}

// Whether there is something to do, and all that it needs.
void check_input(const LoraInput& input, const LoraJobOptions& options) {
  const bool trains = !input.train.empty(), has_adapter = !input.model.adapter.empty();
  const bool exports = !options.export_to.empty();
  if (trains && input.eval.empty())
    throw OptionError("eval", "a text to test on goes with one to learn from (train)");
  if (trains && has_adapter)
    throw OptionError("adapter", "goes with eval or export; training starts without adapter");
  if (!trains && exports && !has_adapter) throw OptionError("export", "goes with train or adapter");
  if (!trains && !exports && input.eval.empty() && options.export_base.empty())
    throw OptionError("train",
                      "texts to learn from and to test on (eval) expected, or export-base, or an "
                      "adapter with export");
}

// ---- trainings

struct Combination {
  std::string method;
  Index rank;

  std::string name() const { return fmt::format("{}-r{}", method, rank); }
};

std::vector<Combination> combinations(const LoraJobOptions& options) {
  std::vector<Combination> all;
  for (const Index rank : options.ranks)
    for (const std::string& method : options.methods) all.push_back({method, rank});
  return all;
}

// All that would be refused after the first training has begun.
void check_trainings(const deep::LanguageModel& model, const LoraJobOptions& options) {
  deep::sequence_length(model.config(), options.training.sequence);
  for (const Combination& one : combinations(options))
    model.check_adapters(options_for(options, one.method, one.rank).resolved(1).adapter);
}

std::uint64_t hash_of(const std::vector<text::Token>& tokens) {
  return array_hash(tokens.data(), tokens.size() * sizeof(tokens[0]));
}

LoraSetup setup_of(LoraInput input, deep::TextModel& model, const std::vector<text::Token>& train,
                   const std::vector<text::Token>& eval, LoraJobOptions& options,
                   Session& session) {
  OptionTable table;
  describe(table, input);
  describe(table, options);
  return {session,
          model,
          train,
          eval,
          options,
          table.config(),
          message(table.fingerprint(), "; tokens of the texts ", hash_of(train), " ", hash_of(eval),
                  "; weights ", fnv_hash(model.model.fingerprint()))};
}

// Lines of a file of each training, with method and rank before them.
std::string joined_lines(const fs::path& folder, const std::string& name,
                         const std::vector<Combination>& all) {
  std::string joined;
  for (const Combination& one : all) {
    const fs::path path = folder / one.name() / name;
    if (!fs::exists(path)) continue;
    const std::string text = io::read_bytes(path);
    size_t at = 0;
    for (bool header = true; at < text.size(); header = false) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (header && joined.empty()) joined = "method,adapter_rank," + line + "\n";
      if (!header) joined += fmt::format("{},{},{}\n", one.method, one.rank, line);
    }
  }
  return joined;
}

const std::vector<std::string>& joined_files() {
  static const std::vector<std::string> names{"history.csv", "pruning.csv", "ranks.csv"};
  return names;
}

// Before the model is read: what is in the way of the trainings, or of what is made of them.
void check_folders(const LoraJobOptions& options, const Session& session) {
  if (!session.has_folder()) return;
  const fs::path out = session.options().out;
  const std::vector<Combination> all = combinations(options);
  FolderRules rules = session.folder_rules();
  std::vector<std::string> names, results = joined_files();
  for (const Combination& one : all) names.push_back(one.name());
  results.push_back("report.html");
  if (all.size() > 1) check_folder_of_runs(out, rules, names, results);
  rules.continues = kRunFile;
  for (const std::string& name : names)
    check_folder_rules(all.size() > 1 ? out / name : out, rules);
}

// The folder has been looked at before the first training began.
void write_together(const fs::path& path, const std::vector<Combination>& all) {
  FolderRules rules;
  rules.force = true;
  RunFolder folder(path, rules);
  for (const std::string& name : joined_files()) {
    const std::string lines = joined_lines(path, name, all);
    if (!lines.empty()) io::write_atomically(folder.file(name), lines);
  }
  folder.finish();
}

LoraJobResult train_all(LoraInput input, deep::TextModel& model,
                        const std::vector<text::Token>& train, const std::vector<text::Token>& eval,
                        LoraJobOptions options, Session& session) {
  options.training.seed = session.seed();
  const std::shared_ptr<deep::Processes>& processes = model.model.processes();
  run_on_all(processes, [&] {
    check_folders(options, session);
    check_trainings(model.model, options);
  });
  LoraJobResult result;
  result.folder = session.options().out;
  result.config = model.model.config();
  result.train_tokens = static_cast<Index>(train.size());
  result.eval_tokens = static_cast<Index>(eval.size());
  const LoraSetup setup = setup_of(std::move(input), model, train, eval, options, session);
  check_same_input(processes, "model and texts", fnv_hash(setup.fingerprint));
  const std::vector<Combination> all = combinations(options);
  for (const Combination& one : all) {
    const auto training =
        run_lora_training(setup, one.method, one.rank, all.size() == 1 ? "" : one.name());
    if (!training) {
      result.outcome = Outcome::kInterrupted;
      return result;
    }
    if (training->stop != net::TrainStop::kDone) result.outcome = Outcome::kLimited;
    result.trainings.push_back(*training);
  }
  if (all.size() > 1 && session.has_folder()) write_together(result.folder, all);
  return result;
}

// ---- without training

// The adapter that was given, with all of its energy.
void export_given(const LoraInput& input, const LoraJobOptions& options,
                  const deep::TextModel& model, Session& session, LoraJobResult& result) {
  require(session.has_folder(), "export: a folder for the results expected");
  result.folder = session.options().out;
  result.exported = result.folder / options.export_to;
  export_lora(result.exported, net::read_adapter(input.model.adapter), options, model, session);
}

void measure(const LoraInput& input, const LoraJobOptions& options, deep::TextModel& model,
             LoraJobResult& result) {
  const auto text = read_tokens(model, input.eval, options.limit_eval);
  const double loss =
      model.model.loss(text, options.training.sequence, options.training.micro_batch);
  require<IoError>(std::isfinite(loss), input.model.model, ": the loss of ", input.eval,
                   " is not finite: weights, or those of the adapter, are damaged");
  result.eval_tokens = static_cast<Index>(text.size());
  result.loss = loss;
}

}  // namespace

deep::LoraOptions options_for(const LoraJobOptions& options, const std::string& method,
                              Index rank) {
  deep::LoraOptions training = options.training;
  training.adapter.method = method;
  training.adapter.rank = rank;
  if (method != "lora") training.adapter.alpha = 0;
  if (method != "adalora") training.adapter.first_rank = 0;
  return training;
}

void describe(OptionTable& table, LoraInput& input) {
  describe(table, input.model);
  describe_processes(table, input.model.placement);
  table.group("Texts");
  table.add("train", input.train, "Text to learn from").called("FILE");
  table.add("eval", input.eval, "Text to test on; without train it measures the model")
      .called("FILE");
}

void describe(OptionTable& table, LoraJobOptions& options) {
  table.add("limit-train", options.limit_train, "Learn from this many tokens, the first ones")
      .between(1, kMost)
      .default_is("all");
  table.add("limit-eval", options.limit_eval, "Test on this many tokens, the first ones")
      .between(1, kMost)
      .default_is("all");
  table.group("Training");
  // The fingerprint of each training has its own.
  table.add("method", options.methods, "Kinds of adapters, some of lora-udv, lora, adalora")
      .keeps_numbers();
  table.add("rank", options.ranks, "Ranks of the adapters, each trained with every method")
      .default_is("16")
      .keeps_numbers();
  describe(table, options.training);
  table.group("Pruning and export");
  table
      .add("calibrate", options.calibrate,
           "Sequences of the text for measuring inputs and gradients of the layers, so that "
           "pruning uses the predicted loss; none: only the energy")
      .between(1, kMost)
      .word("none", 0);
  table.add("energy", options.energy, "Share of its energy that every exported block keeps")
      .share()
      .keeps_numbers();
  table
      .add("export", options.export_to,
           "Export the adapter as a PEFT folder, or the model with the adapter merged into it")
      .one_of({"peft", "merged"})
      .keeps_numbers();
  table
      .add("compact", options.compact,
           "PEFT: every block keeps its own rank, without padding by zeros")
      .keeps_numbers();
  table.add("export-base", options.export_base, "Write the model itself in Hugging Face's layout")
      .called("FOLDER")
      .keeps_numbers();
}

namespace {

void check_same_settings(LoraInput input, LoraJobOptions options) {
  OptionTable table;
  describe(table, input);
  describe(table, options);
  check_processes(input.model.placement.processes, table, options.training.batch);
}

void export_base(const LoraJobOptions& options, const deep::TextModel& model) {
  if (options.export_base.empty()) return;
  model.model.write(options.export_base);
  text::write_tokenizer(options.export_base, *model.tokenizer);
}

}  // namespace

LoraJobResult lora(const LoraInput& input, const LoraJobOptions& options, Session& session) {
  const std::shared_ptr<deep::Processes>& processes = input.model.placement.processes;
  const bool first = !processes || processes->is_first();
  check_same_settings(input, options);
  SharedSession shared(session, processes);
  std::optional<deep::TextModel> model;
  std::vector<text::Token> train, eval;
  run_on_all(processes, [&] {
    check_input(input, options);
    check_options(options);
    if (!input.train.empty()) check_folders(options, shared.session());
    model.emplace(read_text_model(input.model));
    if (first) export_base(options, *model);
    if (!input.train.empty()) train = read_tokens(*model, input.train, options.limit_train);
    if (!input.train.empty()) eval = read_tokens(*model, input.eval, options.limit_eval);
  });
  if (!input.train.empty()) return train_all(input, *model, train, eval, options, shared.session());
  LoraJobResult result;
  result.config = model->model.config();
  if (!options.export_to.empty() && first) export_given(input, options, *model, session, result);
  if (!input.eval.empty()) measure(input, options, *model, result);
  return result;
}

LoraJobResult lora(deep::TextModel& model, const std::vector<text::Token>& train,
                   const std::vector<text::Token>& eval, const LoraJobOptions& options,
                   Session& session) {
  check_options(options);
  LoraInput input;
  input.model.model = model.path;
  SharedSession shared(session, model.model.processes());
  return train_all(std::move(input), model, train, eval, options, shared.session());
}

}  // namespace udv::jobs
