// SPDX-License-Identifier: MIT
#include "udv/jobs/predict.hpp"

#include <fmt/format.h>

#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/net/data_source.hpp"

namespace udv::jobs {
namespace {

using net::Predictions;
using net::Task;

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string values_csv(const Predictions& predictions) {
  const RowMatrix<double>& values = predictions.outputs;
  const auto& names = predictions.target_names;
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row");
  for (Index k = 0; k < values.cols(); ++k) {
    const auto at = static_cast<size_t>(k);
    const std::string name = static_cast<Index>(names.size()) == values.cols()
                                 ? "prediction_" + names[at]
                                 : fmt::format("output_{}", k);
    fmt::format_to(out, ",{}", values.cols() == 1 ? "prediction" : field(name));
  }
  for (Index i = 0; i < values.rows(); ++i) {
    fmt::format_to(out, "\n{}", i);
    for (Index k = 0; k < values.cols(); ++k) fmt::format_to(out, ",{:.9g}", values(i, k));
  }
  fmt::format_to(out, "\n");
  return fmt::to_string(text);
}

// The class with its probability, then the probability of every class.
std::string classes_csv(const Predictions& predictions) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  const RowMatrix<double>& shares = predictions.class_probabilities;
  fmt::format_to(out, "row,class,probability");
  for (Index k = 0; k < shares.cols(); ++k)
    fmt::format_to(out, ",{}", field("p_" + predictions.class_name(k)));
  for (Index i = 0; i < predictions.size(); ++i) {
    const std::string name = predictions.class_name(predictions.labels[static_cast<size_t>(i)]);
    fmt::format_to(out, "\n{},{},{:.6f}", i, field(name), predictions.probabilities(i));
    for (Index k = 0; k < shares.cols(); ++k) fmt::format_to(out, ",{:.6f}", shares(i, k));
  }
  fmt::format_to(out, "\n");
  return fmt::to_string(text);
}

// `input` is empty where model and data came from memory.
PredictResult predict_rows(ModelInput input, const net::Model<double>& model,
                           const RowMatrix<double>& X, Session& session) {
  PredictResult result;
  result.predictions = net::predictions_of(model, X, input.data.empty() ? "predict" : input.data);
  OptionTable table;
  describe(table, input);
  Run run(session, "predict", table.config(), table.fingerprint());
  if (!run.has_folder()) return result;
  const bool classes = result.predictions.task == Task::kClassification;
  io::write_atomically(run.folder().file("predictions.csv"),
                       classes ? classes_csv(result.predictions) : values_csv(result.predictions));
  write_run_json(run.folder(), run.info(),
                 {{"task", classes ? "classification" : "regression"},
                  {"rows", result.predictions.size()},
                  {"outputs", result.predictions.outputs.cols()}});
  result.folder = run.path();
  result.file = result.folder / "predictions.csv";
  return result;
}

}  // namespace

void describe(OptionTable&, PredictOptions&) {}

PredictResult predict(const ModelInput& input, const PredictOptions&, Session& session) {
  require_other_folder(session, input.model);
  const EarlyFolder early(session);
  const auto model = net::read_model<double>(model_path(input.model));
  const auto data =
      net::read_for_model<double>(input.data, input.targets, model.preprocessing, false);
  return predict_rows(input, model, data.X, session);
}

PredictResult predict(const net::Model<double>& model, const RowMatrix<double>& X,
                      const PredictOptions&, Session& session) {
  return predict_rows({}, model, X, session);
}

}  // namespace udv::jobs
