// SPDX-License-Identifier: MIT
// Posteriors of lines: see recover/solver/bayes_side.hpp for the formulas.
#include <algorithm>
#include <vector>

#include "packed.cuh"

namespace udv::device {
namespace {

// Lines whose sums are made at once take this many bytes.
constexpr std::int64_t kBatchBytes = 1 << 27;

template <typename T>
T* on_device(const T* host, std::int64_t size, int slot) {
  auto* const to = static_cast<T*>(scratch(slot, static_cast<std::size_t>(size) * sizeof(T)));
  note(cudaMemcpy(to, host, static_cast<std::size_t>(size) * sizeof(T), cudaMemcpyHostToDevice),
       "upload");
  return to;
}

__device__ std::int64_t warp_index() {
  return (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / kWarp;
}
__device__ std::int64_t num_warps() {
  return gridDim.x * static_cast<std::int64_t>(blockDim.x) / kWarp;
}

// The sums of a line: F y (width numbers), F F^T and S (packed), the weight.
__host__ __device__ inline std::int64_t sums_stride(int width) {
  return width + width * (width + 1) + 1;
}

template <typename T>
struct SumTask {
  Side side;
  std::int64_t begin, end;  // lines
  int width, stride;        // of a record
  double mean;
  const T* other;
  const double* value;
  const T* weight;
  T* sums;
};

// One warp a line, a lane some elements of the packed sums. Several records are in flight.
template <typename T, int kPieces, bool kShort>
__global__ void __launch_bounds__(kThreads) sum_kernel(SumTask<T> t) {
  constexpr int kDeep = kPieces <= 3 ? 4 : 2;
  const int lane = threadIdx.x % kWarp, D = t.width, size = D * (D + 1) / 2;
  for (int base = 0; base < size; base += kPieces * kWarp) {
    const PackedShare<kPieces> share(base, lane, size);
    for (std::int64_t line = t.begin + warp_index(); line < t.end; line += num_warps()) {
      T outer[kPieces] = {}, spread[kPieces] = {}, right = 0, total = 0;
      const std::int64_t end = t.side.first[line + 1];
      for (std::int64_t s = t.side.first[line]; s < end; s += kDeep) {
        const T* record[kDeep];
        T mean[kDeep], cov[kDeep][kPieces], weight[kDeep];
        double value[kDeep];
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const bool live = s + u < end;
          const std::int64_t at = live ? s + u : s;
          record[u] = t.other + static_cast<std::int64_t>(t.side.other[at]) * t.stride;
          weight[u] = live ? (t.weight ? t.weight[at] : T(1)) : T(0);
          value[u] = t.value[at];
        }
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          mean[u] = lane < D ? record[u][lane] : T(0);
#pragma unroll
          for (int n = 0; n < kPieces; ++n) {
            const int e = base + lane + n * kWarp;
            cov[u][n] = e < size ? record[u][D + e] : T(0);
          }
        }
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const T bias = __shfl_sync(kAll, mean[u], 0), w = weight[u];
          const T y = static_cast<T>(value[u] - t.mean - static_cast<double>(bias));
          const T mine = lane == 0 ? T(1) : mean[u];
          total += w;
          if (kShort) right += w * y * mine;
#pragma unroll
          for (int n = 0; n < kPieces; ++n) {
            const int r = share.row[n], c = share.col[n];
            const T left = kShort ? __shfl_sync(kAll, mine, r) : (r == 0 ? T(1) : record[u][r]);
            const T other = kShort ? __shfl_sync(kAll, mine, c) : (c == 0 ? T(1) : record[u][c]);
            outer[n] += w * left * other;
            spread[n] += w * cov[u][n];
          }
        }
      }
      T* const out = t.sums + (line - t.begin) * sums_stride(D);
      if (kShort && base == 0 && lane < D) out[lane] = right;
      if (base == 0 && lane == 0) out[sums_stride(D) - 1] = total;
#pragma unroll
      for (int n = 0; n < kPieces; ++n) {
        const int e = base + lane + n * kWarp;
        if (e >= size) continue;
        out[D + e] = outer[n];
        out[D + size + e] = spread[n];
      }
    }
  }
}

