// SPDX-License-Identifier: MIT
// Pixels of images: intensities, amplitudes and what they are compared with.
#include "common.cuh"
#include "complex.cuh"

namespace udv::device {
namespace {

// One thread a pixel, for all columns: what it reads again is near.
template <typename T>
__global__ void intensity_kernel(Complex<T>* fields, std::int64_t size, std::int64_t columns,
                                 Numbers d, const T* b, bool scale, T* z, double* partial) {
  double squares = 0;
  for (std::int64_t i = thread_index(); i < size; i += num_threads()) {
    double sum = b ? -static_cast<double>(b[i]) : 0;
    for (std::int64_t c = 0; c < columns; ++c)
      sum += d[c] * static_cast<double>(overlap(fields[c * size + i], fields[c * size + i]));
    const T rounded = static_cast<T>(sum);
    z[i] = rounded;
    squares += static_cast<double>(rounded) * static_cast<double>(rounded);
    if (scale)
      for (std::int64_t c = 0; c < columns; ++c)
        fields[c * size + i] = rounded * fields[c * size + i];
  }
  if (partial) store_block_sum(squares, partial + blockIdx.x);
}

double* partial_sums(int blocks, int each = 1) {
  return static_cast<double*>(scratch(1, static_cast<std::size_t>(blocks) * each * sizeof(double)));
}

template <typename T>
void intensity(T* fields, std::int64_t size, std::int64_t columns, const double* d, const T* b,
               bool scale, T* z, double* squares) {
  const int blocks = blocks_for(size, kThreads);
  double* const partial = squares ? partial_sums(blocks) : nullptr;
  intensity_kernel<T><<<blocks, kThreads>>>(complex(fields), size, columns, numbers(d, columns), b,
                                            scale, z, partial);
  launched("intensity");
  if (squares) add_parts(partial, blocks, 1, squares);
}

template <typename T>
__global__ void overlaps_kernel(const Complex<T>* at, Complex<T>* fields, std::int64_t size,
                                std::int64_t columns, Numbers d, bool replace, T* y) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads()) {
    double sum = 0;
    for (std::int64_t c = 0; c < columns; ++c)
      sum += d[c] * static_cast<double>(overlap(at[c * size + i], fields[c * size + i]));
    const T rounded = static_cast<T>(sum);
    y[i] = rounded;
    if (replace)
      for (std::int64_t c = 0; c < columns; ++c) fields[c * size + i] = rounded * at[c * size + i];
  }
}

template <typename T>
void overlaps(const T* at, T* fields, std::int64_t size, std::int64_t columns, const double* d,
              bool replace, T* y) {
  overlaps_kernel<T><<<blocks_for(size, kThreads), kThreads>>>(
      complex(at), complex(fields), size, columns, numbers(d, columns), replace, y);
  launched("overlaps");
}

template <typename T>
__global__ void scale_kernel(const T* z, std::int64_t size, std::int64_t columns,
                             Complex<T>* fields) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads())
    for (std::int64_t c = 0; c < columns; ++c) fields[c * size + i] = z[i] * fields[c * size + i];
}

template <typename T>
void scale_fields(const T* z, std::int64_t size, std::int64_t columns, T* fields) {
  scale_kernel<T><<<blocks_for(size, kThreads), kThreads>>>(z, size, columns, complex(fields));
  launched("scale_fields");
}

template <typename T>
__device__ double predicted(Complex<T> psi, double background) {
  return sqrt(static_cast<double>(overlap(psi, psi)) + background);
}

// One block an image.
template <typename T>
__global__ void slopes_kernel(const Complex<T>* psi, ImageData<T> data, const double* backgrounds,
                              double* out) {
  const std::int64_t first = blockIdx.x * data.pixels;
  double value = 0, change = 0;
  for (std::int64_t i = first + threadIdx.x; i < first + data.pixels; i += kThreads) {
    const double q = predicted(psi[i], backgrounds[blockIdx.x]);
    const double share = static_cast<double>(data.amplitudes[i]) / q;
    const auto weight = static_cast<double>(data.weights[i]);
    value += weight * (1 - share);
    change += weight * share / (2 * q * q);
  }
  store_block_sum(value, out + 2 * blockIdx.x);
  store_block_sum(change, out + 2 * blockIdx.x + 1);
}

template <typename T>
void slopes(const T* psi, const ImageData<T>* data, const double* backgrounds, double* out) {
  const auto images = static_cast<unsigned>(data->images);
  const bool few = 2 * data->images <= kMostResults;
  double* const sums = few ? results() : partial_sums(static_cast<int>(images), 2);
  slopes_kernel<T>
      <<<images, kThreads>>>(complex(psi), *data, on_device(backgrounds, data->images, 2), sums);
  launched("slopes");
  wait();
  note(cudaMemcpy(out, sums, 2 * images * sizeof(double), cudaMemcpyDefault), "slopes");
}

template <typename T>
__global__ void residual_kernel(Complex<T>* psi, ImageData<T> data, const double* backgrounds,
                                bool pull, double* partial) {
  double squares = 0;
  for (std::int64_t i = thread_index(); i < data.images * data.pixels; i += num_threads()) {
    const Complex<T> here = psi[i];
    const T q = static_cast<T>(predicted(here, backgrounds[i / data.pixels]));
    const T left = q - data.amplitudes[i], weight = data.weights[i];
    squares += static_cast<double>(weight) * static_cast<double>(left) * static_cast<double>(left);
    if (pull)
      psi[i] = weight * left * (q > 0 ? Complex<T>{here.re / q, here.im / q} : Complex<T>{1, 0});
  }
  if (partial) store_block_sum(squares, partial + blockIdx.x);
}

