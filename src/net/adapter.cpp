// SPDX-License-Identifier: MIT
#include "udv/net/adapter.hpp"

#include <algorithm>
#include <numeric>

#include "core/require.hpp"
#include "udv/core/parallel.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace {

// Shares of the energy are compared after rounding: a breakpoint lies this much below itself.
constexpr double kBelow = 1 - 1e-12;

FactoredSvd<float> svd_of(const AdapterBlock& block) {
  return factored_svd<float>(block.B, block.d, block.A.transpose());
}

AdapterBlock balanced(const std::string& name, const FactoredSvd<float>& svd, Index rank) {
  const Vector<float> root = svd.s.head(rank).cwiseSqrt().cast<float>();
  return {name, root.asDiagonal() * svd.V.leftCols(rank).transpose(), Vector<float>::Ones(rank),
          svd.U.leftCols(rank) * root.asDiagonal()};
}

bool is_zero(const Vector<double>& spectrum) {
  return spectrum.size() == 0 || !(spectrum(0) > 0);
}

}  // namespace

Index Adapter::parameters() const {
  Index count = 0;
  for (const AdapterBlock& block : blocks)
    count += block.parameters() + (method == "lora-udv" ? block.rank() : 0);
  return count;
}

Vector<double> spectrum(const AdapterBlock& block) {
  return svd_of(block).s;
}

AdapterBlock truncated(const AdapterBlock& block, Index rank) {
  const FactoredSvd<float> svd = svd_of(block);
  return balanced(block.name, svd, std::min(rank, svd.s.size()));
}

AdapterPruning::AdapterPruning(const Adapter& adapter)
    : shell_{{}, adapter.base_model, adapter.method, adapter.metadata},
      diagonal_(adapter.method == "lora-udv" ? 1 : 0),
      before_(adapter.parameters()),
      svds_(adapter.blocks.size()) {
  for (const AdapterBlock& block : adapter.blocks)
    shell_.blocks.push_back({block.name, {}, {}, {}});
  parallel_blocks(static_cast<Index>(svds_.size()), 1, [&](Index begin, Index) {
    const auto b = static_cast<std::size_t>(begin);
    svds_[b] = svd_of(adapter.blocks[b]);
  });
}

AdapterPruning::Ranks AdapterPruning::ranks_of_energy(double share) const {
  Ranks ranks;
  for (const auto& svd : svds_) ranks.push_back(energy_rank(svd.s, share));
  return ranks;
}

AdapterPruning::Ranks AdapterPruning::ranks_at_most(Index rank) const {
  Ranks ranks;
  for (const auto& svd : svds_) ranks.push_back(is_zero(svd.s) ? 0 : std::min(rank, svd.s.size()));
  return ranks;
}

// Ranks change at the shares that the first k singular values of a block carry, and nowhere else.
std::vector<double> AdapterPruning::breakpoints() const {
  std::vector<double> shares;
  for (const auto& svd : svds_) {
    if (is_zero(svd.s)) continue;
    const double total = svd.s.squaredNorm();
    double kept = 0;
    for (const double s : svd.s) shares.push_back(kBelow * (kept += s * s) / total);
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

double AdapterPruning::energy_for_ratio(double wanted) const {
  const std::vector<double> shares = breakpoints();
  if (shares.empty()) return 1;
  const auto fits = [&](double share) { return ratio(ranks_of_energy(share)) <= wanted; };
  const auto end = std::partition_point(shares.begin(), shares.end(), fits);
  require(end != shares.begin(), "prune: ratio ", wanted, " wanted, the smallest reachable is ",
          ratio(ranks_at_most(1)), " (rank 1 in every block)");
  return *(end - 1);
}

AdapterPruning::Ranks AdapterPruning::ranks_of_ratio(double wanted) const {
  if (ratio(ranks_at_most(1)) <= wanted) return ranks_of_energy(energy_for_ratio(wanted));
  std::vector<std::size_t> order(svds_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return svds_[a].s.squaredNorm() > svds_[b].s.squaredNorm();
  });
  Ranks ranks(svds_.size(), 0);
  for (const std::size_t b : order) {
    if (is_zero(svds_[b].s)) continue;
    ranks[b] = 1;
    if (ratio(ranks) > wanted) ranks[b] = 0;
  }
  require(parameters(ranks) > 0, "prune: ratio ", wanted,
          " wanted, one block of rank 1 is more than that");
  return ranks;
}

Index AdapterPruning::parameters_of(std::size_t block, Index rank) const {
  return rank * (svds_[block].U.rows() + svds_[block].V.rows() + diagonal_);
}

Index AdapterPruning::parameters(const Ranks& ranks) const {
  Index count = 0;
  for (std::size_t b = 0; b < svds_.size(); ++b) count += parameters_of(b, ranks[b]);
  return count;
}

double AdapterPruning::ratio(const Ranks& ranks) const {
  return before_ > 0 ? static_cast<double>(parameters(ranks)) / static_cast<double>(before_) : 1;
}

double AdapterPruning::energy_kept(std::size_t block, Index rank) const {
  const Vector<double>& s = svds_[block].s;
  return is_zero(s) ? 1 : s.head(rank).squaredNorm() / s.squaredNorm();
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
