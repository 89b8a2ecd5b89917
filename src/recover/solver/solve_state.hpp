// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recover/solver/rank_walk.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/solver/projected_gradient.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// All that a solve needs to resume: the state of the gradient run and the fits that the walk in
/// the rank has finished. The walk is a deterministic program; run again, it takes these fits
/// instead of computing them and arrives where it was.
template <typename Scalar>
struct SolveState {
  std::uint64_t fingerprint = 0;  ///< of problem and options: a state belongs to one solve
  double seconds = 0;             ///< spent so far
  bool has_gradient = false;
  BasicGradientState<Scalar> gradient;
  std::vector<RankFit<Scalar>> journal;
  std::vector<IterationRecord> history;
  ColumnHistory columns;
};

template <typename Scalar>
UDV_EXPORT std::string to_bytes(const SolveState<Scalar>& state);
/// Throws InvalidArgument where the bytes are not a whole state of this scalar.
template <typename Scalar = double>
UDV_EXPORT SolveState<Scalar> solve_state_from_bytes(std::string_view bytes);

}  // namespace udv
