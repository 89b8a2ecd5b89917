// SPDX-License-Identifier: MIT
// The posterior of each line from its sums, in double precision.
#include <algorithm>

#include "bayes.cuh"

namespace udv::device {
namespace {

constexpr int kPitch = kWarp + 1;  // 32 lines side by side, no two lanes in one bank
constexpr int kMostTogether = 28;  // parts of a posterior that 32 lines can have at once
constexpr std::size_t kShared = 49152;

// One line of 32 that lie side by side: element e of its packed matrix.
struct OfLine {
  double* at;
  __device__ double& operator()(int e) const { return at[e * kPitch]; }
};

// A = L L^T in place, 1 / L_kk on the diagonal; sum of log L_kk.
__device__ double factor(const OfLine& A, int D) {
  double log_sum = 0, product = 1;
  for (int k = 0; k < D; ++k) {
    const int own = k * (k + 1) / 2;
    const double diagonal = A(own + k);
    double pivot = diagonal;
    for (int n = 0; n < k; ++n) pivot -= A(own + n) * A(own + n);
    pivot = fmax(pivot, 1e-14 * diagonal);
    const double inverse = rsqrt(pivot);
    A(own + k) = inverse;
    product *= pivot;
    if (product < 1e-100 || product > 1e100) {
      log_sum += 0.5 * log(product);
      product = 1;
    }
    // Two rows at a time: their sums do not wait for each other.
    for (int r = k + 1; r < D; r += 2) {
      const int row = r * (r + 1) / 2, below = r + 1 < D ? row + r + 1 : row;
      double sum = A(row + k), second = A(below + k);
      for (int n = 0; n < k; ++n) {
        const double factor = A(own + n);
        sum -= A(row + n) * factor;
        second -= A(below + n) * factor;
      }
      A(row + k) = sum * inverse;
      if (r + 1 < D) A(below + k) = second * inverse;
    }
  }
  return log_sum + 0.5 * log(product);
}

// L becomes X = L^-1, in place.
__device__ void invert_factor(const OfLine& A, int D) {
  for (int r = 1; r < D; ++r) {
    const int row = r * (r + 1) / 2;
    const double inverse = A(row + r);
    for (int c = 0; c < r; c += 2) {
      const int at_c = c * (c + 1) / 2 + c;
      double sum = A(row + c) * A(at_c), second = 0;
      for (int n = c + 1, at = at_c + c + 1; n < r; at += ++n) {
        const double factor = A(row + n);
        sum += factor * A(at);
        second += factor * A(at + 1);
      }
      A(row + c) = -sum * inverse;
      if (c + 1 < r) A(row + c + 1) = -second * inverse;
    }
  }
}

// h becomes X^T X h, in place.
__device__ void multiply(const OfLine& X, const OfLine& h, int D) {
  for (int r = D - 1; r >= 0; --r) {
    double sum = 0;
    for (int c = 0, at = r * (r + 1) / 2; c <= r; ++c) sum += X(at + c) * h(c);
    h(r) = sum;
  }
  for (int r = 0; r < D; ++r) {
    double sum = 0;
    for (int n = r, at = r * (r + 1) / 2 + r; n < D; at += ++n) sum += X(at) * h(n);
    h(r) = sum;
  }
}

// X becomes X^T X, in place.
__device__ void square_factor(const OfLine& A, int D) {
  for (int r = 0; r < D; ++r) {
    const int own = r * (r + 1) / 2;
    for (int c = 0; c <= r; c += 2) {
      const int next = c < r ? c + 1 : c;
      double sum = 0, second = 0;
      for (int n = r, row = own; n < D; row += ++n) {
        const double factor = A(row + r);
        sum += factor * A(row + c);
        second += factor * A(row + next);
      }
      A(own + c) = sum;
      if (c < r) A(own + next) = second;
    }
  }
}

// 32 lines of a warp: sums are read and records written by all lanes together, a lane solves one.
template <typename T>
class Together {
 public:
  __device__ Together(const SolveTask<T>& task, double* memory)
      : t(task),
        lane(threadIdx.x % kWarp),
        D(task.width),
        size(task.width * (task.width + 1) / 2),
        A(memory + (threadIdx.x / kWarp) * (size + D) * kPitch),
        m(A + size * kPitch) {}

