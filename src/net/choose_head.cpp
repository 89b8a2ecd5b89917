// SPDX-License-Identifier: MIT
#include "udv/net/choose_head.hpp"

#include <cmath>

namespace udv::net {
namespace {

constexpr Index kRaceSteps = 1000;
constexpr Index kRaceWidth = 64;        // a linear head needs no more neurons than outputs
constexpr double kFewerLosses = 0.9;    // a linear head has to be better by a tenth
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

// The smallest objective on the validation part.
template <typename Real>
double objective_after_race(const Dataset<Real>& training, const Dataset<Real>& validation,
                            TrainOptions options, const std::string& variant) {
  options.variant = variant;
  if (!variant_named(variant).has(LayerKind::kRelu)) {
    options.hidden = options.hidden > 0 ? options.hidden : kRaceWidth;
    options.deeper.clear();
  }
  options.max_steps = kRaceSteps;
  const auto result = train(training, validation, validation, options);
  const Score score = evaluate(result.network, validation);
  return result.stop == TrainStop::kDiverged ? std::numeric_limits<double>::infinity()
                                             : objective_of(score, options.metric, training.task);
}

bool is_race(const TrainOptions& options, Index rows, Index inputs, Index validation_rows) {
  return options.variant == "auto" && options.optimizer == "auto" && !options.is_paper() &&
         !options.is_strong() && options.deeper.empty() && validation_rows > 0 &&
         rows <= kMostRaceNumbers / std::max<Index>(1, inputs);
}

// An objective has to be below this to be clearly better.
template <typename Real>
double beaten_below(double objective, const PreparedData<Real>& data, const TrainOptions& options) {
  if (data.training.task == Task::kRegression || options.metric == "loss")
    return kFewerLosses * objective;
  return objective - kFewerMistakes / static_cast<double>(data.validation.size());
}

}  // namespace

template <typename Real>
std::string choose_head(PreparedData<Real>& data, TrainOptions& options) {
  if (!is_race(options, data.training.size(), data.training.X.cols(), data.validation.size()))
    return "";
  const double relu = objective_after_race(data.training, data.validation, options, "UDV-ReLU");
  const double clipped = objective_after_race(data.training, data.validation, options, "UDV");
  double linear = clipped;
  const Vector<double>& clip = data.preprocessing.features.clip;
  bool free = false;
  if (clip.size() > 0) {
    Dataset<Real> training = data.training, validation = data.validation;
    training.X = unclipped(data.training.X, clip);
    validation.X = unclipped(data.validation.X, clip);
    linear = objective_after_race(training, validation, options, "UDV");
    free = linear < clipped;
    linear = std::min(linear, clipped);
  }
  // Few rows in many dimensions can all be separated by a plane: bends are the exception there.
  const bool wide = data.training.X.cols() > data.training.size();
  const auto margin = [&](double objective) { return beaten_below(objective, data, options); };
  const bool use_linear = wide ? !(relu < margin(linear)) : linear < margin(relu);
  options.variant = use_linear ? "UDV" : "UDV-ReLU";
  if (options.variant != "UDV") return "";
  if (options.hidden == 0) options.hidden = kRaceWidth;
  if (free) {
    for (Dataset<Real>* part : {&data.training, &data.validation, &data.test})
      part->X = unclipped(part->X, clip);
    data.preprocessing.features.clip.resize(0);
  }
  return wide ? "more features than rows: a linear head"
              : "a linear head is better on the validation part";
}

template std::string choose_head(PreparedData<float>&, TrainOptions&);
template std::string choose_head(PreparedData<double>&, TrainOptions&);

}  // namespace udv::net
