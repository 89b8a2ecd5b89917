// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include "udv/core/export.hpp"
#include "udv/net/optimizer.hpp"

namespace udv::net {

/// What does not depend on the entry: powers of the betas, products with the rate. With g the
/// gradient, p *= shrink, g += decay p, then by the number of moments
///   0  p -= rate g
///   1  m = keep1 m + add1 g,  p -= rate m
///   2  m as above, v = keep2 v + add2 g^2,
///      p -= (on_moment m + on_gradient g) / (inverse_root sqrt(v) + epsilon)
struct Coefficients {
  double rate = 0, decay = 0, shrink = 1;
  double keep1 = 0, add1 = 0, keep2 = 0, add2 = 0;
  double on_moment = 0, on_gradient = 0;
  double inverse_root = 1, epsilon = 0;
};

struct UDV_EXPORT UpdateRule {
  std::string_view name;
  size_t moments;
  /// Of step number `step`, counted from 1; nadam keeps a product in `mu_product`.
  Coefficients (*prepare)(const OptimizerSettings&, double rate, Index step, double& mu_product);
};

/// Throws InvalidArgument that lists the known names.
UDV_EXPORT const UpdateRule& update_rule_named(std::string_view name);

}  // namespace udv::net
