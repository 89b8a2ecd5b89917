// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/recover/centering.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// Whether the measurements leave room for another answer of the same rank. J is the derivative of
/// Z = (U; V) -> A(U V^*) at the answer; changes of Z that leave X alone (the gauge) do not count.
struct UDV_EXPORT Determinacy {
  /// X is the only matrix of its rank that fits. Empty: not known, or nothing was looked at.
  std::optional<bool> unique;
  Index free_directions = 0;       ///< in which X moves while no measurement changes
  bool free_is_estimate = false;   ///< there are many, and their number is not exact
  double determined_share = 0;     ///< of the entries of X
  bool share_is_estimate = false;  ///< from a sample of the entries
  /// More independent equations than parameters: an exact fit at this rank is no coincidence.
  bool rank_confirmed = false;
  /// Another matrix of this rank, far away from X, fits the data as well.
  bool another_fits = false;
  /// The steps sufficed. If not, what moves by more than the tolerance may still be determined.
  bool decided = true;
  int draws = 0;         ///< random directions that were projected onto the null space of J
  Index steps = 0;       ///< conjugate gradient steps in all
  int starts = 0;        ///< other starts from which another answer was looked for
  double tolerance = 0;  ///< relative movement that counts as none
};

/// Which entries of X = U V^* stay where they are when X moves as far as the measurements let it.
template <typename Scalar>
struct UDV_EXPORT OpenEntries {
  StackedFactors<Scalar> Z;    ///< the answer; empty where no direction is free
  StackedFactors<Scalar> dZ;   ///< a random free direction
  Reals<Scalar> sizes;         ///< of the lines of Z: units of movement
  double tolerance = 0;        ///< relative movement that counts as none
  std::vector<char> row, col;  ///< 1: the line has too few measurements. Empty: none has
  /// Lines that hold each other have the same number, -1 is a line alone. Entries between
  /// different ones might differ in another answer. Empty: there is none.
  std::vector<std::int32_t> row_group, col_group;
  bool all_open = false;  ///< the rank itself is not confirmed

  bool any() const { return all_open || Z.rank() > 0 || !row.empty() || !row_group.empty(); }
  /// X(i, j) follows from the measurements; a measured entry does so in any case.
  bool determined(Index i, Index j) const;
};

/// What a look at the numbers of measurements alone leaves open.
template <typename Scalar>
UDV_EXPORT OpenEntries<Scalar> open_entries(const Undetermined& open,
                                            const MeasurementOperator<Scalar>& op);

struct DeterminacyOptions {
  bool exact = false;  ///< the answer fits the data without error
  double zero_residual = 1e-10;
  std::uint64_t seed = 0;
  int max_steps = 400;         ///< of conjugate gradients, for one draw
  bool of_x = false;           ///< X = x x^*: shares are of the entries of x
  std::vector<char> left_out;  ///< 1: a line of Z that is no part of the model; empty: none
  Centering center = Centering::kNone;  ///< offsets that were fitted beside X (entries only)
  Biases biases;
};

template <typename Scalar>
struct DeterminacyAnswer {
  Determinacy facts;
  OpenEntries<Scalar> open;
  /// Rows and columns of each group that too few measurements join to the largest one.
  std::vector<std::pair<std::vector<Index>, std::vector<Index>>> loose_blocks;
};

/// A random direction in which x may move where X = x x^* is open, its part along i x taken away,
/// in units of the root mean square of x; empty where no direction is free.
template <typename Scalar>
UDV_EXPORT Vector<Scalar> free_direction_of_x(const OpenEntries<Scalar>& open);

/// Projects random directions P onto the null space of J, N = P - argmin |J y - J P|, and looks at
/// dX = N_U V^* + U N_V^*: with probability one a single draw moves every entry that can move.
/// Where the answer fits exactly it also looks for other answers far away, among lines that
/// no spare measurement holds together. See docs/determinacy.md.
/// Offsets count as part of X, whose last columns (a; 1) and (1; b) they are.
template <typename Scalar>
UDV_EXPORT DeterminacyAnswer<Scalar> determine(const MeasurementOperator<Scalar>& op,
                                               const Reals<Scalar>& b,
                                               const StackedFactors<Scalar>& answer,
                                               const DeterminacyOptions& options);

/// An exact fit of lower rank than the exact fit Z, where parts of it that few measurements join
/// have lower ranks by themselves: each part in many gauges is the start of a fit at that rank.
template <typename Scalar>
UDV_EXPORT std::optional<StackedFactors<Scalar>> with_lower_rank(
    const MeasurementOperator<Scalar>& op, const Reals<Scalar>& b, const StackedFactors<Scalar>& Z,
    const DeterminacyOptions& options);

}  // namespace udv
