// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "udv/core/export.hpp"
#include "udv/jobs/recovery_result.hpp"
#include "udv/recover/problem.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/symmetry.hpp"

namespace udv::jobs {

/// Files of linear measurements <A_i, X> = b_i.
struct SenseInput {
  std::string measurements;  ///< A as .npy: n x p x q, n x (p q), or n x p for rank-one ones
  std::string values;        ///< b as .npy
};
UDV_EXPORT void describe(OptionTable& table, SenseInput& input);

/// What the rows of A stand for.
enum class SenseMap {
  kDense,    ///< matrices A_i, row by row
  kRankOne,  ///< vectors a_i: b_i = a_i^T X a_i
};

struct SenseOptions {
  std::optional<std::pair<Index, Index>> shape;  ///< of X, where the file does not tell
  SenseMap map = SenseMap::kDense;
  /// kIndefinite is for dense measurements; a problem in memory then is a rectangular one that has
  /// each A_i and its transpose.
  Symmetry symmetric = Symmetry::kOff;
  RecoverOptions method;
};
UDV_EXPORT void describe(OptionTable& table, SenseOptions& options);

/// Recovers a matrix from linear measurements. Throws IoError naming file and place, OptionError
/// naming a setting.
UDV_EXPORT RecoveryResult<double> sense(const SenseInput& input, const SenseOptions& options,
                                        Session& session);

/// The same for a problem in memory, made by sensing(), quadratic_sensing() or of another operator.
UDV_EXPORT RecoveryResult<double> sense(const Problem& problem, const SenseOptions& options,
                                        Session& session);

}  // namespace udv::jobs
