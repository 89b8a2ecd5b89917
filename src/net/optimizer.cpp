// SPDX-License-Identifier: MIT
#include "udv/net/optimizer.hpp"

#include <cmath>

#include "net/named_entries.hpp"
#include "udv/core/parallel.hpp"

namespace udv::net {
namespace {

constexpr Index kBlock = 1 << 15, kPiece = 512;  // a piece of all arrays stays in the near cache

// What does not depend on the entry: powers of the betas, products with the rate.
struct Coefficients {
  double rate = 0, decay = 0, shrink = 1;
  double keep1 = 0, add1 = 0, keep2 = 0, add2 = 0;  // m = keep1 m + add1 g, v = keep2 v + add2 g^2
  double on_moment = 0, on_gradient = 0;            // p -= (on_moment m + on_gradient g) / denom
  double inverse_root = 1, epsilon = 0;             // denom = inverse_root sqrt(v) + epsilon
};

template <typename Real>
using Piece = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>;

struct Rule {
  std::string_view name;
  size_t moments;
  Coefficients (*prepare)(const OptimizerSettings&, double rate, Index step, double& mu_product);
};

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

constexpr Rule kRules[] = {{"adam", 2, adam},
                           {"nadam", 2, nadam},
                           {"mbgd", 0, plain},
                           {"mbgdm", 1, momentum},
                           {"adamw", 2, adamw}};

// p - step of one piece; g is scratch that holds the gradient. moments: 0, 1 (m) or 2 (m, v).
template <typename Real>
void update(const Coefficients& c, size_t moments, Piece<Real> g, Real* m_data, Real* v_data,
            Piece<Real> p) {
  const auto real = [](double value) { return static_cast<Real>(value); };
  if (c.shrink != 1) p *= real(c.shrink);
  if (c.decay != 0) g += real(c.decay) * p;
  if (moments == 0) {
    p -= real(c.rate) * g;
    return;
  }
  Piece<Real> m(m_data, g.size());
  m = real(c.keep1) * m + real(c.add1) * g;
  if (moments == 1) {
    p -= real(c.rate) * m;
    return;
  }
  Piece<Real> v(v_data, g.size());
  v = real(c.keep2) * v + real(c.add2) * g.square();
  const auto denominator = v.sqrt() * real(c.inverse_root) + real(c.epsilon);
  if (c.on_gradient == 0)
    p -= real(c.on_moment) * m / denominator;
  else
    p -= (real(c.on_moment) * m + real(c.on_gradient) * g) / denominator;
}

}  // namespace

std::string optimizer_names() {
  return names_of(kRules);
}

template <typename Real>
Optimizer<Real>::Optimizer(std::string_view name, OptimizerSettings settings)
    : name_(name), settings_(settings) {
  rule_ = static_cast<size_t>(&entry_named("optimizer", kRules, name) - kRules);
}

template <typename Real>
OptimizerState<Real> Optimizer<Real>::start(Index size) const {
  OptimizerState<Real> state;
  state.moments.assign(kRules[rule_].moments, Vector<Real>::Zero(size));
  return state;
}

template <typename Real>
void Optimizer<Real>::step(double rate, const Vector<Real>& gradient, OptimizerState<Real>& state,
                           Vector<Real>& parameters) const {
  const Rule& rule = kRules[rule_];
  const Coefficients c = rule.prepare(settings_, rate, ++state.steps, state.mu_product);
  const auto moment = [&](size_t k, Index at) {
    return k < rule.moments ? state.moments[k].data() + at : nullptr;
  };
  parallel_blocks(parameters.size(), kBlock, [&](Index begin, Index end) {
    alignas(64) Real scratch[kPiece];
    for (Index at = begin; at < end; at += kPiece) {
      const Index size = std::min(kPiece, end - at);
      Piece<Real> g(scratch, size);
      g = gradient.segment(at, size).array();
      update<Real>(c, rule.moments, g, moment(0, at), moment(1, at),
                   Piece<Real>(parameters.data() + at, size));
    }
  });
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace udv::net
