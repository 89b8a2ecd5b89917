// SPDX-License-Identifier: MIT
#include <complex>

#include "answer.hpp"
#include "core/archive.hpp"

namespace udv::python {
namespace {

constexpr std::uint32_t kFormat = 1;

template <typename Archive, typename A, typename B>
void list_pairs(Archive& archive, std::vector<std::pair<A, B>>& pairs) {
  std::vector<A> first;
  std::vector<B> second;
  for (auto& [a, b] : pairs) first.push_back(a), second.push_back(b);
  archive(first, second);
  require(first.size() == second.size(), "pickle: pairs that are not whole");
  pairs.clear();
  for (std::size_t i = 0; i < first.size(); ++i) pairs.emplace_back(first[i], second[i]);
}

template <typename Archive, typename T>
void list_optional(Archive& archive, std::optional<T>& value) {
  bool there = value.has_value();
  T number = value.value_or(T{});
  archive(there, number);
  value = there ? std::optional<T>(number) : std::nullopt;
}

template <typename Archive>
void list_range(Archive& archive, std::optional<std::pair<double, double>>& range) {
  bool there = range.has_value();
  double low = there ? range->first : 0, high = there ? range->second : 0;
  archive(there, low, high);
  if (there) range = {low, high};
}

template <typename Archive>
void list_certificate(Archive& archive, Certificate& c, Determinacy& d) {
  archive(c.stationarity, c.ball_multiplier, c.ball_residual, c.dead_curvature, c.complementarity,
          c.dual_infeasibility, c.ridge, c.verdict);
  list_optional(archive, d.unique);
  archive(d.free_directions, d.free_is_estimate, d.determined_share, d.share_is_estimate,
          d.rank_confirmed, d.another_fits, d.decided, d.draws, d.steps, d.starts, d.tolerance);
}

template <typename Archive>
void list_history(Archive& archive, std::vector<IterationRecord>& history) {
  std::uint64_t count = history.size();
  archive(count);
  require(count <= std::uint64_t{1} << 32, "pickle: a history that is too long");
  history.resize(count);
  for (IterationRecord& r : history) {
    archive(r.iteration, r.seconds, r.objective, r.rank, r.norm_u, r.max_d, r.step);
    r.column_sizes = nullptr;
  }
}

template <typename Archive>
void list_models(Archive& archive, RecoveryFacts& r) {
  std::uint64_t count = r.models.size();
  archive(count);
  require(count <= std::uint64_t{1} << 20, "pickle: too many models");
  r.models.resize(count);
  for (ModelTrial& m : r.models) archive(m.center, m.noise, m.rank, m.sweeps, m.bound);
  bool there = r.posterior != nullptr;
  archive(there);
  if (!there) return;
  auto posterior =
      r.posterior ? std::make_shared<Posterior>(*r.posterior) : std::make_shared<Posterior>();
  archive(*posterior);
  r.posterior = posterior;
}

template <typename Archive>
void list_undetermined(Archive& archive, Undetermined& u) {
  archive(u.empty_rows, u.empty_cols, u.rows, u.cols);
  std::vector<std::vector<Index>> rows, cols;
  for (auto& [a, b] : u.blocks) rows.push_back(a), cols.push_back(b);
  archive(rows, cols);
  require(rows.size() == cols.size(), "pickle: blocks that are not whole");
  u.blocks.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) u.blocks.emplace_back(rows[i], cols[i]);
}

template <typename Archive>
void list_facts(Archive& archive, RecoveryFacts& r) {
  archive(r.method, r.operator_name, r.rows, r.cols, r.measurements, r.symmetric, r.by_rank_walk,
          r.intensities);
  list_pairs(archive, r.outliers);
  archive(r.outliers_removed, r.noise_by, r.center, r.biases.global, r.biases.row, r.biases.col);
  archive(r.spectrum, r.rank, r.rank_gap, r.objective, r.relative_residual);
  list_optional(archive, r.holdout_rmse);
  list_optional(archive, r.test_rmse);
  archive(r.iterations, r.seconds, r.stop_reason, r.converged, r.exact, r.scale, r.alpha, r.step,
          r.noise_sigma, r.ridge, r.indefinite, r.rank_cap);
  list_pairs(archive, r.scores);
  list_models(archive, r);
  list_range(archive, r.range);
  list_certificate(archive, r.certificate, r.determinacy);
  list_undetermined(archive, r.undetermined);
  list_history(archive, r.history);
  archive(r.columns.iteration, r.columns.norm_u, r.columns.d);
}

template <typename Archive, typename Scalar>
void list_open(Archive& archive, OpenEntries<Scalar>& open) {
  for (StackedFactors<Scalar>* const stack : {&open.Z, &open.dZ})
    archive(stack->Z, stack->rows, stack->symmetric);
  archive(open.sizes, open.tolerance, open.row, open.col, open.row_group, open.col_group,
          open.all_open);
}

template <typename Archive, typename Scalar>
void list_answer(Archive& archive, Answer<Scalar>& answer) {
  jobs::RecoveryResult<Scalar>& result = answer.result;
  BasicRecovery<Scalar>& r = result.recovery;
  std::string folder = result.folder.string();
  archive(result.outcome, folder, result.resumable, result.warnings);
  result.folder = folder;
  list_optional(archive, result.relative_error);
  list_facts(archive, r);
  archive(r.U, r.V, r.d);
  list_open(archive, r.open_entries);
  bool there = answer.known != nullptr;
  archive(there);
  if (!there) return;
  auto known =
      answer.known ? std::make_shared<Entries>(*answer.known) : std::make_shared<Entries>();
  archive(known->rows, known->cols, known->symmetric, known->row, known->col, known->value,
          known->weight);
  answer.known = known;
}

}  // namespace

template <typename Scalar>
std::string to_bytes(const Answer<Scalar>& answer) {
  Answer<Scalar> copy{answer.result, answer.known};
  ArchiveWriter archive;
  std::uint32_t format = kFormat;
  archive(format);
  list_answer(archive, copy);
  return archive.take();
}

template <typename Scalar>
std::shared_ptr<Answer<Scalar>> answer_from_bytes(const std::string& bytes) {
  auto answer = std::make_shared<Answer<Scalar>>();
  ArchiveReader archive(bytes);
  std::uint32_t format = 0;
  archive(format);
  require(format == kFormat, "pickle: format ", format, " found, ", kFormat, " expected");
  list_answer(archive, *answer);
  return answer;
}

template std::string to_bytes(const Answer<double>&);
template std::string to_bytes(const Answer<std::complex<double>>&);
template std::string to_bytes(const Answer<std::complex<float>>&);
template std::shared_ptr<Answer<double>> answer_from_bytes(const std::string&);
template std::shared_ptr<Answer<std::complex<double>>> answer_from_bytes(const std::string&);
template std::shared_ptr<Answer<std::complex<float>>> answer_from_bytes(const std::string&);

}  // namespace udv::python
