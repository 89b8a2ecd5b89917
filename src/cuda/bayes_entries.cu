// SPDX-License-Identifier: MIT
// Residuals, predictions and weights of entries between posteriors.
#include <algorithm>

#include "bayes.cuh"

namespace udv::device {
namespace {

constexpr int kStatistics = 4;  // sum, squares, largest, beyond

// <(1, m_c ...), record_j> for the 32 entries of a warp, one a lane: kGroup lanes make one of them.
template <typename T, int kGroup>
__device__ double predictions(const MeasureTask<T>& t, int index, int count, const double* mine) {
  constexpr int kGroups = kWarp / kGroup, kDeep = kGroup < 4 ? kGroup : 4;
  const int lane = threadIdx.x % kWarp, group = lane / kGroup, at = 4 * (lane % kGroup);
  double result = 0;
  for (int u = 0; u < count; u += kGroups * kDeep) {
    Quad<T> theirs[kDeep];
#pragma unroll
    for (int d = 0; d < kDeep; ++d) {
      const int j = __shfl_sync(kAll, index, u + d * kGroups + group);
      const T* const record = t.other + static_cast<std::int64_t>(j) * t.stride;
      theirs[d] = at < t.width ? load_quad(record + at) : Quad<T>{};
    }
#pragma unroll
    for (int d = 0; d < kDeep; ++d) {
      double dot = 0;
#pragma unroll
      for (int a = 0; a < 4; ++a) dot += mine[a] * static_cast<double>(theirs[d].x[a]);
      dot = group_sum<kGroup>(dot);
      const double of_lane = __shfl_sync(kAll, dot, lane % kGroups * kGroup);
      if (lane / kGroups == u / kGroups + d) result = of_lane;
    }
  }
  return result;
}

// One warp a line; sums in double precision.
template <typename T, int kGroup>
__global__ void __launch_bounds__(kThreads) measure_kernel(MeasureTask<T> t, double* totals) {
  const int lane = threadIdx.x % kWarp;
  double sum = 0, squares = 0, largest = 0, beyond = 0;
  for (std::int64_t line = warp_index(); line < t.side.lines; line += num_warps()) {
    const T* const own = t.own + line * t.stride;
    double mine[4];  // the bias of the other side counts once
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      const int c = 4 * (lane % kGroup) + a;
      mine[a] = c == 0 ? 1.0 : (c < t.width ? static_cast<double>(own[c]) : 0.0);
    }
    const double bias = t.mean + static_cast<double>(own[0]);
    const std::int64_t first = t.side.first[line], end = t.side.first[line + 1];
    double line_sum = 0, line_squares = 0;
    for (std::int64_t base = first; base < end; base += kWarp) {
      const std::int64_t s = base + lane;
      const bool live = s < end;
      const double value = live ? t.value[s] : 0.0;
      const double w = !live ? 0.0 : t.weight ? static_cast<double>(t.weight[s]) : 1.0;
      const int count = static_cast<int>(min(static_cast<std::int64_t>(kWarp), end - base));
      const double x =
          bias + predictions<T, kGroup>(t, t.side.other[live ? s : first], count, mine);
      if (!live) continue;
      const double r = value - x;
      line_sum += w * r;
      line_squares += w * r * r;
      largest = fmax(largest, w * r * r);
      beyond += w * r * r >= t.limit ? 1 : 0;
      if (t.weighted) t.weighted[s] = w * r;
      if (t.predicted) t.predicted[s] = x;
    }
    __syncwarp();
    line_sum = group_sum<kWarp>(line_sum);
    line_squares = group_sum<kWarp>(line_squares);
    if (lane == 0) {
      if (t.spread) line_squares += t.spread[line];
      sum += line_sum;
      squares += line_squares;
      if (t.lines) t.lines[line] = line_squares;
    }
  }
  beyond = group_sum<kWarp>(beyond);
  for (int step = kWarp / 2; step > 0; step /= 2)
    largest = fmax(largest, __shfl_xor_sync(kAll, largest, step));
  if (lane == 0) {
    double* const out = totals + warp_index() * kStatistics;
    out[0] = sum, out[1] = squares, out[2] = largest, out[3] = beyond;
  }
}

// One block for each of the four: sums, but the largest of the third.
__global__ void join_statistics(const double* totals, std::int64_t warps, double* out) {
  __shared__ double parts[kThreads];
  const bool largest = blockIdx.x == 2;
  double own = 0;
  for (std::int64_t n = threadIdx.x; n < warps; n += kThreads) {
    const double value = totals[n * kStatistics + blockIdx.x];
    own = largest ? fmax(own, value) : own + value;
  }
  parts[threadIdx.x] = own;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      const double value = parts[threadIdx.x + step];
      parts[threadIdx.x] = largest ? fmax(parts[threadIdx.x], value) : parts[threadIdx.x] + value;
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

template <typename T>
void launch_measure(const MeasureTask<T>& task, int grid, double* totals) {
  if (task.width <= 4)
    measure_kernel<T, 1><<<grid, kThreads>>>(task, totals);
  else if (task.width <= 8)
    measure_kernel<T, 2><<<grid, kThreads>>>(task, totals);
  else if (task.width <= 16)
    measure_kernel<T, 4><<<grid, kThreads>>>(task, totals);
  else if (task.width <= 32)
    measure_kernel<T, 8><<<grid, kThreads>>>(task, totals);
  else
    measure_kernel<T, 32><<<grid, kThreads>>>(task, totals);
  launched("bayes residuals");
}

template <typename T>
void bayes_residuals(const Pattern* pattern, int side, const T* own, const T* other,
                     std::int64_t width, double mean, const double* value, const T* weight,
                     double limit, ResidualStatistics* statistics, double* weighted,
                     double* predicted) {
  const ResidualStatistics found = measure<T>(
      {side_of(pattern, side), static_cast<int>(width), static_cast<int>(record_stride<T>(width)),
       mean, limit, own, other, value, weight, nullptr, nullptr, weighted, predicted});
  if (statistics) *statistics = found;
}

template <typename T>
struct WeighTask {
  Side side;
  const T* known;
  const double *own, *other, *predicted;
  double smallest;
  T* weight;
  double* totals;
};

template <typename T>
__global__ void weigh_kernel(WeighTask<T> t) {
  const int lane = threadIdx.x % kWarp;
  double count = 0, total = 0, half_log = 0;
  for (std::int64_t line = warp_index(); line < t.side.lines; line += num_warps())
    for (std::int64_t s = t.side.first[line] + lane; s < t.side.first[line + 1]; s += kWarp) {
      double known = t.known ? static_cast<double>(t.known[s]) : 1.0;
      double all = 0;
      if (known > 0) {
        if (t.predicted) known /= fmax(t.predicted[s], t.smallest);
        all = known * (t.own ? t.own[line] : 1.0) * (t.other ? t.other[t.side.other[s]] : 1.0);
        count += 1;
        total += all;
        half_log += 0.5 * log(known);
      }
      t.weight[s] = static_cast<T>(all);
    }
  count = group_sum<kWarp>(count);
  total = group_sum<kWarp>(total);
  half_log = group_sum<kWarp>(half_log);
  if (lane == 0) {
    double* const out = t.totals + warp_index() * 3;
    out[0] = count, out[1] = total, out[2] = half_log;
  }
}

template <typename T>
void bayes_weigh(const Pattern* pattern, int side, const T* known, const double* own_noise,
                 const double* other_noise, const double* predicted, double smallest, T* weight,
                 double* sums) {
  const Side lines = side_of(pattern, side), others = side_of(pattern, 1 - side);
  const int grid = warp_blocks(lines.lines);
  const std::int64_t warps = grid * (kThreads / kWarp);
  auto* const totals = static_cast<double*>(scratch(1, static_cast<std::size_t>(warps) * 3 * 8));
  weigh_kernel<T><<<grid, kThreads>>>(
      {lines, known, own_noise ? on_device(own_noise, lines.lines, 6) : nullptr,
       other_noise ? on_device(other_noise, others.lines, 7) : nullptr, predicted, smallest, weight,
       totals});
  launched("weigh");
  double all[3];
  add_parts(totals, warps, 3, all);
  if (sums) std::copy_n(all, 3, sums);
}

}  // namespace

template <typename T>
ResidualStatistics measure(const MeasureTask<T>& task) {
  const int grid = warp_blocks(task.side.lines);
  const std::int64_t warps = grid * (kThreads / kWarp);
  auto* const totals =
      static_cast<double*>(scratch(1, static_cast<std::size_t>(warps) * kStatistics * 8));
  launch_measure(task, grid, totals);
  double* const found = results();
  join_statistics<<<kStatistics, kThreads>>>(totals, warps, found);
  launched("bayes residuals");
  wait();
  return {found[0], found[1], found[2], found[3]};
}

template ResidualStatistics measure(const MeasureTask<float>&);
template ResidualStatistics measure(const MeasureTask<double>&);

template <typename T>
void add_bayes_entry_kernels(Kernels<T>& kernels) {
  kernels.bayes_residuals = bayes_residuals<T>;
  kernels.bayes_weigh = bayes_weigh<T>;
}

template void add_bayes_entry_kernels(Kernels<float>&);
template void add_bayes_entry_kernels(Kernels<double>&);

}  // namespace udv::device