  __device__ void run(std::int64_t first, double* totals) {
    count = static_cast<int>(min(static_cast<std::int64_t>(kWarp), t.end - first));
    sums = t.sums + (first - t.begin) * sums_stride(D);
    fill();
    live = lane < count && sums[lane * sums_stride(D) + sums_stride(D) - 1] > T(0);
    const double log_det = solve();
    __syncwarp();
    add_totals(log_det, totals);
    if (t.spread) measure(first);
    __syncwarp();
    for (int c = 0; !live && c < D; ++c) A[(c * (c + 1) / 2 + c) * kPitch + lane] = t.prior[c];
    __syncwarp();
    store(first);
    __syncwarp();
  }

 private:
  __device__ void fill() {
    for (int e = lane; e < size; e += kWarp) {
      int r, c;
      packed_place(e, r, c);
      const bool present = t.prior[r] > 0 && t.prior[c] > 0;
      const double prior = present && r == c ? 1 / t.prior[r] : 0.0, without = r == c ? 1.0 : 0.0;
      const T *outer = sums + D + e, *const end = outer + count * sums_stride(D);
      double* to = A + e * kPitch;
#pragma unroll 8
      for (; outer < end; outer += sums_stride(D), ++to) {
        double value = static_cast<double>(outer[0]);
        if (c > 0) value += static_cast<double>(outer[size]);
        *to = present ? t.precision * value + prior : without;
      }
      for (; to < A + e * kPitch + kWarp; ++to) *to = without;
    }
    for (int c = lane; c < D; c += kWarp) {
      const bool present = t.prior[c] > 0;
      const T* const spread = sums + D + size + c * (c + 1) / 2;
#pragma unroll 8
      for (int l = 0; l < count; ++l) {
        double value = static_cast<double>(sums[l * sums_stride(D) + c]);
        if (c > 0) value -= static_cast<double>(spread[l * sums_stride(D)]);
        m[c * kPitch + l] = present ? t.precision * value : 0.0;
      }
      for (int l = count; l < kWarp; ++l) m[c * kPitch + l] = 0;
    }
    __syncwarp();
  }

  // C and m = C h / sigma^2 of this lane's line, both 0 where it has no entries; log det C.
  __device__ double solve() {
    const OfLine C{A + lane}, mean{m + lane};
    const double log_det = -2 * factor(C, D);
    invert_factor(C, D);
    multiply(C, mean, D);
    square_factor(C, D);
    // The right side of an absent part is 0, and nothing is beside its 1 on the diagonal.
    for (int r = 0; r < D; ++r)
      if (!(t.prior[r] > 0)) C(r * (r + 1) / 2 + r) = 0;
    for (int e = 0; !live && e < size; ++e) C(e) = 0;
    for (int r = 0; !live && r < D; ++r) mean(r) = 0;
    return live ? log_det : 0.0;
  }

  __device__ void add_totals(double log_det, double* totals) const {
    const unsigned lines = __ballot_sync(kAll, live);
    log_det = group_sum<kWarp>(log_det);
    if (lane == 0) {
      totals[0] += __popc(lines);
      totals[1] += log_det;
    }
    for (int c = lane; c < D; c += kWarp) {
      double sum = 0;
      for (int l = 0; l < kWarp; ++l) sum += m[c * kPitch + l];
      totals[2 + c] += sum;
    }
    for (int e = lane; e < size; e += kWarp) {
      int r, c;
      packed_place(e, r, c);
      double means = 0, spread = 0;
      for (int l = 0; l < kWarp; ++l) {
        means += m[r * kPitch + l] * m[c * kPitch + l];
        spread += A[e * kPitch + l];
      }
      totals[2 + D + e] += means;
      totals[2 + D + size + e] += spread;
    }
  }

