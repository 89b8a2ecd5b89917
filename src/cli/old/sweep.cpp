// SPDX-License-Identifier: MIT
#include "udv/net/sweep.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <sstream>

#include "cli/commands.hpp"
#include "cli/common.hpp"
#include "cli/config_file.hpp"
#include "cli/interrupt.hpp"
#include "cli/live.hpp"
#include "cli/sweep_summary.hpp"
#include "cli/training_flags.hpp"
#include "core/parse.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/io/file.hpp"
#include "udv/report/terminal.hpp"

namespace udv::cli {
namespace {

struct Flags {
  std::string spec;
  bool summary = false;
  CommonFlags common;
};

/// What a sweep's file says: lists, and flags of udv train.
struct Spec {
  std::string dataset, data, variants = "UDV", optimizers = "adam", learning_rates = "0.001";
  std::string weight_decays = "0", seeds = "10", split_seeds = "1";
  DataFlags source;
  TrainFlags training;
};

template <typename Number>
std::vector<Number> numbers(const std::string& path, const char* key, const std::string& list) {
  std::vector<Number> result;
  for (const std::string& word : words(list)) {
    Number value{};
    require<IoError>(parse_all(word, value), path, ": ", key, ": '", word,
                     "' found, a number expected");
    result.push_back(value);
  }
  return result;
}

// A single number is a count, 0 .. n - 1; a list says which.
std::vector<std::uint64_t> seeds_of(const std::string& path, const char* key,
                                    const std::string& list) {
  auto found = numbers<std::uint64_t>(path, key, list);
  if (found.size() != 1 || list.find(',') != list.npos) return found;
  require<IoError>(found[0] > 0 && found[0] <= 1'000'000, path, ": ", key, ": ", found[0],
                   " found, a number from 1 to 1000000 or a list expected");
  std::vector<std::uint64_t> counted(found[0]);
  for (size_t i = 0; i < counted.size(); ++i) counted[i] = i;
  return counted;
}

// Relative to the spec; $UDV_DATA is what the environment says.
std::filesystem::path data_path(const std::string& spec, const std::string& data) {
  const std::string variable = "$UDV_DATA";
  if (!data.starts_with(variable)) return std::filesystem::path(spec).parent_path() / data;
  const char* const folder = std::getenv("UDV_DATA");
  require<IoError>(folder != nullptr, spec, ": data: UDV_DATA is not set in the environment");
  return folder + data.substr(variable.size());
}

// Every key is a flag: of the sweep itself or of udv train.
Spec read_spec(const std::string& path) {
  Spec spec;
  CLI::App parser;
  parser.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  parser.add_option("--dataset", spec.dataset);
  parser.add_option("--data", spec.data)->required();
  parser.add_option("--variants", spec.variants);
  parser.add_option("--optimizers", spec.optimizers);
  parser.add_option("--learning-rates", spec.learning_rates);
  parser.add_option("--weight-decays", spec.weight_decays);
  parser.add_option("--seeds", spec.seeds);
  parser.add_option("--split-seeds", spec.split_seeds);
  spec.source.add_to(parser);
  spec.training.add_to(parser);
  std::vector<std::string> flags = config_flags(path);
  for (const auto& flag : flags)
    for (const char* single :
         {"--variant=", "--optimizer=", "--lr=", "--weight-decay=", "--split-seed="})
      require<IoError>(!flag.starts_with(single), path, ": ",
                       flag.substr(2, std::strlen(single) - 3),
                       ": a sweep has lists: variants, optimizers, learning-rates, "
                       "weight-decays, split-seeds");
  std::reverse(flags.begin(), flags.end());
  try {
    parser.parse(flags);
    spec.training.read(0);
    spec.source.read();
  } catch (const CLI::ParseError& error) {
    throw IoError(message(path, ": ", error.what()));
  } catch (const InvalidArgument& error) {
    throw IoError(message(path, ": ", error.what()));
  }
  for (std::string* file : {&spec.data, &spec.source.options.test, &spec.source.options.targets})
    if (!file->empty()) *file = data_path(path, *file).string();
  return spec;
}

net::SweepGrid grid_of(const std::string& path, const Spec& spec) {
  net::SweepGrid grid;
  grid.variants = words(spec.variants);
  if (spec.variants == "all") {
    grid.variants.clear();
    for (const auto& variant : net::variants()) grid.variants.push_back(variant.name);
  }
  grid.optimizers = words(spec.optimizers);
  grid.learning_rates = numbers<double>(path, "learning-rates", spec.learning_rates);
  grid.weight_decays = numbers<double>(path, "weight-decays", spec.weight_decays);
  grid.seeds = seeds_of(path, "seeds", spec.seeds);
  grid.split_seeds = seeds_of(path, "split-seeds", spec.split_seeds);
  try {
    grid.validate();
  } catch (const InvalidArgument& error) {
    throw IoError(message(path, ": ", error.what()));
  }
  return grid;
}

/// results.csv, locked and open for one line after the other.
class Results {
 public:
  explicit Results(const std::filesystem::path& path) : path_(path) {
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    require<IoError>(file_ >= 0, path.string(), ": cannot be opened: ", std::strerror(errno));
    const bool alone = ::flock(file_, LOCK_EX | LOCK_NB) == 0;
    if (!alone) ::close(file_);
    require<IoError>(alone, path.string(), ": another sweep writes to this file");
    try {
      cut_torn_line();
    } catch (...) {
      ::close(file_);
      throw;
    }
  }
  ~Results() { ::close(file_); }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  void append(const std::string& line) {
    const ssize_t written = ::write(file_, line.data(), line.size());
    require<IoError>(written == static_cast<ssize_t>(line.size()), path_.string(),
                     ": cannot be written: ", std::strerror(errno));
  }

