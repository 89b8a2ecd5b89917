// SPDX-License-Identifier: MIT
// An update of the posteriors of one side.
#include <algorithm>
#include <vector>

#include "bayes.cuh"

namespace udv::device {
namespace {

// Lines whose sums are made at once take this many bytes.
constexpr std::int64_t kBatchBytes = 1 << 28;

void take_totals(const double* all, int D, BayesTotals* totals) {
  const auto size = static_cast<std::size_t>(packed_size(D));
  totals->lines = all[0];
  totals->log_det = all[1];
  std::copy_n(all + 2, D, totals->mean_sum);
  std::copy_n(all + 2 + D, size, totals->means);
  std::copy_n(all + 2 + D + size, size, totals->spread);
  totals->residual = totals->squares = 0;
}

template <typename T>
void bayes_update(const Pattern* pattern, int side, const BayesTask* task, const T* other,
                  const double* value, const T* weight, T* own, BayesTotals* totals,
                  double* line_squares) {
  const Side lines = side_of(pattern, side);
  const int D = static_cast<int>(task->width);
  const int stride = static_cast<int>(record_stride<T>(D));
  const auto bytes_of = [](std::int64_t doubles) { return static_cast<std::size_t>(doubles) * 8; };
  const auto line_bytes = sums_stride(D) * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t batch =
      std::min(std::max<std::int64_t>(kBatchBytes / line_bytes, 1024), lines.lines);
  auto* const sums = static_cast<T*>(scratch(3, static_cast<std::size_t>(batch * line_bytes)));
  const std::int64_t solvers = num_solvers<T>(batch, D), numbers = solvers * totals_stride(D);
  auto* const partial = static_cast<double*>(scratch(4, bytes_of(numbers)));
  note(cudaMemsetAsync(partial, 0, bytes_of(numbers)), "bayes");
  double* const spread =
      task->measure ? static_cast<double*>(scratch(5, bytes_of(lines.lines))) : nullptr;
  const double* const prior = on_device(task->prior, D, 6);
  for (std::int64_t begin = 0; begin < lines.lines; begin += batch) {
    const std::int64_t end = std::min(begin + batch, lines.lines);
    make_sums<T>({lines, begin, end, D, stride, task->mean, other, value, weight, sums});
    solve_lines<T>({begin, end, D, stride, 1 / task->variance, prior, sums, own, partial, spread},
                   solvers);
  }
  std::vector<double> all(static_cast<std::size_t>(totals_stride(D)));
  add_parts(partial, solvers, totals_stride(D), all.data());
  take_totals(all.data(), D, totals);
  if (!task->measure) return;
  double* const by_line =
      line_squares ? static_cast<double*>(scratch(7, bytes_of(lines.lines))) : nullptr;
  const ResidualStatistics found = measure<T>({lines, D, stride, task->mean, 1e300, own, other,
                                               value, weight, spread, by_line, nullptr, nullptr});
  totals->residual = found.sum;
  totals->squares = found.squares;
  if (line_squares) fetch(line_squares, by_line, bytes_of(lines.lines));
}

}  // namespace

template <typename T>
void add_bayes_kernels(Kernels<T>& kernels) {
  kernels.bayes_update = bayes_update<T>;
  add_bayes_entry_kernels(kernels);
  add_bayes_record_kernels(kernels);
}

template void add_bayes_kernels(Kernels<float>&);
template void add_bayes_kernels(Kernels<double>&);

}  // namespace udv::device
