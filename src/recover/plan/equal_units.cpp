// SPDX-License-Identifier: MIT
#include "recover/plan/equal_units.hpp"

#include <cmath>

#include "core/instantiate.hpp"
#include "core/sums.hpp"
#include "recover/solver/balance.hpp"
#include "recover/solver/equilibrate.hpp"

namespace udv {
namespace {

constexpr double kWellConditioned = 1e-2;  // smallest over largest singular value

// The walk for exact fits alone in units of its own for rows and columns.
RankWalkOutcome<double> walk_in_units(const PreparedProblem<double>& problem,
                                      const LineScales& scales, Index pause_after,
                                      Progress<double>& progress, bool& well_conditioned) {
  Vector<double> b = divided(problem.op(), problem.b(), scales);
  const double factor = kSizeAgainstBall * std::sqrt(problem.op().mean_gain()) / b.stableNorm();
  b *= factor;
  RankWalkOptions options = problem.walk_options();
  options.exact_only = true;
  options.pause_after = pause_after;
  const double unit = squared_norm(problem.b()) / squared_norm(b) / std::pow(problem.scale(), 2);
  auto outcome = progress.run(problem, b, options, unit,
                              [](RankWalk<double>& walk) { return walk.run(std::nullopt); });
  StackedFactors<double>& Z = outcome.fit.Z;
  well_conditioned = significant_columns(balanced(Z), kWellConditioned) == Z.rank();
  Z = multiplied(std::move(Z), scales);
  Z.Z /= std::sqrt(factor);
  return outcome;
}

}  // namespace

template <typename Scalar>
std::optional<RankWalkOutcome<Scalar>> walk_in_equal_units(const PreparedProblem<Scalar>& problem,
                                                           const RecoverOptions& options,
                                                           Index pause_after,
                                                           Progress<Scalar>& progress) {
  std::optional<RankWalkOutcome<Scalar>> best;
  if constexpr (std::is_same_v<Scalar, double>) {
    if (problem.op().name() != "entries" || options.noise_sigma > 0) return best;
    const LineScales scales = line_scales(problem.op(), problem.b());
    bool settled = !scales.matter();
    for (const double usual : {4.0, 10.0}) {
      if (settled) break;
      auto outcome = walk_in_units(problem, scales.beyond(usual), pause_after, progress, settled);
      settled = settled || !outcome.exact;
      const bool interrupted = outcome.stopped && !outcome.paused;
      if (!outcome.exact && !(interrupted && !best)) continue;
      if (!best || outcome.fit.Z.rank() < best->fit.Z.rank()) best = std::move(outcome);
    }
  }
  return best;
}

#define UDV_INSTANTIATE(Scalar)                                        \
  template std::optional<RankWalkOutcome<Scalar>> walk_in_equal_units( \
      const PreparedProblem<Scalar>&, const RecoverOptions&, Index, Progress<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
