// SPDX-License-Identifier: MIT
#include "udv/net/optimizer.hpp"

#include "net/update_rule.hpp"
#include "udv/core/parallel.hpp"

namespace udv::net {
namespace {

constexpr Index kBlock = 1 << 15, kPiece = 512;  // a piece of all arrays stays in the near cache

template <typename Real>
using Piece = Eigen::Map<Eigen::Array<Real, Eigen::Dynamic, 1>>;

// p - step of one piece; g is scratch that holds the gradient, `squares` the squares for v or
// nothing. moments: 0, 1 (m) or 2 (m, v).
template <typename Real>
void update(const Coefficients& c, size_t moments, Piece<Real> g, const Real* squares, Real* m_data,
            Real* v_data, Piece<Real> p) {
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
  if (squares == nullptr)
    v = real(c.keep2) * v + real(c.add2) * g.square();
  else
    v = real(c.keep2) * v +
        real(c.add2) * Eigen::Map<const Eigen::Array<Real, Eigen::Dynamic, 1>>(squares, g.size());
  const auto denominator = v.sqrt() * real(c.inverse_root) + real(c.epsilon);
  if (c.on_gradient == 0)
    p -= real(c.on_moment) * m / denominator;
  else
    p -= (real(c.on_moment) * m + real(c.on_gradient) * g) / denominator;
}

}  // namespace

template <typename Real>
Optimizer<Real>::Optimizer(std::string_view name, OptimizerSettings settings)
    : name_(name), settings_(settings), rule_(&update_rule_named(name)) {}

template <typename Real>
OptimizerState<Real> Optimizer<Real>::start(Index size) const {
  OptimizerState<Real> state;
  state.moments.assign(rule_->moments, Vector<Real>::Zero(size));
  return state;
}

template <typename Real>
void Optimizer<Real>::step(double rate, const Vector<Real>& gradient, OptimizerState<Real>& state,
                           Vector<Real>& parameters) const {
  step(rate, gradient, {{0, parameters.size(), 1}}, nullptr, state, parameters);
}

template <typename Real>
void Optimizer<Real>::step(double rate, const Vector<Real>& gradient,
                           const std::vector<StepSegment>& segments, const Vector<Real>* squares,
                           OptimizerState<Real>& state, Vector<Real>& parameters) const {
  const UpdateRule& rule = *rule_;
  const Coefficients plain = rule.prepare(settings_, rate, ++state.steps, state.mu_product);
  const auto moment = [&](size_t k, Index at) {
    return k < rule.moments ? state.moments[k].data() + at : nullptr;
  };
  for (const StepSegment& segment : segments) {
    Coefficients c = plain;
    c.rate *= segment.scale;
    c.on_moment *= segment.scale;
    c.on_gradient *= segment.scale;
    parallel_blocks(segment.size, kBlock, [&](Index begin, Index end) {
      alignas(64) Real scratch[kPiece];
      for (Index at = segment.offset + begin; at < segment.offset + end; at += kPiece) {
        const Index size = std::min(kPiece, segment.offset + end - at);
        Piece<Real> g(scratch, size);
        g = gradient.segment(at, size).array();
        update<Real>(c, rule.moments, g, squares ? squares->data() + at : nullptr, moment(0, at),
                     moment(1, at), Piece<Real>(parameters.data() + at, size));
      }
    });
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace udv::net
