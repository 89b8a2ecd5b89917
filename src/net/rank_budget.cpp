// SPDX-License-Identifier: MIT
#include "udv/net/rank_budget.hpp"

#include <algorithm>
#include <numeric>

#include "core/require.hpp"
#include "udv/net/head.hpp"

namespace udv::net {
namespace {

// Shares of the energy are compared after rounding: a breakpoint lies this much below itself.
constexpr double kBelow = 1 - 1e-12;

bool is_zero(const Vector<double>& spectrum) {
  return spectrum.size() == 0 || !(spectrum(0) > 0);
}

}  // namespace

RankBudget::RankBudget(std::vector<MatrixSpectrum> matrices, Index others, Index before,
                       Index least)
    : matrices_(std::move(matrices)), others_(others), before_(before), least_(least) {}

RankBudget::Ranks RankBudget::of_energy(double share) const {
  Ranks ranks;
  for (const auto& matrix : matrices_)
    ranks.push_back(std::max(least_, energy_rank(matrix.s, share)));
  return ranks;
}

RankBudget::Ranks RankBudget::at_most(Index rank) const {
  Ranks ranks;
  for (const auto& matrix : matrices_)
    ranks.push_back(is_zero(matrix.s) ? least_ : std::min(rank, matrix.s.size()));
  return ranks;
}

// Ranks change at the shares that the first k singular values of a matrix carry, and nowhere else.
std::vector<double> RankBudget::breakpoints() const {
  std::vector<double> shares;
  for (const auto& matrix : matrices_) {
    if (is_zero(matrix.s)) continue;
    const double total = matrix.s.squaredNorm();
    double kept = 0;
    for (const double s : matrix.s) shares.push_back(kBelow * (kept += s * s) / total);
  }
  std::sort(shares.begin(), shares.end());
  return shares;
}

double RankBudget::energy_for_ratio(double wanted) const {
  const std::vector<double> shares = breakpoints();
  if (shares.empty()) return 1;
  const auto fits = [&](double share) { return ratio(of_energy(share)) <= wanted; };
  const auto end = std::partition_point(shares.begin(), shares.end(), fits);
  require(end != shares.begin(), "prune: ratio ", wanted, " wanted, the smallest reachable is ",
          ratio(at_most(1)), " (rank 1 in every block)");
  return *(end - 1);
}

RankBudget::Ranks RankBudget::of_ratio(double wanted) const {
  if (least_ > 0 || ratio(at_most(1)) <= wanted) return of_energy(energy_for_ratio(wanted));
  std::vector<std::size_t> order(size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return matrices_[a].s.squaredNorm() > matrices_[b].s.squaredNorm();
  });
  Ranks ranks(size(), 0);
  for (const std::size_t b : order) {
    if (is_zero(matrices_[b].s)) continue;
    ranks[b] = 1;
    if (ratio(ranks) > wanted) ranks[b] = 0;
  }
  require(std::any_of(ranks.begin(), ranks.end(), [](Index r) { return r > 0; }), "prune: ratio ",
          wanted, " wanted, one block of rank 1 is more than that");
  return ranks;
}

std::vector<RankBudget::Direction> RankBudget::by_falling_value() const {
  std::vector<Direction> directions;
  for (std::size_t b = 0; b < size(); ++b)
    for (const double s : matrices_[b].s)
      if (s > 0) directions.push_back({b, s * s, s * s / static_cast<double>(matrices_[b].cost)});
  std::stable_sort(directions.begin(), directions.end(),
                   [](const Direction& a, const Direction& b) { return a.value > b.value; });
  return directions;
}

RankBudget::Ranks RankBudget::by_value(double wanted) const {
  Ranks ranks(size(), least_);
  require(least_ == 0 || ratio(ranks) <= wanted, "prune: ratio ", wanted,
          " wanted, the smallest reachable is ", ratio(ranks), " (rank 1 in every block)");
  Ranks seen(size(), 0);
  for (const Direction& direction : by_falling_value()) {
    if (++seen[direction.matrix] <= least_) continue;
    ++ranks[direction.matrix];
    if (ratio(ranks) <= wanted) continue;
    --ranks[direction.matrix];
    break;
  }
  require(std::any_of(ranks.begin(), ranks.end(), [](Index r) { return r > 0; }), "prune: ratio ",
          wanted, " wanted, one block of rank 1 is more than that");
  return ranks;
}

RankBudget::Ranks RankBudget::of_loss(double loss) const {
  std::vector<Direction> directions = by_falling_value();
  Ranks ranks(size(), 0);
  for (const Direction& direction : directions) ++ranks[direction.matrix];
  for (Index& rank : ranks) rank = std::max(rank, least_);
  double lost = 0;
  for (auto least = directions.rbegin(); least != directions.rend(); ++least) {
    if (ranks[least->matrix] <= least_) continue;
    lost += least->energy / 2;
    if (lost > loss) break;
    --ranks[least->matrix];
  }
  return ranks;
}

bool RankBudget::stays(std::size_t b, Index rank) const {
  return matrices_[b].dense >= 0 && rank * matrices_[b].cost >= matrices_[b].dense;
}

Index RankBudget::numbers_of(std::size_t b, Index rank) const {
  return stays(b, rank) ? matrices_[b].dense : rank * matrices_[b].cost;
}

Index RankBudget::numbers(const Ranks& ranks) const {
  Index count = others_;
  for (std::size_t b = 0; b < size(); ++b) count += numbers_of(b, ranks[b]);
  return count;
}

double RankBudget::ratio(const Ranks& ranks) const {
  return before_ > 0 ? static_cast<double>(numbers(ranks)) / static_cast<double>(before_) : 1;
}

double RankBudget::energy_kept(std::size_t b, Index rank) const {
  const Vector<double>& s = matrices_[b].s;
  return is_zero(s) || stays(b, rank) ? 1 : s.head(rank).squaredNorm() / s.squaredNorm();
}

double RankBudget::dropped(const Ranks& ranks) const {
  double energy = 0;
  for (std::size_t b = 0; b < size(); ++b) {
    const Vector<double>& s = matrices_[b].s;
    if (!stays(b, ranks[b])) energy += s.tail(s.size() - ranks[b]).squaredNorm();
  }
  return energy / 2;
}

}  // namespace udv::net
