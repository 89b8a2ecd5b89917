// SPDX-License-Identifier: MIT
#include "udv/net/choose_head.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/require.hpp"
#include "net/cross_validation.hpp"
#include "net/training_journal.hpp"
#include "udv/core/parallel.hpp"
#include "udv/net/metrics.hpp"

namespace udv::net {
namespace {

constexpr Index kRaceSteps = 1000;
constexpr Index kRaceWidth = 64;        // a linear head needs no more neurons than outputs
constexpr double kFewerLosses = 0.9;    // a linear head has to be better by a tenth
constexpr double kFewerCrossed = 0.95;  // in cross-validation ReLU has to be better by a twentieth
constexpr Index kFewValidationRows = 50;
constexpr double kFewerMistakes = 1.5;  // rows of the validation part

// z of z / sqrt(1 + (z / clip)^2) = y.
template <typename Real>
RowMatrix<Real> unclipped(const RowMatrix<Real>& X, const Vector<double>& clip) {
  RowMatrix<Real> Z = X;
  for (Index j = 0; j < X.cols(); ++j) {
    if (!(clip(j) > 0)) continue;
    for (Index i = 0; i < X.rows(); ++i) {
      const double y = static_cast<double>(X(i, j)), share = y / clip(j);
      Z(i, j) = static_cast<Real>(y / std::sqrt(std::max(1 - share * share, 1e-12)));
    }
  }
  return Z;
}

template <typename Real>
std::vector<Dataset<Real>*> parts_of(PreparedData<Real>& data) {
  return {&data.training, &data.validation, &data.test};
}

// Features that are no longer clipped.
template <typename Real>
void unclip(PreparedData<Real>& data) {
  for (Dataset<Real>* part : parts_of(data))
    part->X = unclipped(part->X, data.preprocessing.features.clip);
  data.preprocessing.features.clip.resize(0);
}

// Targets that are bent, or not.
template <typename Real>
void bend_targets(PreparedData<Real>& data) {
  Preprocessing& how = data.preprocessing;
  const ColumnTransform bent = fit_targets("standard", true, how.in_target_units(data.training.Y));
  for (Dataset<Real>* part : parts_of(data)) {
    RowMatrix<double> Y = how.in_target_units(part->Y);
    apply(bent, Y);
    part->Y = Y.cast<Real>();
  }
  how.targets = bent;
}

// Third moment of the standardised values.
double skewness(const Vector<double>& y) {
  const Vector<double> z = y.array() - y.mean();
  const double deviation = std::sqrt(z.squaredNorm() / static_cast<double>(z.size()));
  return deviation > 0 ? (z / deviation).array().cube().mean() : 0;
}

template <typename Real>
bool may_bend(const PreparedData<Real>& data) {
  if (!data.may_bend || data.training.task != Task::kRegression || data.training.Y.cols() != 1)
    return false;
  const Vector<double> y = data.preprocessing.in_target_units(data.training.Y).col(0);
  return y.minCoeff() > 0 && skewness(y) > kLeastSkewness;
}

template <typename Real>
bool is_wide(const PreparedData<Real>& data) {
  return data.training.X.cols() > data.training.size();
}

// Are five folds worth their time?
template <typename Real>
bool is_crossed(const PreparedData<Real>& data) {
  return data.training.task == Task::kRegression && !is_wide(data) &&
         data.training.size() + data.validation.size() <= kMostCrossRows;
}

// One way to train: the variant and its data.
template <typename Real>
struct HeadCandidate {
  std::string variant;
  bool bent;
  const PreparedData<Real>* data;
  double objective = 0;  ///< the smaller the better
  Index steps = 0;       ///< after which the folds together were best; 0: not crossed
};

// The objective on the validation part, of values in the user's units.
template <typename Real>
double objective_in_units(const Network<Real>& network, const Dataset<Real>& validation,
                          const Preprocessing& how, const TrainOptions& options) {
  if (validation.task == Task::kClassification || how.targets.factor.size() == 0)
    return objective_of(evaluate(network, validation), options.metric, validation.task);
  const Metrics metrics = metrics_of(predict<Real>(network, validation.X), validation, how);
  return options.metric == "mae" ? metrics.mean_mae() : std::pow(metrics.mean_rmse(), 2);
}

// Takes a training and gives what it found, or had found earlier.
template <typename Real>
using RaceRun =
    std::function<TrainResult<Real>(const typename TrainingJournal<Real>::Training& training)>;

// The objective after a race, and the validation losses at its looks added to `curve`.
template <typename Real>
double objective_after_race(const Dataset<Real>& training, const Dataset<Real>& validation,
                            const Preprocessing& how, TrainOptions options,
                            const RaceRun<Real>& run, std::map<Index, double>& curve) {
  options.max_steps = kRaceSteps;
  const TrainResult<Real> result = run([&](const TrainHooks<Real>& hooks) {
    return train(training, validation, validation, options, hooks);
  });
  for (const EpochRecord& record : result.history)
    curve[record.step] += static_cast<double>(validation.size()) * record.validation_loss;
  return result.stop == TrainStop::kDiverged
             ? std::numeric_limits<double>::infinity()
             : objective_in_units(result.network, validation, how, options);
}

template <typename Real>
void race(HeadCandidate<Real>& candidate, TrainOptions options, const std::string& name,
          TrainingJournal<Real>& journal) {
  const PreparedData<Real>& data = *candidate.data;
  options.variant = candidate.variant;
  if (!variant_named(candidate.variant).has(LayerKind::kRelu)) {
    options.hidden = options.hidden > 0 ? options.hidden : kRaceWidth;
    options.deeper.clear();
  }
  std::map<Index, double> curve;
  Index trainings = 0;
  const RaceRun<Real> part = [&](const auto& training) {
    return journal.part(message(name, ", training ", ++trainings), training);
  };
  const auto run = [&](const Dataset<Real>& inside, const Dataset<Real>& outside) {
    return objective_after_race(inside, outside, data.preprocessing, options, part, curve);
  };
  if (!is_crossed(data)) {
    candidate.objective = run(data.training, data.validation);
    return;
  }
  const FoldVisit<Real> visit = [&](const Dataset<Real>& inside, const Dataset<Real>& outside) {
    candidate.objective += static_cast<double>(outside.size()) * run(inside, outside);
  };
  for_each_fold(joined(data.training, data.validation), options.seed, visit);
  candidate.objective /= static_cast<double>(data.training.size() + data.validation.size());
  const auto least = std::min_element(
      curve.begin(), curve.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (least != curve.end()) candidate.steps = least->first;
}

bool is_raced(const TrainOptions& options, Index rows, Index inputs, Index validation_rows) {
  return options.optimizer == "auto" && !options.is_paper() && !options.is_strong() &&
         options.deeper.empty() && validation_rows > 0 &&
         rows <= kMostRaceNumbers / std::max<Index>(1, inputs);
}

// An objective has to be below share * other - step to be clearly better than another.
struct WinMargins {
  bool crossed;  ///< judged by cross-validation
  bool simple;   ///< a linear head is taken unless ReLU is clearly better; else the reverse
  double share, step;
  double below(double objective) const { return share * objective - step; }
  /// Why a linear head was taken.
  const char* reason() const {
    if (crossed) return "a linear head is as good in cross-validation";
    return simple ? "more features than rows: a linear head"
                  : "a linear head is better on the validation part";
  }
};

// Few rows in many dimensions can all be separated by a plane: bends are the exception there.
template <typename Real>
WinMargins margins_of(const PreparedData<Real>& data, const TrainOptions& options) {
  const bool crossed = is_crossed(data), wide = is_wide(data);
  if (crossed) return {true, true, kFewerCrossed, 0};
  if (data.training.task == Task::kRegression || options.metric == "loss")
    return {false, wide, kFewerLosses, 0};
  return {false, wide, 1, kFewerMistakes / static_cast<double>(data.validation.size())};
}

// The data as they are, unclipped (where heads are raced), bent, and both.
template <typename Real>
std::vector<PreparedData<Real>> ways_of(const PreparedData<Real>& data, bool unclipping,
                                        bool bending) {
  std::vector<PreparedData<Real>> ways{data};
  if (unclipping && data.preprocessing.features.clip.size() > 0) unclip(ways.emplace_back(data));
  const size_t plain = ways.size();
  ways.reserve(2 * plain);
  for (size_t i = 0; bending && i < plain; ++i) bend_targets(ways.emplace_back(ways[i]));
  return ways;
}

// The variant that was given, or ReLU and linear heads.
template <typename Real>
std::vector<HeadCandidate<Real>> candidates_of(const std::vector<PreparedData<Real>>& ways,
                                               const TrainOptions& options) {
  std::vector<HeadCandidate<Real>> candidates;
  const bool open = options.variant == "auto";
  const auto clipped = ways.front().preprocessing.features.clip.size();
  for (const PreparedData<Real>& way : ways) {
    const bool bent = way.preprocessing.targets.bend.size() > 0;
    const bool free = way.preprocessing.features.clip.size() != clipped;
    if (!free) candidates.push_back({open ? "UDV-ReLU" : options.variant, bent, &way});
    if (open) candidates.push_back({"UDV", bent, &way});
  }
  return candidates;
}

// Among the candidates that are bent, or not: the best linear head where `prefer(linear, relu)`,
// else the other one.
template <typename Real>
const HeadCandidate<Real>* best_of(const std::vector<HeadCandidate<Real>>& candidates, bool bent,
                                   const std::function<bool(double, double)>& prefer) {
  const HeadCandidate<Real>*given = nullptr, *linear = nullptr;
  for (const HeadCandidate<Real>& candidate : candidates) {
    if (candidate.bent != bent) continue;
    if (!given)
      given = &candidate;
    else if (!linear || candidate.objective < linear->objective)
      linear = &candidate;
  }
  return linear && prefer(linear->objective, given->objective) ? linear : given;
}

// Five folds know better than a handful of validation rows where more steps only overfit.
template <typename Real>
void take(const HeadCandidate<Real>& winner, PreparedData<Real>& data, TrainOptions& options) {
  options.variant = winner.variant;
  const bool early = winner.steps > 0 && winner.steps <= kRaceSteps / 2 &&
                     data.validation.size() < kFewValidationRows;
  if (early && options.max_steps == 0 && options.epochs == 0) options.max_steps = winner.steps;
  data = *winner.data;
}

}  // namespace

template <typename Real>
HeadChoice choose_head(PreparedData<Real>& data, TrainOptions& options,
                       TrainingJournal<Real>* journal) {
  const bool open = options.variant == "auto", bending = may_bend(data);
  if (!(open || bending) ||
      !is_raced(options, data.training.size(), data.training.X.cols(), data.validation.size()))
    return {};
  const auto ways = ways_of(data, open, bending);
  auto candidates = candidates_of(ways, options);
  const TrainHooks<Real> silent;
  TrainingJournal<Real> own(silent), &used = journal ? *journal : own;
  parallel_blocks(static_cast<Index>(candidates.size()), 1, [&](Index i, Index) {
    race(candidates[static_cast<size_t>(i)], options, message("head ", i + 1), used);
  });
  if (used.stopped()) return {};
  const WinMargins margins = margins_of(data, options);
  const auto best = [&](bool bent) {
    return best_of(candidates, bent, [&](double linear, double relu) {
      return margins.simple ? !(relu < margins.below(linear)) : linear < margins.below(relu);
    });
  };
  const HeadCandidate<Real>* winner = best(false);
  HeadChoice choice;
  if (bending) {
    const HeadCandidate<Real>* const other = best(true);
    const double limit = winner->objective * (margins.crossed ? 1 : kFewerLosses);
    const bool better = other->objective < limit;
    choice.target =
        message("its logarithm, below the 90 % quantile, is ", better ? "better " : "no better ",
                margins.crossed ? "in cross-validation" : "on the validation part",
                better ? ": taken, predictions are in the units of the target" : "");
    if (better) winner = other;
  }
  if (open && winner->variant == "UDV") {
    choice.head = margins.reason();
    if (options.hidden == 0) options.hidden = kRaceWidth;
  }
  take(*winner, data, options);
  return choice;
}

template HeadChoice choose_head(PreparedData<float>&, TrainOptions&, TrainingJournal<float>*);
template HeadChoice choose_head(PreparedData<double>&, TrainOptions&, TrainingJournal<double>*);

}  // namespace udv::net
