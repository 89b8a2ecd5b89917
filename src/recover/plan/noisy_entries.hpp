// SPDX-License-Identifier: MIT
#pragma once

#include <optional>

#include "recover/plan/gross_errors.hpp"
#include "recover/solver/bayes_answer.hpp"

namespace udv {

/// Variational Bayes as a part of a solve: it decides where no fit is exact.
template <typename Scalar>
class NoisyEntries {
 public:
  NoisyEntries(PreparedProblem<Scalar>& problem, const RecoverOptions& options,
               Progress<Scalar>& progress, GrossErrors<Scalar>& errors)
      : problem_(problem), options_(options), progress_(progress), errors_(errors) {}

  /// Entries of real rectangular matrices, unless the options ask for another way to the rank.
  bool possible() const;
  /// Many entries that are clearly noisy: no fit can be exact, so no walk looks for one. False
  /// where this is not certain; else the answer, or what there is where the caller stops it, takes
  /// the place of the walk's.
  bool are_clear(RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts);
  /// So many that a walk, which would take long, is not even begun where the noise is clear. With
  /// Start::kBayes any number, where residuals look Gaussian: gross errors are left to the walk.
  bool are_clear_at_once(RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts);
  /// The same for any number of entries, from an earlier noisy answer.
  bool resume_from(const EarlierAnswer& earlier, RankWalkOutcome<Scalar>& outcome,
                   RecoveryFacts& facts);
  /// Goes on from the fit of a walk.
  void settle(RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts);
  /// Takes the offsets alone that the evidence prefers beside these factors, in scaled units: for
  /// who chooses the rank in another way. False where there are none, or the caller stops it.
  bool take_offsets(const StackedFactors<Scalar>& Z);

 private:
  bool comes_first() const { return options_.start == Start::kBayes; }
  BayesAnswer run(const BayesStart& start, double smallest_sigma);
  BayesAnswer run_from(StackedFactors<double> scaled);
  bool take_where_clear(const BayesStart& start, RankWalkOutcome<Scalar>& outcome,
                        RecoveryFacts& facts);
  void add_offsets(Centering center, const Biases& biases);
  void take(BayesAnswer answer, RankWalkOutcome<Scalar>& outcome, RecoveryFacts& facts);

  PreparedProblem<Scalar>& problem_;
  const RecoverOptions& options_;
  Progress<Scalar>& progress_;
  GrossErrors<Scalar>& errors_;
};

}  // namespace udv
