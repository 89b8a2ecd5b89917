// SPDX-License-Identifier: MIT
#include "udv/jobs/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "jobs/config_file.hpp"
#include "jobs/sweep_files.hpp"
#include "jobs/sweep_parts.hpp"
#include "udv/io/file.hpp"
#include "udv/net/files/model_file.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpec = "sweep.toml";
constexpr const char* kModel = "model.safetensors";
constexpr std::uint64_t kMostSeeds = 1'000'000;
constexpr double kMergeWait = 600;  // seconds, for other parts that put results together

// Settings of udv train that a sweep has as lists.
const std::vector<std::string>& single_settings() {
  static const std::vector<std::string> names{"variant", "optimizer", "lr", "weight-decay",
                                              "split-seed"};
  return names;
}

template <typename Number>
std::vector<Number> numbers(const std::string& list) {
  std::vector<Number> result;
  for (const std::string& word : comma_words(list)) {
    Number value{};
    require(parse_all(word, value), "'", word, "' found, a number expected");
    result.push_back(value);
  }
  return result;
}

std::vector<double> rates_of(const std::string& list) {
  std::vector<double> rates;
  for (const std::string& word : comma_words(list))
    rates.push_back(word == "auto" ? 0 : numbers<double>(word)[0]);
  return rates;
}

// A single number is a count, 0 .. n - 1; a list says which.
std::vector<std::uint64_t> seeds_of(const std::string& list) {
  auto found = numbers<std::uint64_t>(list);
  if (found.size() != 1 || list.find(',') != list.npos) return found;
  require(found[0] > 0 && found[0] <= kMostSeeds, found[0], " found, a number from 1 to ",
          kMostSeeds, " or a list expected");
  std::vector<std::uint64_t> counted(found[0]);
  for (size_t i = 0; i < counted.size(); ++i) counted[i] = i;
  return counted;
}

std::vector<std::string> variants_of(const std::string& list) {
  if (list != "all") return comma_words(list);
  std::vector<std::string> names;
  for (const auto& variant : net::variants()) names.push_back(variant.name);
  return names;
}

// A list of the grid, written as the words that `parse` reads.
template <typename Item>
void add_list(OptionTable& table, const std::string& name, std::vector<Item>& values,
              std::vector<Item> (*parse)(const std::string&), const std::string& help) {
  table
      .add_custom(
          name, [&values, parse](const std::string& text) { values = parse(text); },
          [&values]() -> Setting { return fmt::format("{}", fmt::join(values, ",")); }, help)
      .called("A,B,...");
}

// What is the same for every cell.
void describe_shared(OptionTable& table, TrainJobOptions& training) {
  describe(table, training);
  table.remove(single_settings());
}

// Relative to the spec; $UDV_DATA is what the environment says.
fs::path data_path(const std::string& spec, const std::string& data) {
  const std::string variable = "$UDV_DATA";
  if (!data.starts_with(variable)) return fs::path(spec).parent_path() / data;
  const char* const folder = std::getenv("UDV_DATA");
  require<IoError>(folder != nullptr, spec, ": data: UDV_DATA is not set in the environment");
  return folder + data.substr(variable.size());
}

void refuse_single_settings(const std::string& path) {
  for (const ConfigEntry& entry : config_entries(path)) {
    const auto& names = single_settings();
    require<IoError>(std::find(names.begin(), names.end(), entry.name) == names.end(), entry.where,
                     ": ", entry.name,
                     ": a sweep has lists: variants, optimizers, learning-rates, weight-decays, "
                     "split-seeds");
  }
}

// All that is the same for every cell and decides its numbers.
template <typename Real>
std::string settings_of(const SweepSpec& spec, const net::SweepData<Real>& data) {
  TrainJobOptions training = spec.training;
  OptionTable table;
  describe_shared(table, training);
  return message(settings_text(table.config()), "; numbers of the data ",
                 data.begin()->second.content_hash());
}

