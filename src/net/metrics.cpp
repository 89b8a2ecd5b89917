// SPDX-License-Identifier: MIT
#include "udv/net/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "udv/net/loss.hpp"

namespace udv::net {
namespace {

constexpr Index kMostConfused = 1000;  // classes whose confusions are counted

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

double root_mean_square(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value * value;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

// Both in the user's units.
void measure_values(const RowMatrix<double>& predicted, const RowMatrix<double>& truth,
                    Metrics& metrics) {
  for (Index k = 0; k < truth.cols(); ++k) {
    const Vector<double> y = truth.col(k);
    const Vector<double> error = predicted.col(k) - y;
    const double spread = (y.array() - y.mean()).square().sum();
    const auto n = static_cast<double>(std::max<Index>(1, y.size()));
    metrics.rmse.push_back(std::sqrt(error.squaredNorm() / n));
    metrics.mae.push_back(error.cwiseAbs().sum() / n);
    metrics.r2.push_back(spread > 0 ? 1 - error.squaredNorm() / spread
                                    : std::numeric_limits<double>::quiet_NaN());
  }
}

void measure_classes(const std::vector<Index>& right, const std::vector<Index>& predicted,
                     Metrics& metrics) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double recalls = 0, present = 0, all_right = 0;
  for (size_t k = 0; k < right.size(); ++k) {
    const auto hits = static_cast<double>(right[k]);
    const auto support = static_cast<double>(metrics.support[k]);
    metrics.recall.push_back(support > 0 ? hits / support : kNone);
    metrics.precision.push_back(predicted[k] > 0 ? hits / static_cast<double>(predicted[k])
                                                 : kNone);
    if (support > 0) recalls += hits / support, ++present;
    all_right += hits;
  }
  metrics.accuracy = all_right / static_cast<double>(std::max<Index>(1, metrics.rows));
  metrics.balanced_accuracy = present > 0 ? recalls / present : 0;
}

template <typename Real>
void count_classes(const RowMatrix<Real>& outputs, const Dataset<Real>& data, Metrics& metrics) {
  const auto classes = static_cast<size_t>(data.classes);
  std::vector<Index> right(classes, 0), predicted(classes, 0);
  metrics.support.assign(classes, 0);
  if (data.classes <= kMostConfused) metrics.confusion.setZero(data.classes, data.classes);
  for (Index i = 0; i < outputs.rows(); ++i) {
    Index best = 0;
    outputs.row(i).maxCoeff(&best);
    const Index label = data.labels[static_cast<size_t>(i)];
    ++metrics.support[static_cast<size_t>(label)];
    ++predicted[static_cast<size_t>(best)];
    if (best == label) ++right[static_cast<size_t>(label)];
    if (metrics.confusion.size() > 0) ++metrics.confusion(label, best);
  }
  measure_classes(right, predicted, metrics);
  RowMatrix<Real> slopes(outputs.rows(), outputs.cols());
  metrics.log_loss = cross_entropy<Real>(outputs, data.labels.data(), slopes);
}

}  // namespace

double Metrics::mean_rmse() const {
  return root_mean_square(rmse);
}
double Metrics::mean_mae() const {
  return mean(mae);
}
double Metrics::mean_r2() const {
  return mean(r2);
}
double Baseline::mean_rmse() const {
  return root_mean_square(rmse);
}
double Baseline::mean_mae() const {
  return mean(mae);
}

template <typename Real>
Metrics metrics_of(const RowMatrix<Real>& outputs, const Dataset<Real>& data,
                   const Preprocessing& how) {
  Metrics metrics;
  metrics.task = data.task;
  metrics.rows = data.size();
  if (data.task == Task::kRegression)
    measure_values(how.in_target_units(outputs), how.in_target_units(data.Y), metrics);
  else
    count_classes(outputs, data, metrics);
  return metrics;
}

template <typename Real>
Baseline baseline_of(const Dataset<Real>& training, const Dataset<Real>& test,
                     const Preprocessing& how) {
  Baseline baseline;
  if (training.task == Task::kRegression) {
    RowMatrix<double> constant(test.size(), training.Y.cols());
    constant.rowwise() = how.in_target_units(training.Y).colwise().mean();
    Metrics metrics;
    measure_values(constant, how.in_target_units(test.Y), metrics);
    baseline.rmse = metrics.rmse;
    baseline.mae = metrics.mae;
    return baseline;
  }
  std::vector<Index> counts(static_cast<size_t>(training.classes), 0);
  for (const std::int32_t label : training.labels) ++counts[static_cast<size_t>(label)];
  baseline.label = std::max_element(counts.begin(), counts.end()) - counts.begin();
  const auto hits =
      std::count(test.labels.begin(), test.labels.end(), static_cast<std::int32_t>(baseline.label));
  baseline.accuracy =
      static_cast<double>(hits) / static_cast<double>(std::max<Index>(1, test.size()));
  return baseline;
}

bool is_better_than(const Metrics& metrics, const Baseline& baseline) {
  return metrics.task == Task::kRegression ? metrics.mean_rmse() < baseline.mean_rmse()
                                           : metrics.accuracy > baseline.accuracy;
}

#define UDV_INSTANTIATE(Real)                                                                      \
  template Metrics metrics_of(const RowMatrix<Real>&, const Dataset<Real>&, const Preprocessing&); \
  template Baseline baseline_of(const Dataset<Real>&, const Dataset<Real>&, const Preprocessing&);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
