// SPDX-License-Identifier: MIT
#include "jobs/completion_run.hpp"

#include <limits>

#include "core/require.hpp"
#include "jobs/run_reader.hpp"
#include "udv/io/entries_io.hpp"

namespace udv::jobs {
namespace {

using Json = io::detail::OrderedJson;

RowMatrix<double> read_matrix(const std::filesystem::path& path) {
  const io::Array array = io::read_npy(path);
  require<IoError>(array.shape.size() == 2, path.string(), ": array of shape ",
                   io::shape_text(array.shape), " found, a matrix expected");
  return Eigen::Map<const RowMatrix<double>>(array.values.data(), array.shape[0], array.shape[1]);
}

Vector<double> read_vector(const std::filesystem::path& path, Index size) {
  const io::Array array = io::read_npy(path);
  require<IoError>(array.size() == size, path.string(), ": ", array.size(), " numbers found, ",
                   size, " expected");
  return Eigen::Map<const Vector<double>>(array.values.data(), size);
}

Vector<double> biases_of(const std::filesystem::path& path, const io::Array& array, Index size) {
  require<IoError>(array.size() == size, path.string(), ": ", array.size(), " offsets found, ",
                   size, " expected");
  return Eigen::Map<const Vector<double>>(array.values.data(), size);
}

void read_biases(const RunContents& contents, Recovery& recovery) {
  const std::filesystem::path path = contents.file("center.npz");
  for (const auto& [name, array] : contents.arrays("center.npz")) {
    if (name == "global") recovery.biases.global = biases_of(path, array, 1)(0);
    if (name == "rows") recovery.biases.row = biases_of(path, array, recovery.rows);
    if (name == "cols") recovery.biases.col = biases_of(path, array, recovery.cols);
  }
}

// Indices of lines without data, as run.json lists them.
std::vector<Index> lines_in(const Json& run, const char* name, int base, Index size) {
  std::vector<Index> lines;
  if (!run.contains("undetermined") || !run["undetermined"].contains(name)) return lines;
  for (const Json& line : run["undetermined"][name]) {
    if (!line.is_number_integer()) continue;
    const Index index = line.get<Index>() - base;
    if (index >= 0 && index < size) lines.push_back(index);
  }
  return lines;
}

int base_in(const Json& run) {
  if (!run.contains("config") || !run["config"].contains("base")) return 0;
  return run["config"]["base"].is_number_integer() ? run["config"]["base"].get<int>() : 0;
}

// null is infinite
std::optional<std::pair<double, double>> range_in(const Json& run) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (!run.contains("range") || !run["range"].is_array() || run["range"].size() != 2)
    return std::nullopt;
  const auto end = [&](std::size_t k, double otherwise) {
    return run["range"][k].is_number() ? run["range"][k].get<double>() : otherwise;
  };
  return std::pair(end(0, -kInfinity), end(1, kInfinity));
}

Centering centering_named(const std::string& name) {
  for (const Centering kind :
       {Centering::kGlobal, Centering::kRows, Centering::kCols, Centering::kBoth})
    if (to_string(kind) == name) return kind;
  return Centering::kNone;
}

void read_factors(const RunContents& contents, Recovery& recovery) {
  recovery.U = read_matrix(contents.file("U.npy"));
  recovery.rows = recovery.U.rows();
  recovery.d = read_vector(contents.file("d.npy"), recovery.U.cols());
  recovery.symmetric = !contents.has("V.npy");
  recovery.V = recovery.symmetric ? recovery.U : read_matrix(contents.file("V.npy"));
  recovery.cols = recovery.V.rows();
  recovery.rank = recovery.d.size();
  require<IoError>(recovery.V.cols() == recovery.d.size(), contents.file("V.npy").string(), ": ",
                   recovery.V.cols(), " columns found, ", recovery.d.size(), " expected");
}

void read_columns(const RunContents& contents, int base, CompletionRun& run) {
  const std::filesystem::path path = contents.file("columns.csv");
  const Index cols = run.answer.cols;
  run.has_keys = contents.has("columns.csv");
  run.columns = run.has_keys ? io::read_keys(path) : io::number_keys(cols, base);
  require<IoError>(run.columns.size() == cols, path.string(), ": ", run.columns.size(),
                   " keys found, ", cols, " expected");
}

}  // namespace

CompletionRun read_completion(const std::filesystem::path& folder) {
  require<IoError>(std::filesystem::is_directory(folder), folder.string(),
                   ": no such folder, that of a completion expected");
  const RunContents contents = read_run_folder(folder);
  const Json& json = contents.run;
  require<IoError>(json.contains("command") && json["command"] == "complete", folder.string(),
                   ": no finished completion found, the folder of one expected");
  CompletionRun run;
  Recovery& answer = run.answer;
  read_factors(contents, answer);
  if (contents.has("center.npz")) read_biases(contents, answer);
  if (json.contains("noise_sigma") && json["noise_sigma"].is_number())
    answer.noise_sigma = json["noise_sigma"].get<double>();
  if (json.contains("center") && json["center"].is_string())
    answer.center = centering_named(json["center"].get<std::string>());
  answer.range = range_in(json);
  run.noisy = json.contains("models");
  const int base = run.base = base_in(json);
  answer.undetermined.empty_rows = lines_in(json, "empty_rows", base, answer.rows);
  answer.undetermined.empty_cols = lines_in(json, "empty_cols", base, answer.cols);
  read_columns(contents, base, run);
  if (contents.has("rows.csv")) run.rows = io::read_keys(contents.file("rows.csv"));
  require<IoError>(run.rows.empty() || run.rows.size() == answer.rows,
                   contents.file("rows.csv").string(), ": ", run.rows.size(), " keys found, ",
                   answer.rows, " expected");
  if (json.contains("inputs") && json["inputs"].is_array())
    for (const Json& path : json["inputs"])
      if (path.is_string()) run.inputs.push_back(path.get<std::string>());
  return run;
}

}  // namespace udv::jobs