std::set<std::string> finished_keys(const fs::path& results) {
  std::set<std::string> keys;
  for (const net::SweepRow& row : net::read_sweep(results)) keys.insert(row.key);
  return keys;
}

std::vector<net::SweepRow> rows_of(const fs::path& results, const std::string& settings) {
  std::vector<net::SweepRow> rows;
  for (const net::SweepRow& row : net::read_sweep(results))
    if (row.settings == net::settings_key(settings)) rows.push_back(row);
  return rows;
}

// A file of that name which is none of a sweep is not replaced.
void check_results(const fs::path& results) {
  if (!fs::exists(results)) return;
  require<IoError>(io::read_bytes(results).starts_with(net::sweep_header()), results.string(),
                   ":1: another file found, a sweep's results expected");
}

// Those of a sweep alone: other files stay as they are, and in the way.
void forget_results(const fs::path& results) {
  if (fs::exists(results) && io::read_bytes(results).starts_with(net::sweep_header()))
    fs::remove(results);
}

// Results are put together in a new folder, or one that has results or parts of a sweep.
FolderRules merge_rules(const Session& session) {
  FolderRules rules = session.folder_rules();
  rules.continues = kSweepResults;
  rules.updates = "sweep";
  for (const std::string& name : part_folders(session.options().out)) rules.own.insert(name);
  return rules;
}

Outcome outcome_of(Verdict verdict) {
  if (verdict == Verdict::kInterrupt) return Outcome::kInterrupted;
  return verdict == Verdict::kContinue ? Outcome::kDone : Outcome::kLimited;
}

/// A sweep while it runs.
template <typename Real>
class Sweep {
 public:
  Sweep(SweepSpec spec, const net::SweepData<Real>& data, std::string keep, Session& session)
      : spec_(std::move(spec)),
        data_(data),
        keep_(std::move(keep)),
        session_(session),
        cells_(net::cells_of(spec_.grid)),
        settings_(settings_of(spec_, data)) {
    for (size_t i = 0; i < cells_.size(); ++i)
      places_.emplace(net::cell_key(cells_[i], settings_), i);
  }

  /// `spec_text` is the file that the settings came from; empty where there is none.
  SweepResult run(std::map<std::string, Setting> config, const std::string& spec_text,
                  const Part& part = {}) {
    const io::RunInfo info = run_part(std::move(config), spec_text, part);
    if (!part.is_all() && session_.has_folder() && result_.outcome != Outcome::kInterrupted)
      put_together(result_folders(session_.options().out), info, spec_text);
    return std::move(result_);
  }

  /// Results of other folders, put together in that of the session.
  SweepResult merge(const std::vector<fs::path>& folders, std::map<std::string, Setting> config,
                    const std::string& spec_text) {
    io::RunInfo info;
    info.command = "sweep";
    info.config = std::move(config);
    info.seed = session_.seed();
    put_together(folders, info, spec_text);
    return std::move(result_);
  }

 private:
  io::RunInfo run_part(std::map<std::string, Setting> config, const std::string& spec_text,
                       const Part& part) {
    Run run(session_, "sweep", std::move(config), settings_, folder_of(part), kSweepResults);
    for (const auto& note : data_.begin()->second.notes) run.warn(note);
    result_.dataset = spec_.dataset;
    result_.cells = static_cast<Index>(cells_.size());
    result_.folder = run.path();
    const std::vector<net::SweepCell> own = jobs::cells_of(part, cells_);
    if (!run.has_folder()) {
      train_open_cells(run, own, {},
                       [&](const net::SweepRow& row) { result_.rows.push_back(row); });
      return run.info();
    }
    result_.results = run.folder().growing_file(kSweepResults);
    if (session_.options().force && !session_.options().resume) forget_results(result_.results);
    SweepResults file(result_.results);
    if (!spec_text.empty()) io::write_atomically(run.folder().growing_file(kSpec), spec_text);
    find_best(run);
    train_open_cells(run, own, finished_keys(result_.results),
                     [&](const net::SweepRow& row) { file.append(net::sweep_line(row)); });
    result_.rows = in_order(rows_of(result_.results, settings_));
    if (result_.outcome != Outcome::kInterrupted)
      write_run_json(run.folder(), run.info(), sweep_json(result_.rows, spec_.dataset));
    return run.info();
  }

