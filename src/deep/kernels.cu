// SPDX-License-Identifier: MIT
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <stdexcept>

#include "deep/kernels.hpp"

namespace udv::deep::kernels {
namespace {

constexpr int kThreads = 256;
constexpr int kLanes = 32, kRows = kThreads / kLanes;  // of a tile: 32 packs of columns, 8 rows
constexpr int kRowsPerBlock = 32;
constexpr int kWide = 8;  // numbers in a pack where the columns allow it

// N numbers that lie side by side, read and written at once.
template <typename T, int N>
struct alignas(sizeof(T) * N) Pack {
  T values[N];
};

// f(T{}) for the type that is named.
template <typename Function>
void with_type(Type type, const Function& function) {
  if (type == Type::kSingle)
    function(float{});
  else if (type == Type::kBrain)
    function(__nv_bfloat16{});
  else
    function(__half{});
}

// Pairs of V's and Y's types: equal ones, and single precision weights with half precision values.
template <typename Function>
void with_types(Type from, Type to, const Function& function) {
  if (from == to)
    with_type(from, [&](auto t) { function(t, t); });
  else
    with_type(to, [&](auto t) { function(float{}, t); });
}

unsigned blocks_for(std::int64_t count, std::int64_t each) {
  return static_cast<unsigned>((count + each - 1) / each);
}

template <typename From, typename To, int N>
__global__ void scale_columns(const From* V, const From* w, To* Y, std::int64_t rows,
                              std::int64_t cols) {
  const std::int64_t j = (static_cast<std::int64_t>(blockIdx.x) * kLanes + threadIdx.x) * N;
  if (j >= cols) return;
  const auto scale = *reinterpret_cast<const Pack<From, N>*>(w + j);
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * kRowsPerBlock + threadIdx.y;
#pragma unroll
  for (int k = 0; k < kRowsPerBlock / kRows; ++k) {
    const std::int64_t i = begin + k * kRows;
    if (i >= rows) break;
    const auto v = *reinterpret_cast<const Pack<From, N>*>(V + i * cols + j);
    Pack<To, N> y;
#pragma unroll
    for (int n = 0; n < N; ++n)
      y.values[n] =
          static_cast<To>(static_cast<float>(v.values[n]) * static_cast<float>(scale.values[n]));
    *reinterpret_cast<Pack<To, N>*>(Y + i * cols + j) = y;
  }
}

// The last block of a tile of columns to come here adds what all of them have left, in the order of
// the rows. True in every thread of it.
__device__ bool is_last_of_tile(unsigned* counters) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0)  // the counter is 0 again after the last one
    last = atomicInc(counters + blockIdx.x, gridDim.y - 1) == gridDim.y - 1;
  __syncthreads();
  return last;
}

template <typename From, typename To, int N>
__global__ void scale_columns_backward(const To* G, const From* V, const From* w, From* dV,
                                       From* dw, float* partial, unsigned* counters,
                                       std::int64_t rows, std::int64_t cols) {
  __shared__ float sums[kRows][kLanes * N + 1];
  const std::int64_t j = (static_cast<std::int64_t>(blockIdx.x) * kLanes + threadIdx.x) * N;
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.y) * kRowsPerBlock + threadIdx.y;
  float sum[N] = {};
  if (j < cols) {
    const auto scale = *reinterpret_cast<const Pack<From, N>*>(w + j);
#pragma unroll
    for (int k = 0; k < kRowsPerBlock / kRows; ++k) {
      const std::int64_t i = begin + k * kRows;
      if (i >= rows) break;
      const auto g = *reinterpret_cast<const Pack<To, N>*>(G + i * cols + j);
      const auto v = *reinterpret_cast<const Pack<From, N>*>(V + i * cols + j);
      Pack<From, N> d;
#pragma unroll
      for (int n = 0; n < N; ++n) {
        const auto gradient = static_cast<float>(g.values[n]);
        sum[n] += gradient * static_cast<float>(v.values[n]);
        d.values[n] = static_cast<From>(gradient * static_cast<float>(scale.values[n]));
      }
      *reinterpret_cast<Pack<From, N>*>(dV + i * cols + j) = d;
    }
  }
#pragma unroll
  for (int n = 0; n < N; ++n) sums[threadIdx.y][threadIdx.x * N + n] = sum[n];
  __syncthreads();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kLanes * N;
  for (int c = threadIdx.y * kLanes + threadIdx.x; c < kLanes * N && first + c < cols;
       c += kThreads) {
    float total = 0;
    for (int r = 0; r < kRows; ++r) total += sums[r][c];
    partial[blockIdx.y * cols + first + c] = total;
  }
  if (!is_last_of_tile(counters)) return;
  for (int c = threadIdx.y * kLanes + threadIdx.x; c < kLanes * N && first + c < cols;
       c += kThreads) {
    float total = 0;
#pragma unroll 16
    for (unsigned k = 0; k < gridDim.y; ++k) total += __ldcg(partial + k * cols + first + c);
    dw[first + c] = static_cast<From>(total);
  }
}

// The sum over all threads of a block, in every one of them.
__device__ float block_sum(float value) {
  __shared__ float of_warp[kThreads / 32];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(~0U, value, offset);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0;
  for (const float part : of_warp) total += part;
  return total;
}

