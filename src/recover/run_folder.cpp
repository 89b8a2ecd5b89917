// SPDX-License-Identifier: MIT
#include "udv/recover/run_folder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/instantiate.hpp"
#include "io/run_json.hpp"
#include "udv/core/error.hpp"
#include "udv/core/version.hpp"
#include "udv/io/file.hpp"
#include "udv/io/npy.hpp"

namespace udv::io {
namespace {

using Json = nlohmann::ordered_json;
using detail::list;
using detail::number;

Json names(const std::vector<Index>& indices, int base) {
  Json result = Json::array();
  for (const Index index : indices) result.push_back(index + base);
  return result;
}

Json certificate_json(const Certificate& c) {
  return {{"stationarity", number(c.stationarity)},
          {"complementarity", number(c.complementarity)},
          {"dual_infeasibility", number(c.dual_infeasibility)},
          {"dead_curvature", number(c.dead_curvature)},
          {"ball_multiplier", number(c.ball_multiplier)},
          {"ball_residual", number(c.ball_residual)},
          {"ridge", number(c.ridge)},
          {"verdict", to_string(c.verdict)}};
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

template <typename Scalar>
Json run_json(const BasicRecovery<Scalar>& r, const RunInfo& info) {
  Json run = {{"udv", version()},
              {"command", info.command},
              {"config", detail::config_json(info.config)},
              {"seed", info.seed},
              {"method", r.method},
              {"scalar", scalar_name<Scalar>()},
              {"operator", r.operator_name},
              {"rows", r.rows},
              {"cols", r.cols},
              {"measurements", r.measurements},
              {"rank", r.rank},
              {"spectrum", list(r.spectrum)},
              {"rank_gap", number(r.rank_gap)},
              {"objective", number(r.objective)},
              {"relative_residual", number(r.relative_residual)}};
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
              {"certificate", certificate_json(r.certificate)},
              {"undetermined", undetermined_json(r.undetermined, info.index_base)}});
  Json scores = Json::array();
  for (const auto& [rank, score] : r.scores)
    scores.push_back({{"rank", rank}, {"score", number(score)}});
  run["rank_scores"] = scores;
  run["warnings"] = info.warnings;
  if (info.relative_error) run["relative_error"] = number(*info.relative_error);
  detail::add_figures(info, run);
  return run;
}

Array matrix(const std::vector<Vector<double>>& rows) {
  Array array;
  array.shape = {static_cast<Index>(rows.size()), rows.empty() ? 0 : rows.front().size()};
  for (const auto& row : rows) array.values.insert(array.values.end(), row.begin(), row.end());
  return array;
}

void write_columns(const std::filesystem::path& path, const ColumnHistory& columns) {
  Array iteration;
  iteration.shape = {static_cast<Index>(columns.iteration.size())};
  iteration.values.assign(columns.iteration.begin(), columns.iteration.end());
  write_npz(
      path,
      {{"iteration", iteration}, {"norm_u", matrix(columns.norm_u)}, {"d", matrix(columns.d)}});
}

}  // namespace

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
               const RunInfo& info) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  require<IoError>(!failure, folder.string(), ": cannot make this folder: ", failure.message());
  write_npy(folder / "U.npy", recovery.U);
  write_npy(folder / "d.npy", recovery.d);
  if (!recovery.symmetric) write_npy(folder / "V.npy", recovery.V);
  write_atomically(folder / "history.csv", history_csv(recovery.history));
  if (!recovery.columns.iteration.empty()) write_columns(folder / "columns.npz", recovery.columns);
  detail::write_json(folder / "run.json", run_json(recovery, info));
}

#define UDV_INSTANTIATE(Scalar)                                                       \
  template void write_run(const std::filesystem::path&, const BasicRecovery<Scalar>&, \
                          const RunInfo&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv::io
