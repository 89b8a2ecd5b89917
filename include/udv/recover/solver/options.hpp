// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "udv/core/export.hpp"
#include "udv/core/options.hpp"
#include "udv/core/types.hpp"
#include "udv/recover/centering.hpp"

namespace udv {

/// What the measurements are multiplied by before the solve; results are in the caller's units.
enum class ScaleRule {
  kAuto,   ///< so that |X|_F is about 5: the low-rank bias needs X to be large against the ball
  kUnit,   ///< 1 / |b|
  kNone,   ///< 1
  kValue,  ///< a given number
};

/// Which iterations a history keeps.
enum class Recording { kEvery, kLog, kNone };

/// Where the walk in the rank starts from.
enum class Start {
  kNothing,   ///< rank 0: the walk in the rank finds every column itself (the default)
  kDynamics,  ///< a short run of projected gradient with the chosen method
  kBayes,     ///< as kNothing, but no walk where variational Bayes shows clear Gaussian noise
};

/// How the size of the noise is modelled where no fit is exact (entries of real rectangular
/// matrices).
enum class NoiseModel {
  kAuto,      ///< what the evidence prefers
  kGaussian,  ///< equal for all entries, up to their weights
  kRows,      ///< each row has its own
  kPoisson,   ///< counts: the variance is proportional to the expectation, never negative
};

/// Everything a solve can be told; the defaults need no tuning.
struct UDV_EXPORT RecoverOptions {
  std::string method = "auto";  ///< bm, udu, uv, udv; auto: udu where symmetric, else udv
  Index max_rank = 0;           ///< columns of U; 0: min(rows, cols)
  std::optional<double> step;   ///< constant step; empty: adaptive
  std::optional<double> alpha;  ///< radius of the balls; empty: 1
  /// Offsets beside the low-rank part. Entries of rectangular matrices only; elsewhere kAuto is
  /// kNone. Without `rank_walk` the least-squares means are subtracted, and kAuto is kNone.
  Centering center = Centering::kAuto;
  ScaleRule scale_rule = ScaleRule::kAuto;
  double scale_value = 1;    ///< with kValue
  double init_norm = 1e-2;   ///< |U_0|_F
  Index max_iterations = 0;  ///< 0: 100,000 gradient steps, no limit for the walk in the rank
  /// Relative residual, or stationarity, that counts as converged. Empty: 1e-10, and plain
  /// gradient runs do not stop early.
  std::optional<double> tolerance;
  bool rank_walk =
      true;  ///< walk in the rank with second-order fits; else projected gradient alone
  Start start = Start::kNothing;
  bool robust = true;      ///< entries that are gross errors are left out; else they are named only
  double noise_sigma = 0;  ///< > 0: standard deviation of a measurement's error is known
  NoiseModel noise_model = NoiseModel::kAuto;
  std::optional<std::pair<double, double>> range;  ///< in which all predictions are kept
  double holdout = 0;     ///< in (0, 1): share of the measurements that choose the rank
  bool shrinkage = true;  ///< ridge on the final fit of noisy data
  /// What is learned of noisy entries is stored in single precision; else where it is large.
  bool float32 = false;
  Recording record = Recording::kLog;
  std::uint64_t seed = 0;
  std::string device = "cpu";  ///< cpu, or cuda: the work of the operator is done there

  /// Throws InvalidArgument naming field and value.
  void validate() const;
  /// The gradient method alone is wanted: no walk in the rank, or a step of the caller's own.
  bool wants_gradient() const { return !rank_walk || step.has_value(); }
};
UDV_EXPORT void describe(OptionTable& table, RecoverOptions& options);

}  // namespace udv