template <typename T>
void amplitude_residual(T* psi, const ImageData<T>* data, const double* backgrounds, bool pull,
                        double* squares) {
  const int blocks = blocks_for(data->images * data->pixels, kThreads);
  double* const partial = squares ? partial_sums(blocks) : nullptr;
  residual_kernel<T><<<blocks, kThreads>>>(complex(psi), *data,
                                           on_device(backgrounds, data->images, 2), pull, partial);
  launched("amplitude_residual");
  if (squares) add_parts(partial, blocks, 1, squares);
}

template <typename T>
__global__ void directions_kernel(Complex<T>* psi, ImageData<T> data, const double* backgrounds,
                                  T* inverse) {
  for (std::int64_t i = thread_index(); i < data.images * data.pixels; i += num_threads()) {
    const Complex<T> here = psi[i];
    const T q = static_cast<T>(predicted(here, backgrounds[i / data.pixels]));
    inverse[i] = q > 0 ? 1 / q : T(0);
    psi[i] = q > 0 ? Complex<T>{here.re / q, here.im / q} : Complex<T>{1, 0};
  }
}

template <typename T>
void directions(T* psi, const ImageData<T>* data, const double* backgrounds, T* inverse) {
  directions_kernel<T><<<blocks_for(data->images * data->pixels, kThreads), kThreads>>>(
      complex(psi), *data, on_device(backgrounds, data->images, 2), inverse);
  launched("directions");
}

// t_l of keep_changes, one block an image.
template <typename T>
__global__ void shifts_kernel(const Complex<T>* e, const T* inverse, ImageData<T> data,
                              const double* moving, const Complex<T>* psi, double* shifts) {
  __shared__ double product, square;
  const std::int64_t first = blockIdx.x * data.pixels;
  double own_product = 0, own_square = 0;
  if (moving[blockIdx.x] != 0)
    for (std::int64_t i = first + threadIdx.x; i < first + data.pixels; i += kThreads) {
      const double weighted = static_cast<double>(data.weights[i]) * inverse[i];
      own_product += weighted * static_cast<double>(overlap(e[i], psi[i]));
      own_square += weighted * static_cast<double>(inverse[i]);
    }
  store_block_sum(own_product, &product);
  store_block_sum(own_square, &square);
  if (threadIdx.x == 0) shifts[blockIdx.x] = square > 0 ? product / square : 0;
}

template <typename T>
__global__ void changes_kernel(const Complex<T>* e, const T* inverse, ImageData<T> data,
                               const double* shifts, Complex<T>* psi) {
  for (std::int64_t i = thread_index(); i < data.images * data.pixels; i += num_threads()) {
    const T shift = shifts ? static_cast<T>(shifts[i / data.pixels]) : T(0);
    psi[i] = data.weights[i] * (overlap(e[i], psi[i]) - shift * inverse[i]) * e[i];
  }
}

template <typename T>
void keep_changes(const T* e, const T* inverse, const ImageData<T>* data, const double* moving,
                  T* psi) {
  const auto images = static_cast<unsigned>(data->images);
  bool any = false;
  for (unsigned l = 0; l < images; ++l) any = any || moving[l] != 0;
  double* const shifts = any ? partial_sums(static_cast<int>(images)) : nullptr;
  if (any) {
    shifts_kernel<T><<<images, kThreads>>>(
        complex(e), inverse, *data, on_device(moving, data->images, 2), complex(psi), shifts);
    launched("keep_changes");
  }
  changes_kernel<T><<<blocks_for(data->images * data->pixels, kThreads), kThreads>>>(
      complex(e), inverse, *data, shifts, complex(psi));
  launched("keep_changes");
}

template <typename T>
__global__ void weigh_kernel(const T* weights, const T* x, std::int64_t size, std::int64_t stride,
                             bool add, T* out) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads())
    out[i] = (add ? out[i] : T(0)) + weights[i / stride] * x[i];
}

template <typename T>
void weigh_lines(const T* weights, const T* x, std::int64_t lines, std::int64_t width, bool add,
                 T* out) {
  const std::int64_t stride = line_stride<T>(width), size = lines * stride;
  weigh_kernel<T><<<blocks_for(size, kThreads), kThreads>>>(weights, x, size, stride, add, out);
  launched("weigh_lines");
}

template <typename T>
__global__ void inverse_kernel(const T* x, T shift, T* out, std::int64_t size) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads()) out[i] = 1 / (x[i] + shift);
}

template <typename T>
void shifted_inverse(const T* x, T shift, T* out, std::int64_t size) {
  inverse_kernel<T><<<blocks_for(size, kThreads), kThreads>>>(x, shift, out, size);
  launched("shifted_inverse");
}

}  // namespace

template <typename T>
void add_image_data_kernels(Kernels<T>& kernels) {
  kernels.intensity = intensity<T>;
  kernels.overlaps = overlaps<T>;
  kernels.scale_fields = scale_fields<T>;
  kernels.slopes = slopes<T>;
  kernels.amplitude_residual = amplitude_residual<T>;
  kernels.directions = directions<T>;
  kernels.keep_changes = keep_changes<T>;
  kernels.weigh_lines = weigh_lines<T>;
  kernels.shifted_inverse = shifted_inverse<T>;
}

template void add_image_data_kernels(Kernels<float>&);
template void add_image_data_kernels(Kernels<double>&);

}  // namespace udv::device
