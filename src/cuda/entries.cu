// SPDX-License-Identifier: MIT
// Loops over entries that gather lines of a factor.
#include "common.cuh"

namespace udv::device {
namespace {

enum class Mode { kProducts, kAdjoint, kResidual, kNormal, kOverlap };

template <typename T>
struct Gather {
  Side side;
  const T *own, *other;     // lines, or pairs of lines with kNormal
  int chunks;               // of a line
  const T *value, *weight;  // by side; value is z with kAdjoint
  T scale;
  bool add;
  T* out;           // lines; z with kProducts
  double* partial;  // a warp's sum of squares, or its overlaps
};

// What the lanes of a warp do with one line after the other, kGroup lanes an entry: a lane has kPieces chunks of 16 bytes
// of the line that is gathered, at distances of kGroup chunks, so that a group reads whole sectors.
template <typename T, int kGroup, int kPieces, Mode kMode>
class GatheringWarp {
 public:
  __device__ __forceinline__ explicit GatheringWarp(const Gather<T>& g)
      : g_(g), width_(kMode == Mode::kNormal ? 2 * g.chunks : g.chunks) {}

  __device__ __forceinline__ void gather(std::int64_t line) {
    Chunk<T> mine[kPieces], sum[kPieces];
    load_own(line, mine);
#pragma unroll
    for (int n = 0; n < kPieces; ++n) sum[n] = zero_chunk<T>();
    const std::int64_t end = g_.side.first[line + 1];
    for (std::int64_t base = g_.side.first[line]; base < end; base += kAtOnce * kDeep) {
      Chunk<T> theirs[kDeep][kPieces];
      T value[kDeep], weight[kDeep];
#pragma unroll
      for (int u = 0; u < kDeep; ++u)
        load(base + u * kAtOnce + group_, end, theirs[u], value[u], weight[u]);
#pragma unroll
      for (int u = 0; u < kDeep; ++u)
        use(base + u * kAtOnce + group_, end, mine, theirs[u], value[u], weight[u], sum);
    }
    if (kSums && g_.out) write_line(line, sum);
  }

  __device__ __forceinline__ void write_partial(std::int64_t warp) {
    if (kMode == Mode::kResidual && g_.partial) {
      squares_ = group_sum<kWarp>(squares_);
      if (lane_ == 0) g_.partial[warp] = squares_;
    }
    if constexpr (kMode == Mode::kOverlap) {
#pragma unroll
      for (int n = 0; n < kPieces; ++n)
#pragma unroll
        for (int x = 0; x < kSize; ++x) {
          overlap_[n][x] = sum_of_groups(overlap_[n][x]);
          const int c = chunk(n);
          if (group_ == 0 && c < g_.chunks)
            g_.partial[warp * g_.chunks * kSize + c * kSize + x] = overlap_[n][x];
        }
    }
  }

 private:
  static constexpr int kAtOnce = kWarp / kGroup;
  static constexpr int kDeep = kPieces >= 4 ? 1 : 4 / kPieces;  // entries in flight for each group
  static constexpr int kSize = Chunk<T>::kSize;
  static constexpr bool kDots =
      kMode == Mode::kProducts || kMode == Mode::kResidual || kMode == Mode::kNormal;
  static constexpr bool kSums =
      kMode == Mode::kAdjoint || kMode == Mode::kResidual || kMode == Mode::kNormal;

  __device__ __forceinline__ int chunk(int piece) const { return part_ + piece * kGroup; }
  __device__ __forceinline__ std::int64_t stride() const {
    return static_cast<std::int64_t>(width_) * kSize;
  }

  __device__ __forceinline__ void load_own(std::int64_t line, Chunk<T> (&mine)[kPieces]) const {
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const int c = chunk(n);
      // <p_i, x_j> + <x_i, p_j>: the own pair the other way round.
      const int from = kMode == Mode::kNormal ? (c < g_.chunks ? c + g_.chunks : c - g_.chunks) : c;
      mine[n] = c < width_ && kMode != Mode::kAdjoint ? load_chunk(g_.own + line * stride(), from)
                                                      : zero_chunk<T>();
    }
  }

  // Entry s, or zeros beyond the end of the line.
  __device__ __forceinline__ void load(std::int64_t s, std::int64_t end,
                                       Chunk<T> (&theirs)[kPieces], T& value, T& weight) const {
    const bool live = s < end;
    const std::int64_t j = live ? g_.side.other[s] : 0;
    value = live && (kMode == Mode::kAdjoint || kMode == Mode::kResidual) ? g_.value[s] : T(0);
    weight = live ? (g_.weight ? g_.weight[s] : T(1)) : T(0);
#pragma unroll
    for (int n = 0; n < kPieces; ++n)
      theirs[n] = live && chunk(n) < width_ ? load_chunk(g_.other + j * stride(), chunk(n))
                                            : zero_chunk<T>();
  }

