// SPDX-License-Identifier: MIT
#include "udv/deep/optimizer.hpp"

#include <algorithm>
#include <cmath>

#include "core/require.hpp"
#include "net/update_rule.hpp"
#include "udv/deep/udv_linear.hpp"

namespace udv::deep {
namespace {

using torch::Tensor;
using Tensors = std::vector<Tensor>;

constexpr double kRelativeEpsilon = 1e-12;  // gradients may be small, whatever the loss is
constexpr double kLargestRelativeRate = 0.3;

bool is_half(const Tensor& values) {
  return values.scalar_type() == torch::kBFloat16 || values.scalar_type() == torch::kFloat16;
}

// Gradients have the strides of the convolution that made them, which need not be the weights'.
Tensor like_master(const Tensor& gradient, const Tensor& master) {
  if (gradient.scalar_type() == master.scalar_type() && gradient.strides() == master.strides())
    return gradient;
  return torch::empty_like(master).copy_(gradient);
}

// The averages m and v of g and g^2; returns inverse_root sqrt(v) + epsilon.
Tensors average(const net::Coefficients& c, Tensors& g, Tensors& m, Tensors& v) {
  at::_foreach_mul_(m, c.keep1);
  at::_foreach_add_(m, g, c.add1);
  at::_foreach_mul_(v, c.keep2);
  at::_foreach_addcmul_(v, g, g, c.add2);
  Tensors denominator = at::_foreach_sqrt(v);
  at::_foreach_mul_(denominator, c.inverse_root);
  at::_foreach_add_(denominator, c.epsilon);
  return denominator;
}

// p -= step; the formulas stand at net::Coefficients. Gradients are changed where there is decay.
void update(const net::Coefficients& c, Tensors& p, Tensors& g, Tensors& m, Tensors& v,
            size_t moments) {
  if (c.shrink != 1) at::_foreach_mul_(p, c.shrink);
  if (c.decay != 0) at::_foreach_add_(g, p, c.decay);
  if (moments == 0) return at::_foreach_add_(p, g, -c.rate);
  if (moments == 1) {
    at::_foreach_mul_(m, c.keep1);
    at::_foreach_add_(m, g, c.add1);
    return at::_foreach_add_(p, m, -c.rate);
  }
  const Tensors denominator = average(c, g, m, v);
  at::_foreach_addcdiv_(p, m, denominator, -c.on_moment);
  if (c.on_gradient != 0) at::_foreach_addcdiv_(p, g, denominator, -c.on_gradient);
}

// The part of the unit step d = m^ / (sqrt(v^) + epsilon) that each parameter takes.
struct Rates {
  double relative, plain;

  double of(const StepMeasure& measure) const {
    return measure.kind == StepMeasure::kEntries ? relative / std::sqrt(measure.entries) : plain;
  }
};

// c is that of the rate 1.
void update_relative(const net::Coefficients& c, const std::vector<StepMeasure>& measures,
                     const Rates& rates, Tensors& p, Tensors& g, Tensors& m, Tensors& v) {
  if (c.decay != 0) at::_foreach_add_(g, p, c.decay);
  const Tensors denominator = average(c, g, m, v);
  Tensors all, moments, divisors;
  std::vector<at::Scalar> factors;
  for (size_t i = 0; i < p.size(); ++i) {
    if (measures[i].kind == StepMeasure::kMean) {
      const Tensor d = m[i] / denominator[i];
      p[i].addcmul_(d, p[i].abs().mean(), -c.on_moment * rates.relative);
      continue;
    }
    all.push_back(p[i]);
    moments.push_back(m[i]);
    divisors.push_back(denominator[i]);
    factors.emplace_back(-c.on_moment * rates.of(measures[i]));
  }
  if (!all.empty()) at::_foreach_addcdiv_(all, moments, divisors, factors);
}

}  // namespace

Optimizer::Optimizer(Tensors parameters, const std::string& name,
                     const net::OptimizerSettings& settings, std::vector<StepMeasure> measures)
    : parameters_(std::move(parameters)),
      name_(name == "relative" ? "adam" : name),
      settings_(settings),
      measures_(std::move(measures)) {
  if (name == "relative") {
    settings_.epsilon = kRelativeEpsilon;
    if (measures_.empty()) measures_.resize(parameters_.size());
  }
  require(measures_.empty() || (name == "relative" && measures_.size() == parameters_.size()),
          "optimizer: ", measures_.size(), " measures for ", parameters_.size(),
          " parameters found, as many expected, and the name relative");
  moments_.resize(net::update_rule_named(name_).moments);
  for (const Tensor& values : parameters_) {
    copies_.push_back(is_half(values) ? values.detach().to(torch::kFloat32) : Tensor());
    for (Tensors& moment : moments_)
      moment.push_back(torch::zeros_like(master(copies_.size() - 1)));
  }
}

// Not kept for parameters of full precision: a projector may give them other memory.
Tensor Optimizer::master(size_t i) const {
  return copies_[i].defined() ? copies_[i] : parameters_[i].detach();
}

void Optimizer::step(double rate, double plain_rate) {
  torch::NoGradGuard no_grad;
  const net::UpdateRule& rule = net::update_rule_named(name_);
  const bool relative = !measures_.empty();
  const net::Coefficients c = rule.prepare(settings_, relative ? 1 : rate, ++steps_, mu_product_);
  Tensors p, g, m, v;
  std::vector<StepMeasure> measures;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& gradient = parameters_[i].grad();
    if (!gradient.defined()) continue;
    p.push_back(master(i));
    g.push_back(like_master(gradient, p.back()));
    if (rule.moments > 0) m.push_back(moments_[0][i]);
    if (rule.moments > 1) v.push_back(moments_[1][i]);
    if (relative) measures.push_back(measures_[i]);
  }
  if (p.empty()) return;
  if (relative)
    update_relative(c, measures, {rate, plain_rate}, p, g, m, v);
  else
    update(c, p, g, m, v, rule.moments);
  publish();
}

