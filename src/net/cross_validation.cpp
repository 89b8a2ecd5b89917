// SPDX-License-Identifier: MIT
#include "net/cross_validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "udv/core/random.hpp"

namespace udv::net {
namespace {

// Folds of every row: classes in turn, so that each fold has its share of them.
template <typename Real>
std::vector<Index> folds_of(const Dataset<Real>& data, std::uint64_t seed) {
  std::vector<Index> order = Random(seed, kStreamSplit).permutation(data.size());
  if (data.task == Task::kClassification)
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return data.labels[static_cast<size_t>(a)] < data.labels[static_cast<size_t>(b)];
    });
  std::vector<Index> folds(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    folds[static_cast<size_t>(order[i])] = static_cast<Index>(i) % kFolds;
  return folds;
}

struct Curve {
  double sum = 0;
  Index folds = 0;
};

}  // namespace

template <typename Real>
Dataset<Real> joined(const Dataset<Real>& a, const Dataset<Real>& b) {
  Dataset<Real> all = a;
  all.X.conservativeResize(a.size() + b.size(), Eigen::NoChange);
  all.X.bottomRows(b.size()) = b.X;
  if (a.task == Task::kRegression) {
    all.Y.conservativeResize(a.size() + b.size(), Eigen::NoChange);
    all.Y.bottomRows(b.size()) = b.Y;
  }
  all.labels.insert(all.labels.end(), b.labels.begin(), b.labels.end());
  return all;
}

template <typename Real>
void for_each_fold(const Dataset<Real>& data, std::uint64_t seed, const FoldVisit<Real>& visit) {
  const std::vector<Index> folds = folds_of(data, seed);
  for (Index fold = 0; fold < kFolds; ++fold) {
    std::vector<Index> inside, outside;
    for (Index row = 0; row < data.size(); ++row)
      (folds[static_cast<size_t>(row)] == fold ? outside : inside).push_back(row);
    visit(data.subset(inside), data.subset(outside));
  }
}

template <typename Real>
CrossValidation cross_validate(const Dataset<Real>& training, const TrainOptions& options,
                               const FoldRun<Real>& run) {
  std::map<Index, Curve> curve;  // by step
  double log_temperature = 0;
  const FoldVisit<Real> visit = [&](const Dataset<Real>& part, const Dataset<Real>& held_out) {
    TrainOptions how = options;
    how.batch = std::min(how.batch, part.size());
    const TrainResult<Real> result = run(part, held_out, how);
    log_temperature += std::log(result.temperature) / static_cast<double>(kFolds);
    for (const EpochRecord& record : result.history) {
      Score score;
      score.loss = record.validation_loss;
      score.accuracy = score.balanced = record.validation_accuracy;
      score.mae = record.validation_loss;
      Curve& at = curve[record.step];
      at.sum +=
          static_cast<double>(held_out.size()) * objective_of(score, options.metric, training.task);
      ++at.folds;
    }
  };
  for_each_fold(training, options.seed, visit);
  CrossValidation found{kFolds, options.max_steps, std::exp(log_temperature)};
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [step, at] : curve)
    if (at.folds == kFolds && at.sum <= best) {
      best = at.sum;
      found.steps = step;
    }
  return found;
}

template Dataset<float> joined(const Dataset<float>&, const Dataset<float>&);
template Dataset<double> joined(const Dataset<double>&, const Dataset<double>&);
template void for_each_fold(const Dataset<float>&, std::uint64_t, const FoldVisit<float>&);
template void for_each_fold(const Dataset<double>&, std::uint64_t, const FoldVisit<double>&);
template CrossValidation cross_validate(const Dataset<float>&, const TrainOptions&,
                                        const FoldRun<float>&);
template CrossValidation cross_validate(const Dataset<double>&, const TrainOptions&,
                                        const FoldRun<double>&);

}  // namespace udv::net
