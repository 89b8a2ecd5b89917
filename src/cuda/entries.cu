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

// One warp a line, kGroup lanes an entry: a lane has kPieces chunks of 16 bytes of the line that is
// gathered, at distances of kGroup chunks, so that a group reads whole sectors.
template <typename T, int kGroup, int kPieces, Mode kMode>
__global__ void __launch_bounds__(kThreads) gather_kernel(Gather<T> g) {
  constexpr int kAtOnce = kWarp / kGroup;
  constexpr int kDeep = kPieces >= 4 ? 1 : 4 / kPieces;  // entries in flight for each group
  constexpr int kSize = Chunk<T>::kSize;
  constexpr bool kDots =
      kMode == Mode::kProducts || kMode == Mode::kResidual || kMode == Mode::kNormal;
  constexpr bool kSums =
      kMode == Mode::kAdjoint || kMode == Mode::kResidual || kMode == Mode::kNormal;
  const int lane = threadIdx.x % kWarp, group = lane / kGroup, part = lane % kGroup;
  const int width = kMode == Mode::kNormal ? 2 * g.chunks : g.chunks;  // of what is gathered
  const std::int64_t stride = static_cast<std::int64_t>(width) * kSize;
  const std::int64_t warp =
      (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / kWarp;
  const std::int64_t warps = gridDim.x * static_cast<std::int64_t>(blockDim.x) / kWarp;
  double squares = 0;
  double overlap[kPieces][kSize] = {};
  for (std::int64_t line = warp; line < g.side.lines; line += warps) {
    Chunk<T> mine[kPieces], sum[kPieces];
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const int c = part + n * kGroup;
      // <p_i, x_j> + <x_i, p_j>: the own pair the other way round.
      const int from = kMode == Mode::kNormal ? (c < g.chunks ? c + g.chunks : c - g.chunks) : c;
      mine[n] = c < width && kMode != Mode::kAdjoint ? load_chunk(g.own + line * stride, from)
                                                     : zero_chunk<T>();
      sum[n] = zero_chunk<T>();
    }
    const std::int64_t end = g.side.first[line + 1];
    for (std::int64_t base = g.side.first[line]; base < end; base += kAtOnce * kDeep) {
      Chunk<T> theirs[kDeep][kPieces];
      T value[kDeep], weight[kDeep];
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        const std::int64_t s = base + u * kAtOnce + group;
        const bool live = s < end;
        const std::int64_t j = live ? g.side.other[s] : 0;
        value[u] =
            live && (kMode == Mode::kAdjoint || kMode == Mode::kResidual) ? g.value[s] : T(0);
        weight[u] = live ? (g.weight ? g.weight[s] : T(1)) : T(0);
#pragma unroll
        for (int n = 0; n < kPieces; ++n) {
          const int c = part + n * kGroup;
          theirs[u][n] = live && c < width ? load_chunk(g.other + j * stride, c) : zero_chunk<T>();
        }
      }
#pragma unroll
      for (int u = 0; u < kDeep; ++u) {
        T factor = value[u];
        if constexpr (kDots) {
          T dot = 0;
#pragma unroll
          for (int n = 0; n < kPieces; ++n)
#pragma unroll
            for (int x = 0; x < kSize; ++x) dot += mine[n].x[x] * theirs[u][n].x[x];
          dot = group_sum<kGroup>(dot);
          if constexpr (kMode == Mode::kProducts) {
            const std::int64_t s = base + u * kAtOnce + group;
            if (part == 0 && s < end) g.out[s] = dot;
          } else {
            const T residual = dot - value[u];  // kNormal has value 0
            factor = weight[u] * residual;
            if (kMode == Mode::kResidual && part == 0)
              squares += static_cast<double>(factor) * static_cast<double>(residual);
          }
        }
        if constexpr (kSums) {
#pragma unroll
          for (int n = 0; n < kPieces; ++n)
#pragma unroll
            for (int x = 0; x < kSize; ++x) sum[n].x[x] += factor * theirs[u][n].x[x];
        }
        if constexpr (kMode == Mode::kOverlap) {
#pragma unroll
          for (int n = 0; n < kPieces; ++n)
#pragma unroll
            for (int x = 0; x < kSize; ++x) {
              const double product = static_cast<double>(mine[n].x[x] * theirs[u][n].x[x]);
              overlap[n][x] += product * product;
            }
        }
      }
    }
    if (kSums && g.out) {
#pragma unroll
      for (int n = 0; n < kPieces; ++n) {
#pragma unroll
        for (int x = 0; x < kSize; ++x)
          for (int step = kGroup; step < kWarp; step *= 2)
            sum[n].x[x] += __shfl_xor_sync(kAll, sum[n].x[x], step);
        const int c = part + n * kGroup;
        if (group == 0 && c < g.chunks) {
          auto* const target = reinterpret_cast<Chunk<T>*>(
                                   g.out + line * static_cast<std::int64_t>(g.chunks) * kSize) +
                               c;
          Chunk<T> result = g.add ? *target : zero_chunk<T>();
#pragma unroll
          for (int x = 0; x < kSize; ++x) result.x[x] += g.scale * sum[n].x[x];
          *target = result;
        }
      }
    }
  }
  if (kMode == Mode::kResidual && g.partial) {
    squares = group_sum<kWarp>(squares);
    if (lane == 0) g.partial[warp] = squares;
  }
  if constexpr (kMode == Mode::kOverlap) {
#pragma unroll
    for (int n = 0; n < kPieces; ++n)
#pragma unroll
      for (int x = 0; x < kSize; ++x) {
        for (int step = kGroup; step < kWarp; step *= 2)
          overlap[n][x] += __shfl_xor_sync(kAll, overlap[n][x], step);
        const int c = part + n * kGroup;
        if (group == 0 && c < g.chunks)
          g.partial[warp * g.chunks * kSize + c * kSize + x] = overlap[n][x];
      }
  }
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
