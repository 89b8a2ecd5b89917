// SPDX-License-Identifier: MIT
// Sums of the entries of each line: what its posterior is made of.
#include <algorithm>

#include "bayes.cuh"

namespace udv::device {
namespace {

template <typename T>
__host__ __device__ int sums_bytes(int width) {
  return static_cast<int>((sums_stride(width) * sizeof(T) + 31) / 32 * 32);
}

constexpr int kStages = 4;
constexpr int kStageBytes = 2560;  // of records, about

// Copies 16 bytes to shared memory; complete after wait_for_stage().
__device__ void copy_chunk(void* to_shared, const void* from) {
  const auto to = static_cast<unsigned>(__cvta_generic_to_shared(to_shared));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ void end_stage() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
// The oldest of kStages - 1 stages that are under way.
__device__ void wait_for_stage() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
  __syncwarp();
}

// What a warp needs of `entries` entries at once: records, values, weights, places of the records.
template <typename T>
struct Stage {
  int entries, stride;
  __host__ __device__ int bytes() const {
    const int all =
        entries * static_cast<int>(stride * sizeof(T) + sizeof(double) + sizeof(T) + sizeof(int));
    return (all + 31) / 32 * 32;
  }
  __device__ T* record(char* at, int e) const { return reinterpret_cast<T*>(at) + e * stride; }
  __device__ double* values(char* at) const {
    return reinterpret_cast<double*>(reinterpret_cast<T*>(at) + entries * stride);
  }
  __device__ T* weights(char* at) const { return reinterpret_cast<T*>(values(at) + entries); }
  __device__ int* places(char* at) const { return reinterpret_cast<int*>(weights(at) + entries); }
};

// Sends the records of a warp's lines to its ring of stages, ahead of who adds them up. Places of
// records are read one stage before they are needed.
template <typename T>
class Feed {
 public:
  __device__ Feed(const SumTask<T>& task, const Stage<T>& stage, char* ring)
      : t(task), shape(stage), ring(ring), lane(threadIdx.x % kWarp) {
    // Entries that are not there count with weight 0 whatever their records are, if finite.
    for (int n = lane; n < kStages * shape.bytes() / 4; n += kWarp)
      reinterpret_cast<int*>(ring)[n] = 0;
    line = t.begin + warp_index() - num_warps();
    look_ahead();
    for (int k = 0; k < kStages - 1; ++k) send();
  }

  __device__ void send() {
    char* const at = ring + next * shape.bytes();
    __syncwarp();
    if (lane < shape.entries && count > 0) {
      shape.values(at)[lane] = value;
      shape.weights(at)[lane] = weight;
      shape.places(at)[lane] = index;
    }
    __syncwarp();
    const int bytes = shape.stride * static_cast<int>(sizeof(T));
    const char* const records = reinterpret_cast<const char*>(t.other) + 16 * lane;
    const int* const places = shape.places(at);
    for (int past = 0; past < bytes; past += 16 * kWarp) {  // once where a record is short
      if (lane * 16 >= bytes - past) continue;
      char* to = at + past + 16 * lane;
#pragma unroll 4
      for (int e = 0; e < count; ++e, to += bytes)
        copy_chunk(to, records + past + static_cast<std::int64_t>(places[e]) * bytes);
    }
    end_stage();
    next = (next + 1) % kStages;
    look_ahead();
  }

 private:
  __device__ void look_ahead() {
    while (line < t.end && place >= end) {
      line += num_warps();
      if (line >= t.end) break;
      place = t.side.first[line];
      end = t.side.first[line + 1];
    }
    count = 0;
    if (line >= t.end) return;
    count = static_cast<int>(min(static_cast<std::int64_t>(shape.entries), end - place));
    const bool live = lane < count;
    const std::int64_t s = live ? place + lane : place;
    index = t.side.other[s];
    value = t.value[s] - t.mean;
    weight = live ? (t.weight ? t.weight[s] : T(1)) : T(0);
    place += count;
  }

  const SumTask<T>& t;
  const Stage<T> shape;
  char* const ring;
  const int lane;
  std::int64_t line, place = 0, end = 0;  // of what look_ahead() reads next
  int next = 0, count = 0, index = 0;     // stage to fill; entries that were read
  double value = 0;
  T weight = 0;
};

template <typename T>
__device__ Quad<T> shared_quad(const T* at) {
  Quad<T> quad;
#pragma unroll
  for (int a = 0; a < 4; a += Chunk<T>::kSize) {
    const Chunk<T> chunk = load_chunk(at + a, 0);
#pragma unroll
    for (int n = 0; n < Chunk<T>::kSize; ++n) quad.x[a + n] = chunk.x[n];
  }
  return quad;
}

// The sums of a line that a lane has: some quads of the record, for S, and one block of 4 x 4 of
// F F^T. A group of kGroup lanes takes an entry; the groups are added up in a tree.
template <typename T, int kGroup, int kQuads>
struct LaneSums {
  T outer[16] = {}, spread[4 * kQuads] = {}, right[4] = {}, total = 0;

