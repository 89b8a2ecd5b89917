// SPDX-License-Identifier: MIT
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "recover/device/module.hpp"

/// What the files of the CUDA module share. All work is in one stream, in order.
namespace udv::device {

inline constexpr int kWarp = 32;
inline constexpr int kThreads = 256;
inline constexpr unsigned kAll = 0xffffffffu;

/// Entries of the lines of one side: line i has first[i] .. first[i + 1].
struct Side {
  std::int64_t lines;
  const std::int64_t* first;
  const std::int32_t *other, *entry;
};

/// Remembers the first error.
void note(cudaError_t status, const char* what);
void note_text(const std::string& text);
/// What a kernel launch has to say.
inline void launched(const char* what) {
  note(cudaGetLastError(), what);
}

/// Blocks of a launch with at most so much work; depends on the device and on sizes alone.
int blocks_for(std::int64_t work, int per_block);
/// Warps that share the lines of a side: the same number whenever the sizes are the same.
inline int warp_blocks(std::int64_t lines, int threads = kThreads) {
  return blocks_for(lines, threads / kWarp);
}

/// Blocks of a kernel that the device runs at once, with so many bytes of shared memory each.
int resident_blocks(const void* kernel, int threads, int bytes);

/// Memory that was released goes back to the driver.
void give_back_memory();

/// Scratch memory that stays: slot n has at least this many bytes.
void* scratch(int slot, std::size_t bytes);
inline constexpr int kFourierSlot = 8, kImagesSlot = 9;

/// Memory of the host to the device and back, complete on return.
void send(void* to, const void* from_host, std::size_t bytes);
void fetch(void* to_host, const void* from, std::size_t bytes);

/// Numbers of the host on the device, in a slot of scratch memory.
double* on_device(const double* host, std::int64_t size, int slot);

/// Numbers of the host for one kernel: a few go with its arguments.
struct Numbers {
  static constexpr int kFew = 64;
  double few[kFew];
  const double* many;
  __device__ double operator[](std::int64_t i) const { return many ? many[i] : few[i]; }
};
inline Numbers numbers(const double* host, std::int64_t size) {
  Numbers result;
  result.many = size > Numbers::kFew ? on_device(host, size, 2) : nullptr;
  for (std::int64_t i = 0; !result.many && i < size; ++i) result.few[i] = host[i];
  return result;
}

/// Memory of the host that kernels write to, for kMostResults numbers: read after wait().
inline constexpr std::int64_t kMostResults = 4096;
double* results();
void wait();

/// out_e (host) = sum over `parts` rows of partial, each `size` numbers, in a fixed order.
void add_parts(const double* partial, std::int64_t parts, std::int64_t size, double* out);

Side side_of(const Pattern* pattern, int side);
std::int64_t num_entries(const Pattern* pattern);

/// 16 bytes of a line.
template <typename T>
struct alignas(16) Chunk {
  static constexpr int kSize = 16 / sizeof(T);
  T x[kSize];
};

template <typename T>
__device__ inline Chunk<T> zero_chunk() {
  Chunk<T> chunk;
#pragma unroll
  for (int n = 0; n < Chunk<T>::kSize; ++n) chunk.x[n] = 0;
  return chunk;
}

template <typename T>
__device__ inline Chunk<T> load_chunk(const T* line, int chunk) {
  return reinterpret_cast<const Chunk<T>*>(line)[chunk];
}

/// The sum over the lanes of a group of this size, in all of them.
template <int kGroup, typename T>
__device__ inline T group_sum(T value) {
#pragma unroll
  for (int step = kGroup / 2; step > 0; step /= 2) value += __shfl_xor_sync(kAll, value, step);
  return value;
}

/// Numbers of threads, of a whole launch.
__device__ inline std::int64_t thread_index() {
  return blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
}
__device__ inline std::int64_t num_threads() {
  return gridDim.x * static_cast<std::int64_t>(blockDim.x);
}

/// The sum over a block of kThreads threads.
__device__ inline void store_block_sum(double value, double* out) {
  __shared__ double sums[kThreads];
  sums[threadIdx.x] = value;
  __syncthreads();
  for (int step = kThreads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = sums[0];
  __syncthreads();
}

/// The kernels, by file.
template <typename T>
void add_array_kernels(Kernels<T>& kernels);
template <typename T>
void add_entry_kernels(Kernels<T>& kernels);
template <typename T>
void add_block_kernels(Kernels<T>& kernels);
template <typename T>
void add_line_kernels(Kernels<T>& kernels);
template <typename T>
void add_bayes_kernels(Kernels<T>& kernels);
template <typename T>
void add_bayes_entry_kernels(Kernels<T>& kernels);
template <typename T>
void add_bayes_record_kernels(Kernels<T>& kernels);
template <typename T>
void add_imaging_kernels(Kernels<T>& kernels);
template <typename T>
void add_image_data_kernels(Kernels<T>& kernels);
void release_imaging(Imaging* imaging);
Pattern* make_pattern(std::int64_t rows, std::int64_t cols, const std::int32_t* first,
                      const std::int32_t* other, const std::int32_t* entry);
void release_pattern(Pattern* pattern);
std::int64_t connected_blocks(const Pattern* pattern, const char* marks, std::int32_t* label);

}  // namespace udv::device
