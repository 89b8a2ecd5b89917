// SPDX-License-Identifier: MIT
// Operations on whole arrays and on the columns of lines.
#include <vector>

#include "common.cuh"

namespace udv::device {
namespace {

constexpr int kDotBlocks = 512;

template <typename T>
__global__ void dot_kernel(const T* a, const T* b, std::int64_t size, double* partial) {
  double sum = 0;
  for (std::int64_t i = thread_index(); i < size; i += num_threads())
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  store_block_sum(sum, partial + blockIdx.x);
}

template <typename T>
double dot(const T* a, const T* b, std::int64_t size) {
  auto* const partial = static_cast<double*>(scratch(1, kDotBlocks * sizeof(double)));
  dot_kernel<<<kDotBlocks, kThreads>>>(a, b, size, partial);
  launched("dot");
  double sum = 0;
  add_parts(partial, kDotBlocks, 1, &sum);
  return sum;
}

template <typename T>
__global__ void combine_kernel(T a, const T* x, T b, const T* y, T* out, std::int64_t size) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads())
    out[i] = b == 0 ? a * x[i] : a * x[i] + b * y[i];
}

template <typename T>
void combine(T a, const T* x, T b, const T* y, T* out, std::int64_t size) {
  combine_kernel<<<blocks_for(size, kThreads), kThreads>>>(a, x, b, y, out, size);
  launched("combine");
}

template <typename T>
__global__ void restride_kernel(const T* in, std::int64_t in_stride, T* out,
                                std::int64_t out_stride, std::int64_t lines, std::int64_t width) {
  for (std::int64_t i = thread_index(); i < lines * out_stride; i += num_threads()) {
    const std::int64_t line = i / out_stride, c = i - line * out_stride;
    out[i] = c < width ? in[line * in_stride + c] : T(0);
  }
}

template <typename T>
void restride(const T* in, std::int64_t in_stride, T* out, std::int64_t out_stride,
              std::int64_t lines, std::int64_t width) {
  restride_kernel<<<blocks_for(lines * out_stride, kThreads), kThreads>>>(in, in_stride, out,
                                                                          out_stride, lines, width);
  launched("restride");
}

template <typename T>
__global__ void convert_kernel(const double* in, T* out, std::int64_t size) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads())
    out[i] = static_cast<T>(in[i]);
}

template <typename T>
void from_doubles(const double* in, T* out, std::int64_t size) {
  convert_kernel<<<blocks_for(size, kThreads), kThreads>>>(in, out, size);
  launched("from_doubles");
}

// Each block adds up its own lines: thread t the column t % width of every so-manieth line.
template <typename T>
__global__ void column_kernel(const T* a, const T* b, std::int64_t lines, int width, int stride,
                              double* partial) {
  __shared__ double sums[kThreads];
  for (int base = 0; base < width; base += kThreads) {
    const int columns = min(kThreads, width - base), at_once = kThreads / columns;
    const int c = base + threadIdx.x % columns, own = threadIdx.x / columns;
    double sum = 0;
    if (own < at_once)
      for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(at_once) + own; i < lines;
           i += gridDim.x * static_cast<std::int64_t>(at_once))
        sum += static_cast<double>(a[i * stride + c]) * static_cast<double>(b[i * stride + c]);
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (own == 0) {
      for (int n = 1; n < at_once; ++n) sum += sums[n * columns + threadIdx.x];
      partial[blockIdx.x * static_cast<std::int64_t>(width) + c] = sum;
    }
    __syncthreads();
  }
}

template <typename T>
void column_products(const T* a, const T* b, std::int64_t lines, std::int64_t width, double* sums) {
  const int blocks = blocks_for(lines, 64);
  auto* const partial =
      static_cast<double*>(scratch(1, static_cast<std::size_t>(blocks * width) * sizeof(double)));
  column_kernel<<<blocks, kThreads>>>(a, b, lines, static_cast<int>(width),
                                      static_cast<int>(line_stride<T>(width)), partial);
  launched("column_products");
  add_parts(partial, blocks, width, sums);
}

