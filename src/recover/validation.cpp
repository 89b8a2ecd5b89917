// SPDX-License-Identifier: MIT
#include "udv/recover/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "recover/solver/bayes.hpp"
#include "udv/core/random.hpp"
#include "udv/recover/prediction.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/symmetry.hpp"

namespace udv {
namespace {

void append_entry(const Entries& from, std::size_t t, Entries& to) {
  to.row.push_back(from.row[t]);
  to.col.push_back(from.col[t]);
  to.value.push_back(from.value[t]);
  if (!from.weight.empty()) to.weight.push_back(from.weight[t]);
}

double weighted_mean(const Entries& entries) {
  double sum = 0, total = 0;
  for (std::size_t t = 0; t < entries.value.size(); ++t) {
    const double w = entries.weight.empty() ? 1 : entries.weight[t];
    sum += w * entries.value[t];
    total += w;
  }
  return total > 0 ? sum / total : 0;
}

bool all_zero(const Entries& entries) {
  return std::all_of(entries.value.begin(), entries.value.end(),
                     [](double value) { return value == 0; });
}

}  // namespace

Biases learned_biases(const Entries& entries) {
  if (all_zero(entries)) return {};
  const Problem problem = completion(entries.symmetric ? mirrored(entries) : entries);
  BayesFit<double> fit(dynamic_cast<const EntriesOperator<double>&>(*problem.op), problem.b);
  fit.start(Centering::kBoth);
  fit.run({});
  fit.finish();
  return fit.biases();
}

HeldOutErrors held_out_errors(const Recovery& recovery, const Entries& known, const Entries& test,
                              std::vector<HeldOutEntry>* listed) {
  const Biases biases = learned_biases(known);
  const double mean = weighted_mean(known);
  const DeterminedEntries determined(recovery, known);
  HeldOutErrors errors;
  const auto square = [](double x) { return x * x; };
  const auto kept = [&](double x) {
    return recovery.range ? std::clamp(x, recovery.range->first, recovery.range->second) : x;
  };
  for (std::size_t t = 0; t < test.value.size(); ++t) {
    const Index i = test.row[t], j = test.col[t];
    if (!determined.has_data(i, j)) {
      ++errors.left_out;
      continue;
    }
    const double value = test.value[t];
    errors.answer += square(recovery.predict(i, j) - value);
    errors.biases += square(kept(biases.at(i, j)) - value);
    errors.mean += square(kept(mean) - value);
    ++errors.counted;
    if (listed) {
      const Prediction p = determined.predict(i, j);
      listed->push_back({i, j, value, p.value, p.deviation});
    }
  }
  for (double* const error : {&errors.answer, &errors.biases, &errors.mean})
    *error = std::sqrt(*error / static_cast<double>(std::max<Index>(errors.counted, 1)));
  return errors;
}

FoldSplit::FoldSplit(Index num_entries, Index folds, std::uint64_t seed)
    : folds_(folds), fold_of_(static_cast<std::size_t>(num_entries)) {
  require(folds >= 2 && folds <= num_entries, "folds: ", folds, " parts of ", num_entries,
          " entries found, at least 2 parts with an entry each expected");
  const std::vector<Index> order = Random(seed, kStreamHoldout).permutation(num_entries);
  for (std::size_t t = 0; t < order.size(); ++t)
    fold_of_[static_cast<std::size_t>(order[t])] =
        static_cast<std::int32_t>(t % static_cast<std::size_t>(folds));
}

std::pair<Entries, Entries> FoldSplit::split(const Entries& entries, Index k) const {
  require(entries.size() == static_cast<Index>(fold_of_.size()), "folds: ", entries.size(),
          " entries found, ", fold_of_.size(), " expected");
  Entries rest, held_out;
  rest.rows = held_out.rows = entries.rows;
  rest.cols = held_out.cols = entries.cols;
  rest.symmetric = held_out.symmetric = entries.symmetric;
  for (std::size_t t = 0; t < fold_of_.size(); ++t)
    append_entry(entries, t, fold_of_[t] == k ? held_out : rest);
  return {std::move(rest), std::move(held_out)};
}

Index FoldErrors::left_out() const {
  Index count = 0;
  for (const HeldOutErrors& fold : folds) count += fold.left_out;
  return count;
}

// The error over all entries, and the standard deviation of the errors of the folds.
ErrorEstimate FoldErrors::estimate(double HeldOutErrors::*error) const {
  double squares = 0, counted = 0, sum = 0, sum_squares = 0, used = 0;
  for (const HeldOutErrors& fold : folds) {
    if (fold.counted == 0) continue;
    const double rmse = fold.*error, n = static_cast<double>(fold.counted);
    squares += n * rmse * rmse;
    counted += n;
    sum += rmse;
    used += 1;
  }
  if (used == 0) return {};
  for (const HeldOutErrors& fold : folds)
    if (fold.counted > 0) sum_squares += std::pow(fold.*error - sum / used, 2);
  return {std::sqrt(squares / counted), used > 1 ? std::sqrt(sum_squares / (used - 1)) : 0};
}

bool FoldErrors::is_better(double HeldOutErrors::*error, double HeldOutErrors::*than) const {
  double sum = 0, sum_squares = 0, used = 0;
  for (const HeldOutErrors& fold : folds) {
    if (fold.counted == 0) continue;
    sum += fold.*than - fold.*error;
    used += 1;
  }
  if (used == 0) return false;
  const double gain = sum / used;
  for (const HeldOutErrors& fold : folds)
    if (fold.counted > 0) sum_squares += std::pow(fold.*than - fold.*error - gain, 2);
  const double standard_error = used > 1 ? std::sqrt(sum_squares / (used - 1) / used) : 0;
  return gain > standard_error;
}

std::string FoldErrors::sentence() const {
  const bool biases_pay = is_better(&HeldOutErrors::biases, &HeldOutErrors::mean);
  const bool beats_mean = is_better(&HeldOutErrors::answer, &HeldOutErrors::mean);
  if (low_rank_pays() && beats_mean)
    return fmt::format("low rank pays: it leaves {:.3g} of the error of biases alone",
                       answer().rmse / biases().rmse);
  if (biases_pay)
    return "low rank does not pay: biases of rows and columns alone predict these data as well";
  return "low rank does not pay: the mean alone predicts these data as well";
}

}  // namespace udv
