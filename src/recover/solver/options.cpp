// SPDX-License-Identifier: MIT
#include "udv/recover/solver/options.hpp"

#include <cmath>

#include "udv/core/error.hpp"
#include "udv/recover/factors/factorization.hpp"

namespace udv {
namespace {

void require_positive(const char* name, double value) {
  require(std::isfinite(value) && value > 0, name, " is ", value, ", a positive number expected");
}

}  // namespace

void RecoverOptions::validate() const {
  if (method != "auto") method_named(method);
  require(max_rank >= 0, "max_rank is ", max_rank, ", 0 or more expected");
  if (step) require_positive("step", *step);
  if (alpha) require_positive("alpha", *alpha);
  if (scale_rule == ScaleRule::kValue) require_positive("scale", scale_value);
  require_positive("init_norm", init_norm);
  require(max_iterations >= 0, "max_iterations is ", max_iterations, ", 0 or more expected");
  if (tolerance)
    require(std::isfinite(*tolerance) && *tolerance >= 0, "tolerance is ", *tolerance,
            ", 0 or more expected");
  require(std::isfinite(noise_sigma) && noise_sigma >= 0, "noise is ", noise_sigma,
          ", 0 or more expected");
  require(holdout >= 0 && holdout < 1, "holdout is ", holdout, ", a share in [0, 1) expected");
  require(!(holdout > 0 && noise_sigma > 0),
          "noise and holdout are two ways to choose the rank, "
          "one of them expected");
}

}  // namespace udv
