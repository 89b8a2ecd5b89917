// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "recover/solver/bayes_search.hpp"
#include "udv/recover/posterior.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What variational Bayes has found, without its solver.
struct BayesAnswer {
  StackedFactors<double> Z;
  Centering center = Centering::kNone;
  Biases biases;
  NoiseKind noise = NoiseKind::kEqual;
  double sigma = 0, bound = 0;
  double largest_residual = 0;   ///< in standard deviations of the noise of its entry
  double share_beyond_half = 0;  ///< of the residuals: half a standard deviation and more
  Index sweeps = 0;
  std::vector<ModelTrial> trials;
  std::shared_ptr<const Posterior> posterior;
  bool stopped = false;
};

/// bayes_search() in the precision that the size asks for: posteriors are stored as doubles up to
/// 64 MB, else as floats. `known_noise`: the weights of the operator stand for noise of this kind,
/// which new observations have, too.
UDV_EXPORT BayesAnswer bayes_answer(const EntriesOperator<double>& op, const Vector<double>& b,
                                    const BayesStart& start, const BayesSearchOptions& options,
                                    NoiseKind known_noise = NoiseKind::kEqual);

}  // namespace udv
