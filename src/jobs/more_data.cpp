// SPDX-License-Identifier: MIT
#include "jobs/more_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "core/require.hpp"
#include "jobs/completion_run.hpp"

namespace udv::jobs {
namespace {

// Entries of several files with one numbering of rows and columns.
class JoinedEntries {
 public:
  JoinedEntries(Index rows, Index cols, io::Keys row_keys, io::Keys col_keys)
      : row_keys_(std::move(row_keys)), col_keys_(std::move(col_keys)) {
    all_.rows = rows;
    all_.cols = cols;
  }

  /// Keys are used where the first file or this one has some.
  void add(const io::EntriesFile& file) {
    const auto rows = numbers_of(file.row_keys, file.entries.rows, file.base, all_.rows, row_keys_);
    const auto cols = numbers_of(file.col_keys, file.entries.cols, file.base, all_.cols, col_keys_);
    all_.symmetric = file.entries.symmetric;
    const std::vector<double>& weight = file.entries.weight;
    if (!weight.empty()) all_.weight.resize(all_.value.size(), 1.0);
    for (std::size_t t = 0; t < file.entries.value.size(); ++t) {
      std::int32_t i = rows[static_cast<std::size_t>(file.entries.row[t])];
      std::int32_t j = cols[static_cast<std::size_t>(file.entries.col[t])];
      if (all_.symmetric && i > j) std::swap(i, j);
      all_.row.push_back(i);
      all_.col.push_back(j);
      all_.value.push_back(file.entries.value[t]);
      if (!all_.weight.empty()) all_.weight.push_back(weight.empty() ? 1.0 : weight[t]);
    }
  }

  /// Sorted by place, the last of several values for one; how many others there were.
  Index finish() {
    std::vector<std::size_t> order(all_.value.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto place = [&](std::size_t t) { return std::pair(all_.row[t], all_.col[t]); };
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
    Entries result;
    result.rows = all_.rows;
    result.cols = all_.cols;
    result.symmetric = all_.symmetric;
    for (std::size_t n = 0; n < order.size(); ++n) {
      const std::size_t t = order[n];
      if (n + 1 < order.size() && place(order[n + 1]) == place(t)) continue;
      result.row.push_back(all_.row[t]);
      result.col.push_back(all_.col[t]);
      result.value.push_back(all_.value[t]);
      if (!all_.weight.empty()) result.weight.push_back(all_.weight[t]);
    }
    const Index replaced = all_.size() - result.size();
    all_ = std::move(result);
    return replaced;
  }

  Entries take_entries() { return std::move(all_); }
  io::Keys take_row_keys() { return std::move(row_keys_); }
  io::Keys take_col_keys() { return std::move(col_keys_); }

 private:
  // The number here of each line of a file; new lines are appended.
  static std::vector<std::int32_t> numbers_of(const io::Keys& keys, Index count, int base,
                                              Index& lines, io::Keys& known) {
    std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
    if (keys.empty() && known.empty()) {
      std::iota(numbers.begin(), numbers.end(), 0);
      lines = std::max(lines, count);
      return numbers;
    }
    if (known.empty() && lines > 0) known = io::number_keys(lines, base);
    const io::Keys own = keys_or_numbers(keys, count, base);
    for (Index k = 0; k < count; ++k)
      numbers[static_cast<std::size_t>(k)] = static_cast<std::int32_t>(known.add(own[k]));
    lines = known.size();
    return numbers;
  }

  Entries all_;
  io::Keys row_keys_, col_keys_;
};

// Rows of the earlier factors, and zeros for what is new.
Vector<double> extended(const Vector<double>& bias, Index size) {
  if (bias.size() == 0) return bias;
  Vector<double> result = Vector<double>::Zero(size);
  result.head(bias.size()) = bias;
  return result;
}

std::shared_ptr<const EarlierAnswer> earlier_of(const CompletionRun& run, Index rows, Index cols) {
  const Recovery& r = run.answer;
  auto earlier = std::make_shared<EarlierAnswer>();
  earlier->Z = StackedFactors<double>(rows, cols, false, r.d.size());
  earlier->Z.Z.setZero();
  const Vector<double> root = r.d.cwiseAbs().cwiseSqrt();
  const Vector<double> signed_root = r.d.cwiseSign().cwiseProduct(root);
  earlier->Z.U().topRows(r.rows) = r.U * signed_root.asDiagonal();
  earlier->Z.V().topRows(r.cols) = r.V * root.asDiagonal();
  earlier->center = r.center;
  earlier->biases = {r.biases.global, extended(r.biases.row, rows), extended(r.biases.col, cols)};
  earlier->noisy = run.noisy;
  return earlier;
}

std::vector<std::string> inputs_of(const CompletionRun& run, const std::string& folder) {
  require<IoError>(!run.inputs.empty(), folder,
                   ": run.json does not say which files its entries are from; give a file with all "
                   "entries and no earlier run");
  for (const std::string& path : run.inputs)
    require<IoError>(std::filesystem::exists(path), path, ": not there, but the run ", folder,
                     " was made of it; give a file with all entries and no earlier run");
  return run.inputs;
}

}  // namespace

void read_more(const CompleteInput& input, const io::EntriesOptions& how, CompleteTask& task) {
  const CompletionRun run = read_completion(input.from);
  task.inputs = inputs_of(run, input.from);
  const std::string added = std::filesystem::absolute(input.file).string();
  std::erase(task.inputs, added);
  task.inputs.push_back(added);
  io::EntriesOptions options = how;
  if (run.has_keys || !run.rows.empty())
    options.keyed = true;
  else if (options.base == io::IndexBase::kAuto)
    options.base = run.base == 0 ? io::IndexBase::kZero : io::IndexBase::kOne;
  JoinedEntries all(run.answer.rows, run.answer.cols, run.rows,
                    run.has_keys ? run.columns : io::Keys());
  for (const std::string& path : task.inputs) {
    const bool is_new = path == added;
    io::EntriesFile file = io::read_entries_file(is_new ? input.file : path, options);
    all.add(file);
    if (!is_new) continue;
    task.data.form = file.form;
    task.warnings = std::move(file.warnings);
    task.notices = std::move(file.notices);
  }
  const Index replaced = all.finish();
  task.data.entries = all.take_entries();
  task.data.row_keys = all.take_row_keys();
  task.data.col_keys = all.take_col_keys();
  task.data.index_base = run.base;
  if (!task.data.entries.symmetric)
    task.earlier = earlier_of(run, task.data.entries.rows, task.data.entries.cols);
  task.notices.push_back(fmt::format("{} entries from {} files, {} earlier values replaced",
                                     task.data.entries.size(), task.inputs.size(), replaced));
}

}  // namespace udv::jobs
