// SPDX-License-Identifier: MIT
#include "udv/net/prune_curve.hpp"

#include <cmath>

#include "udv/net/loss.hpp"

namespace udv::net {

template <typename Real>
std::vector<CurvePoint> prune_curve(const Pruning<Real>& pruning, const Dataset<Real>& data,
                                    const ValuesError& error) {
  std::vector<CurvePoint> curve;
  std::vector<double> errors;
  const bool classes = data.task == Task::kClassification;
  const RowMatrix<double> Y = data.Y.template cast<double>();
  RowMatrix<double> slopes;
  pruning.for_each_rank(data.X, [&](Index neurons, const RowMatrix<double>& outputs) {
    slopes.resize(outputs.rows(), outputs.cols());
    CurvePoint point;
    point.neurons = neurons;
    point.loss = classes ? cross_entropy<double>(outputs, data.labels.data(), slopes)
                         : mean_squared_error<double>(outputs, Y, slopes);
    if (classes)
      point.accuracy = static_cast<double>(num_correct<double>(outputs, data.labels.data())) /
                       static_cast<double>(data.size());
    errors.push_back(classes ? -point.accuracy : error ? error(outputs) : point.loss);
    curve.push_back(point);
  });
  const double whole = errors.back();
  for (size_t r = 0; r < curve.size(); ++r)
    curve[r].relative_change = (errors[r] - whole) / std::abs(whole);
  return curve;
}

Index smallest_within(const std::vector<CurvePoint>& curve, double limit) {
  auto r = static_cast<Index>(curve.size()) - 1;
  while (r > 1 && curve[static_cast<size_t>(r - 1)].relative_change <= limit) --r;
  return r;
}

template std::vector<CurvePoint> prune_curve(const Pruning<float>&, const Dataset<float>&,
                                             const ValuesError&);
template std::vector<CurvePoint> prune_curve(const Pruning<double>&, const Dataset<double>&,
                                             const ValuesError&);

}  // namespace udv::net
