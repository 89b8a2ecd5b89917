// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/observer.hpp"
#include "udv/recover/centering.hpp"
#include "udv/recover/posterior.hpp"
#include "udv/recover/solver/certificate.hpp"
#include "udv/recover/solver/determinacy.hpp"

namespace udv {

enum class StopReason { kConverged, kIterationLimit, kTimeLimit, kInterrupted, kDiverged };
UDV_EXPORT std::string_view to_string(StopReason reason);
/// Why a run ended that its observer let go on or not, and that converged or not.
UDV_EXPORT StopReason stop_reason(Verdict verdict, bool converged);

/// What the size of an entry's noise depends on.
enum class NoiseKind { kEqual, kByRow, kByCol, kByRowAndCol, kBySignal };
UDV_EXPORT std::string_view to_string(NoiseKind kind);

/// A model of noisy entries that was tried, and the lower bound of its log evidence.
struct ModelTrial {
  Centering center = Centering::kNone;
  NoiseKind noise = NoiseKind::kEqual;
  Index rank = 0;
  Index sweeps = 0;
  double bound = 0;
};

/// Column sizes over time: row t belongs to iteration[t], one column per column of U_0.
struct ColumnHistory {
  std::vector<Index> iteration;
  std::vector<Vector<double>> norm_u;
  std::vector<Vector<double>> d;
};

/// All of an answer but its factors, in the caller's units, whatever the scalar.
struct UDV_EXPORT RecoveryFacts {
  std::string method;
  std::string operator_name;
  Index rows = 0, cols = 0, measurements = 0;
  bool symmetric = false;
  bool by_rank_walk = false;  ///< not by projected gradient alone
  bool intensities = false;   ///< X = x x^* was recovered from |W x|^2

  std::vector<std::pair<Index, Index>> outliers;  ///< rows and columns of gross errors, sorted
  bool outliers_removed = false;                  ///< the answer is that of the others
  NoiseKind noise_by = NoiseKind::kEqual;

  Centering center = Centering::kNone;  ///< the model of the offsets that was used
  Biases biases;                        ///< offsets: the matrix is X + biases

  Vector<double> spectrum;  ///< singular values, largest first, at least one past the rank
  Index rank = 0;
  double rank_gap = 0;
  double objective = 0;
  double relative_residual = 0;
  std::optional<double> holdout_rmse;  ///< on the measurements that chose the rank
  std::optional<double> test_rmse;     ///< on test data, set by who has some

  Index iterations = 0;
  double seconds = 0;
  StopReason stop_reason = StopReason::kConverged;
  bool converged = false;  ///< to the tolerance; a run that reached a limit may still have
  bool exact = false;      ///< the residual is zero, to the tolerance
  double scale = 1, alpha = 1, step = 0;
  double noise_sigma = 0;   ///< estimated (or given) standard deviation of a measurement's error
  double ridge = 0;         ///< of the shrunken fit, in scaled units
  bool indefinite = false;  ///< symmetric: a negative eigenvalue would explain the data better
  Index rank_cap = 0;       ///< > 0: no fit was exact, and the data cannot confirm a higher rank
  std::vector<std::pair<Index, double>> scores;  ///< (rank, score) of the ranks that were tried

  /// By variational Bayes; the last one is the answer. Empty: a walk in the rank has decided.
  std::vector<ModelTrial> models;
  std::shared_ptr<const Posterior> posterior;      ///< of entries; nothing where `models` is empty
  std::optional<std::pair<double, double>> range;  ///< in which predictions are kept

  Certificate certificate;
  Determinacy determinacy;
  Undetermined undetermined;
  std::vector<IterationRecord> history;
  ColumnHistory columns;

  /// Both words of the verdict hold: X is optimal, and it is the only one.
  bool certified() const;
  /// In one sentence what came out and how far it can be trusted.
  std::string verdict() const;
  /// One line: rank, residual, verdict.
  std::string summary() const;
};

/// The answer: X = U diag(d) V^* (V = U where symmetric), and the offsets beside it.
template <typename Scalar>
struct UDV_EXPORT BasicRecovery : RecoveryFacts {
  RowMatrix<Scalar> U, V;
  Reals<Scalar> d;
  OpenEntries<Scalar> open_entries;  ///< which entries of X the data leave open

  /// X(i, j) + biases, 0-based, kept in the range where there is one.
  Scalar predict(Index i, Index j) const;
};

using Recovery = BasicRecovery<double>;

}  // namespace udv
