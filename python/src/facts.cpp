// SPDX-License-Identifier: MIT
#include <pybind11/stl.h>

#include "answer.hpp"
#include "arrays.hpp"

namespace udv::python {
namespace {

py::dict certificate_of(const RecoveryFacts& r) {
  const Certificate& c = r.certificate;
  const Determinacy& d = r.determinacy;
  const bool examined = d.tolerance > 0;
  py::dict all;
  all["verdict"] = std::string(to_string(c.verdict));
  all["unique"] = d.unique ? py::object(py::bool_(*d.unique)) : py::none();
  all["free_directions"] =
      examined && d.decided ? py::object(py::int_(d.free_directions)) : py::none();
  all["determined_share"] = examined ? py::object(py::float_(d.determined_share)) : py::none();
  all["rank_confirmed"] = d.rank_confirmed;
  all["another_fits"] = d.another_fits;
  all["stationarity"] = c.stationarity;
  all["complementarity"] = c.complementarity;
  all["dual_infeasibility"] = c.dual_infeasibility;
  all["dead_curvature"] = c.dead_curvature;
  all["ball_multiplier"] = c.ball_multiplier;
  all["ball_residual"] = c.ball_residual;
  all["ridge"] = c.ridge;
  return all;
}

py::dict undetermined_of(const Undetermined& open) {
  py::dict all;
  all["empty_rows"] = to_array<std::int64_t>(open.empty_rows);
  all["empty_columns"] = to_array<std::int64_t>(open.empty_cols);
  all["rows"] = to_array<std::int64_t>(open.rows);
  all["columns"] = to_array<std::int64_t>(open.cols);
  py::list blocks;
  for (const auto& [rows, cols] : open.blocks)
    blocks.append(py::make_tuple(to_array<std::int64_t>(rows), to_array<std::int64_t>(cols)));
  all["blocks"] = blocks;
  return all;
}

py::list models_of(const std::vector<ModelTrial>& trials) {
  py::list all;
  for (const ModelTrial& trial : trials) {
    py::dict one;
    one["center"] = std::string(to_string(trial.center));
    one["noise"] = std::string(to_string(trial.noise));
    one["rank"] = trial.rank;
    one["sweeps"] = trial.sweeps;
    one["bound"] = trial.bound;
    all.append(one);
  }
  return all;
}

void add_problem(py::dict& all, const RecoveryFacts& r) {
  all["method"] = r.method;
  all["operator"] = r.operator_name;
  all["rows"] = r.rows;
  all["columns"] = r.cols;
  all["measurements"] = r.measurements;
  all["symmetric"] = r.symmetric;
}

void add_end(py::dict& all, const RecoveryFacts& r) {
  all["iterations"] = r.iterations;
  all["seconds"] = r.seconds;
  all["stop_reason"] = std::string(to_string(r.stop_reason));
  all["converged"] = r.converged;
  all["exact"] = r.exact;
  all["scale"] = r.scale;
  all["alpha"] = r.alpha;
  all["step"] = r.step;
  all["verdict"] = r.verdict();
  all["summary"] = r.summary();
  all["certified"] = r.certified();
}

void add_offsets(py::dict& all, const RecoveryFacts& r) {
  all["center"] = std::string(to_string(r.center));
  all["offset"] = r.biases.global;
  all["row_offsets"] = to_array<double>(Vector<double>(r.biases.row));
  all["column_offsets"] = to_array<double>(Vector<double>(r.biases.col));
}

}  // namespace

py::dict facts_of(const RecoveryFacts& r) {
  py::dict all;
  add_problem(all, r);
  all["rank"] = r.rank;
  all["rank_gap"] = r.rank_gap;
  all["spectrum"] = to_array<double>(Vector<double>(r.spectrum));
  all["objective"] = r.objective;
  all["relative_residual"] = r.relative_residual;
  all["holdout_rmse"] = r.holdout_rmse;
  all["test_rmse"] = r.test_rmse;
  all["noise"] = r.noise_sigma;
  all["noise_by"] = std::string(to_string(r.noise_by));
  all["rank_cap"] = r.rank_cap;
  all["range"] = r.range;
  all["outliers"] = r.outliers;
  all["outliers_removed"] = r.outliers_removed;
  add_offsets(all, r);
  add_end(all, r);
  all["scores"] = r.scores;
  all["models"] = models_of(r.models);
  all["certificate"] = certificate_of(r);
  all["undetermined"] = undetermined_of(r.undetermined);
  return all;
}

py::dict history_of(const RecoveryFacts& facts) {
  const auto column = [&](auto member) {
    std::vector<double> values;
    for (const IterationRecord& record : facts.history)
      values.push_back(static_cast<double>(record.*member));
    return values;
  };
  py::dict all;
  all["iteration"] = to_array<std::int64_t>(column(&IterationRecord::iteration));
  all["seconds"] = to_array<double>(column(&IterationRecord::seconds));
  all["objective"] = to_array<double>(column(&IterationRecord::objective));
  all["rank"] = to_array<std::int64_t>(column(&IterationRecord::rank));
  all["norm_U"] = to_array<double>(column(&IterationRecord::norm_u));
  all["max_d"] = to_array<double>(column(&IterationRecord::max_d));
  all["step"] = to_array<double>(column(&IterationRecord::step));
  return all;
}

}  // namespace udv::python