  __device__ void add(const T* record, double value, T w, int above, int left, int quads) {
    const int part = threadIdx.x % kGroup;
    Quad<T> row = shared_quad(record + 4 * above), col = shared_quad(record + 4 * left);
    const T wy = w * static_cast<T>(value - static_cast<double>(record[0]));
    if (above == 0) row.x[0] = 1;
    if (left == 0) col.x[0] = 1;
    total += w;
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      const T factor = w * row.x[a];
      right[a] += wy * col.x[a];
#pragma unroll
      for (int b = 0; b < 4; ++b) outer[4 * a + b] += factor * col.x[b];
    }
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const int at = part + q * kGroup;
      if (at >= quads) continue;
      const Quad<T> rest = shared_quad(record + 4 * at);
#pragma unroll
      for (int a = 0; a < 4; ++a) spread[4 * q + a] += w * rest.x[a];
    }
  }

  __device__ void join() {
#pragma unroll
    for (int step = kGroup; step < kWarp; step *= 2) {
      total += __shfl_xor_sync(kAll, total, step);
#pragma unroll
      for (int n = 0; n < 16; ++n) outer[n] += __shfl_xor_sync(kAll, outer[n], step);
#pragma unroll
      for (int n = 0; n < 4 * kQuads; ++n) spread[n] += __shfl_xor_sync(kAll, spread[n], step);
#pragma unroll
      for (int n = 0; n < 4; ++n) right[n] += __shfl_xor_sync(kAll, right[n], step);
    }
  }

  __device__ void store(int D, int above, int left, bool has_block, T* out) const {
    const int lane = threadIdx.x % kWarp, part = lane % kGroup, size = D * (D + 1) / 2;
    if (lane == 0) out[sums_stride(D) - 1] = total;
#pragma unroll
    for (int a = 0; a < 4; ++a) {
      const int r = 4 * above + a;
      if (lane >= kGroup || !has_block || r >= D) continue;
      if (above == left) out[r] = right[a];
#pragma unroll
      for (int b = 0; b < 4; ++b)
        if (4 * left + b <= r) out[D + r * (r + 1) / 2 + 4 * left + b] = outer[4 * a + b];
    }
#pragma unroll
    for (int n = 0; n < 4 * kQuads; ++n) {
      const int e = 4 * (part + n / 4 * kGroup) + n % 4 - D;
      if (lane >= kWarp - kGroup && e >= 0 && e < size) out[D + size + e] = spread[n];
    }
  }
};

// One warp a line.
template <typename T, int kGroup, int kQuads>
__global__ void __launch_bounds__(kThreads, 2) sum_quads(SumTask<T> t, Stage<T> shape) {
  constexpr int kGroups = kWarp / kGroup;
  extern __shared__ __align__(32) char memory[];
  const int lane = threadIdx.x % kWarp, D = t.width, across = (D + 3) / 4;
  const int group = lane / kGroup, part = lane % kGroup;
  const bool has_block = part < across * (across + 1) / 2;
  int above, left, now = 0;
  packed_place(has_block ? part : 0, above, left);
  char* const own = memory + (threadIdx.x / kWarp) * (kStages * shape.bytes() + sums_bytes<T>(D));
  T* const staged = reinterpret_cast<T*>(own + kStages * shape.bytes());
  Feed<T> feed(t, shape, own);
  for (std::int64_t line = t.begin + warp_index(); line < t.end; line += num_warps()) {
    LaneSums<T, kGroup, kQuads> sums;
    const std::int64_t entries = t.side.first[line + 1] - t.side.first[line];
    for (std::int64_t done = 0; done < entries; done += shape.entries) {
      wait_for_stage();
      feed.send();
      char* const at = own + now * shape.bytes();
      const auto count =
          static_cast<int>(min(static_cast<std::int64_t>(shape.entries), entries - done));
#pragma unroll 1
      for (int e = group; e - group < count; e += kGroups)
        sums.add(shape.record(at, e), shape.values(at)[e], shape.weights(at)[e], above, left,
                 t.stride / 4);
      now = (now + 1) % kStages;
    }
    sums.join();
    sums.store(D, above, left, has_block, staged);
    __syncwarp();
    T* const out = t.sums + (line - t.begin) * sums_stride(D);
    for (int e = lane; e < sums_stride(D); e += kWarp) out[e] = staged[e];
    __syncwarp();
  }
}

