// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "core/parse.hpp"
#include "core/require.hpp"
#include "net/paper_tables.hpp"
#include "udv/io/file.hpp"
#include "udv/net/sweep.hpp"

namespace udv::net {
namespace {

constexpr const char* kHeader =
    "key,settings,status,variant,optimizer,learning_rate,weight_decay,seed,split_seed,test_loss,"
    "test_accuracy,last_test_loss,last_train_loss,stable_rank,effective_rank,rank_90,rank_99,"
    "rank_999,live_width,hidden,parameters,epochs,seconds,validation";
constexpr size_t kFields = 24;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  if (!line.empty() && line.back() == ',') fields.emplace_back();
  return fields;
}

// nan and inf are what diverged runs have.
template <typename Number>
Number parse(const std::string& where, const std::string& field) {
  Number value{};
  require<IoError>(parse_all(field, value), where, ": '", field, "' found, a number expected");
  return value;
}

SweepRow row_from(const std::string& where, const std::vector<std::string>& f) {
  require<IoError>(f.size() == kFields, where, ": ", f.size(), " fields found, ", kFields,
                   " expected");
  const auto real = [&](size_t k) { return parse<double>(where, f[k]); };
  const auto whole = [&](size_t k) { return parse<Index>(where, f[k]); };
  SweepRow row;
  row.key = f[0];
  row.settings = f[1];
  row.status = f[2];
  row.cell = {f[3],
              f[4],
              real(5),
              real(6),
              parse<std::uint64_t>(where, f[7]),
              parse<std::uint64_t>(where, f[8])};
  row.test_loss = real(9);
  if (!f[10].empty()) row.test_accuracy = real(10);
  row.last_test_loss = real(11);
  row.last_train_loss = real(12);
  row.stable_rank = real(13);
  row.effective_rank = real(14);
  row.rank_90 = whole(15);
  row.rank_99 = whole(16);
  row.rank_999 = whole(17);
  row.live_width = whole(18);
  row.hidden = whole(19);
  row.parameters = whole(20);
  row.epochs = whole(21);
  row.seconds = real(22);
  row.validation = real(23);
  return row;
}

bool same_but_seeds(const SweepCell& a, const SweepCell& b) {
  return a.variant == b.variant && a.optimizer == b.optimizer &&
         a.learning_rate == b.learning_rate && a.weight_decay == b.weight_decay;
}

struct Metric {
  std::vector<double> values, validation;
  double stable_rank = 0, effective_rank = 0, rank_99 = 0;  // sums
  Index diverged = 0;

  void add(const SweepRow& row) {
    values.push_back(row.test_accuracy.value_or(row.test_loss));
    validation.push_back(row.validation);
    stable_rank += row.stable_rank;
    effective_rank += row.effective_rank;
    rank_99 += static_cast<double>(row.rank_99);
  }
};

void fill(const Metric& metric, SweepSummary& summary) {
  summary.runs = static_cast<Index>(metric.values.size());
  summary.diverged = metric.diverged;
  const auto n = static_cast<double>(metric.values.size());
  summary.mean = std::numeric_limits<double>::quiet_NaN();
  if (metric.values.empty()) return;
  summary.stable_rank = metric.stable_rank / n;
  summary.effective_rank = metric.effective_rank / n;
  summary.rank_99 = metric.rank_99 / n;
  summary.mean = summary.validation = 0;
  for (const double value : metric.validation) summary.validation += value / n;
  for (const double value : metric.values) summary.mean += value / n;
  double squares = 0;
  for (const double value : metric.values)
    squares += (value - summary.mean) * (value - summary.mean);
  summary.deviation = metric.values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
}

void mark_best(bool larger_is_better, std::vector<SweepSummary>& summaries) {
  for (SweepSummary& one : summaries) {
    one.best = one.runs > 0 && one.diverged == 0;
    for (const SweepSummary& other : summaries) {
      SweepCell cell = other.cell;
      cell.learning_rate = one.cell.learning_rate;
      if (!same_but_seeds(cell, one.cell) || other.runs == 0 || other.diverged > 0) continue;
      const bool validated = !std::isnan(one.validation) && !std::isnan(other.validation);
      const bool beaten = validated          ? other.validation < one.validation
                          : larger_is_better ? other.mean > one.mean
                                             : other.mean < one.mean;
      if (beaten) one.best = false;
    }
  }
}

}  // namespace

