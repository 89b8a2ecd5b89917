// SPDX-License-Identifier: MIT
#include "udv/net/prediction.hpp"

#include "core/require.hpp"
#include "udv/core/options.hpp"
#include "udv/net/trainer.hpp"

namespace udv::net {
namespace {

// The largest score wins; its probability is exp(largest) / sum exp(score).
void choose_classes(Predictions& predictions) {
  const Index n = predictions.size();
  predictions.labels.resize(static_cast<size_t>(n));
  predictions.probabilities.resize(n);
  predictions.class_probabilities.resizeLike(predictions.outputs);
  for (Index i = 0; i < n; ++i) {
    const auto scores = predictions.outputs.row(i);
    const double largest = scores.maxCoeff(&predictions.labels[static_cast<size_t>(i)]);
    auto shares = predictions.class_probabilities.row(i);
    shares = (scores.array() - largest).exp();
    predictions.probabilities(i) = 1 / shares.sum();
    shares *= predictions.probabilities(i);
  }
}

}  // namespace

std::string Predictions::class_name(Index label) const {
  return class_names.empty() ? std::to_string(label) : class_names.at(static_cast<size_t>(label));
}

Predictions predictions_of(const Model<double>& model, const RowMatrix<double>& X,
                           const std::string& name) {
  require(X.cols() == model.network.sizes().inputs, name, ": ", X.cols(), " features found, ",
          model.network.sizes().inputs, " expected, as the model has them");
  const RowMatrix<double> raw = predict<double>(model.network, X);
  Predictions predictions;
  predictions.task = model.preprocessing.task;
  predictions.class_names = model.preprocessing.classes;
  if (predictions.task == Task::kRegression && model.preprocessing.outputs > 1)
    predictions.target_names = comma_words(model.preprocessing.target);
  predictions.outputs = model.preprocessing.in_target_units(raw);
  for (Index i = 0; i < predictions.size(); ++i)
    require(predictions.outputs.row(i).allFinite(), name, ": row ", i + 1,
            ": the model's output is not finite");
  if (predictions.task == Task::kClassification) choose_classes(predictions);
  return predictions;
}

}  // namespace udv::net
