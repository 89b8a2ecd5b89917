// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_answer.hpp"

#include <cmath>

#include "core/communicator.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

constexpr Index kMostDoubles = 8'000'000;  // of all records
constexpr Index kUsualWidth = 11;
constexpr int kLogSweeps = 10;

// Means and variances alone.
template <typename Real>
Posterior::Side diagonals(const BayesSide<Real>& side) {
  constexpr Index kLinesPerBlock = 1 << 14;
  const Index D = side.width;
  Posterior::Side result{side.lines, D,
                         std::vector<float>(static_cast<size_t>(2 * side.lines * D))};
  parallel_blocks(side.lines, kLinesPerBlock, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) {
      const Real* const record = side.record(i);
      float* const now = result.records.data() + 2 * i * D;
      for (Index c = 0; c < D; ++c) {
        now[c] = static_cast<float>(record[c]);
        now[D + c] = static_cast<float>(record[D + c * (c + 3) / 2]);
      }
    }
  });
  return result;
}

Posterior::Side compact(BayesSide<double> side) {
  return {side.lines, side.width, {side.records.begin(), side.records.end()}};
}

Posterior::Side compact(BayesSide<float> side) {
  const Index lines = side.lines, width = side.width;
  return {lines, width, side.records.take()};
}

// Large ones keep variances alone: those on a device come back without the rest.
template <typename Real>
Posterior posterior_of(BayesFit<Real>& fit, Posterior::Noise noise) {
  const BayesSide<Real>&rows = fit.rows(), &cols = fit.cols();
  if (!Posterior::keeps_diagonals_only(rows.lines + cols.lines, rows.width))
    return {compact(fit.take_rows()), compact(fit.take_cols()), std::move(noise)};
  if (rows.on_device) {
    Posterior::Side sides[] = {{rows.lines, rows.width, {}}, {cols.lines, cols.width, {}}};
    parallel_blocks(2, 1, [&](Index n, Index) {  // new memory takes longer than what fills it
      sides[n].records.resize(static_cast<size_t>(2 * sides[n].lines * sides[n].width));
    });
    rows.get_variances(sides[0].records.data());
    cols.get_variances(sides[1].records.data());
    return {std::move(sides[0]), std::move(sides[1]), std::move(noise), true};
  }
  Posterior::Side of_rows = diagonals(fit.take_rows());
  return {std::move(of_rows), diagonals(fit.take_cols()), std::move(noise), true};
}

template <typename Real>
Posterior::Noise noise_of(const BayesFit<Real>& fit) {
  Posterior::Noise noise;
  noise.variance = fit.variance();
  if (fit.row_noise().any()) noise.row = fit.row_noise().expected().cwiseInverse();
  if (fit.col_noise().any()) noise.col = fit.col_noise().expected().cwiseInverse();
  if (fit.noise() == NoiseKind::kBySignal) noise.smallest_count = fit.smallest_count();
  return noise;
}

// Factors of the noise variance that the weights w = 1 / (row_i col_j) of the entries stand for.
void add_known_noise(const EntriesOperator<double>& op, NoiseKind kind, Posterior::Noise& noise) {
  const bool both = kind == NoiseKind::kByRowAndCol;
  const bool by_row = both || kind == NoiseKind::kByRow, by_col = both || kind == NoiseKind::kByCol;
  const Vector<double>& root = op.root_weights();
  if (root.size() == 0 || !(by_row || by_col)) return;
  Vector<double> row = Vector<double>::Zero(op.rows()), col = Vector<double>::Zero(op.cols());
  const SparseLines lines = op.by_row();
  const auto update = [&](bool of_rows) {
    Vector<double>& own = of_rows ? row : col;
    Vector<double> sum = Vector<double>::Zero(own.size()), count = sum;
    for (Index i = 0; i < lines.count; ++i)
      for (auto s = lines.first[i]; s < lines.first[i + 1]; ++s) {
        const Index j = lines.other[s], line = of_rows ? i : j;
        if (!(root(lines.entry[s]) > 0)) continue;
        sum(line) -= 2 * std::log(root(lines.entry[s])) + (of_rows ? col(j) : row(i));
        count(line) += 1;
      }
    own = sum.cwiseQuotient(count.cwiseMax(1));
  };
  for (int sweep = 0; sweep < (both ? kLogSweeps : 1); ++sweep) {
    if (by_row) update(true);
    if (by_col) update(false);
  }
  const auto multiply = [](const Vector<double>& logs, Vector<double>& factors) {
    if (factors.size() == 0) factors.setOnes(logs.size());
    factors.array() *= logs.array().exp();
  };
  if (by_row) multiply(row, noise.row);
  if (by_col) multiply(col, noise.col);
}

template <typename Real>
BayesAnswer answer_of(const EntriesOperator<double>& op, BayesSearch<Real> found,
                      NoiseKind known_noise) {
  BayesFit<Real>& fit = found.fit;
  BayesAnswer answer;
  answer.Z = fit.factors();
  answer.center = fit.center();
  answer.biases = fit.biases();
  answer.noise = fit.noise();
  answer.sigma = std::sqrt(fit.variance());
  answer.bound = fit.bound();
  answer.sweeps = fit.sweeps();
  answer.trials = found.trials;
  answer.stopped = found.stopped;
  answer.largest_residual = fit.largest_residual();
  answer.share_beyond_half = fit.share_beyond(0.5);
  Posterior::Noise noise = noise_of(fit);
  add_known_noise(op, known_noise, noise);
  // Where entries are spread, rank 0 alone tells how far they can be trusted.
  const bool elsewhere = op.is_spread() && !communicator().is_root();
  answer.posterior = std::make_shared<Posterior>(elsewhere ? Posterior({}, {}, std::move(noise))
                                                           : posterior_of(fit, std::move(noise)));
  return answer;
}

}  // namespace

BayesAnswer bayes_answer(const EntriesOperator<double>& op, const Vector<double>& b,
                         const BayesStart& start, const BayesSearchOptions& options,
                         NoiseKind known_noise) {
  const Index numbers = (op.rows() + op.cols()) * BayesSide<double>::record_size(kUsualWidth);
  return options.float32 || numbers > kMostDoubles
             ? answer_of(op, bayes_search<float>(op, b, start, options), known_noise)
             : answer_of(op, bayes_search<double>(op, b, start, options), known_noise);
}

}  // namespace udv