void Optimizer::publish() {
  torch::NoGradGuard no_grad;
  for (size_t i = 0; i < parameters_.size(); ++i)
    if (copies_[i].defined()) parameters_[i].detach().copy_(copies_[i]);
}

void Optimizer::zero_grad() {
  for (Tensor& values : parameters_) values.mutable_grad() = Tensor();
}

void Optimizer::clip_gradients(double limit) {
  torch::NoGradGuard no_grad;
  Tensors gradients, norms;
  for (const Tensor& values : parameters_)
    if (values.grad().defined()) gradients.push_back(values.grad());
  if (gradients.empty()) return;
  for (const Tensor& gradient : gradients)
    norms.push_back(
        at::linalg_vector_norm(gradient, 2, at::OptionalIntArrayRef(), false, torch::kFloat32));
  const Tensor excess = (torch::stack(norms).norm() / limit).clamp_min(1);
  for (Tensor& gradient : gradients) gradient.div_(excess.to(gradient.scalar_type()));
}

Tensors Optimizer::state() const {
  Tensors all{torch::tensor({static_cast<double>(steps_), mu_product_}, torch::kFloat64)};
  for (size_t i = 0; i < parameters_.size(); ++i) all.push_back(master(i));
  for (const Tensors& moment : moments_) all.insert(all.end(), moment.begin(), moment.end());
  return all;
}

void Optimizer::load_state(const Tensors& state) {
  torch::NoGradGuard no_grad;
  const size_t count = parameters_.size();
  require(state.size() == 1 + count * (1 + moments_.size()) && state[0].numel() == 2,
          "checkpoint: ", state.size(), " arrays of the optimizer found, ",
          1 + count * (1 + moments_.size()), " expected");
  const auto load = [&](const Tensor& from, Tensor to) {
    require(from.sizes() == to.sizes(), "checkpoint: an array of another shape found");
    to.copy_(from);
  };
  size_t at = 1;
  for (size_t i = 0; i < count; ++i) load(state[at++], master(i));
  for (Tensors& moment : moments_)
    for (Tensor& values : moment) load(state[at++], values);
  const Tensor numbers = state[0].to(torch::kCPU, torch::kFloat64);
  steps_ = static_cast<Index>(numbers[0].item<double>());
  mu_product_ = numbers[1].item<double>();
  publish();
}

double relative_rate(double factor, Index steps) {
  return std::min(kLargestRelativeRate, factor / std::sqrt(static_cast<double>(steps)));
}

std::vector<StepMeasure> step_measures(const UDVLinearImpl& block) {
  std::vector<StepMeasure> measures;
  for (const UDVLinearImpl::Array& array : block.arrays()) {
    const net::ParameterBlock& b = array.block;
    StepMeasure measure;
    if (b.kind == net::LayerKind::kDiagonal) measure.kind = StepMeasure::kMean;
    if (net::is_ball(b.constraint)) {
      const bool neurons = b.constraint == net::Constraint::kNeuronBalls;
      const Index balls = !neurons ? 1 : b.neurons == net::Neurons::kRows ? b.rows : b.cols;
      measure = {StepMeasure::kEntries, static_cast<double>(b.size() / balls)};
    }
    measures.push_back(measure);
  }
  return measures;
}

}  // namespace udv::deep
