// SPDX-License-Identifier: MIT
#include "recover/plan/gross_errors.hpp"

#include <cmath>
#include <set>

#include "core/instantiate.hpp"
#include "core/sums.hpp"

namespace udv {
namespace {

constexpr std::size_t kFewLevels = 32;
constexpr std::size_t kEntriesPerLevel = 20;

// The values are marks of a scale, as ratings are.
template <typename Scalar>
bool has_few_levels(const EntriesOperator<Scalar>& op, const Reals<Scalar>& b) {
  const auto& root = op.root_weights();
  std::set<float> levels;  // what rounding has parted is one again
  for (Index t = 0; t < b.size() && levels.size() <= kFewLevels; ++t) {
    const bool weighted = root.size() > 0;
    if (!weighted || root(t) > 0)
      levels.insert(static_cast<float>(weighted ? b(t) / root(t) : b(t)));
  }
  return levels.size() <= kFewLevels &&
         levels.size() * kEntriesPerLevel <= static_cast<std::size_t>(b.size());
}

}  // namespace

template <typename Scalar>
const EntriesOperator<Scalar>* GrossErrors<Scalar>::entries() const {
  if (kIsComplex<Scalar> || problem_.holds_out() || options_.noise_sigma > 0) return nullptr;
  return dynamic_cast<const EntriesOperator<Scalar>*>(&problem_.op());
}

template <typename Scalar>
void GrossErrors<Scalar>::search() {
  if constexpr (!kIsComplex<Scalar>) {
    const auto* const op = entries();
    if (!op || judged_) return;
    judged_ = true;
    found_ = find_outliers<Scalar>(
        *op, problem_.b(), problem_.walk_options(), [this](const FitStep& step) {
          return progress_.should_continue(progress_.recorder().observe(step, problem_.unit()));
        });
    places_ = op->places(found_.entries);
    // Among few levels many residuals of a fit are zero by chance, and the others then look wrong.
    const auto others = rest();
    if (others && has_few_levels(*op, problem_.data()) && !has_exact_fit(*others)) forget();
  }
}

// In a positive semidefinite matrix what contradicts it would be taken for a gross error.
template <typename Scalar>
std::optional<BasicProblem<Scalar>> GrossErrors<Scalar>::search_if_likely() {
  if constexpr (!kIsComplex<Scalar>) {
    const auto* const op = entries();
    if (op && !op->symmetric() && options_.robust &&
        gross_errors_likely<Scalar>(*op, problem_.b())) {
      search();
      return rest();
    }
  }
  return std::nullopt;
}

template <typename Scalar>
std::optional<BasicProblem<Scalar>> GrossErrors<Scalar>::rest() const {
  if constexpr (!kIsComplex<Scalar>) {
    if (options_.robust && !found_.stopped && found_.changes_problem())
      return without<Scalar>(*entries(), problem_.b(), found_);
  }
  return std::nullopt;
}

template <typename Scalar>
bool GrossErrors<Scalar>::has_exact_fit(const BasicProblem<Scalar>& rest) const {
  Reals<Scalar> residual;
  apply_stack(*rest.op, found_.fit, residual);
  residual -= rest.b;
  return squared_norm(residual) <= std::pow(problem_.zero_residual(), 2) * squared_norm(rest.b);
}

template <typename Scalar>
bool GrossErrors<Scalar>::rest_is_better(const BasicProblem<Scalar>& rest,
                                         const RankWalkOutcome<Scalar>& outcome) const {
  if (!outcome.exact) return true;
  const double numbers = problem_.op().degrees_of_freedom(found_.fit.rank()) +
                         static_cast<double>(found_.entries.size());
  return found_.any() && has_exact_fit(rest) &&
         numbers < problem_.op().degrees_of_freedom(outcome.fit.Z.rank());
}

template <typename Scalar>
RankWalkOutcome<Scalar> GrossErrors<Scalar>::walk_over(BasicProblem<Scalar> rest) {
  if constexpr (!kIsComplex<Scalar>) {
    const auto lost = entries_of_lost_lines<Scalar>(*entries(), found_);
    if (!lost.empty()) {
      lost_ = std::make_shared<EntriesOperator<Scalar>>(entries()->restricted(lost));
      lost_values_ = problem_.b()(lost);
    }
  }
  problem_.keep_only(std::move(rest));
  progress_.offer(found_.journal);
  RankWalkOptions walk = problem_.walk_options();
  walk.max_rank = found_.max_rank;
  return progress_.run(problem_, problem_.b(), walk, problem_.unit(),
                       [&](RankWalk<Scalar>& each) { return each.run(found_.start); });
}

template <typename Scalar>
void GrossErrors<Scalar>::guess_lost_lines(StackedFactors<Scalar>& Z) const {
  if constexpr (!kIsComplex<Scalar>)
    if (lost_) guess_lines<Scalar>(*lost_, lost_values_, found_.sizes, options_.seed, Z);
}

template <typename Scalar>
void GrossErrors<Scalar>::forget() {
  found_ = {};
  places_.clear();
  lost_ = nullptr;
}

#define UDV_INSTANTIATE(Scalar) template class GrossErrors<Scalar>;
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