template <typename T>
__global__ void add_squares(const T* memory, const Piece* pieces, float* squares) {
  constexpr int N = 16 / sizeof(T);
  const Piece piece = pieces[blockIdx.x];
  const auto* const packs = reinterpret_cast<const Pack<T, N>*>(memory + piece.begin);
  float sum = 0;
#pragma unroll 4
  for (int k = threadIdx.x; k < piece.count / N; k += kThreads) {
    const auto pack = packs[k];
#pragma unroll
    for (int n = 0; n < N; ++n)
      sum += static_cast<float>(pack.values[n]) * static_cast<float>(pack.values[n]);
  }
  sum = block_sum(sum);
  if (threadIdx.x == 0) squares[blockIdx.x] = sum;
}

// max(w, 0); what is no number stays.
template <typename T>
__device__ void cut_negative(T* numbers, std::int64_t count, std::int64_t block) {
  const std::int64_t begin = block * kPiece, end = min(count, begin + kPiece);
  for (std::int64_t k = begin + threadIdx.x; k < end; k += kThreads)
    if (static_cast<float>(numbers[k]) < 0) numbers[k] = static_cast<T>(0.0F);
}

template <typename T>
__global__ void divide_by_norms(T* memory, const Piece* pieces, const float* squares,
                                std::int64_t num_pieces, T* nonnegative, std::int64_t count) {
  constexpr int N = 16 / sizeof(T);
  if (blockIdx.x >= num_pieces) return cut_negative(nonnegative, count, blockIdx.x - num_pieces);
  const Piece piece = pieces[blockIdx.x];
  float sum = 0;
  for (std::int64_t k = threadIdx.x; k < piece.pieces; k += kThreads)
    sum += squares[piece.first + k];
  sum = block_sum(sum);
  if (sum <= 1) return;
  const float factor = 1 / sqrtf(sum);
  auto* const packs = reinterpret_cast<Pack<T, N>*>(memory + piece.begin);
#pragma unroll 4
  for (int k = threadIdx.x; k < piece.count / N; k += kThreads) {
    auto pack = packs[k];
#pragma unroll
    for (int n = 0; n < N; ++n)
      pack.values[n] = static_cast<T>(static_cast<float>(pack.values[n]) * factor);
    packs[k] = pack;
  }
}

bool aligned(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % 32 == 0;
}

void check_launch() {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

}  // namespace

std::int64_t num_partials(std::int64_t rows) {
  return (rows + kRowsPerBlock - 1) / kRowsPerBlock;
}

std::int64_t num_counters(std::int64_t cols) {
  return (cols + kLanes - 1) / kLanes;
}

void run(const ScaleColumns& t, void* stream) {
  with_types(t.from, t.to, [&](auto from, auto to) {
    using From = decltype(from);
    using To = decltype(to);
    const auto launch = [&]<int N>() {
      const dim3 grid(blocks_for(t.cols, kLanes * N), blocks_for(t.rows, kRowsPerBlock));
      scale_columns<From, To, N>
          <<<grid, dim3(kLanes, kRows), 0, static_cast<cudaStream_t>(stream)>>>(
              static_cast<const From*>(t.V), static_cast<const From*>(t.w), static_cast<To*>(t.Y),
              t.rows, t.cols);
    };
    const bool wide = t.cols % kWide == 0 && aligned(t.V) && aligned(t.w) && aligned(t.Y);
    wide ? launch.template operator()<kWide>() : launch.template operator()<1>();
  });
  check_launch();
}

void run(const ScaleColumnsBackward& t, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  with_types(t.from, t.to, [&](auto from, auto to) {
    using From = decltype(from);
    using To = decltype(to);
    const auto launch = [&]<int N>() {
      const dim3 grid(blocks_for(t.cols, kLanes * N), blocks_for(t.rows, kRowsPerBlock));
      scale_columns_backward<From, To, N><<<grid, dim3(kLanes, kRows), 0, on>>>(
          static_cast<const To*>(t.G), static_cast<const From*>(t.V), static_cast<const From*>(t.w),
          static_cast<From*>(t.dV), static_cast<From*>(t.dw), t.partial, t.counters, t.rows,
          t.cols);
    };
    const bool wide =
        t.cols % kWide == 0 && aligned(t.G) && aligned(t.V) && aligned(t.w) && aligned(t.dV);
    wide ? launch.template operator()<kWide>() : launch.template operator()<1>();
  });
  check_launch();
}

void run(const ProjectBalls& t, void* stream) {
  const auto on = static_cast<cudaStream_t>(stream);
  const auto grid = static_cast<unsigned>(t.num_pieces);
  with_type(t.type, [&](auto type) {
    using T = decltype(type);
    add_squares<<<grid, kThreads, 0, on>>>(static_cast<const T*>(t.memory), t.pieces, t.squares);
    divide_by_norms<<<grid + blocks_for(t.num_nonnegative, kPiece), kThreads, 0, on>>>(
        static_cast<T*>(t.memory), t.pieces, t.squares, t.num_pieces,
        static_cast<T*>(t.nonnegative), t.num_nonnegative);
  });
  check_launch();
}

}  // namespace udv::deep::kernels
