// SPDX-License-Identifier: MIT
#include "net/update_rule.hpp"

#include <cmath>

#include "net/named_entries.hpp"

namespace udv::net {
namespace {

Coefficients plain(const OptimizerSettings& s, double rate, Index, double&) {
  Coefficients c;
  c.rate = rate;
  c.decay = s.weight_decay;
  return c;
}

Coefficients momentum(const OptimizerSettings& s, double rate, Index, double&) {
  Coefficients c;
  c.rate = rate;
  c.decay = s.weight_decay;
  c.keep1 = s.momentum;  // the moment starts at zero, so the first one is the gradient itself
  c.add1 = 1;
  return c;
}

Coefficients averages(const OptimizerSettings& s, Index step) {
  Coefficients c;
  c.keep1 = s.beta1;
  c.add1 = 1 - s.beta1;
  c.keep2 = s.beta2;
  c.add2 = 1 - s.beta2;
  c.inverse_root = 1 / std::sqrt(1 - std::pow(s.beta2, static_cast<double>(step)));
  c.epsilon = s.epsilon;
  return c;
}

Coefficients adam(const OptimizerSettings& s, double rate, Index step, double&) {
  Coefficients c = averages(s, step);
  c.decay = s.weight_decay;
  c.on_moment = rate / (1 - std::pow(s.beta1, static_cast<double>(step)));
  return c;
}

// adam whose step is measured by the size of the parameters: see relative_steps.hpp.
Coefficients relative(const OptimizerSettings& s, double rate, Index step, double& mu_product) {
  Coefficients c = adam(s, rate, step, mu_product);
  c.epsilon = 1e-12;  // gradients may be small, whatever the data are measured in
  return c;
}

Coefficients adamw(const OptimizerSettings& s, double rate, Index step, double& mu_product) {
  Coefficients c = adam(s, rate, step, mu_product);
  c.decay = 0;
  c.shrink = 1 - rate * s.weight_decay;
  return c;
}

// mu_t = beta1 (1 - 0.96^(t psi) / 2)
Coefficients nadam(const OptimizerSettings& s, double rate, Index step, double& mu_product) {
  const auto mu_at = [&](Index t) {
    return s.beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * s.momentum_decay));
  };
  const double mu = mu_at(step), mu_next = mu_at(step + 1);
  mu_product *= mu;
  Coefficients c = averages(s, step);
  c.decay = s.weight_decay;
  c.on_gradient = rate * (1 - mu) / (1 - mu_product);
  c.on_moment = rate * mu_next / (1 - mu_product * mu_next);
  return c;
}

constexpr UpdateRule kRules[] = {{"relative", 2, relative}, {"adam", 2, adam},
                                 {"nadam", 2, nadam},       {"mbgd", 0, plain},
                                 {"mbgdm", 1, momentum},    {"adamw", 2, adamw}};

}  // namespace

const UpdateRule& update_rule_named(std::string_view name) {
  return entry_named("optimizer", kRules, name);
}

std::string optimizer_names() {
  return names_of(kRules);
}

}  // namespace udv::net
