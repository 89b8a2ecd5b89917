// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/commands.hpp"
#include "cli/interrupt.hpp"
#include "cli/lora_run.hpp"
#include "cli/training_flags.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/net/adapter_file.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

namespace fs = std::filesystem;

struct Flags {
  ModelFlags model;
  std::string train, evaluation, methods = "lora-udv", ranks = "16", modules = "q,v";
  std::string schedule = "cosine", checkpointing = "off", export_base;
  Index limit_train = 0, limit_eval = 0;
  LoraExport exported;
  deep::LoraOptions options;
  CommonFlags common;
};

struct Combination {
  std::string method;
  Index rank;

  std::string name() const { return fmt::format("{}-r{}", method, rank); }
};

// The words of a list, each once and one of those that are known.
std::vector<std::string> checked_words(const char* flag, const std::string& list,
                                       const std::vector<std::string>& known) {
  const std::vector<std::string> all = words(list);
  for (size_t i = 0; i < all.size(); ++i) {
    const bool twice = std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                                 all[i]) != all.begin() + static_cast<std::ptrdiff_t>(i);
    if (twice) throw CLI::ValidationError(flag, "'" + all[i] + "' found twice");
    if (!known.empty() && std::find(known.begin(), known.end(), all[i]) == known.end())
      throw CLI::ValidationError(
          flag, fmt::format("'{}' found, one of {} expected", all[i], fmt::join(known, ", ")));
  }
  if (all.empty()) throw CLI::ValidationError(flag, "one at least expected");
  return all;
}

std::vector<Combination> combinations(const Flags& flags) {
  std::vector<Combination> all;
  const auto methods = checked_words("--method", flags.methods, {"lora", "lora-udv"});
  for (const std::string& rank : checked_words("--rank", flags.ranks, {})) {
    const bool whole = !rank.empty() && rank.size() < 7 &&
                       rank.find_first_not_of("0123456789") == rank.npos && std::stol(rank) > 0;
    if (!whole)
      throw CLI::ValidationError("--rank", "'" + rank + "' found, a whole number above 0 expected");
    for (const std::string& method : methods) all.push_back({method, std::stol(rank)});
  }
  return all;
}

deep::LoraOptions read_options(const Flags& flags) {
  deep::LoraOptions options = flags.options;
  options.adapter.modules =
      checked_words("--modules", flags.modules, {"q", "k", "v", "o", "gate", "up", "down"});
  std::string optimizers = net::optimizer_names();
  std::erase(optimizers, ' ');
  checked_words("--optimizer", options.optimizer, words(optimizers));
  options.schedule.name = flags.schedule;
  options.checkpointing = flags.checkpointing == "on";
  options.seed = flags.common.seed;
  options.validate();
  return options;
}

std::map<std::string, io::Setting> describe(const Flags& flags) {
  std::map<std::string, io::Setting> config;
  const auto whole = [](Index value) { return static_cast<std::int64_t>(value); };
  const deep::LoraOptions& o = flags.options;
  flags.model.describe(config);
  config["train"] = flags.train;
  config["eval"] = flags.evaluation;
  config["modules"] = flags.modules;
  config["optimizer"] = o.optimizer;
  config["lr"] = o.learning_rate;
  config["weight-decay"] = o.rule.weight_decay;
  config["schedule"] = flags.schedule;
  config["epochs"] = whole(o.epochs);
  config["batch"] = whole(o.batch);
  config["micro-batch"] = whole(o.micro_batch);
  config["sequence"] = whole(o.sequence);
  config["clip"] = o.clip;
  config["init-std"] = o.adapter.deviation;
  config["checkpointing"] = flags.checkpointing;
  config["limit-train"] = whole(flags.limit_train);
  config["limit-eval"] = whole(flags.limit_eval);
  return config;
}

// ---- what is shown

std::string memory_text(double bytes) {
  return bytes >= 1e9 ? fmt::format("{:.2f} GB", bytes / 1e9)
                      : fmt::format("{:.0f} MB", bytes / 1e6);
}

void print_common(const Flags& flags, const TextModel& pair, const std::vector<deep::Token>& text,
                  const std::vector<deep::Token>& evaluation) {
  const deep::LlamaConfig& c = pair.model.config();
  print_fact("model", fmt::format("{}: {} layers of {}, {} parameters", flags.model.model, c.layers,
                                  c.dim, c.parameters()));
  print_fact("texts",
             fmt::format("{} tokens to learn from, {} to test", text.size(), evaluation.size()));
  print_fact("training", fmt::format("{}, learning rate {}, {} epochs, batches of {}, on {}",
                                     flags.options.optimizer, flags.options.learning_rate,
                                     flags.options.epochs, flags.options.batch, flags.modules));
}

