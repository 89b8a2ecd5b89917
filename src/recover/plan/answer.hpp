// SPDX-License-Identifier: MIT
#pragma once

#include "recover/plan/walk_plan.hpp"

namespace udv {

/// X = U diag(s) V^T from its SVD for methods with a diagonal factor, else U V^T. Collective.
template <typename Scalar>
Factorization<Scalar> balanced_factors(const Method& method, StackedFactors<Scalar> fit,
                                       bool on_device);

/// Measures the factors found: residual, spectrum, certificate and what the data leave open, all
/// but for a run that diverged. Then everything is brought into the caller's units, and the offsets
/// of the problem go into the answer. Where entries are spread, rank 0 alone gets U and V.
template <typename Scalar>
class Answer {
 public:
  Answer(PreparedProblem<Scalar>& problem, const RecoverOptions& options,
         const Factorization<Scalar>& factors, BasicRecovery<Scalar>& result)
      : problem_(problem), options_(options), factors_(factors), result_(result) {}

  /// Of a walk whose rank or noise is known from elsewhere; `stopped` by the caller.
  void finish(const WalkAnswer<Scalar>& walk, bool stopped);

 private:
  void measure(const WalkAnswer<Scalar>& walk, bool stopped);
  void take_spectrum(Index exact_rank);
  Vector<double> singular_values() const;
  void certify_optimum();
  void examine();
  void judge();
  void unscale();
  Index parameters_per_line() const;

  PreparedProblem<Scalar>& problem_;
  const RecoverOptions& options_;
  const Factorization<Scalar>& factors_;
  BasicRecovery<Scalar>& result_;
};

}  // namespace udv
