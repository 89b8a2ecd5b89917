// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "recover/operators/restricted.hpp"
#include "udv/recover/phase.hpp"

/// Phase retrieval of an x of which something is known beforehand.
namespace udv {

/// A start by hybrid projection-reflection (Bauschke, Combettes, Luke, 2003; without nonnegativity
/// Fienup's hybrid input-output) from random phases, for operators with a diagonal W^* W:
///   z += P_S((1 + beta) P_M z - z) - beta P_M z
/// P_M gives the fields z the measured amplitudes, P_S makes them those of an x of the kind that is
/// wanted. Keeps the x with the smallest residual.
template <typename Scalar>
Vector<Scalar> project_in_turns(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                                const PhasePrior& prior, std::uint64_t seed,
                                const FitMonitor& monitor);

/// Levenberg-Marquardt over the entries of x that are not zero (sparse), or that are positive, with
/// entries that become negative removed and those that would grow added (nonnegative).
template <typename Scalar>
void polish_constrained(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                        const PhasePrior& prior, Vector<Scalar>& x, const FitMonitor& monitor);

/// There are more measurements than entries of x that are not zero, or nothing is known of them: an
/// exact fit is no coincidence.
template <typename Scalar>
bool confirms_entries(const IntensityOperator<Scalar>& op, const PhasePrior& prior,
                      const Vector<Scalar>& x);

/// As rank_one_recovery, where only the entries of x that are not zero are unknown, and real ones
/// where x is nonnegative. Whether an x with other entries fits is not known.
template <typename Scalar>
BasicRecovery<Scalar> constrained_recovery(const IntensityOperator<Scalar>& op,
                                           const Reals<Scalar>& b, const PhasePrior& prior,
                                           const Vector<Scalar>& x);

/// An answer for some of the entries of x as one for all `size` of them.
template <typename Scalar>
BasicRecovery<Scalar> spread_over(const RestrictedOperator<Scalar>& part, Index size,
                                  const BasicRecovery<Scalar>& found);

/// Other x that one diffraction pattern cannot tell from x: moved and inverted ones.
struct Ambiguity {
  bool inversion = false;  ///< conj(x(s - r)) has its entries within the support, for some s
  Index shifts = 0;        ///< s other than 0 for which x(r - s) has
};
Ambiguity pattern_ambiguity(const std::vector<bool>& support, const std::vector<bool>& present,
                            Index rows, Index cols);

}  // namespace udv