void print_table(const std::vector<LoraFigures>& all) {
  std::vector<std::vector<std::string>> rows;
  const auto perplexity = [](const LoraFigures& f, const char* ratio) {
    const auto at = f.at_ratio.find(ratio);
    return at == f.at_ratio.end() ? std::string("-") : fmt::format("{:.3f}", at->second);
  };
  for (const LoraFigures& f : all)
    rows.push_back({f.method, fmt::format("{}", f.rank), fmt::format("{}", f.parameters),
                    fmt::format("{:.3f}", f.before), fmt::format("{:.3f}", f.after),
                    perplexity(f, "0.5"), perplexity(f, "0.25"), perplexity(f, "0.1"),
                    fmt::format("{:.0f}", f.tokens_per_second), memory_text(f.memory),
                    report::duration(f.seconds)});
  fmt::print("\n{}\n", report::table({"perplexity", "rank", "parameters", "before", "after",
                                      "at 1/2", "at 1/4", "at 1/10", "tokens/s", "memory", "time"},
                                     rows));
}

// ---- files of several runs together

// Lines of a file of each run, with method and rank before them.
void write_together(const fs::path& folder, const char* name, const std::vector<Combination>& all) {
  std::string together;
  for (const Combination& one : all) {
    const fs::path path = folder / one.name() / name;
    if (!fs::exists(path)) continue;
    const std::string text = io::read_bytes(path);
    size_t at = 0;
    for (bool header = true; at < text.size(); header = false) {
      const size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      at = end + 1;
      if (header && together.empty()) together = "method,adapter_rank," + line + "\n";
      if (!header) together += fmt::format("{},{},{}\n", one.method, one.rank, line);
    }
  }
  if (!together.empty()) io::write_atomically(folder / name, together);
}

// ---- the command

void export_base(const Flags& flags, const TextModel& pair) {
  pair.model.write(flags.export_base);
  deep::write_tokenizer(flags.export_base, *pair.tokenizer);
  if (!flags.common.quiet) print_fact("model", "written to " + flags.export_base);
}

// The adapter that was given, as it is.
void export_given(const Flags& flags, const TextModel& pair) {
  LoraExport whole = flags.exported;
  whole.energy = 1;
  const fs::path folder = make_run_folder(flags.common, "lora");
  whole.write(folder, net::read_adapter(flags.model.adapter), flags.model.model, *pair.tokenizer);
  if (!flags.common.quiet) print_fact("results", (folder / whole.to).string());
}

// No text to learn from: how good the model with its adapter is.
ExitCode evaluate(const Flags& flags, TextModel& pair) {
  const auto text = read_text(pair, flags.evaluation, flags.limit_eval);
  const double loss = pair.model.loss(text, flags.options.sequence, flags.options.micro_batch);
  require<IoError>(std::isfinite(loss), flags.model.model, ": the loss of ", flags.evaluation,
                   " is not finite: weights, or those of the adapter, are damaged");
  fmt::print("  tokens         {}\n  loss           {:.9g}\n  perplexity     {:.9g}\n", text.size(),
             loss, std::exp(loss));
  return kDone;
}

void check_flags(const Flags& flags) {
  if (!flags.train.empty() && flags.evaluation.empty())
    throw CLI::ValidationError("--eval", "a text to test on goes with --train");
  const bool exports_adapter = !flags.exported.to.empty() && !flags.model.adapter.empty();
  if (flags.train.empty() && flags.evaluation.empty() && flags.export_base.empty() &&
      !exports_adapter)
    throw CLI::ValidationError("--train and --eval",
                               "expected, or --export-base, or --adapter with --export");
  if (flags.train.empty() && !flags.exported.to.empty() && !exports_adapter)
    throw CLI::ValidationError("--export", "goes with --train or --adapter");
  if (!flags.train.empty() && !flags.model.adapter.empty())
    throw CLI::ValidationError("--adapter",
                               "goes with --eval or --export; training starts from nothing");
  if (flags.exported.compact && flags.exported.to != "peft")
    throw CLI::ValidationError("--compact", "goes with --export peft");
}

