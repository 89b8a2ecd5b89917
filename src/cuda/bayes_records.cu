// SPDX-License-Identifier: MIT
// Records of posteriors: linear maps of them, and their parts.
#include <algorithm>
#include <vector>

#include "bayes.cuh"

namespace udv::device {
namespace {

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
  for (std::int64_t i = thread_index(); i < lines * stride; i += num_threads()) {
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
  const std::size_t bytes = from.size() * sizeof(std::int32_t);
  void* const parts_on_device = scratch(6, bytes);
  send(parts_on_device, from.data(), bytes);
  rearrange_kernel<T><<<blocks_for(lines * stride, kThreads), kThreads>>>(
      old, record_stride<T>(old_width), lines, static_cast<std::int32_t*>(parts_on_device), stride,
      out);
  launched("rearrange");
}

// Means of the parts from `first` on, to or from lines of doubles.
template <typename T, bool kSet>
__global__ void means_kernel(T* records, std::int64_t stride, std::int64_t lines,
                             std::int64_t first, std::int64_t count, double* columns,
                             std::int64_t apart) {
  for (std::int64_t i = thread_index(); i < lines * count; i += num_threads()) {
    const std::int64_t line = i / count, c = i - line * count;
    T& mean = records[line * stride + first + c];
    double& column = columns[line * apart + c];
    if (kSet)
      mean = static_cast<T>(column);
    else
      column = static_cast<double>(mean);
  }
}

template <typename T>
void bayes_set_means(T* records, std::int64_t width, std::int64_t lines, std::int64_t first,
                     std::int64_t count, const double* columns, std::int64_t apart) {
  means_kernel<T, true><<<blocks_for(lines * count, kThreads), kThreads>>>(
      records, record_stride<T>(width), lines, first, count, const_cast<double*>(columns), apart);
  launched("means");
}

template <typename T>
void bayes_means(const T* records, std::int64_t width, std::int64_t lines, std::int64_t first,
                 std::int64_t count, double* out) {
  means_kernel<T, false><<<blocks_for(lines * count, kThreads), kThreads>>>(
      const_cast<T*>(records), record_stride<T>(width), lines, first, count, out, count);
  launched("means");
}

template <typename T>
__global__ void variances_kernel(const T* records, std::int64_t stride, std::int64_t lines, int D,
                                 float* out) {
  for (std::int64_t i = thread_index(); i < lines * 2 * D; i += num_threads()) {
    const std::int64_t line = i / (2 * D);
    const int e = static_cast<int>(i - line * 2 * D), c = e - D;
    out[i] = static_cast<float>(records[line * stride + (e < D ? e : D + c * (c + 3) / 2)]);
  }
}

template <typename T>
void bayes_variances(const T* records, std::int64_t width, std::int64_t lines, float* out) {
  variances_kernel<<<blocks_for(lines * 2 * width, kThreads), kThreads>>>(
      records, record_stride<T>(width), lines, static_cast<int>(width), out);
  launched("variances");
}

}  // namespace

template <typename T>
void add_bayes_record_kernels(Kernels<T>& kernels) {
  kernels.bayes_transform = bayes_transform<T>;
  kernels.bayes_rearrange = bayes_rearrange<T>;
  kernels.bayes_set_means = bayes_set_means<T>;
  kernels.bayes_means = bayes_means<T>;
  kernels.bayes_variances = bayes_variances<T>;
}

template void add_bayes_record_kernels(Kernels<float>&);
template void add_bayes_record_kernels(Kernels<double>&);

}  // namespace udv::device
