// SPDX-License-Identifier: MIT
#include "udv/recover/centering.hpp"

#include <cmath>

#include "core/require.hpp"

namespace udv {
namespace {

constexpr int kMaxSweeps = 200;

double weight_of(const Entries& entries, size_t t) {
  return entries.weight.empty() ? 1.0 : entries.weight[t];
}

// Mean of what the other biases leave of each line; `line` is the row or column list of entries.
double update_lines(const Entries& entries, const std::vector<std::int32_t>& line,
                    Vector<double>& bias, const Biases& biases) {
  Vector<double> sum = Vector<double>::Zero(bias.size());
  Vector<double> count = Vector<double>::Zero(bias.size());
  for (size_t t = 0; t < line.size(); ++t) {
    const double weight = weight_of(entries, t);
    sum(line[t]) += weight * (entries.value[t] - biases.at(entries.row[t], entries.col[t]));
    count(line[t]) += weight;
  }
  const Vector<double> change = (count.array() > 0).select(sum.cwiseQuotient(count), 0.0);
  bias += change;
  return change.cwiseAbs().maxCoeff();
}

}  // namespace

std::string_view to_string(Centering mode) {
  switch (mode) {
    case Centering::kAuto:
      return "auto";
    case Centering::kGlobal:
      return "global";
    case Centering::kRows:
      return "rows";
    case Centering::kCols:
      return "cols";
    case Centering::kBoth:
      return "both";
    default:
      return "none";
  }
}

Biases fit_biases(const Entries& entries, Centering mode) {
  Biases biases;
  biases.row.setZero(entries.rows);
  biases.col.setZero(entries.cols);
  if (mode == Centering::kNone || mode == Centering::kAuto) return biases;
  double largest = 0, total = 0;
  for (size_t t = 0; t < entries.value.size(); ++t) total += weight_of(entries, t);
  for (size_t t = 0; t < entries.value.size(); ++t) {
    biases.global += weight_of(entries, t) * entries.value[t] / total;
    largest = std::max(largest, std::abs(entries.value[t]));
  }
  const bool rows = mode == Centering::kRows || mode == Centering::kBoth;
  const bool cols = mode == Centering::kCols || mode == Centering::kBoth;
  double moved = largest;
  for (int sweep = 0; (rows || cols) && moved > 1e-14 * largest && sweep < kMaxSweeps; ++sweep) {
    moved = 0;
    if (rows) moved = std::max(moved, update_lines(entries, entries.row, biases.row, biases));
    if (cols) moved = std::max(moved, update_lines(entries, entries.col, biases.col, biases));
  }
  return biases;
}

Entries centered(Entries entries, const Biases& biases) {
  require(!entries.symmetric, "centering is for rectangular problems, this one is symmetric");
  for (size_t t = 0; t < entries.value.size(); ++t)
    entries.value[t] -= biases.at(entries.row[t], entries.col[t]);
  return entries;
}

}  // namespace udv
