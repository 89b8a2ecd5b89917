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
  bool between = false;                   // windows of the unknown are moved by the shifts
  std::int32_t top, bottom, left, right;  // the box of a window in which transfers are not zero
  std::int32_t *windows = nullptr, *first = nullptr, *list = nullptr;
  double* shifts = nullptr;  // of each image, down and right; may be null
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

// Where there are shifts, a pixel has the next sample, too.
void set_tiles(Imaging& m, const std::vector<std::int32_t>& windows) {
  const int reach = m.between ? 1 : 0;
  std::vector<std::int32_t> first{0}, list;
  for (int down = 0; down < tiles(m.rows, kTileRows); ++down)
    for (int right = 0; right < tiles(m.cols, kTileCols); ++right) {
      const int row = down * kTileRows, col = right * kTileCols;
      for (int l = 0; l < m.images; ++l) {
        const int r = windows[2 * l], c = windows[2 * l + 1];
        if (r + m.top - reach < row + kTileRows && r + m.bottom + reach > row &&
            c + m.left - reach < col + kTileCols && c + m.right + reach > col)
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

// f(k - shift) = sum of weight(i) f(k + corner i), i < 4: corner i is down + i / 2, right + i % 2.
struct Corners {
  int down, right;
  double v, h;

  __device__ double weight(int i) const { return (i / 2 ? v : 1 - v) * (i % 2 ? h : 1 - h); }
};

__device__ Corners corners_of(const Imaging& m, int l) {
  const double y = -m.shifts[2 * l], x = -m.shifts[2 * l + 1];
  return {static_cast<int>(floor(y)), static_cast<int>(floor(x)), y - floor(y), x - floor(x)};
}

// |P| with the phase of P(k - shift) at pixel (r, c) of image l.
template <typename T>
__device__ Complex<T> moved_transfer(const Imaging& m, const Complex<T>* P, int l, int r, int c) {
  const Complex<T> own = P[r * m.low_cols + c];
  const Corners at = corners_of(m, l);
  Complex<T> sum{0, 0};
  for (int i = 0; i < 4; ++i) {
    const int y = r + at.down + i / 2, x = c + at.right + i % 2;
    if (y < 0 || y >= m.low_rows || x < 0 || x >= m.low_cols) continue;
    const Complex<T> part = static_cast<T>(at.weight(i)) * P[y * m.low_cols + x];
    sum.re += part.re, sum.im += part.im;
  }
  const T size = sqrt(overlap(sum, sum));
  return size > 0 ? (sqrt(overlap(own, own)) / size) * sum : own;
}

// The transfer of each image, of the one for all.
template <typename T>
__global__ void transfers_kernel(Imaging m, const Complex<T>* P, const float* supports,
                                 std::int64_t size, Complex<T>* out) {
  for (std::int64_t i = thread_index(); i < size; i += num_threads()) {
    const auto l = static_cast<int>(i / m.pixels()), at = static_cast<int>(i % m.pixels());
    const Complex<T> value =
        m.shifts ? moved_transfer(m, P, l, at / m.low_cols, at % m.low_cols) : P[at];
    out[i] = supports ? static_cast<T>(supports[i]) * value : value;
  }
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
  m->own_transfers = shape->transfers > 1 || supports || shape->shifts;
  set_box(*m, transfer, shape->transfers);
  set_tiles(*m, {shape->windows, shape->windows + 2 * shape->images});
  m->transfer = uploaded(transfer, 2 * shape->transfers * m->pixels());
  if (shape->shifts) m->shifts = uploaded(shape->shifts, 2 * shape->images);
  if (supports || shape->shifts) {
    const std::int64_t size = m->images * m->pixels();
    void* const whole = m->transfer;
    m->transfer = uploaded<T>(nullptr, 2 * size);
    transfers_kernel<T><<<blocks_for(size, kThreads), kThreads>>>(
        *m, static_cast<const Complex<T>*>(whole), supports, size,
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

// Column k of the unknown between samples: x is that of the pixel's own sample.
template <typename T>
__device__ Complex<T> between_samples(const Imaging& m, const Corners& at, const T* x,
                                      std::int64_t stride, std::int64_t k) {
  Complex<T> sum{0, 0};
  for (int i = 0; i < 4; ++i) {
    const std::int64_t offset =
        static_cast<std::int64_t>(at.down + i / 2) * m.cols + at.right + i % 2;
    const auto* const there = reinterpret_cast<const Complex<T>*>(x + offset * stride);
    const Complex<T> part = static_cast<T>(at.weight(i)) * there[k];
    sum.re += part.re, sum.im += part.im;
  }
  return sum;
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
  if (m.between && inside) {
    const Corners at = corners_of(m, l);
    for (std::int64_t k = 0; k < columns; ++k)
      fields[(k * m.images + l) * pixels + i] =
          P * between_samples(m, at, u + sample * stride, stride, k);
    return;
  }
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
  m->between = from->shifts != nullptr;
  const int margin = m->between ? 1 : 0;
  m->rows = from->low_rows + 2 * margin, m->cols = from->low_cols + 2 * margin;
  m->own_transfers = true;
  set_tiles(*m, std::vector<std::int32_t>(2 * static_cast<std::size_t>(m->images), margin));
  if (m->between) {
    const std::int64_t size = 2 * static_cast<std::int64_t>(m->images);
    m->shifts = uploaded<double>(nullptr, size);
    note(cudaMemcpyAsync(m->shifts, from->shifts, static_cast<std::size_t>(size) * sizeof(double),
                         cudaMemcpyDeviceToDevice, nullptr),
         "imaging");
  }
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

// use(image, pixel, share of the sample in the pixel) for all windows that hold the sample of this
// thread, in order.
template <typename Use>
__device__ void for_windows(const Imaging& m, int row, int col, const Use& use) {
  for (std::int32_t n = m.first[blockIdx.x]; n < m.first[blockIdx.x + 1]; ++n) {
    const int l = m.list[n], r = row - m.windows[2 * l], c = col - m.windows[2 * l + 1];
    if (!m.between) {
      if (in_box(m, r, c)) use(l, static_cast<std::int64_t>(r) * m.low_cols + c, 1.0);
      continue;
    }
    const Corners at = corners_of(m, l);
    for (int i = 0; i < 4; ++i) {
      const int y = r - at.down - i / 2, x = c - at.right - i % 2;
      if (in_box(m, y, x)) use(l, static_cast<std::int64_t>(y) * m.low_cols + x, at.weight(i));
    }
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
  for_windows(m, at.row, at.col, [&](int l, std::int64_t i, double share) {
    const Complex<T> value =
        static_cast<T>(share) * conj_times(transfer_at<T>(m, l, i), own[l * m.pixels() + i]);
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
  for_windows(m, at.row, at.col, [&](int l, std::int64_t i, double share) {
    const Complex<T> P = transfer_at<T>(m, l, i);
    sum += share * share * weights[l] *
           (static_cast<double>(P.re) * P.re + static_cast<double>(P.im) * P.im);
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
  for (void* const memory :
       {static_cast<void*>(m->windows), static_cast<void*>(m->first), static_cast<void*>(m->list),
        static_cast<void*>(m->shifts), m->transfer})
    if (memory) note(cudaFreeAsync(memory, nullptr), "imaging");
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