// F y where a record has more means than a warp has lanes.
template <typename T>
__global__ void __launch_bounds__(kThreads) right_kernel(SumTask<T> t) {
  const int lane = threadIdx.x % kWarp, D = t.width;
  for (std::int64_t line = t.begin + warp_index(); line < t.end; line += num_warps())
    for (int c = lane; c < D; c += kWarp) {
      T right = 0;
      for (std::int64_t s = t.side.first[line]; s < t.side.first[line + 1]; ++s) {
        const T* const record = t.other + static_cast<std::int64_t>(t.side.other[s]) * t.stride;
        const T y = static_cast<T>(t.value[s] - t.mean - static_cast<double>(record[0]));
        right += (t.weight ? t.weight[s] : T(1)) * y * (c == 0 ? T(1) : record[c]);
      }
      t.sums[(line - t.begin) * sums_stride(D) + c] = right;
    }
}

template <typename T>
void make_sums(const SumTask<T>& task) {
  const int grid = warp_blocks(task.end - task.begin);
  with_pieces(packed_size(task.width), [&](auto pieces) {
    if (task.width <= kWarp)
      sum_kernel<T, decltype(pieces)::value, true><<<grid, kThreads>>>(task);
    else
      sum_kernel<T, decltype(pieces)::value, false><<<grid, kThreads>>>(task);
  });
  if (task.width > kWarp) right_kernel<T><<<grid, kThreads>>>(task);
  launched("bayes sums");
}

// What a warp adds up over its lines: their number, log det C, sum of m, of m m^T, of C.
__host__ __device__ inline std::int64_t totals_stride(int width) {
  return 2 + width + width * (width + 1);
}

template <typename T>
struct SolveTask {
  std::int64_t begin, end;
  int width, stride;
  double precision;
  const double* prior;
  const T* sums;
  T* own;
  double* totals;  // of each warp
  double* spread;  // of each line: sum of w Var(prediction)
  bool measure;
};

// A = L L^T in place by one warp, 1 / L_rr on the diagonal; the sum of log L_rr.
__device__ double warp_cholesky(double* A, int D, int pitch, int lane) {
  double log_sum = 0;
  for (int k = 0; k < D; ++k) {
    // The diagonal as it was is kept above it: see fill_system.
    const double pivot = fmax(A[k * pitch + k], 1e-14 * A[k * pitch + D]);
    const double scale = rsqrt(pivot);
    log_sum += 0.5 * log(pivot);
    __syncwarp();
    for (int r = k + 1 + lane; r < D; r += kWarp) A[r * pitch + k] *= scale;
    if (lane == 0) A[k * pitch + k] = scale;
    __syncwarp();
    for (int r = k + 1 + lane; r < D; r += kWarp) {
      const double factor = A[r * pitch + k];
      for (int c = k + 1; c <= r; ++c) A[r * pitch + c] -= factor * A[c * pitch + k];
    }
    __syncwarp();
  }
  return log_sum;
}

// X = L^-1, a lane some columns; X_rc for r >= c.
__device__ void warp_invert(const double* L, double* X, int D, int pitch, int lane) {
  for (int c = lane; c < D; c += kWarp)
    for (int r = c; r < D; ++r) {
      double sum = r == c ? 1.0 : 0.0;
      for (int n = c; n < r; ++n) sum -= L[r * pitch + n] * X[n * pitch + c];
      X[r * pitch + c] = sum * L[r * pitch + r];
    }
  __syncwarp();
}

template <typename T>
__device__ void fill_system(const SolveTask<T>& t, const T* sums, double* A, int pitch, int lane) {
  const int D = t.width, size = D * (D + 1) / 2;
  for (int e = lane; e < size; e += kWarp) {
    int r, c;
    packed_place(e, r, c);
    double value = static_cast<double>(sums[D + e]);
    if (c > 0) value += static_cast<double>(sums[D + size + e]);
    value *= t.precision;
    if (!(t.prior[r] > 0) || !(t.prior[c] > 0))
      value = r == c ? 1.0 : 0.0;
    else if (r == c)
      value += 1 / t.prior[r];
    A[r * pitch + c] = value;
    if (r == c) A[r * pitch + D] = value;
  }
  __syncwarp();
}