ExitCode train(const Flags& flags, TextModel& pair, const std::vector<Combination>& all,
               const deep::LoraOptions& options) {
  const auto text = read_text(pair, flags.train, flags.limit_train),
             evaluation = read_text(pair, flags.evaluation, flags.limit_eval);
  LoraSetup setup{flags.common,
                  pair,
                  text,
                  evaluation,
                  options,
                  describe(flags),
                  flags.model.model,
                  pair.model.fingerprint(),
                  flags.exported};
  deep::sequence_length(pair.model.config(), setup.options.sequence);  // before anything is written
  const fs::path folder = make_run_folder(flags.common, "lora");
  if (!flags.common.quiet) print_common(flags, pair, text, evaluation);
  catch_interrupts();
  std::vector<LoraFigures> done;
  bool good = true;
  for (const Combination& one : all) {
    setup.options.adapter.method = one.method;
    setup.options.adapter.rank = one.rank;
    const auto figures = run_lora_training(setup, all.size() == 1 ? folder : folder / one.name());
    if (!figures) {
      say_interrupted(folder);
      return kInterrupted;
    }
    good = good && figures->stop == net::TrainStop::kDone;
    done.push_back(*figures);
  }
  if (all.size() > 1)
    for (const char* name : {"history.csv", "pruning.csv", "ranks.csv"})
      write_together(folder, name, all);
  leave_report(flags.common, "lora", folder);
  if (!flags.common.quiet) {
    print_table(done);
    print_fact("results", folder.string());
  }
  return good ? kDone : kNotConverged;
}

ExitCode run_lora(const Flags& flags) {
  set_num_threads(flags.common.threads);
  check_flags(flags);
  const std::vector<Combination> all = combinations(flags);
  const deep::LoraOptions options = read_options(flags);
  TextModel pair = read_text_model(flags.model);
  if (!flags.export_base.empty()) export_base(flags, pair);
  if (!flags.train.empty()) return train(flags, pair, all, options);
  if (!flags.exported.to.empty()) export_given(flags, pair);
  return flags.evaluation.empty() ? kDone : evaluate(flags, pair);
}

}  // namespace

Run setup_lora(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command = program.add_subcommand(
      "lora", "Trains LoRA and LoRA-UDV adapters of a LLaMA model and prunes them");
  const auto add = [&](const char* name, auto& value, const char* text) {
    return command->add_option(name, value, text);
  };
  const CLI::Range count(Index{1}, Index{1} << 31);
  deep::LoraOptions& o = flags->options;
  flags->model.add_to(*command);
  add("--train", flags->train, "Text to learn from");
  add("--eval", flags->evaluation, "Text to test on; without --train: how good the model is");
  add("--method", flags->methods, "lora-udv, lora, or both")->capture_default_str();
  add("--rank", flags->ranks, "Rank of the adapters, or a list of them")->capture_default_str();
  add("--modules", flags->modules, "Matrices with adapters: of q, k, v, o, gate, up, down")
      ->capture_default_str();
  add("--optimizer", o.optimizer, net::optimizer_names().c_str())->capture_default_str();
  add("--lr", o.learning_rate, "Learning rate")->capture_default_str()->check(positive());
  add("--weight-decay", o.rule.weight_decay, "Weight decay")->check(CLI::Range(0.0, 1e6));
  add("--schedule", flags->schedule, "cosine or constant")
      ->capture_default_str()
      ->check(CLI::IsMember({"cosine", "constant"}));
  add("--epochs", o.epochs, "Passes over the text")->capture_default_str()->check(count);
  add("--batch", o.batch, "Sequences of one step")->capture_default_str()->check(count);
  add("--micro-batch", o.micro_batch,
      "Sequences at a time; gradients add up (default: 8192 tokens, on the CPU 2048)")
      ->check(count);
  add("--sequence", o.sequence, "Tokens of a sequence (default: the model's limit, 1024 at most)")
      ->check(count);
  add("--clip", o.clip, "Largest norm of the gradient")->check(positive());
  add("--init-std", o.adapter.deviation, "Standard deviation of A at the start")
      ->capture_default_str()
      ->check(positive());
  add("--checkpointing", flags->checkpointing,
      "on: keep the inputs of layers alone, and compute each layer twice")
      ->capture_default_str()
      ->check(CLI::IsMember({"on", "off"}));
  add("--limit-train", flags->limit_train, "Use the first so many tokens")->check(count);
  add("--limit-eval", flags->limit_eval, "Test on the first so many tokens")->check(count);
  add("--energy", flags->exported.energy, "Share of every block's energy in what is exported")
      ->capture_default_str()
      ->check(share_number());
  add("--export", flags->exported.to, "peft: adapter folder; merged: the model with it inside")
      ->check(CLI::IsMember({"peft", "merged"}));
  command->add_flag("--compact", flags->exported.compact, "PEFT: own ranks instead of zeros");
  add("--export-base", flags->export_base, "Write the model itself in Hugging Face's layout");
  flags->common.add_to(*command);
  return [flags] { return run_lora(*flags); };
}

}  // namespace udv::cli
