// SPDX-License-Identifier: MIT
#include "jobs/recovery_files.hpp"

#include <fmt/format.h>

#include "core/instantiate.hpp"
#include "jobs/run_json.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"
#include "udv/jobs/write_run.hpp"

namespace udv::jobs {
namespace {

Json names(const std::vector<Index>& indices, int base) {
  Json result = Json::array();
  for (const Index index : indices) result.push_back(index + base);
  return result;
}

Json certificate_json(const Certificate& c, const Determinacy& d) {
  const bool examined = d.tolerance > 0;
  return {{"unique", d.unique ? Json(*d.unique) : Json(nullptr)},
          {"free_directions", examined && d.decided ? Json(d.free_directions) : Json(nullptr)},
          {"determined_share", examined ? Json(number(d.determined_share)) : Json(nullptr)},
          {"stationarity", number(c.stationarity)},
          {"complementarity", number(c.complementarity)},
          {"dual_infeasibility", number(c.dual_infeasibility)},
          {"dead_curvature", number(c.dead_curvature)},
          {"ball_multiplier", number(c.ball_multiplier)},
          {"ball_residual", number(c.ball_residual)},
          {"ridge", number(c.ridge)},
          {"verdict", to_string(c.verdict)}};
}

// How `unique` was found.
Json determinacy_json(const Determinacy& d) {
  return {{"rank_confirmed", d.rank_confirmed},
          {"another_fits", d.another_fits},
          {"free_directions_estimated", d.free_is_estimate},
          {"determined_share_estimated", d.share_is_estimate},
          {"decided", d.decided},
          {"draws", d.draws},
          {"steps", d.steps},
          {"starts", d.starts},
          {"tolerance", number(d.tolerance)}};
}

Json undetermined_json(const Undetermined& open, int base) {
  Json blocks = Json::array();
  for (const auto& [rows, cols] : open.blocks)
    blocks.push_back({{"rows", names(rows, base)}, {"cols", names(cols, base)}});
  return {{"base", base},
          {"empty_rows", names(open.empty_rows, base)},
          {"empty_cols", names(open.empty_cols, base)},
          {"rows", names(open.rows, base)},
          {"cols", names(open.cols, base)},
          {"blocks", blocks}};
}

Json results_json(const RecoveryFacts& r, const char* scalar, int index_base) {
  Json run = {{"method", r.method},
              {"scalar", scalar},
              {"operator", r.operator_name},
              {"rows", r.rows},
              {"cols", r.cols},
              {"measurements", r.measurements},
              {"rank", r.rank},
              {"spectrum", list(r.spectrum)},
              {"rank_gap", number(r.rank_gap)},
              {"objective", number(r.objective)},
              {"relative_residual", number(r.relative_residual)}};
  if (r.operator_name == "entries" && !r.symmetric) run["center"] = to_string(r.center);
  if (r.center != Centering::kNone) run["offset"] = number(r.biases.global);
  if (r.test_rmse || r.holdout_rmse)
    run["test_rmse"] = number(r.test_rmse ? *r.test_rmse : *r.holdout_rmse);
  if (r.holdout_rmse) run["holdout_rmse"] = number(*r.holdout_rmse);
  run.update({{"iterations", r.iterations},
              {"seconds", r.seconds},
              {"stop_reason", to_string(r.stop_reason)},
              {"converged", r.converged},
              {"scale", number(r.scale)},
              {"alpha", number(r.alpha)},
              {"step", number(r.step)},
              {"noise_sigma", number(r.noise_sigma)},
              {"verdict", r.verdict()},
              {"certificate", certificate_json(r.certificate, r.determinacy)},
              {"undetermined", undetermined_json(r.undetermined, index_base)}});
  // How rows and columns that the data leave open were found.
  if (r.by_rank_walk && r.rank > 0)
    run["determined_by"] = r.determinacy.tolerance > 0 ? "directions" : "numbers of entries";
  if (r.determinacy.tolerance > 0) run["determinacy"] = determinacy_json(r.determinacy);
  if (!r.outliers.empty())
    run["outliers"] = {{"count", r.outliers.size()},
                       {"share", number(static_cast<double>(r.outliers.size()) /
                                        static_cast<double>(r.measurements))},
                       {"removed", r.outliers_removed}};
  if (r.noise_by != NoiseKind::kEqual) run["noise_by"] = to_string(r.noise_by);
  if (r.range) run["range"] = {number(r.range->first), number(r.range->second)};
  if (r.indefinite) run["indefinite"] = true;
  if (r.rank_cap > 0) run["rank_cap"] = r.rank_cap;
  Json scores = Json::array();
  for (const auto& [rank, score] : r.scores)
    scores.push_back({{"rank", rank}, {"score", number(score)}});
  run["rank_scores"] = scores;
  Json models = Json::array();
  for (const ModelTrial& model : r.models)
    models.push_back({{"center", to_string(model.center)},
                      {"noise", to_string(model.noise)},
                      {"rank", model.rank},
                      {"sweeps", model.sweeps},
                      {"bound", number(model.bound)}});
  if (!r.models.empty()) run["models"] = models;
  return run;
}

io::Array matrix(const std::vector<Vector<double>>& rows) {
  io::Array array;
  array.shape = {static_cast<Index>(rows.size()), rows.empty() ? 0 : rows.front().size()};
  for (const auto& row : rows) array.values.insert(array.values.end(), row.begin(), row.end());
  return array;
}

void write_columns(const std::filesystem::path& path, const ColumnHistory& columns) {
  io::Array iteration;
  iteration.shape = {static_cast<Index>(columns.iteration.size())};
  iteration.values.assign(columns.iteration.begin(), columns.iteration.end());
  io::write_npz(
      path,
      {{"iteration", iteration}, {"norm_u", matrix(columns.norm_u)}, {"d", matrix(columns.d)}});
}

void write_biases(const std::filesystem::path& path, const RecoveryFacts& recovery) {
  const Biases& biases = recovery.biases;
  const auto array = [](const Vector<double>& values, Index size) {
    const Vector<double> all = values.size() > 0 ? values : Vector<double>::Zero(size);
    return io::Array{{size}, {all.begin(), all.end()}};
  };
  io::write_npz(path, {{"global", {{}, {biases.global}}},
                       {"rows", array(biases.row, recovery.rows)},
                       {"cols", array(biases.col, recovery.cols)}});
}

}  // namespace

template <typename Scalar>
void write_recovery(RunFolder& folder, const BasicRecovery<Scalar>& recovery,
                    const io::RunInfo& info) {
  io::write_npy(folder.file("U.npy"), recovery.U);
  io::write_npy(folder.file("d.npy"), recovery.d);
  if (!recovery.symmetric) io::write_npy(folder.file("V.npy"), recovery.V);
  io::write_atomically(folder.file("history.csv"), io::history_csv(recovery.history));
  if (!recovery.columns.iteration.empty())
    write_columns(folder.file("columns.npz"), recovery.columns);
  if (recovery.center != Centering::kNone) write_biases(folder.file("center.npz"), recovery);
  write_run_json(folder, info, results_json(recovery, scalar_name<Scalar>(), info.index_base));
}

#define UDV_INSTANTIATE(Scalar) \
  template void write_recovery(RunFolder&, const BasicRecovery<Scalar>&, const io::RunInfo&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)
#undef UDV_INSTANTIATE

}  // namespace udv::jobs

namespace udv::io {

std::string history_csv(const std::vector<IterationRecord>& history) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "iteration,seconds,objective,rank,norm_U,max_d,step\n");
  for (const IterationRecord& r : history)
    fmt::format_to(out, "{},{:.6f},{:.17g},{},{:.17g},{:.17g},{:.17g}\n", r.iteration, r.seconds,
                   r.objective, r.rank, r.norm_u, r.max_d, r.step);
  return fmt::to_string(text);
}

template <typename Scalar>
void write_run(const std::filesystem::path& folder, const BasicRecovery<Scalar>& recovery,
               const RunInfo& info, bool force) {
  jobs::FolderRules rules;
  rules.force = force;
  jobs::RunFolder run(folder, rules);
  jobs::write_recovery(run, recovery, info);
}

#define UDV_INSTANTIATE(Scalar)                                                       \
  template void write_run(const std::filesystem::path&, const BasicRecovery<Scalar>&, \
                          const RunInfo&, bool);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv::io