// tr(C G) + (1, v)^T (sum S) (1, v) over the lanes.
template <typename T>
__device__ double spread_of(const T* sums, const T* record, int D, int lane) {
  const int size = D * (D + 1) / 2;
  double sum = 0;
  for (int e = lane; e < size; e += kWarp) {
    int r, c;
    packed_place(e, r, c);
    const double S = static_cast<double>(sums[D + size + e]);
    const double G = static_cast<double>(sums[D + e]) + (c > 0 ? S : 0.0);
    const double a = r == 0 ? 1.0 : static_cast<double>(record[r]);
    const double b = c == 0 ? 1.0 : static_cast<double>(record[c]);
    sum += (r == c ? 1 : 2) * (static_cast<double>(record[D + e]) * G + a * S * b);
  }
  return group_sum<kWarp>(sum);
}

template <typename T>
__global__ void solve_lines(SolveTask<T> t) {
  extern __shared__ double memory[];
  const int lane = threadIdx.x % kWarp, D = t.width, pitch = (D + 1) | 1, size = D * (D + 1) / 2;
  double* const A = memory + (threadIdx.x / kWarp) * (2 * D * pitch + D);
  double *const X = A + D * pitch, *const m = X + D * pitch;
  double* const totals = t.totals + warp_index() * totals_stride(D);
  for (std::int64_t line = t.begin + warp_index(); line < t.end; line += num_warps()) {
    const T* const sums = t.sums + (line - t.begin) * sums_stride(D);
    T* const record = t.own + line * t.stride;
    if (!(sums[sums_stride(D) - 1] > T(0))) {  // no entries: the prior
      for (int e = lane; e < D + size; e += kWarp) record[e] = 0;
      __syncwarp();
      for (int c = lane; c < D; c += kWarp)
        record[D + c * (c + 1) / 2 + c] = static_cast<T>(t.prior[c]);
      if (t.spread && lane == 0) t.spread[line] = 0;
      continue;
    }
    fill_system(t, sums, A, pitch, lane);
    const double log_det = -2 * warp_cholesky(A, D, pitch, lane);
    warp_invert(A, X, D, pitch, lane);
    // C = X^T X over A, and m = C h / sigma^2.
    for (int e = lane; e < size; e += kWarp) {
      int r, c;
      packed_place(e, r, c);
      double sum = 0;
      for (int n = r; n < D; ++n) sum += X[n * pitch + r] * X[n * pitch + c];
      if (r == c && !(t.prior[r] > 0)) sum = 0;
      A[r * pitch + c] = A[c * pitch + r] = sum;
    }
    __syncwarp();
    for (int r = lane; r < D; r += kWarp) {
      double sum = 0;
      for (int c = 0; c < D; ++c) {
        if (!(t.prior[c] > 0)) continue;
        double h = static_cast<double>(sums[c]);
        if (c > 0) h -= static_cast<double>(sums[D + size + c * (c + 1) / 2]);
        sum += A[r * pitch + c] * h;
      }
      m[r] = t.prior[r] > 0 ? t.precision * sum : 0.0;
    }
    __syncwarp();
    if (lane == 0) {
      totals[0] += 1;
      totals[1] += log_det;
    }
    for (int c = lane; c < D; c += kWarp) {
      record[c] = static_cast<T>(m[c]);
      totals[2 + c] += m[c];
    }
    for (int e = lane; e < size; e += kWarp) {
      int r, c;
      packed_place(e, r, c);
      record[D + e] = static_cast<T>(A[r * pitch + c]);
      totals[2 + D + e] += m[r] * m[c];
      totals[2 + D + size + e] += A[r * pitch + c];
    }
    __syncwarp();
    if (t.spread) {
      const double spread = t.measure ? spread_of(sums, record, D, lane) : 0.0;
      if (lane == 0) t.spread[line] = spread;
    }
    __syncwarp();
  }
}

template <typename T>
struct MeasureTask {
  Side side;
  int width, stride;
  double mean, limit;
  const T *own, *other;
  const double* value;
  const T* weight;
  const double* spread;  // of each line, or none
  double *totals, *lines, *weighted, *predicted;
};

