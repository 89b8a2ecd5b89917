// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

struct UpdateRule;

/// Constants of the update rules, with PyTorch's defaults.
struct OptimizerSettings {
  double weight_decay = 0;
  double momentum = 0.9;              ///< mbgdm
  double beta1 = 0.9, beta2 = 0.999;  ///< adam, nadam, adamw
  double epsilon = 1e-8;
  double momentum_decay = 4e-3;  ///< nadam
};

/// How often steps were made and what the rules keep from one to the next, each as long as the
/// parameters.
template <typename Real>
struct OptimizerState {
  Index steps = 0;
  double mu_product = 1;  ///< nadam
  std::vector<Vector<Real>> moments;
};

/// Parameters from `offset` on whose steps are `scale` times as long.
struct StepSegment {
  Index offset = 0, size = 0;
  double scale = 1;
};

/// An update rule, p <- p - step(gradient, state). What PyTorch 2 computes, in one pass.
///   mbgd   p -= lr g,                                     g = gradient + weight_decay p
///   mbgdm  m = momentum m + g,  p -= lr m                 (m = g at the first step)
///   adam   m, v = averages of g, g^2;  p -= lr m^ / (sqrt(v^) + epsilon)
///   nadam  the same with Nesterov's momentum and its warm-up
///   adamw  adam with p *= 1 - lr weight_decay instead of the decay in g
///   relative  adam with epsilon 1e-12, for steps measured by the size of what they change
template <typename Real>
class UDV_EXPORT Optimizer {
 public:
  /// Throws InvalidArgument that lists the known names.
  Optimizer(std::string_view name, OptimizerSettings settings);

  const std::string& name() const { return name_; }
  OptimizerState<Real> start(Index size) const;
  void step(double rate, const Vector<Real>& gradient, OptimizerState<Real>& state,
            Vector<Real>& parameters) const;
  /// The same with a scale for each segment, which together are all parameters. `squares`, where
  /// given, stands in place of the squares of the gradient in the second moments.
  void step(double rate, const Vector<Real>& gradient, const std::vector<StepSegment>& segments,
            const Vector<Real>* squares, OptimizerState<Real>& state,
            Vector<Real>& parameters) const;

 private:
  std::string name_;
  OptimizerSettings settings_;
  const UpdateRule* rule_;
};

/// "adam, nadam, ..."
UDV_EXPORT std::string optimizer_names();

}  // namespace udv::net
