// SPDX-License-Identifier: MIT
// Memory, errors and the table of the module.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "common.cuh"

namespace udv::device {
namespace {

std::string first_error;
std::string device_name;
int multiprocessors = 1;
cudaMemPool_t pool;

struct Slot {
  void* memory = nullptr;
  std::size_t bytes = 0;
};
std::vector<Slot> slots(16);

const char* start() {
  static std::string reason;
  int devices = 0;
  const cudaError_t found = cudaGetDeviceCount(&devices);
  if (found != cudaSuccess || devices == 0) {
    reason = found != cudaSuccess ? cudaGetErrorString(found) : "no CUDA device";
    return reason.c_str();
  }
  cudaDeviceProp properties;
  note(cudaGetDeviceProperties(&properties, 0), "properties");
  device_name = properties.name;
  multiprocessors = properties.multiProcessorCount;
  note(cudaFree(nullptr), "start");
  // Memory that is released stays with the process for the next array: asking the driver is slow.
  note(cudaDeviceGetDefaultMemPool(&pool, 0), "start");
  std::uint64_t all = UINT64_MAX;
  note(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all), "start");
  return first_error.empty() ? nullptr : first_error.c_str();
}

const char* name() {
  return device_name.c_str();
}

const char* failed() {
  return first_error.empty() ? nullptr : first_error.c_str();
}

void memory(std::size_t* free_bytes, std::size_t* all_bytes) {
  give_back_memory();
  note(cudaMemGetInfo(free_bytes, all_bytes), "memory");
}

void* allocate(std::size_t bytes) {
  void* result = nullptr;
  note(cudaMallocAsync(&result, std::max<std::size_t>(bytes, 1), nullptr), "allocate");
  return result;
}

void release(void* memory) {
  if (memory) note(cudaFreeAsync(memory, nullptr), "release");
}

void copy(void* to, const void* from, std::size_t bytes) {
  note(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copy");
}

void zero(void* memory, std::size_t bytes) {
  note(cudaMemsetAsync(memory, 0, bytes), "zero");
}

// One block an element: its threads take every kThreads-th part, then a tree.
__global__ void add_parts_kernel(const double* partial, std::int64_t parts, std::int64_t size,
                                 double* out) {
  __shared__ double sums[kThreads];
  for (std::int64_t e = blockIdx.x; e < size; e += gridDim.x) {
    double sum = 0;
    for (std::int64_t n = threadIdx.x; n < parts; n += kThreads) sum += partial[n * size + e];
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int step = kThreads / 2; step > 0; step /= 2) {
      if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
      __syncthreads();
    }
    if (threadIdx.x == 0) out[e] = sums[0];
    __syncthreads();
  }
}

Module make_module() {
  Module module{kModuleVersion,
                start,
                name,
                failed,
                memory,
                allocate,
                release,
                send,
                fetch,
                copy,
                zero,
                wait,
                make_pattern,
                release_pattern,
                connected_blocks,
                release_imaging,
                {},
                {}};
  add_array_kernels(module.singles);
  add_entry_kernels(module.singles);
  add_block_kernels(module.singles);
  add_line_kernels(module.singles);
  add_bayes_kernels(module.singles);
  add_imaging_kernels(module.singles);
  add_image_data_kernels(module.singles);
  add_array_kernels(module.doubles);
  add_entry_kernels(module.doubles);
  add_block_kernels(module.doubles);
  add_line_kernels(module.doubles);
  add_bayes_kernels(module.doubles);
  add_imaging_kernels(module.doubles);
  add_image_data_kernels(module.doubles);
  return module;
}

}  // namespace

void note(cudaError_t status, const char* what) {
  if (status != cudaSuccess) note_text(std::string(what) + ": " + cudaGetErrorString(status));
}

void note_text(const std::string& text) {
  if (first_error.empty()) first_error = text;
}

int blocks_for(std::int64_t work, int per_block) {
  const std::int64_t wanted = (work + per_block - 1) / per_block;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, 16 * multiprocessors));
}

int resident_blocks(const void* kernel, int threads, int bytes) {
  int on_one = 1;
  note(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_one, kernel, threads,
                                                     static_cast<std::size_t>(bytes)),
       "occupancy");
  return std::max(1, on_one) * multiprocessors;
}

void wait() {
  note(cudaStreamSynchronize(nullptr), "wait");
}

double* results() {
  static double* const memory = [] {
    void* made = nullptr;
    note(cudaHostAlloc(&made, kMostResults * sizeof(double), cudaHostAllocMapped), "results");
    return static_cast<double*>(made);
  }();
  return memory;
}

void give_back_memory() {
  note(cudaDeviceSynchronize(), "memory");
  note(cudaMemPoolTrimTo(pool, 0), "memory");
}

void* scratch(int slot, std::size_t bytes) {
  Slot& found = slots[static_cast<std::size_t>(slot)];
  if (found.bytes < bytes) {
    release(found.memory);
    found.memory = allocate(bytes);
    found.bytes = bytes;
  }
  return found.memory;
}

double* on_device(const double* host, std::int64_t size, int slot) {
  const auto bytes = static_cast<std::size_t>(size) * sizeof(double);
  auto* const to = static_cast<double*>(scratch(slot, bytes));
  send(to, host, bytes);
  return to;
}

void add_parts(const double* partial, std::int64_t parts, std::int64_t size, double* out) {
  const bool few = size <= kMostResults;
  auto* const sums =
      few ? results() : static_cast<double*>(scratch(0, static_cast<std::size_t>(size) * 8));
  add_parts_kernel<<<blocks_for(size, 1), kThreads>>>(partial, parts, size, sums);
  launched("add_parts");
  if (!few) return fetch(out, sums, static_cast<std::size_t>(size) * 8);
  wait();
  std::copy_n(sums, size, out);
}

}  // namespace udv::device

extern "C" __attribute__((visibility("default"))) const udv::device::Module* udv_device_module() {
  static const udv::device::Module module = udv::device::make_module();
  return &module;
}
