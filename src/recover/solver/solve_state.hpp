// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/archive.hpp"
#include "recover/solver/rank_walk.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/centering.hpp"
#include "udv/recover/solver/projected_gradient.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What a solve has taken from a search of variational Bayes that did not end it: offsets, or
/// nothing.
struct FinishedSearch {
  Centering center = Centering::kNone;
  Biases biases;
};

/// The search of a solve that was interrupted.
struct InterruptedSearch {
  // Its place in the solve: that of no other search.
  Index number = 0;         ///< of searches before it
  Index fits = 0;           ///< of the journal, before it
  std::uint64_t start = 0;  ///< hash of what it starts from

  Index sweeps = 0;   ///< done
  std::string bytes;  ///< what the search has written; empty: there is none
  WriteState write;   ///< writes them instead, where the search is there
};

/// All that a solve needs to resume: the state of the gradient run, the fits that the walk in the
/// rank has finished, and the searches of variational Bayes. The solve is a deterministic program;
/// run again, it takes these fits instead of computing them and arrives where it was.
template <typename Scalar>
struct SolveState {
  std::uint64_t fingerprint = 0;  ///< of problem and options: a state belongs to one solve
  double seconds = 0;             ///< spent so far
  bool has_gradient = false;
  BasicGradientState<Scalar> gradient;
  std::vector<RankFit<Scalar>> journal;
  std::vector<FinishedSearch> searches;
  InterruptedSearch search;
  std::vector<IterationRecord> history;
  ColumnHistory columns;
};

template <typename Scalar>
UDV_EXPORT std::string to_bytes(const SolveState<Scalar>& state);
/// Throws InvalidArgument where the bytes are not a whole state of this scalar.
template <typename Scalar = double>
UDV_EXPORT SolveState<Scalar> solve_state_from_bytes(std::string_view bytes);

}  // namespace udv