  __device__ __forceinline__ void use(std::int64_t s, std::int64_t end,
                                      const Chunk<T> (&mine)[kPieces],
                                      const Chunk<T> (&theirs)[kPieces], T value, T weight,
                                      Chunk<T> (&sum)[kPieces]) {
    const T factor = kDots ? factor_of(s, end, dot(mine, theirs), value, weight) : value;
#pragma unroll
    for (int n = 0; n < kPieces; ++n)
#pragma unroll
      for (int x = 0; x < kSize; ++x) {
        if constexpr (kSums) sum[n].x[x] += factor * theirs[n].x[x];
        if constexpr (kMode == Mode::kOverlap) {
          const double product = static_cast<double>(mine[n].x[x] * theirs[n].x[x]);
          overlap_[n][x] += product * product;
        }
      }
  }

  static __device__ __forceinline__ T dot(const Chunk<T> (&a)[kPieces],
                                          const Chunk<T> (&b)[kPieces]) {
    T sum = 0;
#pragma unroll
    for (int n = 0; n < kPieces; ++n)
#pragma unroll
      for (int x = 0; x < kSize; ++x) sum += a[n].x[x] * b[n].x[x];
    return group_sum<kGroup>(sum);
  }

  // By which the gathered line enters the sum.
  __device__ __forceinline__ T factor_of(std::int64_t s, std::int64_t end, T dot, T value,
                                         T weight) {
    if (kMode == Mode::kProducts) {
      if (part_ == 0 && s < end) g_.out[s] = dot;
      return 0;
    }
    const T residual = dot - value;  // kNormal has value 0
    const T factor = weight * residual;
    if (kMode == Mode::kResidual && part_ == 0)
      squares_ += static_cast<double>(factor) * static_cast<double>(residual);
    return factor;
  }

  template <typename Number>
  static __device__ __forceinline__ Number sum_of_groups(Number value) {
#pragma unroll
    for (int step = kGroup; step < kWarp; step *= 2) value += __shfl_xor_sync(kAll, value, step);
    return value;
  }

  __device__ __forceinline__ void write_line(std::int64_t line, Chunk<T> (&sum)[kPieces]) const {
    auto* const target = reinterpret_cast<Chunk<T>*>(
        g_.out + line * static_cast<std::int64_t>(g_.chunks) * kSize);
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
#pragma unroll
      for (int x = 0; x < kSize; ++x) sum[n].x[x] = sum_of_groups(sum[n].x[x]);
      const int c = chunk(n);
      if (group_ != 0 || c >= g_.chunks) continue;
      Chunk<T> result = g_.add ? target[c] : zero_chunk<T>();
#pragma unroll
      for (int x = 0; x < kSize; ++x) result.x[x] += g_.scale * sum[n].x[x];
      target[c] = result;
    }
  }

  const Gather<T>& g_;
  const int width_;  // of what is gathered, in chunks
  const int lane_ = static_cast<int>(threadIdx.x % kWarp), group_ = lane_ / kGroup,
            part_ = lane_ % kGroup;
  double squares_ = 0;
  double overlap_[kPieces][kSize] = {};
};

