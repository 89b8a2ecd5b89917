// SPDX-License-Identifier: MIT
// Images by Fourier transforms: windows of spectra, and sums over all windows.
#include <algorithm>
#include <vector>

#include "common.cuh"
#include "complex.cuh"
#include "fourier.cuh"

namespace udv::device {

// A tile of kTileRows x kTileCols samples has the images first[tile] .. first[tile + 1] of a list:
// those whose box reaches into it.
struct Imaging {
  std::int32_t rows, cols, low_rows, low_cols, images;
  bool forward, own_transfers;            // one for each image
  std::int32_t top, bottom, left, right;  // the box of a window in which transfers are not zero
  std::int32_t *windows = nullptr, *first = nullptr, *list = nullptr;
  void* transfer = nullptr;

  __host__ __device__ std::int64_t pixels() const {
    return static_cast<std::int64_t>(low_rows) * low_cols;
  }
};

namespace {

constexpr int kTileRows = 8, kTileCols = 32;
static_assert(kTileRows * kTileCols == kThreads, "one thread a sample");

template <typename T>
T* uploaded(const T* from, std::int64_t size) {
  void* memory = nullptr;
  const auto bytes = static_cast<std::size_t>(std::max<std::int64_t>(size, 1)) * sizeof(T);
  note(cudaMallocAsync(&memory, bytes, nullptr), "imaging");
  if (from && size > 0)
    note(cudaMemcpy(memory, from, static_cast<std::size_t>(size) * sizeof(T),
                    cudaMemcpyHostToDevice),
         "imaging");
  return static_cast<T*>(memory);
}

int tiles(int samples, int side) {
  return (samples + side - 1) / side;
}

void set_tiles(Imaging& m, const std::vector<std::int32_t>& windows) {
  std::vector<std::int32_t> first{0}, list;
  for (int down = 0; down < tiles(m.rows, kTileRows); ++down)
    for (int right = 0; right < tiles(m.cols, kTileCols); ++right) {
      const int row = down * kTileRows, col = right * kTileCols;
      for (int l = 0; l < m.images; ++l) {
        const int r = windows[2 * l], c = windows[2 * l + 1];
        if (r + m.top < row + kTileRows && r + m.bottom > row && c + m.left < col + kTileCols &&
            c + m.right > col)
          list.push_back(l);
      }
      first.push_back(static_cast<std::int32_t>(list.size()));
    }
  m.windows = uploaded(windows.data(), static_cast<std::int64_t>(windows.size()));
  m.first = uploaded(first.data(), static_cast<std::int64_t>(first.size()));
  m.list = uploaded(list.data(), static_cast<std::int64_t>(list.size()));
}

template <typename T>
void set_box(Imaging& m, const T* transfer, std::int64_t transfers) {
  m.top = m.low_rows, m.left = m.low_cols, m.bottom = m.right = 0;
  for (std::int64_t i = 0; i < transfers * m.pixels(); ++i) {
    if (transfer[2 * i] == 0 && transfer[2 * i + 1] == 0) continue;
    const auto at = static_cast<std::int32_t>(i % m.pixels());
    const std::int32_t r = at / m.low_cols, c = at % m.low_cols;
    m.top = std::min(m.top, r), m.bottom = std::max(m.bottom, r + 1);
    m.left = std::min(m.left, c), m.right = std::max(m.right, c + 1);
  }
}

template <typename T>
__global__ void support_kernel(const Complex<T>* transfer, const float* supports,
                               std::int64_t pixels, std::int64_t size, Complex<T>* out) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads())
    out[i] = static_cast<T>(supports[i]) * transfer[i % pixels];
}