// One warp a line, kGroup lanes an entry as in entries.cu; sums in double precision.
template <typename T, int kGroup, int kPieces>
__global__ void __launch_bounds__(kThreads) measure_kernel(MeasureTask<T> t) {
  constexpr int kAtOnce = kWarp / kGroup, kDeep = 4;
  const int lane = threadIdx.x % kWarp, group = lane / kGroup, part = lane % kGroup;
  double sum = 0, squares = 0, largest = 0, beyond = 0;
  for (std::int64_t line = warp_index(); line < t.side.lines; line += num_warps()) {
    const T* const own = t.own + line * t.stride;
    double mine[kPieces];  // the bias of the other side counts once
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const int c = part + n * kGroup;
      mine[n] = c == 0 ? 1.0 : (c < t.width ? static_cast<double>(own[c]) : 0.0);
    }
    const double bias = t.mean + static_cast<double>(own[0]);
    const std::int64_t end = t.side.first[line + 1];
    double line_sum = 0, line_squares = 0;
    for (std::int64_t base = t.side.first[line]; base < end; base += kAtOnce * kDeep) {
      T theirs[kDeep][kPieces];
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        const std::int64_t s = base + u * kAtOnce + group;
        const T* const other =
            t.other + static_cast<std::int64_t>(s < end ? t.side.other[s] : 0) * t.stride;
#pragma unroll
        for (int n = 0; n < kPieces; ++n) {
          const int c = part + n * kGroup;
          theirs[u][n] = c < t.width ? other[c] : T(0);
        }
      }
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        const std::int64_t s = base + u * kAtOnce + group;
        double dot = 0;
#pragma unroll
        for (int n = 0; n < kPieces; ++n) dot += mine[n] * static_cast<double>(theirs[u][n]);
        dot = group_sum<kGroup>(dot);
        if (part != 0 || s >= end) continue;
        const double w = t.weight ? static_cast<double>(t.weight[s]) : 1.0;
        const double r = t.value[s] - (bias + dot);
        line_sum += w * r;
        line_squares += w * r * r;
        largest = fmax(largest, w * r * r);
        beyond += w * r * r >= t.limit ? 1 : 0;
        if (t.weighted) t.weighted[s] = w * r;
        if (t.predicted) t.predicted[s] = bias + dot;
      }
    }
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
    double* const out = t.totals + warp_index() * 4;
    out[0] = sum, out[1] = squares, out[2] = largest, out[3] = beyond;
  }
}

template <typename T>
ResidualStatistics measure(MeasureTask<T> task) {
  const int grid = warp_blocks(task.side.lines);
  const std::int64_t warps = grid * (kThreads / kWarp);
  task.totals = static_cast<double*>(scratch(1, static_cast<std::size_t>(warps) * 4 * 8));
  if (task.width <= 4)
    measure_kernel<T, 4, 1><<<grid, kThreads>>>(task);
  else if (task.width <= 16)
    measure_kernel<T, 8, 2><<<grid, kThreads>>>(task);
  else
    measure_kernel<T, 32, 4><<<grid, kThreads>>>(task);
  launched("bayes residuals");
  std::vector<double> all(static_cast<std::size_t>(warps) * 4);
  note(cudaMemcpy(all.data(), task.totals, all.size() * 8, cudaMemcpyDeviceToHost), "download");
  ResidualStatistics result{};
  for (std::size_t n = 0; n < all.size(); n += 4) {
    result.sum += all[n];
    result.squares += all[n + 1];
    result.largest = std::max(result.largest, all[n + 2]);
    result.beyond += all[n + 3];
  }
  return result;
}