// One warp a line.
template <typename T, int kGroup, int kPieces, Mode kMode>
__global__ void __launch_bounds__(kThreads) gather_kernel(const __grid_constant__ Gather<T> g) {
  const std::int64_t warp =
      (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / kWarp;
  const std::int64_t warps = gridDim.x * static_cast<std::int64_t>(blockDim.x) / kWarp;
  GatheringWarp<T, kGroup, kPieces, kMode> lanes(g);
  for (std::int64_t line = warp; line < g.side.lines; line += warps) lanes.gather(line);
  lanes.write_partial(warp);
}

template <typename T, Mode kMode>
void launch(const Gather<T>& g) {
  const int width = kMode == Mode::kNormal ? 2 * g.chunks : g.chunks;
  const int blocks = warp_blocks(g.side.lines);
  const auto run = [&](auto group, auto pieces) {
    gather_kernel<T, decltype(group)::value, decltype(pieces)::value, kMode>
        <<<blocks, kThreads>>>(g);
  };
  using std::integral_constant;
  using One = integral_constant<int, 1>;
  using Whole = integral_constant<int, kWarp>;
  if (width <= 1)
    run(One(), One());
  else if (width <= 2)
    run(integral_constant<int, 2>(), One());
  else if (width <= 4)
    run(integral_constant<int, 4>(), One());
  else if (width <= 8)
    run(integral_constant<int, 8>(), One());
  else if (width <= 16)
    run(integral_constant<int, 16>(), One());
  else if (width <= 32)
    run(Whole(), One());
  else if (width <= 64)
    run(Whole(), integral_constant<int, 2>());
  else if (width <= 128)
    run(Whole(), integral_constant<int, 4>());
  else
    run(Whole(), integral_constant<int, 8>());
  launched("gather");
}

template <typename T>
int chunks_of(std::int64_t width) {
  return static_cast<int>(line_stride<T>(width) / Chunk<T>::kSize);
}

template <typename T>
void products(const Pattern* pattern, const T* left, const T* right, std::int64_t width, T* z) {
  launch<T, Mode::kProducts>({side_of(pattern, 0), left, right, chunks_of<T>(width), nullptr,
                              nullptr, T(1), false, z, nullptr});
}

template <typename T>
void adjoint(const Pattern* pattern, int side, const T* z, const T* other, std::int64_t width,
             T scale, bool add, T* out) {
  launch<T, Mode::kAdjoint>({side_of(pattern, side), nullptr, other, chunks_of<T>(width), z,
                             nullptr, scale, add, out, nullptr});
}

template <typename T>
void residual(const Pattern* pattern, int side, const T* own, const T* other, std::int64_t width,
              const T* value, const T* weight, T scale, bool add, T* out, double* squares) {
  const Side lines = side_of(pattern, side);
  const std::int64_t warps = warp_blocks(lines.lines) * (kThreads / kWarp);
  auto* const partial =
      static_cast<double*>(scratch(1, static_cast<std::size_t>(warps) * sizeof(double)));
  launch<T, Mode::kResidual>({lines, own, other, chunks_of<T>(width), value, weight, scale, add,
                              out, squares ? partial : nullptr});
  if (squares) add_parts(partial, warps, 1, squares);
}

template <typename T>
void normal(const Pattern* pattern, int side, const T* own_pairs, const T* other_pairs,
            std::int64_t width, const T* weight, bool add, T* out) {
  launch<T, Mode::kNormal>({side_of(pattern, side), own_pairs, other_pairs, chunks_of<T>(width),
                            nullptr, weight, T(1), add, out, nullptr});
}

template <typename T>
void overlap(const Pattern* pattern, const T* left, const T* right, std::int64_t width,
             double* sums) {
  const Side lines = side_of(pattern, 0);
  const std::int64_t warps = warp_blocks(lines.lines) * (kThreads / kWarp);
  const std::int64_t stride = line_stride<T>(width);
  auto* const partial =
      static_cast<double*>(scratch(1, static_cast<std::size_t>(warps * stride) * sizeof(double)));
  launch<T, Mode::kOverlap>(
      {lines, left, right, chunks_of<T>(width), nullptr, nullptr, T(1), false, nullptr, partial});
  double all[2048];
  add_parts(partial, warps, stride, all);
  for (std::int64_t c = 0; c < width; ++c) sums[c] = all[c];
}

template <typename T>
__global__ void pairs_kernel(const Chunk<T>* x, const Chunk<T>* p, std::int64_t lines, int chunks,
                             Chunk<T>* out) {
  const std::int64_t size = lines * 2 * chunks;
  for (std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; i < size;
       i += gridDim.x * static_cast<std::int64_t>(blockDim.x)) {
    const std::int64_t line = i / (2 * chunks);
    const int c = static_cast<int>(i - line * 2 * chunks);
    out[i] = c < chunks ? x[line * chunks + c] : p[line * chunks + c - chunks];
  }
}

template <typename T>
void pairs(const T* x, const T* p, std::int64_t lines, std::int64_t width, T* out) {
  const int chunks = chunks_of<T>(width);
  pairs_kernel<T><<<blocks_for(lines * 2 * chunks, kThreads), kThreads>>>(
      reinterpret_cast<const Chunk<T>*>(x), reinterpret_cast<const Chunk<T>*>(p), lines, chunks,
      reinterpret_cast<Chunk<T>*>(out));
  launched("pairs");
}

template <typename T, bool kBack>
__global__ void place_kernel(const std::int32_t* entry, const T* in, T* out, std::int64_t size) {
  for (std::int64_t s = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x; s < size;
       s += gridDim.x * static_cast<std::int64_t>(blockDim.x)) {
    if (kBack)
      out[entry[s]] = in[s];
    else
      out[s] = in[entry[s]];
  }
}

template <typename T>
void place(const Pattern* pattern, int side, const T* by_entry, T* by_side) {
  const std::int64_t size = num_entries(pattern);
  place_kernel<T, false><<<blocks_for(size, kThreads), kThreads>>>(side_of(pattern, side).entry,
                                                                   by_entry, by_side, size);
  launched("place");
}

template <typename T>
void unplace(const Pattern* pattern, const T* by_row, T* by_entry) {
  const std::int64_t size = num_entries(pattern);
  place_kernel<T, true>
      <<<blocks_for(size, kThreads), kThreads>>>(side_of(pattern, 0).entry, by_row, by_entry, size);
  launched("unplace");
}

}  // namespace

template <typename T>
void add_entry_kernels(Kernels<T>& kernels) {
  kernels.place = place<T>;
  kernels.unplace = unplace<T>;
  kernels.products = products<T>;
  kernels.adjoint = adjoint<T>;
  kernels.residual = residual<T>;
  kernels.pairs = pairs<T>;
  kernels.normal = normal<T>;
  kernels.overlap = overlap<T>;
}

template void add_entry_kernels(Kernels<float>&);
template void add_entry_kernels(Kernels<double>&);

}  // namespace udv::device