  // results.csv, run.json and the best model of all these folders, in that of the session. One
  // process at a time; what the others add meanwhile, the last of them has.
  void put_together(const std::vector<fs::path>& folders, const io::RunInfo& info,
                    const std::string& spec_text) {
    const fs::path out = session_.options().out;
    check_results(out / kSweepResults);
    FolderRules rules = merge_rules(session_);
    rules.wait_seconds = kMergeWait;
    RunFolder folder(out, rules);
    FinishedRuns finished;
    for (const fs::path& source : folders) finished.add(source, settings_);
    if (fs::exists(out / kSweepResults)) finished.add(out, settings_);
    result_.rows.clear();
    for (const auto& [key, row] : finished.rows)
      if (place_of(key) < cells_.size()) result_.rows.push_back(row);
    result_.rows = in_order(result_.rows);
    std::string lines = net::sweep_header();
    for (const net::SweepRow& row : result_.rows) lines += net::sweep_line(row);
    io::write_atomically(folder.file(kSweepResults), lines);
    if (!spec_text.empty()) io::write_atomically(folder.file(kSpec), spec_text);
    take_best_model(finished, folder);
    write_run_json(folder, info, sweep_json(result_.rows, spec_.dataset));
    result_.dataset = spec_.dataset;
    result_.cells = static_cast<Index>(cells_.size());
    result_.folder = out;
    result_.results = out / kSweepResults;
  }

  // The best run of all is the best of its folder, whose model is there.
  void take_best_model(FinishedRuns& finished, RunFolder& folder) {
    const net::SweepRow* best = nullptr;
    for (const net::SweepRow& row : result_.rows)
      if (row.status == "done" && (!best || better(row, *best))) best = &row;
    result_.model.clear();
    if (!best || keep_ != "best") return;
    const fs::path model = finished.folders[best->key] / kModel;
    if (!fs::exists(model)) return;
    fs::copy_file(model, folder.file(kModel), fs::copy_options::overwrite_existing);
    result_.model = folder.path() / kModel;
  }

  template <typename Finished>
  void train_open_cells(Run& run, const std::vector<net::SweepCell>& cells,
                        const std::set<std::string>& done, const Finished& finished) {
    for (const auto& cell : cells)
      result_.trained += done.contains(net::cell_key(cell, settings_)) ? 0 : 1;
    net::SweepHooks<Real> hooks{
        run.hooks({result_.trained, session_.options().time_limit}, {"runs", "loss", "width"}),
        finished};
    if (run.has_folder() && keep_ != "none")
      hooks.model = [&](const net::SweepRow& row, const net::Network<Real>& network) {
        keep_model(run, row, network);
      };
    result_.outcome = outcome_of(run.compute(hooks, [&] {
      return net::run_sweep(data_, cells, spec_.training.training, settings_, done, hooks);
    }));
    if (result_.outcome == Outcome::kDone) run.remove_checkpoint();
  }

  // In the grid; behind its end where the run is none of it.
  size_t place_of(const std::string& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? cells_.size() : found->second;
  }