template <typename T>
Imaging* make_imaging(const ImagingShape* shape, const T* transfer, const float* supports) {
  if (const char* const why = no_fourier()) note_text(why);
  auto* const m = new Imaging;
  const auto narrow = [](std::int64_t value) { return static_cast<std::int32_t>(value); };
  m->rows = narrow(shape->rows), m->cols = narrow(shape->cols);
  m->low_rows = narrow(shape->low_rows), m->low_cols = narrow(shape->low_cols);
  m->images = narrow(shape->images);
  m->forward = shape->forward;
  m->own_transfers = shape->transfers > 1 || supports;
  set_box(*m, transfer, shape->transfers);
  set_tiles(*m, {shape->windows, shape->windows + 2 * shape->images});
  m->transfer = uploaded(transfer, 2 * shape->transfers * m->pixels());
  if (supports) {
    const std::int64_t size = m->images * m->pixels();
    void* const whole = m->transfer;
    m->transfer = uploaded<T>(nullptr, 2 * size);
    support_kernel<<<blocks_for(size, kThreads), kThreads>>>(static_cast<const Complex<T>*>(whole),
                                                             supports, m->pixels(), size,
                                                             static_cast<Complex<T>*>(m->transfer));
    launched("make_imaging");
    note(cudaFreeAsync(whole, nullptr), "imaging");
  }
  return m;
}

__device__ bool in_box(const Imaging& m, int r, int c) {
  return r >= m.top && r < m.bottom && c >= m.left && c < m.right;
}

template <typename T>
__device__ Complex<T> transfer_at(const Imaging& m, int l, std::int64_t i) {
  return static_cast<const Complex<T>*>(m.transfer)[m.own_transfers ? l * m.pixels() + i : i];
}

// One thread a pixel, for all columns; blockIdx.y is the image.
template <typename T>
__global__ void load_kernel(Imaging m, const T* u, std::int64_t stride, std::int64_t columns,
                            Complex<T>* fields) {
  const std::int64_t i = thread_index(), pixels = m.pixels();
  if (i >= pixels) return;
  const int l = blockIdx.y, r = static_cast<int>(i) / m.low_cols,
            c = static_cast<int>(i) % m.low_cols;
  const bool inside = in_box(m, r, c);
  const Complex<T> P = inside ? transfer_at<T>(m, l, i) : Complex<T>{0, 0};
  const std::int64_t sample =
      static_cast<std::int64_t>(m.windows[2 * l] + r) * m.cols + m.windows[2 * l + 1] + c;
  const auto* const x = reinterpret_cast<const Complex<T>*>(u + sample * stride);
  for (std::int64_t k = 0; k < columns; ++k)
    fields[(k * m.images + l) * pixels + i] = inside ? P * x[k] : Complex<T>{0, 0};
}

template <typename T>
void load_windows(const Imaging* m, const T* u, std::int64_t columns, T* fields) {
  const dim3 grid(static_cast<unsigned>((m->pixels() + kThreads - 1) / kThreads),
                  static_cast<unsigned>(m->images));
  load_kernel<T><<<grid, kThreads>>>(*m, u, line_stride<T>(2 * columns), columns, complex(fields));
  launched("project");
}

template <typename T>
Imaging* seen_imaging(const Imaging* from, const T* u) {
  auto* const m = new Imaging(*from);
  m->rows = from->low_rows, m->cols = from->low_cols;
  m->own_transfers = true;
  set_tiles(*m, std::vector<std::int32_t>(2 * static_cast<std::size_t>(m->images)));
  T* const transfer = uploaded<T>(nullptr, 2 * m->images * m->pixels());
  m->transfer = transfer;
  load_windows(from, u, 1, transfer);
  return m;
}

template <typename T>
void project(const Imaging* m, const T* u, std::int64_t columns, T* fields) {
  load_windows(m, u, columns, fields);
  transform(fields, m->low_rows, m->low_cols, columns * m->images, m->forward);
}

// use(image, pixel) for all windows that hold the sample of this thread, in order.
template <typename Use>
__device__ void for_windows(const Imaging& m, int row, int col, const Use& use) {
  for (std::int32_t n = m.first[blockIdx.x]; n < m.first[blockIdx.x + 1]; ++n) {
    const int l = m.list[n], r = row - m.windows[2 * l], c = col - m.windows[2 * l + 1];
    if (in_box(m, r, c)) use(l, static_cast<std::int64_t>(r) * m.low_cols + c);
  }
}

