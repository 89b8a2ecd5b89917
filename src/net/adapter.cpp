// SPDX-License-Identifier: MIT
#include "udv/net/adapter.hpp"

#include <algorithm>
#include <numeric>

#include "core/require.hpp"
#include "net/layer_metric.hpp"
#include "udv/core/parallel.hpp"

namespace udv::net {
namespace {

FactoredSvd<float> svd_of(const AdapterBlock& block) {
  return factored_svd<float>(block.B, block.d, block.A.transpose());
}

AdapterBlock balanced(const std::string& name, const FactoredSvd<float>& svd, Index rank) {
  const Vector<float> root = svd.s.head(rank).cwiseSqrt().cast<float>();
  return {name, root.asDiagonal() * svd.V.leftCols(rank).transpose(), Vector<float>::Ones(rank),
          svd.U.leftCols(rank) * root.asDiagonal()};
}

// The SVD in the metric of the layer, with factors back outside of it.
FactoredSvd<float> svd_in(const LayerMetric& metric, const AdapterBlock& block) {
  const Matrix<double> left = metric.into_left(block.B.cast<double>()),
                       right = metric.into_right(block.A.cast<double>().transpose());
  const FactoredSvd<double> svd =
      factored_svd<double>(left, Vector<double>(block.d.cast<double>()), right);
  return {metric.from_left(svd.U).cast<float>(), svd.s, metric.from_right(svd.V).cast<float>()};
}

// What dropping each direction s u v^T does to the loss, twice: s^2 - 2 s u^T G v. At least
// s^2 / 100: G is measured, and no direction is worth nothing.
Vector<double> loss_changes(const FactoredSvd<float>& svd, const RowMatrix<double>& slope) {
  const Matrix<double> U = svd.U.cast<double>(), V = svd.V.cast<double>();
  const Vector<double> first = (slope * V).cwiseProduct(U).colwise().sum();
  const auto square = svd.s.array().square();
  return (square - 2 * svd.s.array() * first.array()).max(0.01 * square);
}

// Puts the directions into the order of their sizes, which it returns.
Vector<double> sort_by_loss(const RowMatrix<double>& slope, FactoredSvd<float>& svd) {
  if (slope.size() == 0) return svd.s;
  const Vector<double> changes = loss_changes(svd, slope);
  std::vector<Index> order(static_cast<std::size_t>(changes.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](Index a, Index b) { return changes(a) > changes(b); });
  svd = {svd.U(Eigen::all, order).eval(), svd.s(order).eval(), svd.V(Eigen::all, order).eval()};
  return changes(order).cwiseSqrt();
}

// Empty where there is none. Throws InvalidArgument where it has another shape.
const RowMatrix<double>& slope_of(const AdapterBlock& block, const Calibration& calibration) {
  static const RowMatrix<double> kNone;
  const auto at = calibration.find(block.name);
  if (at == calibration.end() || at->second.slope.size() == 0) return kNone;
  const RowMatrix<double>& slope = at->second.slope;
  require(slope.rows() == block.B.rows() && slope.cols() == block.A.cols(),
          "calibration: slope of '", block.name, "' of shape ", slope.rows(), " x ", slope.cols(),
          " found, ", block.B.rows(), " x ", block.A.cols(), " expected");
  return slope;
}

}  // namespace

Index Adapter::parameters() const {
  Index count = 0;
  for (const AdapterBlock& block : blocks)
    count += block.parameters() + (method == "lora" ? 0 : block.rank());
  return count;
}

Vector<double> spectrum(const AdapterBlock& block) {
  return svd_of(block).s;
}

AdapterBlock truncated(const AdapterBlock& block, Index rank) {
  const FactoredSvd<float> svd = svd_of(block);
  return balanced(block.name, svd, std::min(rank, svd.s.size()));
}

AdapterPruning::AdapterPruning(const Adapter& adapter, const Calibration& calibration)
    : shell_(adapter), calibrated_(!calibration.empty()), svds_(adapter.blocks.size()) {
  for (AdapterBlock& block : shell_.blocks) block = {block.name, {}, {}, {}};
  std::vector<LayerMetric> metrics(svds_.size());
  measures_loss_ = calibrated_;
  for (std::size_t b = 0; b < svds_.size() && calibrated_; ++b) {
    const AdapterBlock& block = adapter.blocks[b];
    require(calibration.contains(block.name), "calibration: no moments of '", block.name, "'");
    metrics[b] = LayerMetric(block.name, block.B.rows(), block.A.cols(), calibration);
    measures_loss_ = measures_loss_ && metrics[b].measures_loss();
  }
  parallel_blocks(static_cast<Index>(svds_.size()), 1, [&](Index begin, Index) {
    const auto b = static_cast<std::size_t>(begin);
    const AdapterBlock& block = adapter.blocks[b];
    svds_[b] = calibrated_ ? svd_in(metrics[b], block) : svd_of(block);
  });
  const Index diagonal = adapter.method == "lora" ? 0 : 1;
  std::vector<MatrixSpectrum> spectra;
  for (std::size_t b = 0; b < svds_.size(); ++b) {
    FactoredSvd<float>& svd = svds_[b];
    const Vector<double> sizes = sort_by_loss(slope_of(adapter.blocks[b], calibration), svd);
    spectra.push_back({sizes, svd.U.rows() + svd.V.rows() + diagonal, -1});
  }
  budget_ = RankBudget(std::move(spectra), 0, adapter.parameters());
}

Adapter AdapterPruning::keep(const Ranks& ranks) const {
  require(ranks.size() == svds_.size(), "prune: ", ranks.size(), " ranks found, one for each of ",
          svds_.size(), " blocks expected");
  Adapter kept = shell_;
  for (std::size_t b = 0; b < svds_.size(); ++b)
    kept.blocks[b] = balanced(shell_.blocks[b].name, svds_[b], ranks[b]);
  return kept;
}

RankFigures figures_of(const AdapterPruning::Ranks& ranks) {
  RankFigures figures;
  if (ranks.empty()) return figures;
  const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
  figures.least = *least;
  figures.most = *most;
  figures.blocks = std::count_if(ranks.begin(), ranks.end(), [](Index r) { return r > 0; });
  figures.mean = static_cast<double>(std::accumulate(ranks.begin(), ranks.end(), Index{0})) /
                 static_cast<double>(ranks.size());
  return figures;
}

AdapterPruning::Ranks ranks_of(const Adapter& adapter) {
  AdapterPruning::Ranks ranks;
  for (const AdapterBlock& block : adapter.blocks) ranks.push_back(block.rank());
  return ranks;
}

Adapter prune_to_energy(const Adapter& adapter, double energy) {
  const AdapterPruning pruning(adapter);
  return pruning.keep(pruning.ranks_of_energy(energy));
}

Adapter prune_to_rank(const Adapter& adapter, Index rank) {
  const AdapterPruning pruning(adapter);
  return pruning.keep(pruning.ranks_at_most(rank));
}

Adapter prune_to_ratio(const Adapter& adapter, double ratio) {
  const AdapterPruning pruning(adapter);
  return pruning.keep(pruning.ranks_of_ratio(ratio));
}

}  // namespace udv::net
