// SPDX-License-Identifier: MIT
// Entries on the device, by rows and by columns.
#include <cub/device/device_radix_sort.cuh>

#include "common.cuh"

namespace udv::device {

struct Pattern {
  std::int64_t size = 0;
  std::int64_t lines[2] = {};
  std::int64_t* first[2] = {};
  std::int32_t *other[2] = {}, *entry[2] = {};
};

namespace {

template <typename T>
T* array(std::int64_t size) {
  void* memory = nullptr;
  note(cudaMalloc(&memory, static_cast<std::size_t>(size > 0 ? size : 1) * sizeof(T)), "pattern");
  return static_cast<T*>(memory);
}

template <typename T>
T* uploaded(const T* from, std::int64_t size) {
  T* const to = array<T>(size);
  note(cudaMemcpy(to, from, static_cast<std::size_t>(size) * sizeof(T), cudaMemcpyHostToDevice),
       "pattern");
  return to;
}

__global__ void widen(const std::int32_t* in, std::int64_t* out, std::int64_t size) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < size) out[i] = in[i];
}

__global__ void number_places(std::int32_t* out, std::int64_t size) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < size) out[i] = static_cast<std::int32_t>(i);
}

__global__ void line_of_places(const std::int64_t* first, std::int64_t lines, std::int32_t* out) {
  const std::int64_t warp =
      (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / kWarp;
  if (warp >= lines) return;
  for (std::int64_t s = first[warp] + threadIdx.x % kWarp; s < first[warp + 1]; s += kWarp)
    out[s] = static_cast<std::int32_t>(warp);
}

// first[j] = places with a key below j, in sorted keys.
__global__ void find_first(const std::int32_t* keys, std::int64_t size, std::int64_t lines,
                           std::int64_t* first) {
  const std::int64_t j = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (j > lines) return;
  std::int64_t low = 0, high = size;
  while (low < high) {
    const std::int64_t middle = (low + high) / 2;
    if (keys[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  first[j] = low;
}

__global__ void take(const std::int32_t* from, const std::int32_t* place, std::int32_t* out,
                     std::int64_t size) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < size) out[i] = from[place[i]];
}

unsigned grid(std::int64_t size) {
  return static_cast<unsigned>((size + kThreads - 1) / kThreads);
}

// Stable: the entries of a column are in the order of the rows.
void make_columns(Pattern& p) {
  const std::int64_t n = p.size;
  std::int32_t *const row = array<std::int32_t>(n), *const place = array<std::int32_t>(n),
                      *const sorted = array<std::int32_t>(n),
                      *const sorted_place = array<std::int32_t>(n);
  line_of_places<<<grid(p.lines[0] * kWarp), kThreads>>>(p.first[0], p.lines[0], row);
  number_places<<<grid(n), kThreads>>>(place, n);
  std::size_t bytes = 0;
  int bits = 1;
  while (bits < 31 && (std::int64_t{1} << bits) < p.lines[1]) ++bits;
  note(cub::DeviceRadixSort::SortPairs(nullptr, bytes, p.other[0], sorted, place, sorted_place, n,
                                       0, bits),
       "sort");
  void* work = array<char>(static_cast<std::int64_t>(bytes));
  note(cub::DeviceRadixSort::SortPairs(work, bytes, p.other[0], sorted, place, sorted_place, n, 0,
                                       bits),
       "sort");
  cudaFree(work);
  cudaFree(place);
  p.first[1] = array<std::int64_t>(p.lines[1] + 1);
  find_first<<<grid(p.lines[1] + 1), kThreads>>>(sorted, n, p.lines[1], p.first[1]);
  p.other[1] = sorted;  // its keys are not needed any more
  p.entry[1] = array<std::int32_t>(n);
  take<<<grid(n), kThreads>>>(p.entry[0], sorted_place, p.entry[1], n);
  take<<<grid(n), kThreads>>>(row, sorted_place, p.other[1], n);
  launched("pattern");
  note(cudaDeviceSynchronize(), "pattern");
  cudaFree(row);
  cudaFree(sorted_place);
}

}  // namespace

Pattern* make_pattern(std::int64_t rows, std::int64_t cols, const std::int32_t* first,
                      const std::int32_t* other, const std::int32_t* entry) {
  give_back_memory();
  auto* const p = new Pattern;
  p->size = first[rows];
  p->lines[0] = rows;
  p->lines[1] = cols;
  std::int32_t* const narrow = uploaded(first, rows + 1);
  p->first[0] = array<std::int64_t>(rows + 1);
  widen<<<grid(rows + 1), kThreads>>>(narrow, p->first[0], rows + 1);
  p->other[0] = uploaded(other, p->size);
  p->entry[0] = uploaded(entry, p->size);
  cudaFree(narrow);
  make_columns(*p);
  return p;
}

void release_pattern(Pattern* p) {
  if (!p) return;
  for (int side = 0; side < 2; ++side) {
    cudaFree(p->first[side]);
    cudaFree(p->other[side]);
    cudaFree(p->entry[side]);
  }
  delete p;
}

Side side_of(const Pattern* p, int side) {
  return {p->lines[side], p->first[side], p->other[side], p->entry[side]};
}

std::int64_t num_entries(const Pattern* p) {
  return p->size;
}

}  // namespace udv::device