std::string sweep_header() {
  return std::string(kHeader) + "\n";
}

std::string sweep_line(const SweepRow& r) {
  const SweepCell& c = r.cell;
  const auto real = [](double value) {
    return std::isnan(value) ? std::string("nan") : fmt::format("{}", value);  // never "-nan"
  };
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6f},{}\n", r.key,
      r.settings, r.status, c.variant, c.optimizer, c.learning_rate, c.weight_decay, c.seed,
      c.split_seed, real(r.test_loss),
      r.test_accuracy ? fmt::format("{}", *r.test_accuracy) : std::string(), r.last_test_loss,
      r.last_train_loss, r.stable_rank, r.effective_rank, r.rank_90, r.rank_99, r.rank_999,
      r.live_width, r.hidden, r.parameters, r.epochs, r.seconds, real(r.validation));
}

std::vector<SweepRow> read_sweep(const std::filesystem::path& path) {
  const std::string text = io::read_bytes(path);
  std::istringstream stream(text.substr(0, text.rfind('\n') + 1));
  std::vector<SweepRow> rows;
  std::string line;
  const bool headed = static_cast<bool>(std::getline(stream, line)) && line == kHeader;
  require<IoError>(headed, path.string(), ":1: '", line.substr(0, 40),
                   "' found, the header of a sweep's results expected");
  for (int number = 2; std::getline(stream, line); ++number)
    rows.push_back(row_from(message(path.string(), ":", number), split(line)));
  return rows;
}

bool is_better(const SweepRow& a, const SweepRow& b) {
  if (!std::isnan(a.validation) && !std::isnan(b.validation)) return a.validation < b.validation;
  if (a.test_accuracy && b.test_accuracy) return *a.test_accuracy > *b.test_accuracy;
  return a.test_loss < b.test_loss;
}

std::vector<SweepSummary> summarise(const std::vector<SweepRow>& given) {
  // Sums in the order of splits and seeds, whatever run finished first.
  std::vector<SweepRow> rows = given;
  std::stable_sort(rows.begin(), rows.end(), [](const SweepRow& a, const SweepRow& b) {
    return std::pair(a.cell.split_seed, a.cell.seed) < std::pair(b.cell.split_seed, b.cell.seed);
  });
  std::vector<SweepSummary> summaries;
  std::vector<Metric> metrics;
  bool accuracy = false;
  for (const SweepRow& row : rows) {
    auto at = std::find_if(summaries.begin(), summaries.end(),
                           [&](const auto& s) { return same_but_seeds(s.cell, row.cell); });
    if (at == summaries.end()) {
      summaries.push_back({row.cell});
      metrics.emplace_back();
      at = summaries.end() - 1;
    }
    Metric& metric = metrics[static_cast<size_t>(at - summaries.begin())];
    accuracy = accuracy || row.test_accuracy.has_value();
    if (row.status == "done")
      metric.add(row);
    else
      ++metric.diverged;
  }
  for (size_t s = 0; s < summaries.size(); ++s) fill(metrics[s], summaries[s]);
  mark_best(accuracy, summaries);
  return summaries;
}

std::optional<double> paper_value(const std::string& dataset, const std::string& optimizer,
                                  const std::string& variant, double learning_rate) {
  std::istringstream stream(paper_tables());
  for (std::string line; std::getline(stream, line);) {
    const std::vector<std::string> f = split(line);
    if (f.size() == 5 && f[0] == dataset && f[1] == optimizer && f[2] == variant &&
        parse<double>("paper-tables.csv", f[3]) == learning_rate)
      return parse<double>("paper-tables.csv", f[4]);
  }
  return std::nullopt;
}

}  // namespace udv::net