// Entries of a stage: whole rounds of groups, a warp's worth at most.
template <typename T, int kGroup, int kQuads>
void launch_quads(const SumTask<T>& task) {
  constexpr int kGroups = kWarp / kGroup;
  const int round = kGroups * task.stride * static_cast<int>(sizeof(T));
  const Stage<T> shape{kGroups * std::clamp(kStageBytes / round, 1, kGroup), task.stride};
  const int warps = kThreads / kWarp;
  const int bytes = warps * (kStages * shape.bytes() + sums_bytes<T>(task.width));
  auto* const kernel = sum_quads<T, kGroup, kQuads>;
  note(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "bayes");
  const int grid =
      std::min(warp_blocks(task.end - task.begin),
               resident_blocks(reinterpret_cast<const void*>(kernel), kThreads, bytes));
  kernel<<<grid, kThreads, static_cast<std::size_t>(bytes)>>>(task, shape);
}

// Wide records: one warp a line, a lane some elements of the packed sums at a time.
constexpr int kPieces = 8;

template <typename T>
__global__ void __launch_bounds__(kThreads) sum_pieces(SumTask<T> t) {
  constexpr int kDeep = 2;
  const int lane = threadIdx.x % kWarp, D = t.width, size = D * (D + 1) / 2;
  for (int base = 0; base < size; base += kPieces * kWarp) {
    const PackedShare<kPieces> share(base, lane, size);
    for (std::int64_t line = t.begin + warp_index(); line < t.end; line += num_warps()) {
      T outer[kPieces] = {}, spread[kPieces] = {}, total = 0;
      const std::int64_t end = t.side.first[line + 1];
      for (std::int64_t s = t.side.first[line]; s < end; s += kDeep) {
        const T* record[kDeep];
        T cov[kDeep][kPieces], weight[kDeep];
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          const bool live = s + u < end;
          const std::int64_t at = live ? s + u : s;
          record[u] = t.other + static_cast<std::int64_t>(t.side.other[at]) * t.stride;
          weight[u] = live ? (t.weight ? t.weight[at] : T(1)) : T(0);
        }
#pragma unroll
        for (int u = 0; u < kDeep; ++u)
#pragma unroll
          for (int n = 0; n < kPieces; ++n) {
            const int e = base + lane + n * kWarp;
            cov[u][n] = e < size ? record[u][D + e] : T(0);
          }
#pragma unroll
        for (int u = 0; u < kDeep; ++u) {
          total += weight[u];
#pragma unroll
          for (int n = 0; n < kPieces; ++n) {
            const int r = share.row[n], c = share.col[n];
            const T left = r == 0 ? T(1) : record[u][r], other = c == 0 ? T(1) : record[u][c];
            outer[n] += weight[u] * left * other;
            spread[n] += weight[u] * cov[u][n];
          }
        }
      }
      T* const out = t.sums + (line - t.begin) * sums_stride(D);
      if (base == 0 && lane == 0) out[sums_stride(D) - 1] = total;
#pragma unroll
      for (int n = 0; n < kPieces; ++n) {
        const int e = base + lane + n * kWarp;
        if (e >= size) continue;
        out[D + e] = outer[n];
        out[D + size + e] = spread[n];
      }
    }
  }
}

// F y of wide records.
template <typename T>
__global__ void __launch_bounds__(kThreads) right_kernel(SumTask<T> t) {
  const int lane = threadIdx.x % kWarp, D = t.width;
  for (std::int64_t line = t.begin + warp_index(); line < t.end; line += num_warps())
    for (int c = lane; c < D; c += kWarp) {
      T right = 0;
      for (std::int64_t s = t.side.first[line]; s < t.side.first[line + 1]; ++s) {
        const T* const record = t.other + static_cast<std::int64_t>(t.side.other[s]) * t.stride;
        const T y = static_cast<T>(t.value[s] - t.mean - static_cast<double>(record[0]));
        right += (t.weight ? t.weight[s] : T(1)) * y * (c == 0 ? T(1) : record[c]);
      }
      t.sums[(line - t.begin) * sums_stride(D) + c] = right;
    }
}

}  // namespace

template <typename T>
void make_sums(const SumTask<T>& task) {
  const int grid = warp_blocks(task.end - task.begin);
  if (task.width <= 8) {
    launch_quads<T, 4, 3>(task);
  } else if (task.width <= 12) {
    launch_quads<T, 8, 3>(task);
  } else if (task.width <= 20) {
    launch_quads<T, 16, 4>(task);
  } else if (task.width <= 28) {
    launch_quads<T, 32, 4>(task);
  } else {
    sum_pieces<T><<<grid, kThreads>>>(task);
    right_kernel<T><<<grid, kThreads>>>(task);
  }
  launched("bayes sums");
}

template void make_sums(const SumTask<float>&);
template void make_sums(const SumTask<double>&);

}  // namespace udv::device