  // As the grid lists them: the same rows in the same order, whatever run finished first.
  std::vector<net::SweepRow> in_order(std::vector<net::SweepRow> rows) const {
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      return place_of(a.key) < place_of(b.key);
    });
    return rows;
  }

  // Of an earlier call, whose model is there.
  void find_best(Run& run) {
    if (keep_ != "best" || !fs::exists(run.path() / kModel)) return;
    for (const net::SweepRow& row : rows_of(result_.results, settings_))
      if (row.status == "done" && (!best_ || better(row, *best_))) best_ = row;
    if (best_) result_.model = run.folder().growing_file(kModel);
  }

  // Of equal ones that which the grid lists first.
  bool better(const net::SweepRow& a, const net::SweepRow& b) const {
    if (net::is_better(a, b)) return true;
    return !net::is_better(b, a) && place_of(a.key) < place_of(b.key);
  }

  void keep_model(Run& run, const net::SweepRow& row, const net::Network<Real>& network) {
    const auto& data = data_.at(row.cell.split_seed);
    const net::Model<Real> model{
        network,
        data.preprocessing,
        {{"settings", row.key}, {"split_seed", std::to_string(row.cell.split_seed)}}};
    if (keep_ == "all") {
      fs::create_directories(run.path() / "models");
      write_model(run.folder().growing_file("models/" + row.key + ".safetensors"), model);
    } else if (!best_ || better(row, *best_)) {
      best_ = row;
      result_.model = run.folder().growing_file(kModel);
      write_model(result_.model, model);
    }
  }

  SweepSpec spec_;
  const net::SweepData<Real>& data_;
  std::string keep_;
  std::optional<net::SweepRow> best_;
  Session& session_;
  std::vector<net::SweepCell> cells_;
  std::string settings_;
  std::map<std::string, size_t> places_;  // of the cells, by key
  SweepResult result_;
};

std::map<std::string, Setting> config_of(SweepSpec spec) {
  OptionTable table;
  describe(table, spec);
  return table.config();
}

template <typename Real>
void check_data(const SweepSpec& spec, const net::SweepData<Real>& data) {
  for (const std::uint64_t seed : spec.grid.split_seeds) {
    const auto at = data.find(seed);
    require(at != data.end(), "sweep: no data for the split seed ", seed);
    net::check_run(spec.data.empty() ? "sweep" : spec.data, at->second.training, at->second.test,
                   spec.training.training);
  }
}

template <typename Real>
SweepResult sweep_file(const SweepInput& input, const SweepSpec& spec, Session& session) {
  const std::string& path = input.spec;
  const Part part = read_part(input.part);
  if (session.has_folder() && (!part.is_all() || !input.merge.empty()))
    check_folder_rules(session.options().out, merge_rules(session));
  std::optional<EarlyFolder> early;
  if (input.merge.empty()) early.emplace(session, folder_of(part), kSweepResults);
  net::SweepData<Real> data;
  const net::DataSource<Real> source(spec.data, spec.training.data_options());
  for (const std::uint64_t seed : spec.grid.split_seeds) data.emplace(seed, source.prepare(seed));
  check_data(spec, data);
  auto config = config_of(spec);
  config["spec"] = path;
  Sweep<Real> sweep(spec, data, input.keep, session);
  const std::string text = io::read_bytes(path);
  if (input.merge.empty()) return sweep.run(std::move(config), text, part);
  std::vector<fs::path> folders;
  for (const std::string& folder : input.merge) {
    const std::vector<fs::path> found = result_folders(folder);
    require<IoError>(!found.empty(), folder, ": no results of a sweep (", kSweepResults, ") found");
    folders.insert(folders.end(), found.begin(), found.end());
  }
  return sweep.merge(folders, std::move(config), text);
}

// The name alone: a copy of a spec elsewhere does not find its data.
std::string dataset_of(const fs::path& spec) {
  if (!fs::exists(spec)) return "";
  for (const ConfigEntry& entry : config_entries(spec.string()))
    if (entry.name == "dataset") return entry.text;
  return "";
}

}  // namespace

net::SweepGrid SweepSpec::default_grid() {
  net::SweepGrid grid;
  grid.seeds = seeds_of("10");
  return grid;
}

