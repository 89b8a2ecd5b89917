// SPDX-License-Identifier: MIT
#include "jobs/run_reader.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "jobs/run_files.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/jobs/run_folder.hpp"

namespace udv::jobs {
namespace {

namespace fs = std::filesystem;

constexpr int kLevels = 3;

// Runs before format 1 do not say their format and are read all the same.
Json read_run_json(const fs::path& path) {
  Json run = io::detail::read_json(path);
  const auto format = run.find("format");
  require<IoError>(format == run.end() || *format == kRunFormat, path.string(), ": format ",
                   format == run.end() ? "" : format->dump(), " found, ", kRunFormat, " expected");
  return run;
}

// Columns of different lengths are no table.
NumberTable history_of(const Json& live) {
  NumberTable table;
  if (!live.is_object() || !live.contains("history") || !live["history"].is_object()) return table;
  for (const auto& [name, values] : live["history"].items())
    for (const Json& value : values)
      table[name].push_back(value.is_number() ? value.get<double>() : NAN);
  for (const auto& [name, values] : table)
    if (values.size() != table.begin()->second.size()) return {};
  return table;
}

// Files of a run that is being written wait in such a folder.
bool is_hidden(const fs::path& path) {
  return path.filename().string().starts_with('.');
}

std::string not_looked_into(const fs::path& folder, const std::string& why) {
  return folder.string() + ": cannot be looked into: " + why;
}

// Of folders that are not hidden. Whoever may not be looked into is noted and left out, as are
// links that lead nowhere or in circles.
std::vector<fs::path> folders_in(const fs::path& folder, std::string& problem) {
  std::vector<fs::path> inside;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  while (!failure && entry != fs::directory_iterator()) {
    std::error_code unknown;
    if (!is_hidden(entry->path()) && entry->is_directory(unknown)) inside.push_back(entry->path());
    entry.increment(failure);
  }
  if (failure) problem = not_looked_into(folder, failure.message());
  std::sort(inside.begin(), inside.end());
  return inside;
}

void collect(const fs::path& folder, const std::string& name, int level,
             std::vector<FoundRun>& runs) {
  try {
    if (is_run_folder(folder)) {
      runs.push_back({folder, name, ""});
      return;
    }
  } catch (const std::exception& error) {  // a run that was killed cannot be completed
    runs.push_back({folder, name, error.what()});
    return;
  }
  if (level == kLevels) return;
  std::string problem;
  const std::vector<fs::path> inside = folders_in(folder, problem);
  if (!problem.empty()) runs.push_back({folder, name, problem});
  for (const fs::path& path : inside) {
    const std::string own = path.filename().string();
    collect(path, level == 0 ? own : name + "/" + own, level + 1, runs);
  }
}

// "runs" for "./runs/" and the name of the folder itself for ".".
std::string name_of(const fs::path& folder) {
  fs::path whole = fs::absolute(folder).lexically_normal();
  if (whole.filename().empty()) whole = whole.parent_path();
  return whole.filename().string();
}

}  // namespace

bool RunContents::has(const std::string& name) const {
  std::error_code failure;
  return fs::exists(file(name), failure);
}

std::vector<std::string> RunContents::files() const {
  std::vector<std::string> names;
  std::error_code failure;
  fs::directory_iterator entry(folder, failure);
  while (!failure && entry != fs::directory_iterator()) {
    std::error_code unknown;
    if (entry->is_regular_file(unknown) && !is_hidden(entry->path()))
      names.push_back(entry->path().filename().string());
    entry.increment(failure);
  }
  require<IoError>(!failure, not_looked_into(folder, failure.message()));
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

// The numbers of one column; NaN where a field is none. Counted are fields that are neither empty
// nor numbers of any kind, in columns that have numbers: others are columns of words.
struct NumberColumn {
  std::vector<double> values;
  Index bad = 0;
  std::string first;  // bad one
};

NumberColumn number_column(const io::TextTable& table, Index c) {
  NumberColumn column;
  bool has_numbers = false;
  column.values.reserve(static_cast<std::size_t>(table.rows()));
  for (Index r = 0; r < table.rows(); ++r) {
    const std::string_view field = table.field(r, c);
    double value = NAN;
    const bool good = io::parse_number(field, value);
    has_numbers = has_numbers || good;
    column.values.push_back(good ? value : NAN);
    if (good || field.empty() || io::is_number(field)) continue;
    if (column.bad++ == 0) column.first = table.where(r, c) + ": " + io::quoted(field);
  }
  if (!has_numbers) column.bad = 0;
  return column;
}

}  // namespace

NumberTable RunContents::columns(const std::string& csv) const {
  NumberTable numbers;
  // A run that took no step has a history without lines.
  const std::string text = io::read_bytes(file(csv));
  if (text.find('\n') + 1 == text.size()) return numbers;
  const io::TextTable lines = table(csv);
  Index bad = 0;
  std::string first;
  for (std::size_t c = 0; c < lines.columns().size(); ++c) {
    NumberColumn column = number_column(lines, static_cast<Index>(c));
    if (bad == 0) first = column.first;
    bad += column.bad;
    numbers[lines.columns()[c]] = std::move(column.values);
  }
  if (bad > 0)
    left_out.insert(message(first, " found, a number expected; ", bad,
                            bad == 1 ? " such field is" : " such fields are", " left out"));
  return numbers;
}

std::vector<std::pair<std::string, io::Array>> RunContents::arrays(const std::string& npz) const {
  return io::read_npz(file(npz));
}

NumberTable RunContents::full_history() const {
  return run.empty() || !has("history.csv") ? history_of(live) : columns("history.csv");
}

RunContents read_run_folder(const fs::path& folder) {
  RunFolder::complete(folder);
  RunContents contents;
  contents.folder = folder;
  contents.run = Json::object();
  if (contents.has(kRunFile)) contents.run = read_run_json(contents.file(kRunFile));
  if (contents.has("live.json")) contents.live = io::detail::read_json(contents.file("live.json"));
  return contents;
}

bool is_run_folder(const fs::path& folder) {
  RunFolder::complete(folder);
  for (const char* name : {kRunFile, "live.json", "results.csv"}) {
    std::error_code failure;
    if (fs::exists(folder / name, failure)) return true;
  }
  return false;
}

std::vector<FoundRun> find_run_folders(const fs::path& folder) {
  std::error_code failure;
  require<IoError>(fs::is_directory(folder, failure), folder.string(),
                   ": a folder of runs expected");
  std::vector<FoundRun> runs;
  collect(folder, name_of(folder), 0, runs);
  require<IoError>(!runs.empty(), folder.string(),
                   ": no run.json found in it or in the folders below");
  return runs;
}

}  // namespace udv::jobs