 private:
  // A program that was killed may have left half a line. Files of others stay as they are.
  void cut_torn_line() {
    const std::string text = io::read_bytes(path_), header = net::sweep_header();
    require<IoError>(text.starts_with(header) || header.starts_with(text), path_.string(),
                     ":1: another file found, a sweep's results expected");
    const size_t whole = text.size() < header.size() ? 0 : text.rfind('\n') + 1;
    if (whole < text.size())
      require<IoError>(::ftruncate(file_, static_cast<off_t>(whole)) == 0, path_.string(),
                       ": cannot be cut");
    if (whole == 0) append(header);
  }

  std::filesystem::path path_;
  int file_;
};

// Every split, read, cut and found fit for training.
template <typename Real>
net::SweepData<Real> prepare(const std::filesystem::path& path, const Spec& spec,
                             const net::SweepGrid& grid, net::TrainOptions& base) {
  net::SweepData<Real> data;
  const net::DataSource<Real> source(path, spec.source.read());
  for (const std::uint64_t seed : grid.split_seeds) {
    const auto& prepared = data.emplace(seed, source.prepare(seed)).first->second;
    spec.training.set_average(prepared.training.task, base);
    net::check_run(path.string(), prepared.training, prepared.test, base);
  }
  return data;
}

// All that is the same for every cell and fixes its numbers.
template <typename Real>
std::string settings_of(const Spec& spec, const net::SweepData<Real>& data) {
  std::map<std::string, io::Setting> config;
  spec.source.describe(config);
  spec.training.describe(config);
  for (const char* name : {"variant", "optimizer", "lr", "weight-decay", "split-seed"})
    config.erase(name);
  return message(settings_text(config), "; numbers of the data ",
                 data.begin()->second.content_hash());
}

template <typename Real>
ExitCode run_as(const Flags& flags, const Spec& spec) {
  const net::SweepGrid grid = grid_of(flags.spec, spec);
  const std::vector<net::SweepCell> cells = net::cells_of(grid);
  net::TrainOptions base = spec.training.read(0);
  set_num_threads(flags.common.threads);
  const auto data = prepare<Real>(spec.data, spec, grid, base);
  for (const auto& note : data.begin()->second.notes) warn(note);
  const std::string settings = settings_of(spec, data);

  const auto folder = make_run_folder(flags.common, "sweep");
  Results results(folder / "results.csv");
  std::set<std::string> finished;
  for (const net::SweepRow& row : net::read_sweep(folder / "results.csv")) finished.insert(row.key);
  io::write_atomically(folder / "sweep.toml", io::read_bytes(flags.spec));
  Index open = 0;
  for (const auto& cell : cells) open += finished.contains(cell_key(cell, settings)) ? 0 : 1;

  catch_interrupts();
  const ProgressTotal total{open, flags.common.time_limit};
  const ProgressWords words{"runs", "loss", "width"};
  ProgressBar progress(total, flags.common.quiet, words);
  auto live = std::make_unique<LiveFile>(folder, "sweep", total, words);
  net::SweepHooks hooks;
  std::vector<Observer> observers{progress.observer(), live->observer(), stop_on_interrupt()};
  if (flags.common.time_limit > 0) observers.push_back(time_limit(flags.common.time_limit));
  hooks.observer = combine(std::move(observers));
  hooks.finished = [&](const net::SweepRow& row) { results.append(net::sweep_line(row)); };
  const Verdict verdict = net::run_sweep(data, cells, base, settings, finished, hooks);
  progress.clear();
  live.reset();
  if (verdict == Verdict::kInterrupt) {
    say_interrupted(folder);
    return kInterrupted;
  }
  std::vector<net::SweepRow> rows;
  for (const net::SweepRow& row : net::read_sweep(folder / "results.csv"))
    if (row.settings == net::settings_key(settings)) rows.push_back(row);
  net::write_sweep_run(folder, rows, spec.dataset);
  leave_report(flags.common, "sweep", folder);
  if (!flags.common.quiet) {
    fmt::print("{}", sweep_summary(rows, spec.dataset, isatty(STDOUT_FILENO) == 1));
    fmt::print("  {} runs, {} of them now; results in {}\n", cells.size(), open,
               (folder / "results.csv").string());
  }
  return verdict == Verdict::kContinue ? kDone : kNotConverged;
}

// The name alone: a copy of a spec elsewhere does not find its data.
std::string dataset_of(const std::string& path) {
  const std::string key = "--dataset=";
  for (const std::string& flag : config_flags(path))
    if (flag.starts_with(key)) return flag.substr(key.size());
  return "";
}

ExitCode print_summary(const Flags& flags) {
  const std::filesystem::path given = flags.spec;
  const bool is_folder = std::filesystem::is_directory(given);
  const auto results = is_folder ? given / "results.csv" : given;
  const auto spec = results.parent_path() / "sweep.toml";
  const std::string dataset =
      std::filesystem::exists(spec) ? dataset_of(spec.string()) : std::string();
  fmt::print("{}", sweep_summary(net::read_sweep(results), dataset, isatty(STDOUT_FILENO) == 1));
  return kDone;
}

}  // namespace

Run setup_sweep(CLI::App& program) {
  const auto flags = std::make_shared<Flags>();
  CLI::App* const command = program.add_subcommand(
      "sweep", "Trains over variants, optimizers, learning rates, seeds and splits");
  command
      ->add_option("spec", flags->spec,
                   "TOML file: lists variants, optimizers, learning-rates, weight-decays, seeds, "
                   "split-seeds; data; and flags of udv train. With --summary: a sweep's folder")
      ->required();
  command->add_flag("--summary", flags->summary,
                    "Print the table of a finished sweep, run nothing");
  flags->common.add_to(*command);
  return [flags]() -> ExitCode {
    if (flags->summary) return print_summary(*flags);
    const Spec spec = read_spec(flags->spec);
    return spec.training.float64 ? run_as<double>(*flags, spec) : run_as<float>(*flags, spec);
  };
}

}  // namespace udv::cli
