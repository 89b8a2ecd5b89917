// SPDX-License-Identifier: MIT
// Diagonal blocks of the Gauss-Newton matrix, one a line, and their Cholesky factors.
#include <algorithm>
#include <limits>

#include "packed.cuh"

namespace udv::device {
namespace {

template <typename T>
struct BlockSums {
  Side side;
  const T* other;
  int width, stride;
  const T* weight;
  bool symmetric, add;
  T* blocks;
};

// One warp a line, a lane some elements of its block. Where a line of the other side fits a warp,
// its numbers go round by shuffles.
template <typename T, int kPieces, bool kShort>
__global__ void __launch_bounds__(kThreads) block_kernel(BlockSums<T> b) {
  const int lane = threadIdx.x % kWarp, size = b.width * (b.width + 1) / 2;
  const std::int64_t warps = gridDim.x * static_cast<std::int64_t>(blockDim.x) / kWarp;
  for (int base = 0; base < size; base += kPieces * kWarp) {
    const PackedShare<kPieces> share(base, lane, size);
    for (std::int64_t line =
             (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / kWarp;
         line < b.side.lines; line += warps) {
      T sum[kPieces] = {};
      for (std::int64_t s = b.side.first[line]; s < b.side.first[line + 1]; ++s) {
        const std::int64_t j = b.side.other[s];
        const T* const x = b.other + j * b.stride;
        T w = b.weight ? b.weight[s] : T(1);
        if (b.symmetric && j == line) w *= 2;
        const T mine = kShort && lane < b.width ? x[lane] : T(0);
#pragma unroll
        for (int n = 0; n < kPieces; ++n) {
          const T left = kShort ? __shfl_sync(kAll, mine, share.row[n]) : x[share.row[n]];
          const T right = kShort ? __shfl_sync(kAll, mine, share.col[n]) : x[share.col[n]];
          sum[n] += w * left * right;
        }
      }
#pragma unroll
      for (int n = 0; n < kPieces; ++n) {
        const int e = base + lane + n * kWarp;
        if (e >= size) continue;
        T& target = b.blocks[line * size + e];
        target = b.add ? target + sum[n] : sum[n];
      }
    }
  }
}

template <typename T>
void blocks(const Pattern* pattern, int side, const T* other, std::int64_t width, const T* weight,
            bool symmetric, bool add, T* out) {
  const BlockSums<T> task{side_of(pattern, side),
                          other,
                          static_cast<int>(width),
                          static_cast<int>(line_stride<T>(width)),
                          weight,
                          symmetric,
                          add,
                          out};
  const int grid = warp_blocks(task.side.lines);
  with_pieces(packed_size(width), [&](auto pieces) {
    if (width <= kWarp)
      block_kernel<T, decltype(pieces)::value, true><<<grid, kThreads>>>(task);
    else
      block_kernel<T, decltype(pieces)::value, false><<<grid, kThreads>>>(task);
  });
  launched("blocks");
}

template <typename T>
__global__ void trace_kernel(const T* blocks, std::int64_t lines, int width, double* partial) {
  __shared__ double sums[kThreads];
  const int size = width * (width + 1) / 2;
  double sum = 0;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < lines;
       i += gridDim.x * static_cast<std::int64_t>(blockDim.x))
    for (int r = 0; r < width; ++r) sum += static_cast<double>(blocks[i * size + packed_at(r, r)]);
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

template <typename T>
double trace(const T* blocks, std::int64_t lines, std::int64_t width) {
  const int grid = blocks_for(lines, kThreads);
  auto* const partial =
      static_cast<double*>(scratch(1, static_cast<std::size_t>(grid) * sizeof(double)));
  trace_kernel<<<grid, kThreads>>>(blocks, lines, static_cast<int>(width), partial);
  launched("trace");
  double sum = 0;
  add_parts(partial, grid, 1, &sum);
  return sum;
}

// The same as factor_block in entries_linearization.cpp, one warp a line, column by column.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    factor_kernel(const T* blocks, double damping, std::int64_t lines, int k, T* factors) {
  constexpr double kRounding = sizeof(T) == 4 ? 500 * 1.1920929e-07 : 500 * 2.220446049250313e-16;
  constexpr double kTiny = sizeof(T) == 4 ? 1e18 * 1.17549435e-38 : 1e18 * 2.2250738585072014e-308;
  const int lane = threadIdx.x % kWarp, size = k * (k + 1) / 2;
  const std::int64_t warps = gridDim.x * static_cast<std::int64_t>(blockDim.x) / kWarp;
  for (std::int64_t line =
           (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / kWarp;
       line < lines; line += warps) {
    const T* const block = blocks + line * size;
    T* const L = factors + line * size;
    for (int c = 0; c < k; ++c) {
      // Column c: rows c .. k - 1 by the lanes. Row c comes first, all others need its pivot.
      T pivot = 0;
      for (int base = c; base < k; base += kWarp) {
        const int r = base + lane;
        T value = 0;
        if (r < k) {
          value = block[r * (r + 1) / 2 + c];
          for (int n = 0; n < c; ++n) value -= L[r * (r + 1) / 2 + n] * L[c * (c + 1) / 2 + n];
        }
        if (base == c) {
          const double diagonal = static_cast<double>(block[c * (c + 1) / 2 + c]);
          const double shift = fmax(damping, kRounding * diagonal + kTiny);
          pivot = static_cast<T>(1 / sqrt(fmax(static_cast<double>(value), 0.0) + shift));
          pivot = __shfl_sync(kAll, pivot, 0);
        }
        if (r < k) L[r * (r + 1) / 2 + c] = r == c ? pivot : value * pivot;
      }
      __syncwarp();
    }
  }
}

template <typename T>
void factor(const T* blocks, double damping, std::int64_t lines, std::int64_t width, T* factors) {
  factor_kernel<<<warp_blocks(lines), kThreads>>>(blocks, damping, lines, static_cast<int>(width),
                                                  factors);
  launched("factor");
}

// One thread a line; x stays in shared memory, one column of it for each thread.
template <typename T>
__global__ void solve_kernel(const T* factors, const T* rhs, std::int64_t lines, int k, int stride,
                             T* out) {
  extern __shared__ char memory[];
  T* const x = reinterpret_cast<T*>(memory) + threadIdx.x;
  const int step = blockDim.x, size = k * (k + 1) / 2;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < lines;
       i += gridDim.x * static_cast<std::int64_t>(blockDim.x)) {
    const T* const L = factors + i * size;
    for (int r = 0; r < k; ++r) {
      const T* const row = L + r * (r + 1) / 2;
      T sum = rhs[i * stride + r];
      for (int c = 0; c < r; ++c) sum -= row[c] * x[c * step];
      x[r * step] = sum * row[r];
    }
    for (int r = k - 1; r >= 0; --r) {
      const T* const row = L + r * (r + 1) / 2;
      const T known = x[r * step] * row[r];
      x[r * step] = known;
      for (int c = 0; c < r; ++c) x[c * step] -= known * row[c];
    }
    for (int r = 0; r < stride; ++r) out[i * stride + r] = r < k ? x[r * step] : T(0);
  }
}

template <typename T>
void solve(const T* factors, const T* rhs, std::int64_t lines, std::int64_t width, T* x) {
  const auto column = static_cast<std::size_t>(width) * sizeof(T);
  const int threads = column * 128 <= 48 * 1024 ? 128 : kWarp;
  const std::size_t bytes = column * static_cast<std::size_t>(threads);
  note(cudaFuncSetAttribute(solve_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(bytes)),
       "solve");
  solve_kernel<<<blocks_for(lines, threads), threads, bytes>>>(
      factors, rhs, lines, static_cast<int>(width), static_cast<int>(line_stride<T>(width)), x);
  launched("solve");
}

}  // namespace

template <typename T>
void add_block_kernels(Kernels<T>& kernels) {
  kernels.blocks = blocks<T>;
  kernels.trace = trace<T>;
  kernels.factor = factor<T>;
  kernels.solve = solve<T>;
}

template void add_block_kernels(Kernels<float>&);
template void add_block_kernels(Kernels<double>&);

}  // namespace udv::device