template <typename T>
void bayes_update(const Pattern* pattern, int side, const BayesTask* task, const T* other,
                  const double* value, const T* weight, T* own, BayesTotals* totals,
                  double* line_squares) {
  const Side lines = side_of(pattern, side);
  const int D = static_cast<int>(task->width);
  const int stride = static_cast<int>(record_stride<T>(D));
  const auto line_bytes = sums_stride(D) * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t batch =
      std::min(std::max<std::int64_t>(kBatchBytes / line_bytes, 1024), lines.lines);
  auto* const sums =
      static_cast<T*>(scratch(3, static_cast<std::size_t>(batch * sums_stride(D)) * sizeof(T)));
  const std::size_t per_warp = static_cast<std::size_t>(2 * D * ((D + 1) | 1) + D) * 8;
  const int warps_a_block = static_cast<int>(std::clamp<std::size_t>(49152 / per_warp, 1, 8));
  const std::size_t bytes = per_warp * static_cast<std::size_t>(warps_a_block);
  note(cudaFuncSetAttribute(solve_lines<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(bytes)),
       "bayes");
  const int grid = blocks_for(batch, warps_a_block);
  const std::int64_t warps = grid * static_cast<std::int64_t>(warps_a_block);
  auto* const partial =
      static_cast<double*>(scratch(4, static_cast<std::size_t>(warps * totals_stride(D)) * 8));
  note(cudaMemsetAsync(partial, 0, static_cast<std::size_t>(warps * totals_stride(D)) * 8),
       "bayes");
  double* const spread =
      task->measure ? static_cast<double*>(scratch(5, static_cast<std::size_t>(lines.lines) * 8))
                    : nullptr;
  const double* const prior = on_device(task->prior, D, 6);
  for (std::int64_t begin = 0; begin < lines.lines; begin += batch) {
    const std::int64_t end = std::min(begin + batch, lines.lines);
    make_sums<T>({lines, begin, end, D, stride, task->mean, other, value, weight, sums});
    solve_lines<T>
        <<<grid, warps_a_block * kWarp, bytes>>>({begin, end, D, stride, 1 / task->variance, prior,
                                                  sums, own, partial, spread, task->measure});
  }
  launched("bayes");
  std::vector<double> all(static_cast<std::size_t>(totals_stride(D)));
  add_parts(partial, warps, totals_stride(D), all.data());
  const auto size = static_cast<std::size_t>(packed_size(D));
  totals->lines = all[0];
  totals->log_det = all[1];
  std::copy_n(all.data() + 2, D, totals->mean_sum);
  std::copy_n(all.data() + 2 + D, size, totals->means);
  std::copy_n(all.data() + 2 + D + size, size, totals->spread);
  totals->residual = totals->squares = 0;
  if (!task->measure) return;
  double* const by_line =
      line_squares ? static_cast<double*>(scratch(7, static_cast<std::size_t>(lines.lines) * 8))
                   : nullptr;
  const ResidualStatistics found =
      measure<T>({lines, D, stride, task->mean, 1e300, own, other, value, weight, spread, nullptr,
                  by_line, nullptr, nullptr});
  totals->residual = found.sum;
  totals->squares = found.squares;
  if (line_squares)
    note(cudaMemcpy(line_squares, by_line, static_cast<std::size_t>(lines.lines) * 8,
                    cudaMemcpyDeviceToHost),
         "download");
}

template <typename T>
void bayes_residuals(const Pattern* pattern, int side, const T* own, const T* other,
                     std::int64_t width, double mean, const double* value, const T* weight,
                     double limit, ResidualStatistics* statistics, double* weighted,
                     double* predicted) {
  const ResidualStatistics found = measure<T>(
      {side_of(pattern, side), static_cast<int>(width), static_cast<int>(record_stride<T>(width)),
       mean, limit, own, other, value, weight, nullptr, nullptr, nullptr, weighted, predicted});
  if (statistics) *statistics = found;
}

template <typename T>
__global__ void transform_kernel(T* records, std::int64_t lines, int D, int stride,
                                 const double* map, const double* shift) {
  extern __shared__ double memory[];
  const int lane = threadIdx.x % kWarp, size = D * (D + 1) / 2;
  double* const C = memory + (threadIdx.x / kWarp) * (2 * D * D + D);
  double *const half = C + D * D, *const m = half + D * D;
  for (std::int64_t line = warp_index(); line < lines; line += num_warps()) {
    T* const record = records + line * stride;
    for (int c = lane; c < D; c += kWarp) m[c] = static_cast<double>(record[c]);
    for (int e = lane; e < size; e += kWarp) {
      int r, c;
      packed_place(e, r, c);
      C[r * D + c] = C[c * D + r] = static_cast<double>(record[D + e]);
    }
    __syncwarp();
    for (int p = lane; p < D * D; p += kWarp) {
      const int r = p / D, c = p % D;
      double sum = 0;
      for (int n = 0; n < D; ++n) sum += map[r * D + n] * C[n * D + c];
      half[p] = sum;
    }
    for (int r = lane; r < D; r += kWarp) {
      double sum = shift[r];
      for (int n = 0; n < D; ++n) sum += map[r * D + n] * m[n];
      record[r] = static_cast<T>(sum);
    }
    __syncwarp();
    for (int e = lane; e < size; e += kWarp) {
      int r, c;
      packed_place(e, r, c);
      double sum = 0;
      for (int n = 0; n < D; ++n) sum += half[r * D + n] * map[c * D + n];
      record[D + e] = static_cast<T>(sum);
    }
    __syncwarp();
  }
}

