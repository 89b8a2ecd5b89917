// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "recover/plan/progress.hpp"
#include "recover/solver/robust.hpp"

namespace udv {

/// The search for entries that are wrong, at most once in a solve, and the walk over the others.
template <typename Scalar>
class GrossErrors {
 public:
  GrossErrors(PreparedProblem<Scalar>& problem, const RecoverOptions& options,
              Progress<Scalar>& progress)
      : problem_(problem), options_(options), progress_(progress) {}

  /// Entries of real matrices can be wrong one by one.
  bool possible() const { return entries() != nullptr; }
  /// They can be left out, and have not been searched for.
  bool may_remove() const { return possible() && options_.robust && !judged_; }
  bool judged() const { return judged_; }
  const Outliers<Scalar>& found() const { return found_; }
  /// Rows and columns of the entries found.
  const std::vector<std::pair<Index, Index>>& places() const { return places_; }

  void search();
  /// With gross errors the ordinary walk is slow, so the search comes first where the values alone
  /// make them likely. rest() after it.
  std::optional<BasicProblem<Scalar>> search_if_likely();
  /// The problem without the errors that were found; nothing where it is to stay as it is.
  std::optional<BasicProblem<Scalar>> rest() const;
  /// The search has given an exact fit of the rest.
  bool has_exact_fit(const BasicProblem<Scalar>& rest) const;
  /// An exact fit of all entries gives way only to an exact one of most of them that needs fewer
  /// numbers, each entry left out being one.
  bool rest_is_better(const BasicProblem<Scalar>& rest,
                      const RankWalkOutcome<Scalar>& outcome) const;
  /// Continues with the rest alone. The walk takes the fits that the search has made already.
  RankWalkOutcome<Scalar> walk_over(BasicProblem<Scalar> rest);
  /// Lines of which walk_over() has left nothing get their most probable factors. They stay
  /// undetermined.
  void guess_lost_lines(StackedFactors<Scalar>& Z) const;
  void forget();
  /// The noise differs in size between entries, as was found elsewhere.
  void set_noise(NoiseKind kind) { found_.noise.kind = kind; }

 private:
  const EntriesOperator<Scalar>* entries() const;

  PreparedProblem<Scalar>& problem_;
  const RecoverOptions& options_;
  Progress<Scalar>& progress_;
  Outliers<Scalar> found_;
  std::vector<std::pair<Index, Index>> places_;
  std::shared_ptr<const EntriesOperator<Scalar>> lost_;  // entries of lost lines
  Reals<Scalar> lost_values_;
  bool judged_ = false;
};

}  // namespace udv