void describe(OptionTable& table, SweepSpec& spec) {
  table.group("Sweep");
  table.add("dataset", spec.dataset, "Name of a data set of the paper, for comparison");
  table.add("data", spec.data, "Table, .npy, .npz, .mat, HDF5, IDX, CIFAR or a folder")
      .must_be_given();
  add_list(table, "variants", spec.grid.variants, variants_of, "Variants of the network, or all");
  add_list(
      table, "optimizers", spec.grid.optimizers,
      +[](const std::string& list) { return comma_words(list); }, "Optimizers");
  add_list(table, "learning-rates", spec.grid.learning_rates, rates_of,
           "Learning rates of the first step, or auto");
  add_list(table, "weight-decays", spec.grid.weight_decays, numbers<double>, "Weight decays");
  add_list(table, "seeds", spec.grid.seeds, seeds_of, "Seeds: how many, or a list");
  add_list(table, "split-seeds", spec.grid.split_seeds, seeds_of,
           "Seeds of the split: how many, or a list");
  describe_shared(table, spec.training);
}

void describe(OptionTable& table, SweepInput& input) {
  table
      .add("spec", input.spec,
           "TOML file: lists variants, optimizers, learning-rates, weight-decays, seeds, "
           "split-seeds; data; and settings of udv train")
      .is_input()
      .called("FILE");
  table
      .add("keep", input.keep,
           "Models to write: that of the best run on the validation part (model.safetensors), of "
           "all runs (models/KEY.safetensors) or of none")
      .one_of({"best", "all", "none"})
      .keeps_numbers();
  table
      .add("part", input.part,
           "Train only part I of N, in part-I-of-N of the folder; the finished results of all "
           "parts there are combined when a part ends")
      .called("I/N")
      .keeps_numbers();
  table
      .add_each(
          "merge", input.merge,
          "Combine the finished results of these folders of the same sweep, and train nothing")
      .called("FOLDER")
      .keeps_numbers();
}

SweepSpec read_sweep_spec(const std::string& path) {
  refuse_single_settings(path);
  SweepSpec spec;
  OptionTable table;
  describe(table, spec);
  apply_config(path, table);
  const std::string missing = table.missing();
  require<IoError>(missing.empty(), path, ": ", missing, " is missing");
  try {
    spec.training.training.validate();
    spec.training.source.validate();
    spec.grid = spec.grid.resolved(spec.training.training);
    spec.grid.validate();
    for (const auto& variant : spec.grid.variants) {  // what contradicts the preset
      net::TrainOptions one = spec.training.training;
      one.variant = variant;
      one.resolved({});
    }
    spec.training.data_options();
  } catch (const InvalidArgument& error) {
    throw IoError(message(path, ": ", error.what()));
  }
  for (std::string* file : {&spec.data, &spec.training.source.test, &spec.training.source.targets})
    if (!file->empty()) *file = data_path(path, *file).string();
  return spec;
}

SweepResult sweep(const SweepInput& input, Session& session) {
  read_part(input.part);  // checked before anything is read
  if (!input.part.empty() && !input.merge.empty())
    throw OptionError("merge", "trains nothing, so it does not go with part");
  const SweepSpec spec = read_sweep_spec(input.spec);
  return spec.training.float64 ? sweep_file<double>(input, spec, session)
                               : sweep_file<float>(input, spec, session);
}

template <typename Real>
SweepResult sweep(const SweepSpec& given, const net::SweepData<Real>& data, Session& session) {
  SweepSpec spec = given;
  spec.grid = spec.grid.resolved(spec.training.training);
  spec.grid.validate();
  check_data(spec, data);
  return Sweep<Real>(spec, data, "none", session).run(config_of(spec), "");
}

SweepResult read_sweep_result(const fs::path& path) {
  SweepResult result;
  result.results = fs::is_directory(path) ? path / kSweepResults : path;
  result.folder = result.results.parent_path();
  result.dataset = dataset_of(result.folder / kSpec);
  result.rows = net::read_sweep(result.results);
  return result;
}

template SweepResult sweep(const SweepSpec&, const net::SweepData<float>&, Session&);
template SweepResult sweep(const SweepSpec&, const net::SweepData<double>&, Session&);

}  // namespace udv::jobs
