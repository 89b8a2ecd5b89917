// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "udv/core/entries.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// mu + b_i + c_j alone, with variances of b and c learned from the entries: what a completion has
/// to beat. Symmetric entries stand at both of their places.
UDV_EXPORT Biases learned_biases(const Entries& entries);

/// An entry that was not used, and what was predicted for it.
struct HeldOutEntry {
  Index row = 0, col = 0;
  double value = 0, predicted = 0;
  double deviation = 0;  ///< of an observation; infinite where the data do not determine it
};

/// Root mean square errors of three predictions on the same entries.
struct HeldOutErrors {
  double answer = 0, biases = 0, mean = 0;
  Index counted = 0;
  Index left_out = 0;  ///< entries in rows or columns without data
};

/// Errors on `test`, whose rows and columns have data; `known`: what the answer was made from.
/// Appends the entries to `listed` where there is one.
UDV_EXPORT HeldOutErrors held_out_errors(const Recovery& recovery, const Entries& known,
                                         const Entries& test,
                                         std::vector<HeldOutEntry>* listed = nullptr);

/// The entries in `folds` parts of equal size (up to one), drawn by the seed.
class UDV_EXPORT FoldSplit {
 public:
  /// Throws InvalidArgument unless there are 2 folds or more and an entry for each.
  FoldSplit(Index num_entries, Index folds, std::uint64_t seed);

  Index folds() const { return folds_; }
  /// All entries but those of part k, and those.
  std::pair<Entries, Entries> split(const Entries& entries, Index k) const;

 private:
  Index folds_;
  std::vector<std::int32_t> fold_of_;
};

/// A root mean square error, and how much it differs between folds.
struct ErrorEstimate {
  double rmse = 0, deviation = 0;
};

/// What cross-validation says.
struct UDV_EXPORT FoldErrors {
  std::vector<HeldOutErrors> folds;
  std::vector<Index> ranks;           ///< of the answers
  std::vector<HeldOutEntry> entries;  ///< some of all that were held out

  ErrorEstimate answer() const { return estimate(&HeldOutErrors::answer); }
  ErrorEstimate biases() const { return estimate(&HeldOutErrors::biases); }
  ErrorEstimate mean() const { return estimate(&HeldOutErrors::mean); }
  Index left_out() const;
  /// Biases alone are worse by more than the standard error of the difference.
  bool low_rank_pays() const { return is_better(&HeldOutErrors::answer, &HeldOutErrors::biases); }
  /// The comparison in words.
  std::string sentence() const;

 private:
  ErrorEstimate estimate(double HeldOutErrors::*error) const;
  bool is_better(double HeldOutErrors::*error, double HeldOutErrors::*than) const;
};

}  // namespace udv