template <typename T>
void bayes_transform(T* records, std::int64_t lines, std::int64_t width, const double* map,
                     const double* shift) {
  const int D = static_cast<int>(width);
  const std::size_t per_warp = static_cast<std::size_t>(2 * D * D + D) * 8;
  const int warps = static_cast<int>(std::clamp<std::size_t>(49152 / per_warp, 1, 8));
  const std::size_t bytes = per_warp * static_cast<std::size_t>(warps);
  note(cudaFuncSetAttribute(transform_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(bytes)),
       "transform");
  transform_kernel<T><<<blocks_for(lines, warps), warps * kWarp, bytes>>>(
      records, lines, D, static_cast<int>(record_stride<T>(width)),
      on_device(map, width * width, 6), on_device(shift, width, 7));
  launched("transform");
}

template <typename T>
__global__ void rearrange_kernel(const T* old, std::int64_t old_stride, std::int64_t lines,
                                 const std::int32_t* from, std::int64_t stride, T* out) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
       i < lines * stride; i += gridDim.x * static_cast<std::int64_t>(blockDim.x)) {
    const std::int64_t line = i / stride;
    const std::int32_t place = from[i - line * stride];
    out[i] = place >= 0 ? old[line * old_stride + place] : T(0);
  }
}

template <typename T>
void bayes_rearrange(const T* old, std::int64_t old_width, std::int64_t lines,
                     const std::int64_t* parts, std::int64_t width, T* out) {
  std::vector<std::int32_t> from(static_cast<std::size_t>(record_stride<T>(width)), -1);
  for (std::int64_t r = 0; r < width; ++r) {
    from[static_cast<std::size_t>(r)] = static_cast<std::int32_t>(parts[r]);
    for (std::int64_t c = 0; c <= r; ++c)
      if (parts[r] >= 0 && parts[c] >= 0)
        from[static_cast<std::size_t>(width + packed_size(r) + c)] = static_cast<std::int32_t>(
            old_width + packed_at(static_cast<int>(parts[r]), static_cast<int>(parts[c])));
  }
  const std::int64_t stride = record_stride<T>(width);
  rearrange_kernel<T><<<blocks_for(lines * stride, kThreads), kThreads>>>(
      old, record_stride<T>(old_width), lines,
      on_device(from.data(), static_cast<std::int64_t>(from.size()), 6), stride, out);
  launched("rearrange");
}

template <typename T, bool kSet>
__global__ void means_kernel(T* records, std::int64_t stride, std::int64_t lines,
                             std::int64_t first, std::int64_t count, double* columns) {
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
       i < lines * count; i += gridDim.x * static_cast<std::int64_t>(blockDim.x)) {
    const std::int64_t line = i / count, c = i - line * count;
    T& mean = records[line * stride + first + c];
    if (kSet)
      mean = static_cast<T>(columns[i]);
    else
      columns[i] = static_cast<double>(mean);
  }
}

template <typename T>
void bayes_set_means(T* records, std::int64_t width, std::int64_t lines, std::int64_t first,
                     std::int64_t count, const double* columns) {
  means_kernel<T, true><<<blocks_for(lines * count, kThreads), kThreads>>>(
      records, record_stride<T>(width), lines, first, count, const_cast<double*>(columns));
  launched("means");
}

template <typename T>
void bayes_means(const T* records, std::int64_t width, std::int64_t lines, double* out) {
  means_kernel<T, false><<<blocks_for(lines * width, kThreads), kThreads>>>(
      const_cast<T*>(records), record_stride<T>(width), lines, 0, width, out);
  launched("means");
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
void add_bayes_kernels(Kernels<T>& kernels) {
  kernels.bayes_update = bayes_update<T>;
  kernels.bayes_transform = bayes_transform<T>;
  kernels.bayes_rearrange = bayes_rearrange<T>;
  kernels.bayes_set_means = bayes_set_means<T>;
  kernels.bayes_means = bayes_means<T>;
  kernels.bayes_residuals = bayes_residuals<T>;
  kernels.bayes_weigh = bayes_weigh<T>;
}

template void add_bayes_kernels(Kernels<float>&);
template void add_bayes_kernels(Kernels<double>&);

}  // namespace udv::device
