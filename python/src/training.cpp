// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "core/require.hpp"
#include "keywords.hpp"
#include "model.hpp"
#include "running.hpp"
#include "udv/jobs/train.hpp"

namespace udv::python {
namespace {

using jobs::TrainJobOptions;
using jobs::TrainJobResult;

/// Features with targets (n x c) or labels; the other one is None.
struct Samples {
  py::array X;
  py::object Y, labels;
};

template <typename Real>
net::ArrayData<Real> array_data(const Samples& samples, Index classes) {
  net::ArrayData<Real> arrays;
  arrays.has_targets = true;
  arrays.data.X = to_matrix(samples.X.cast<Dense<Real>>());
  if (samples.labels.is_none()) {
    arrays.data.Y = to_matrix(samples.Y.cast<Dense<Real>>());
    return arrays;
  }
  const auto labels = samples.labels.cast<Dense<std::int32_t>>();
  arrays.data.task = net::Task::kClassification;
  arrays.data.labels.assign(labels.data(), labels.data() + labels.size());
  arrays.data.classes = classes;
  return arrays;
}

template <typename Real>
net::PreparedData<Real> prepared(const Samples& samples, const std::optional<Samples>& test,
                                 const std::vector<std::string>& classes,
                                 const TrainJobOptions& options) {
  const auto count = static_cast<Index>(classes.size());
  std::optional<net::ArrayData<Real>> test_part;
  if (test) test_part = array_data<Real>(*test, count);
  const net::DataSource<Real> source("X", array_data<Real>(samples, count), std::move(test_part),
                                     options.data_options());
  try {
    auto data = source.prepare(options.source.split_seed);
    data.preprocessing.classes = classes;
    return data;
  } catch (const IoError& error) {  // there is no file
    throw InvalidArgument(error.what());
  }
}

py::dict history_of(const std::vector<net::EpochRecord>& history) {
  const auto column = [&](auto member) {
    std::vector<double> values;
    for (const net::EpochRecord& record : history)
      values.push_back(static_cast<double>(record.*member));
    return to_array<double>(values);
  };
  py::dict all;
  all["epoch"] = column(&net::EpochRecord::epoch).attr("astype")("int64");
  all["step"] = column(&net::EpochRecord::step).attr("astype")("int64");
  all["seconds"] = column(&net::EpochRecord::seconds);
  all["train_loss"] = column(&net::EpochRecord::train_loss);
  all["validation_loss"] = column(&net::EpochRecord::validation_loss);
  all["validation_accuracy"] = column(&net::EpochRecord::validation_accuracy);
  all["test_loss"] = column(&net::EpochRecord::test_loss);
  all["test_accuracy"] = column(&net::EpochRecord::test_accuracy);
  all["learning_rate"] = column(&net::EpochRecord::learning_rate);
  all["live_width"] = column(&net::EpochRecord::live_width).attr("astype")("int64");
  all["effective_rank"] = column(&net::EpochRecord::effective_rank);
  return all;
}

py::dict figures_of(const TrainJobResult& result) {
  py::dict all;
  all["outcome"] = outcome_text(result.outcome);
  all["stop_reason"] = std::string(net::to_string(result.stop));
  all["folder"] = result.folder.string();
  all["training_rows"] = result.training_rows;
  all["validation_rows"] = result.validation_rows;
  all["test_rows"] = result.test_rows;
  all["steps"] = result.steps;
  all["best_step"] = result.best_step;
  all["test_loss"] = result.test_loss;
  if (result.task == net::Task::kClassification) all["test_accuracy"] = result.test_accuracy;
  all["seconds"] = result.seconds;
  return all;
}

py::tuple python_result(TrainJobResult result, const PythonListener& listener) {
  py::object model = py::none();
  if (auto* const found = std::get_if<net::Model<float>>(&result.model))
    model = py::cast(trained(std::move(*found)));
  if (auto* const found = std::get_if<net::Model<double>>(&result.model))
    model = py::cast(trained(std::move(*found)));
  return py::make_tuple(model, figures_of(result), history_of(result.history), listener.warnings(),
                        listener.notices());
}

template <typename Real>
py::tuple train_on(const Samples& samples, const std::optional<Samples>& test,
                   const std::vector<std::string>& classes, const TrainJobOptions& options,
                   const jobs::RunOptions& run, const py::object& watcher) {
  const auto data = prepared<Real>(samples, test, classes, options);
  PythonListener listener(watcher);
  return python_result(
      run_job(run, listener,
              [&](jobs::Session& session) { return jobs::train<Real>(data, options, session); }),
      listener);
}

py::tuple train_arrays(const py::array& X, const py::object& Y, const py::object& labels,
                       const py::object& test, const std::vector<std::string>& classes,
                       const py::dict& keywords, const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<TrainJobOptions>("train", keywords, run);
  options.training.validate();
  std::optional<Samples> test_part;
  if (!test.is_none()) {
    const auto parts = test.cast<py::tuple>();
    test_part = Samples{parts[0].cast<py::array>(), parts[1], parts[2]};
  }
  const Samples samples{X, Y, labels};
  return options.float64 ? train_on<double>(samples, test_part, classes, options, run, watcher)
                         : train_on<float>(samples, test_part, classes, options, run, watcher);
}

py::tuple train_file(const std::string& file, const py::dict& keywords, const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<TrainJobOptions>("train", keywords, run);
  PythonListener listener(watcher);
  return python_result(run_job(run, listener,
                               [&](jobs::Session& session) {
                                 return jobs::train(jobs::TrainInput{file}, options, session);
                               }),
                       listener);
}

}  // namespace

void bind_training(py::module_& m) {
  m.def("train", train_arrays);
  m.def("train_file", train_file);
}

}  // namespace udv::python
