// SPDX-License-Identifier: MIT
#include "udv/jobs/evaluate.hpp"

#include "core/require.hpp"
#include "jobs/run_json.hpp"
#include "jobs/training_files.hpp"
#include "udv/net/data_source.hpp"
#include "udv/net/prediction.hpp"
#include "udv/net/trainer.hpp"

namespace udv::jobs {
namespace {

using net::Task;

EvaluateResult measured(const net::Model<double>& model, const net::Dataset<double>& data) {
  const net::Score score = net::evaluate(model.network, data);
  EvaluateResult result;
  result.task = data.task;
  result.rows = data.size();
  result.loss = score.loss;
  result.metrics =
      net::metrics_of(net::predict<double>(model.network, data.X), data, model.preprocessing);
  result.class_names = model.preprocessing.classes;
  if (data.task == Task::kClassification)
    result.accuracy = score.accuracy;
  else
    result.rmse = result.metrics.mean_rmse();
  return result;
}

Json results_json(const EvaluateResult& result, const net::Preprocessing& how) {
  Json json = {{"rows", result.rows}, {"test_loss", number(result.loss)}};
  json.update(metrics_json(result.metrics, how));
  return json;
}

// `input` is empty where model and data came from memory.
EvaluateResult evaluate_on(ModelInput input, const net::Model<double>& model,
                           const net::Dataset<double>& data, Session& session) {
  // Says which row leads to an output that is not finite.
  net::predictions_of(model, data.X, input.data.empty() ? "evaluate" : input.data);
  EvaluateResult result = measured(model, data);
  OptionTable table;
  describe(table, input);
  Run run(session, "evaluate", table.config(), table.fingerprint());
  if (run.has_folder())
    write_run_json(run.folder(), run.info(), results_json(result, model.preprocessing));
  result.folder = run.path();
  return result;
}

}  // namespace

void describe(OptionTable&, EvaluateOptions&) {}

EvaluateResult evaluate(const ModelInput& input, const EvaluateOptions&, Session& session) {
  require_other_folder(session, input.model);
  const EarlyFolder early(session);
  const auto model = net::read_model<double>(model_path(input.model));
  const auto data =
      net::read_for_model<double>(input.data, input.targets, model.preprocessing, true);
  return evaluate_on(input, model, data, session);
}

EvaluateResult evaluate(const net::Model<double>& model, const net::Dataset<double>& data,
                        const EvaluateOptions&, Session& session) {
  data.validate("evaluate");
  require(data.task == model.preprocessing.task && data.outputs() == model.preprocessing.outputs,
          "evaluate: data with other outputs than those of the model found");
  return evaluate_on({}, model, data, session);
}

}  // namespace udv::jobs
