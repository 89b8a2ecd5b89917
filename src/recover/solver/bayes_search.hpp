// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/archive.hpp"
#include "recover/solver/bayes.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/solver/options.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// What a search may start from; either may be missing.
struct BayesStart {
  std::optional<StackedFactors<double>> fit;  ///< least squares without biases
  struct Model {
    StackedFactors<double> Z;
    Centering center = Centering::kNone;
    Biases biases;
  };
  std::optional<Model> model;  ///< an earlier answer, instead of leading directions
};

struct BayesSearchOptions {
  Centering center = Centering::kAuto;
  NoiseModel noise_model = NoiseModel::kAuto;
  Index max_rank = 0;      ///< 0: as many as the data may determine
  double noise_sigma = 0;  ///< > 0: known
  double tolerance = 1e-5;
  bool float32 = false;  ///< posteriors are stored as floats; else where they are large
  std::uint64_t seed = 0;
  /// Asked after each sweep with the standard deviation of the noise; false ends the search.
  /// `write` writes all that the same search needs to go on after this sweep with the same bits,
  /// whatever the number of threads and processes.
  std::function<bool(double sigma, const WriteState& write)> go_on;
  /// What a search like this one has written; emptied when it is read. Throws InvalidArgument where
  /// it is not the state of a search of such a matrix.
  std::string* resume = nullptr;
};

template <typename Real>
struct BayesSearch {
  BayesFit<Real> fit;  ///< the model with the largest bound
  std::vector<ModelTrial> trials;
  bool stopped = false;
};

/// Variational Bayes with the biases and the number of columns that the evidence bound prefers.
template <typename Real>
UDV_EXPORT BayesSearch<Real> bayes_search(const EntriesOperator<double>& op,
                                          const Vector<double>& b, const BayesStart& start,
                                          const BayesSearchOptions& options);

}  // namespace udv