struct Sample {
  int row, col;
};

__device__ Sample own_sample(const Imaging& m) {
  const int across = (m.cols + kTileCols - 1) / kTileCols;
  return {
      static_cast<int>(blockIdx.x) / across * kTileRows + static_cast<int>(threadIdx.x) / kTileCols,
      static_cast<int>(blockIdx.x) % across * kTileCols +
          static_cast<int>(threadIdx.x) % kTileCols};
}

// One block a tile; blockIdx.y is the column.
template <typename T>
__global__ void sum_kernel(Imaging m, const Complex<T>* fields, std::int64_t stride, T* out) {
  const Sample at = own_sample(m);
  if (at.row >= m.rows || at.col >= m.cols) return;
  const Complex<T>* const own =
      fields + static_cast<std::int64_t>(blockIdx.y) * m.images * m.pixels();
  Complex<T> sum{0, 0};
  for_windows(m, at.row, at.col, [&](int l, std::int64_t i) {
    const Complex<T> value = conj_times(transfer_at<T>(m, l, i), own[l * m.pixels() + i]);
    sum.re += value.re, sum.im += value.im;
  });
  const std::int64_t line = static_cast<std::int64_t>(at.row) * m.cols + at.col;
  *reinterpret_cast<Complex<T>*>(out + line * stride + 2 * blockIdx.y) = sum;
  // Lines are filled up with zeros.
  if (blockIdx.y + 1 == gridDim.y)
    for (std::int64_t c = 2 * gridDim.y; c < stride; ++c) out[line * stride + c] = 0;
}

unsigned num_tiles(const Imaging* m) {
  return static_cast<unsigned>(tiles(m->rows, kTileRows) * tiles(m->cols, kTileCols));
}

template <typename T>
void back_project(const Imaging* m, T* fields, std::int64_t columns, T* out) {
  transform(fields, m->low_rows, m->low_cols, columns * m->images, !m->forward);
  const dim3 grid(num_tiles(m), static_cast<unsigned>(columns));
  sum_kernel<T><<<grid, kThreads>>>(*m, complex(fields), line_stride<T>(2 * columns), out);
  launched("back_project");
}

template <typename T>
__global__ void coverage_kernel(Imaging m, const double* weights, T* out) {
  const Sample at = own_sample(m);
  if (at.row >= m.rows || at.col >= m.cols) return;
  double sum = 0;
  for_windows(m, at.row, at.col, [&](int l, std::int64_t i) {
    const Complex<T> P = transfer_at<T>(m, l, i);
    sum += weights[l] * (static_cast<double>(P.re) * P.re + static_cast<double>(P.im) * P.im);
  });
  out[static_cast<std::int64_t>(at.row) * m.cols + at.col] = static_cast<T>(sum);
}

template <typename T>
void coverage(const Imaging* m, const double* weights, T* out) {
  coverage_kernel<T><<<num_tiles(m), kThreads>>>(*m, on_device(weights, m->images, 2), out);
  launched("coverage");
}

}  // namespace

void release_imaging(Imaging* m) {
  if (!m) return;
  for (void* const memory : {static_cast<void*>(m->windows), static_cast<void*>(m->first),
                             static_cast<void*>(m->list), m->transfer})
    note(cudaFreeAsync(memory, nullptr), "imaging");
  delete m;
}

template <typename T>
void add_imaging_kernels(Kernels<T>& kernels) {
  kernels.make_imaging = make_imaging<T>;
  kernels.seen_imaging = seen_imaging<T>;
  kernels.project = project<T>;
  kernels.back_project = back_project<T>;
  kernels.coverage = coverage<T>;
}

template void add_imaging_kernels(Kernels<float>&);
template void add_imaging_kernels(Kernels<double>&);

}  // namespace udv::device
