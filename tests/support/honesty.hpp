// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "udv/core/types.hpp"

/// Small random problems whose answers are held against a dense singular value decomposition of the
/// Jacobian and against the truth: the law of honesty. Used by the tests and by bench_honesty.
namespace udv::testing {

/// What one problem showed.
struct Honesty {
  std::string problem;           ///< kind, sizes, ranks
  bool exact = false;            ///< the answer fits without error
  bool claimed = false;          ///< to be the only one
  bool refuted = false;          ///< the decomposition finds a free direction beside the claim
  Index wrong = 0;               ///< entries that are called determined and differ from the truth
  Index entries = 0;             ///< whose flags were compared
  Index flags_different = 0;     ///< from what the decomposition says
  bool count_different = false;  ///< of the free directions

  bool false_claim() const { return refuted || wrong > 0; }
};

/// The kinds of problems: completion with random, symmetric, block and bridged masks, sensing,
/// symmetric sensing, rank-one measurements, intensities, coded diffraction.
int honesty_kinds();

/// Makes, solves and examines one problem. Same number, same problem.
Honesty examine_honesty(int kind, std::uint64_t number);

}  // namespace udv::testing