template <typename T>
__global__ void scale_kernel(T* x, Numbers weights, std::int64_t lines, std::int64_t width,
                             std::int64_t stride) {
  for (std::int64_t i = thread_index(); i < lines * width; i += num_threads()) {
    const std::int64_t line = i / width, c = i - line * width;
    x[line * stride + c] *= static_cast<T>(weights[c]);
  }
}

template <typename T>
void scale_columns(T* x, const double* weights, std::int64_t lines, std::int64_t width) {
  scale_kernel<<<blocks_for(lines * width, kThreads), kThreads>>>(x, numbers(weights, width), lines,
                                                                  width, line_stride<T>(width));
  launched("scale_columns");
}

// A block takes every so-manieth tile of lines; a thread some pairs of columns.
constexpr int kGramLines = 32;

template <typename T>
__global__ void gram_kernel(const T* x, std::int64_t lines, int width, int stride,
                            double* partial) {
  extern __shared__ double tile[];
  double* const own = partial + blockIdx.x * static_cast<std::int64_t>(width) * width;
  for (int p = threadIdx.x; p < width * width; p += blockDim.x) own[p] = 0;
  for (std::int64_t base = blockIdx.x * static_cast<std::int64_t>(kGramLines); base < lines;
       base += gridDim.x * static_cast<std::int64_t>(kGramLines)) {
    const int count = static_cast<int>(min(static_cast<std::int64_t>(kGramLines), lines - base));
    __syncthreads();
    for (int p = threadIdx.x; p < count * width; p += blockDim.x)
      tile[p] = static_cast<double>(x[(base + p / width) * stride + p % width]);
    __syncthreads();
    for (int p = threadIdx.x; p < width * width; p += blockDim.x) {
      const int a = p / width, b = p % width;
      double sum = 0;
      for (int i = 0; i < count; ++i) sum += tile[i * width + a] * tile[i * width + b];
      own[p] += sum;
    }
  }
}

template <typename T>
void gram(const T* x, std::int64_t lines, std::int64_t width, double* out) {
  const int blocks = blocks_for(lines, 4 * kGramLines);
  auto* const partial = static_cast<double*>(
      scratch(1, static_cast<std::size_t>(blocks * width * width) * sizeof(double)));
  const std::size_t bytes = static_cast<std::size_t>(kGramLines * width) * sizeof(double);
  note(cudaFuncSetAttribute(gram_kernel<T>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                            static_cast<int>(bytes)),
       "gram");
  gram_kernel<<<blocks, kThreads, bytes>>>(x, lines, static_cast<int>(width),
                                           static_cast<int>(line_stride<T>(width)), partial);
  launched("gram");
  add_parts(partial, blocks, width * width, out);
}

template <typename T>
__global__ void multiply_kernel(const T* x, std::int64_t lines, std::int64_t width,
                                std::int64_t stride, const double* M, std::int64_t columns,
                                std::int64_t out_stride, T* out) {
  for (std::int64_t i = thread_index(); i < lines * out_stride; i += num_threads()) {
    const std::int64_t line = i / out_stride, c = i - line * out_stride;
    double sum = 0;
    if (c < columns)
      for (std::int64_t k = 0; k < width; ++k)
        sum += static_cast<double>(x[line * stride + k]) * M[k * columns + c];
    out[i] = static_cast<T>(sum);
  }
}

template <typename T>
void multiply(const T* x, std::int64_t lines, std::int64_t width, const double* M,
              std::int64_t columns, T* out) {
  const std::int64_t out_stride = line_stride<T>(columns);
  multiply_kernel<<<blocks_for(lines * out_stride, kThreads), kThreads>>>(
      x, lines, width, line_stride<T>(width), on_device(M, width * columns, 2), columns, out_stride,
      out);
  launched("multiply");
}

}  // namespace

template <typename T>
void add_array_kernels(Kernels<T>& kernels) {
  kernels.dot = dot<T>;
  kernels.combine = combine<T>;
  kernels.restride = restride<T>;
  kernels.from_doubles = from_doubles<T>;
  kernels.column_products = column_products<T>;
  kernels.scale_columns = scale_columns<T>;
  kernels.gram = gram<T>;
  kernels.multiply = multiply<T>;
}

template void add_array_kernels(Kernels<float>&);
template void add_array_kernels(Kernels<double>&);

}  // namespace udv::device
