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

std::string values_csv(const RowMatrix<double>& values) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row");
  for (Index k = 0; k < values.cols(); ++k)
    fmt::format_to(out, ",{}", values.cols() == 1 ? "prediction" : fmt::format("output_{}", k));
  for (Index i = 0; i < values.rows(); ++i) {
    fmt::format_to(out, "\n{}", i);
    for (Index k = 0; k < values.cols(); ++k) fmt::format_to(out, ",{:.9g}", values(i, k));
  }
  fmt::format_to(out, "\n");
  return fmt::to_string(text);
}

std::string classes_csv(const Predictions& predictions) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "row,class,probability");
  for (Index i = 0; i < predictions.size(); ++i) {
    const std::string name = predictions.class_name(predictions.labels[static_cast<size_t>(i)]);
    const bool quote = name.find_first_of(",\"\n") != name.npos;
    fmt::format_to(out, "\n{},{},{:.6f}", i, quote ? "\"" + name + "\"" : name,
                   predictions.probabilities(i));
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
  io::write_atomically(
      run.folder().file("predictions.csv"),
      classes ? classes_csv(result.predictions) : values_csv(result.predictions.outputs));
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
