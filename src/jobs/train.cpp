// SPDX-License-Identifier: MIT
#include "udv/jobs/train.hpp"

#include <fmt/format.h>

#include "core/require.hpp"
#include "jobs/training_files.hpp"
#include "net/training_journal.hpp"
#include "udv/io/file.hpp"
#include "udv/net/choose_head.hpp"

namespace udv::jobs {
namespace {

using net::TrainStop;

// What prune and others need to know about how the model was made.
template <typename Real>
net::Model<Real> model_of(const net::TrainResult<Real>& result, const net::PreparedData<Real>& data,
                          const TrainJobOptions& options, const std::string& settings) {
  const bool own_test = !options.source.test.empty();  // in a file of its own
  const Index rows =
      data.training.size() + data.validation.size() + (own_test ? 0 : data.test.size());
  const double share = options.source.validation_share;
  return {
      result.network,
      data.preprocessing,
      {{"settings", settings},
       {"rows", std::to_string(rows)},
       {"split_seed", std::to_string(options.source.split_seed)},
       {"test_share", fmt::format("{}", own_test ? 0 : options.source.test_share)},
       {"validation_share", fmt::format("{}", data.validation.size() == 0 || result.on_all_rows ? 0
                                              : share < 0 ? 0.1
                                                          : share)}}};
}

template <typename Real>
TrainJobResult summary_of(const net::TrainResult<Real>& result, net::Model<Real> model,
                          const net::PreparedData<Real>& data, const RowMatrix<Real>& outputs) {
  TrainJobResult summary;
  summary.outcome = outcome_of(result.stop);
  summary.stop = result.stop;
  summary.figures = net::figures_of(result.network);
  summary.history = result.history;
  summary.task = data.training.task;
  summary.sizes = result.network.sizes();
  summary.options = result.options;
  summary.task_reason = data.task_reason;
  summary.training_rows = data.training.size();
  summary.validation_rows = data.validation.size();
  summary.test_rows = data.test.size();
  summary.averaged_epochs = result.options.averaged_epochs(data.training.task);
  summary.steps = result.steps;
  summary.best_step = result.best_step;
  summary.folds = result.folds;
  summary.test_loss = result.test_loss;
  summary.test_accuracy = result.test_accuracy;
  summary.seconds = result.seconds;
  summary.metrics = net::metrics_of(outputs, data.test, data.preprocessing);
  summary.baseline = net::baseline_of(data.training, data.test, data.preprocessing);
  summary.class_names = data.preprocessing.classes;
  summary.model = std::move(model);
  return summary;
}

// Things that a user should know about this run.
template <typename Real>
void warn(Run& run, const net::PreparedData<Real>& data, const TrainJobResult& summary) {
  for (const auto& note : data.notes) run.warn(note);
  if (summary.stop == TrainStop::kDiverged)
    run.warn(run.path().string() +
             ": diverged, a smaller learning rate (lr) expected; the network is of no use");
  else if (!net::is_better_than(summary.metrics, summary.baseline))
    run.warn(data.training.task == net::Task::kRegression
                 ? "the network is no better than predicting the mean of the target"
                 : "the network is no better than predicting the commonest class");
}

template <typename Real>
Index most_steps(const net::PreparedData<Real>& data, const TrainJobOptions& options) {
  return options.training.resolved(net::shape_of(data.training)).num_steps(data.training.size());
}

// `input` is empty where the data came from memory.
template <typename Real>
TrainJobResult train_on(TrainInput input, net::PreparedData<Real> data, TrainJobOptions options,
                        Session& session) {
  options.training.seed = session.seed();
  options.source = options.data_options();
  net::check_run(input.data.empty() ? "train" : input.data, data.training, data.test,
                 options.training);
  // What is chosen follows from these settings and the data.
  OptionTable table;
  describe(table, input);
  describe(table, options);
  Run run(session, "train", table.config(),
          message(table.fingerprint(), "; numbers of the data ", data.content_hash()));
  const net::TrainHooks<Real> hooks{
      run.hooks({most_steps(data, options), session.options().time_limit},
                {"step", "loss", "width"}),
      nullptr};
  net::HeadChoice choice;
  const auto result = run.compute(hooks, [&] {
    net::TrainingJournal<Real> journal(hooks);
    choice = net::choose_head(data, options.training, &journal);
    const net::TrainOptions chosen = options.training;
    options.training = chosen.resolved(net::shape_of(data.training));
    return journal.last([&](const net::TrainHooks<Real>& last) {
      return net::train(data.training, data.validation, data.test, chosen, last);
    });
  });
  for (const auto& [name, value] : table.config()) run.info().config[name] = value;
  const RowMatrix<Real> outputs = net::predict<Real>(result.network, data.test.X);
  TrainJobResult summary =
      summary_of(result, model_of(result, data, options, run.fingerprint()), data, outputs);
  summary.head_reason = choice.head;
  summary.target_reason = choice.target;
  summary.folder = run.path();
  if (result.stop == TrainStop::kInterrupted || !run.has_folder()) return summary;
  warn(run, data, summary);
  io::write_atomically(run.folder().file("test_predictions.csv"),
                       test_predictions_csv(outputs, data.test, data.preprocessing));
  write_training<Real>(run, {result, std::get<net::Model<Real>>(summary.model), result.options,
                             summary.figures, summary.training_rows, summary.test_rows,
                             summary.validation_rows, &summary.metrics, &summary.baseline});
  if (result.stop != TrainStop::kTimeLimit) run.remove_checkpoint();
  return summary;
}

template <typename Real>
TrainJobResult train_from_file(const TrainInput& input, const TrainJobOptions& options,
                               Session& session) {
  const net::DataSource<Real> source(input.data, options.data_options());
  return train_on(input, source.prepare(options.source.split_seed), options, session);
}

}  // namespace

void describe(OptionTable& table, TrainInput& input) {
  table.add("data", input.data, "Table, .npy, .npz, .mat, HDF5, IDX, CIFAR or a folder")
      .is_input()
      .called("DATA");
}

void describe(OptionTable& table, TrainJobOptions& options) {
  describe(table, options.source);
  describe(table, options.training);
  table.add("float64", options.float64, "Double precision");
}

TrainJobResult train(const TrainInput& input, const TrainJobOptions& options, Session& session) {
  options.training.validate();
  const EarlyFolder early(session);
  return options.float64 ? train_from_file<double>(input, options, session)
                         : train_from_file<float>(input, options, session);
}

template <typename Real>
TrainJobResult train(const net::PreparedData<Real>& data, const TrainJobOptions& options,
                     Session& session) {
  return train_on({}, data, options, session);
}

template TrainJobResult train(const net::PreparedData<float>&, const TrainJobOptions&, Session&);
template TrainJobResult train(const net::PreparedData<double>&, const TrainJobOptions&, Session&);

}  // namespace udv::jobs