  __device__ void measure(std::int64_t first) const {
    double mine = 0;
    for (int l = 0; l < count; ++l) {
      double sum = 0;
      for (int e = lane; e < size; e += kWarp) {
        int r, c;
        packed_place(e, r, c);
        sum += spread_element(sums + l * sums_stride(D), D, e, r, c, A[e * kPitch + l],
                              m[r * kPitch + l], m[c * kPitch + l]);
      }
      sum = group_sum<kWarp>(sum);
      if (lane == l) mine = live ? sum : 0.0;
    }
    if (lane < count) t.spread[first + lane] = mine;
  }

  __device__ void store(std::int64_t first) const {
    for (int e = lane; e < t.stride; e += kWarp) {
      const double* const from = e < D ? m + e * kPitch : A + (e - D) * kPitch;
      for (int l = 0; l < count; ++l)
        t.own[(first + l) * t.stride + e] = e < D + size ? static_cast<T>(from[l]) : T(0);
    }
  }

  const SolveTask<T>& t;
  const int lane, D, size;
  double *const A, *const m;  // m holds the right side first
  const T* sums = nullptr;
  int count = 0;
  bool live = false;
};

template <typename T>
__global__ void solve_together(SolveTask<T> t) {
  extern __shared__ double memory[];
  Together<T> lines(t, memory);
  double* const totals = t.totals + warp_index() * totals_stride(t.width);
  for (std::int64_t first = t.begin + warp_index() * kWarp; first < t.end;
       first += num_warps() * kWarp)
    lines.run(first, totals);
}

// A = L L^T in place by one warp, 1 / L_rr on the diagonal; the sum of log L_rr.
__device__ double warp_cholesky(double* A, int D, int pitch, int lane) {
  double log_sum = 0;
  for (int k = 0; k < D; ++k) {
    // The diagonal as it was is kept above it.
    const double pivot = fmax(A[k * pitch + k], 1e-14 * A[k * pitch + D]);
    const double scale = rsqrt(pivot);
    log_sum += 0.5 * log(pivot);
    __syncwarp();
    for (int r = k + 1 + lane; r < D; r += kWarp) A[r * pitch + k] *= scale;
    if (lane == 0) A[k * pitch + k] = scale;
    __syncwarp();
    for (int r = k + 1 + lane; r < D; r += kWarp) {
      const double factor = A[r * pitch + k];
      for (int c = k + 1; c <= r; ++c) A[r * pitch + c] -= factor * A[c * pitch + k];
    }
    __syncwarp();
  }
  return log_sum;
}

// X = L^-1, a lane some columns; X_rc for r >= c.
__device__ void warp_invert(const double* L, double* X, int D, int pitch, int lane) {
  for (int c = lane; c < D; c += kWarp)
    for (int r = c; r < D; ++r) {
      double sum = r == c ? 1.0 : 0.0;
      for (int n = c; n < r; ++n) sum -= L[r * pitch + n] * X[n * pitch + c];
      X[r * pitch + c] = sum * L[r * pitch + r];
    }
  __syncwarp();
}

template <typename T>
__device__ void store_prior(const SolveTask<T>& t, std::int64_t line, int lane) {
  T* const record = t.own + line * t.stride;
  for (int e = lane; e < t.stride; e += kWarp) record[e] = 0;
  __syncwarp();
  for (int c = lane; c < t.width; c += kWarp)
    record[t.width + c * (c + 1) / 2 + c] = static_cast<T>(t.prior[c]);
  if (t.spread && lane == 0) t.spread[line] = 0;
}

// One wide line: its posterior by all lanes.
template <typename T>
__device__ void solve_wide(const SolveTask<T>& t, std::int64_t line, double* A, double* totals) {
  const int lane = threadIdx.x % kWarp, D = t.width, pitch = (D + 1) | 1, size = D * (D + 1) / 2;
  double *const X = A + D * pitch, *const m = X + D * pitch;
  const T* const sums = t.sums + (line - t.begin) * sums_stride(D);
  T* const record = t.own + line * t.stride;
  for (int e = lane; e < size; e += kWarp) {
    int r, c;
    packed_place(e, r, c);
    const double value = system_element(t, sums, e, r, c);
    A[r * pitch + c] = value;
    if (r == c) A[r * pitch + D] = value;
  }
  __syncwarp();
  const double log_det = -2 * warp_cholesky(A, D, pitch, lane);
  warp_invert(A, X, D, pitch, lane);
  // C = X^T X over A, and m = C h / sigma^2.
  for (int e = lane; e < size; e += kWarp) {
    int r, c;
    packed_place(e, r, c);
    double sum = 0;
    for (int n = r; n < D; ++n) sum += X[n * pitch + r] * X[n * pitch + c];
    if (r == c && !(t.prior[r] > 0)) sum = 0;
    A[r * pitch + c] = A[c * pitch + r] = sum;
  }
  __syncwarp();
  for (int r = lane; r < D; r += kWarp) {
    double sum = 0;
    for (int c = 0; c < D; ++c) sum += A[r * pitch + c] * right_element(t, sums, c);
    m[r] = t.prior[r] > 0 ? t.precision * sum : 0.0;
    record[r] = static_cast<T>(m[r]);
    totals[2 + r] += m[r];
  }
  if (lane == 0) {
    totals[0] += 1;
    totals[1] += log_det;
  }
  __syncwarp();
  double spread = 0;
  for (int e = lane; e < size; e += kWarp) {
    int r, c;
    packed_place(e, r, c);
    const double C = A[r * pitch + c];
    record[D + e] = static_cast<T>(C);
    totals[2 + D + e] += m[r] * m[c];
    totals[2 + D + size + e] += C;
    spread += spread_element(sums, D, e, r, c, C, m[r], m[c]);
  }
  spread = group_sum<kWarp>(spread);
  if (t.spread && lane == 0) t.spread[line] = spread;
}

template <typename T>
__global__ void solve_apart(SolveTask<T> t) {
  extern __shared__ double memory[];
  const int D = t.width;
  double* const own = memory + (threadIdx.x / kWarp) * (2 * D * ((D + 1) | 1) + D);
  double* const totals = t.totals + warp_index() * totals_stride(D);
  for (std::int64_t line = t.begin + warp_index(); line < t.end; line += num_warps()) {
    if (t.sums[(line - t.begin + 1) * sums_stride(D) - 1] > T(0))
      solve_wide(t, line, own, totals);
    else
      store_prior(t, line, threadIdx.x % kWarp);
    __syncwarp();
  }
}

// Shared memory of a warp, and warps of a block.
std::size_t bytes_of_warp(int D) {
  return static_cast<std::size_t>(D <= kMostTogether ? (packed_size(D) + D) * kPitch
                                                     : 2 * D * ((D + 1) | 1) + D) *
         sizeof(double);
}
int warps_of_block(int D) {
  if (D <= kMostTogether) return 1;
  return static_cast<int>(std::clamp<std::size_t>(kShared / bytes_of_warp(D), 1, 8));
}

template <typename T>
auto* kernel_for(int D) {
  auto* const kernel = D <= kMostTogether ? solve_together<T> : solve_apart<T>;
  const auto bytes = static_cast<int>(bytes_of_warp(D)) * warps_of_block(D);
  note(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "bayes");
  return kernel;
}

}  // namespace

template <typename T>
std::int64_t num_solvers(std::int64_t lines, int width) {
  const int warps = warps_of_block(width), per_block = warps * (width <= kMostTogether ? kWarp : 1);
  const auto bytes = static_cast<int>(bytes_of_warp(width)) * warps;
  const int at_once =
      resident_blocks(reinterpret_cast<const void*>(kernel_for<T>(width)), warps * kWarp, bytes);
  return std::min(blocks_for(lines, per_block), at_once) * static_cast<std::int64_t>(warps);
}
template std::int64_t num_solvers<float>(std::int64_t, int);
template std::int64_t num_solvers<double>(std::int64_t, int);

template <typename T>
void solve_lines(const SolveTask<T>& task, std::int64_t solvers) {
  const int warps = warps_of_block(task.width), blocks = static_cast<int>(solvers / warps);
  const auto bytes = static_cast<int>(bytes_of_warp(task.width)) * warps;
  kernel_for<T>(task.width)<<<blocks, warps * kWarp, static_cast<std::size_t>(bytes)>>>(task);
  launched("bayes");
}

template void solve_lines(const SolveTask<float>&, std::int64_t);
template void solve_lines(const SolveTask<double>&, std::int64_t);

}  // namespace udv::device
