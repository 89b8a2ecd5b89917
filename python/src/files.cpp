// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include "arrays.hpp"
#include "bindings.hpp"
#include "core/require.hpp"
#include "jobs/run_reader.hpp"
#include "keywords.hpp"
#include "model.hpp"
#include "running.hpp"
#include "udv/jobs/export.hpp"
#include "udv/jobs/prune.hpp"
#include "udv/report/report.hpp"

namespace udv::python {
namespace {

py::tuple pair(const jobs::BeforeAfter& both) {
  return py::make_tuple(both.before, both.after);
}

void add_model(py::dict& all, const jobs::PrunedModel& pruned) {
  all["kind"] = "network";
  if (pruned.model) all["model"] = trained(net::Model<float>(*pruned.model));
  all["rank"] = pruned.rank;
  all["neurons"] = pair(pruned.neurons);
  all["parameters"] = pair(pruned.parameters);
  all["bytes"] = pair(pruned.bytes);
  all["collapsed"] = pruned.collapsed;
}

void add_adapter(py::dict& all, const jobs::PrunedAdapter& pruned) {
  all["kind"] = "adapter";
  all["parameters"] = py::make_tuple(pruned.parameters_before, pruned.parameters_after);
  all["ratio"] = pruned.ratio;
  all["least_energy"] = pruned.least_energy;
}

py::tuple python_result(const jobs::PruneResult& result, const PythonListener& listener) {
  py::dict all;
  all["outcome"] = outcome_text(result.outcome);
  all["folder"] = result.folder.string();
  if (const auto* const model = std::get_if<jobs::PrunedModel>(&result.pruned))
    add_model(all, *model);
  else if (const auto* const adapter = std::get_if<jobs::PrunedAdapter>(&result.pruned))
    add_adapter(all, *adapter);
  else
    all["kind"] = "tensors";
  return py::make_tuple(all, listener.warnings(), listener.notices());
}

// Data that decide: scaled as the model has them.
std::optional<net::PruneParts<float>> parts_of(const net::Model<float>& model, const py::object& X,
                                               const py::object& Y, const py::object& labels) {
  if (X.is_none()) return std::nullopt;
  net::Dataset<float> data;
  const net::Preprocessing& how = model.preprocessing;
  data.task = how.task;
  data.X = net::features_for_model<float>("X", to_matrix(X.cast<Dense<float>>()), how);
  if (how.task == net::Task::kRegression) {
    RowMatrix<float> targets = to_matrix(Y.cast<Dense<float>>());
    require(targets.cols() == how.outputs, "y: ", targets.cols(), " targets a row found, ",
            how.outputs, " expected");
    net::apply(how.targets, targets);
    data.Y = std::move(targets);
  } else {
    const auto numbers = labels.cast<Dense<std::int32_t>>();
    data.labels.assign(numbers.data(), numbers.data() + numbers.size());
    data.classes = how.outputs;
  }
  data.validate("X");
  return net::prune_parts<float>("X", data, std::nullopt, 0);
}

py::tuple prune_model(const TrainedModel& model, const py::object& X, const py::object& Y,
                      const py::object& labels, const py::dict& keywords,
                      const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<jobs::PruneOptions>("prune", keywords, run);
  const net::Model<float> network = model.in_float();
  const auto parts = parts_of(network, X, Y, labels);
  PythonListener listener(watcher);
  const auto result = run_job(run, listener, [&](jobs::Session& session) {
    return jobs::prune(network, parts, options, session);
  });
  return python_result(result, listener);
}

py::tuple prune_file(const std::string& model, const std::string& data, const std::string& targets,
                     const std::string& compare, const py::dict& keywords,
                     const py::object& watcher) {
  jobs::RunOptions run;
  const auto options = options_from<jobs::PruneOptions>("prune", keywords, run);
  jobs::PruneInput input;
  input.model = model;
  input.data = data;
  input.targets = targets;
  input.compare = compare;
  PythonListener listener(watcher);
  const auto result = run_job(
      run, listener, [&](jobs::Session& session) { return jobs::prune(input, options, session); });
  return python_result(result, listener);
}

std::string export_file(const std::string& model, const py::dict& keywords) {
  jobs::RunOptions run;
  const auto options = options_from<jobs::ExportOptions>("export", keywords, run);
  PythonListener listener{py::none()};
  return run_job(run, listener,
                 [&](jobs::Session& session) {
                   return jobs::export_model(jobs::ExportInput{model}, options, session);
                 })
      .folder.string();
}

std::string read_run(const std::string& folder) {
  require<IoError>(jobs::is_run_folder(folder), folder, ": no run found there (run.json)");
  return jobs::read_run_folder(folder).run.dump();
}

void write_report(const std::string& html, const std::string& title,
                  const std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> paths(folders.begin(), folders.end());
  const py::gil_scoped_release free;
  report::write_report(html, title, paths);
}

}  // namespace

void bind_files(py::module_& m) {
  m.def("prune", prune_model);
  m.def("prune_file", prune_file);
  m.def("export_file", export_file);
  m.def("read_run", read_run);
  m.def("write_report", write_report);
}

}  // namespace udv::python
