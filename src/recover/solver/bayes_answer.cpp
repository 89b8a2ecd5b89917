// SPDX-License-Identifier: MIT
#include "recover/solver/bayes_answer.hpp"

#include <cmath>

namespace udv {
namespace {

constexpr Index kMostDoubles = 8'000'000;  // of all records
constexpr Index kUsualWidth = 11;

template <typename Real>
Posterior::Side compact(const BayesSide<Real>& side) {
  return {side.lines, side.width, {side.records.begin(), side.records.end()}};
}

template <typename Real>
BayesAnswer answer_of(const BayesSearch<Real>& found) {
  const BayesFit<Real>& fit = found.fit;
  BayesAnswer answer;
  answer.Z = fit.factors();
  answer.center = fit.center();
  answer.biases = fit.biases();
  answer.sigma = std::sqrt(fit.variance());
  answer.bound = fit.bound();
  answer.sweeps = fit.sweeps();
  answer.trials = found.trials;
  answer.stopped = found.stopped;
  answer.posterior = std::make_shared<Posterior>(compact(fit.rows()), compact(fit.cols()),
                                                 Posterior::Noise{fit.variance(), {}, {}, 0});
  return answer;
}

}  // namespace

BayesAnswer bayes_answer(const EntriesOperator<double>& op, const Vector<double>& b,
                         const std::optional<StackedFactors<double>>& start,
                         const BayesSearchOptions& options) {
  const Index numbers = (op.rows() + op.cols()) * BayesSide<double>::record_size(kUsualWidth);
  return numbers > kMostDoubles ? answer_of(bayes_search<float>(op, b, start, options))
                                : answer_of(bayes_search<double>(op, b, start, options));
}

}  // namespace udv
