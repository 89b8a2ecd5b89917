// SPDX-License-Identifier: MIT
#pragma once

#include "packed.cuh"

/// Posteriors of lines: see recover/solver/bayes_side.hpp for the formulas.
namespace udv::device {

/// Four numbers of a record, which begins at a multiple of 32 bytes.
template <typename T>
struct Quad {
  T x[4];
};

__device__ inline Quad<float> load_quad(const float* at) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(at));
  return {{v.x, v.y, v.z, v.w}};
}
__device__ inline Quad<double> load_quad(const double* at) {
  const double2 a = __ldg(reinterpret_cast<const double2*>(at));
  const double2 b = __ldg(reinterpret_cast<const double2*>(at) + 1);
  return {{a.x, a.y, b.x, b.y}};
}

__device__ inline std::int64_t warp_index() {
  return (blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x) / kWarp;
}
__device__ inline std::int64_t num_warps() {
  return gridDim.x * static_cast<std::int64_t>(blockDim.x) / kWarp;
}

/// The sums of a line: F y (width numbers), F F^T and S (packed), the weight.
__host__ __device__ inline std::int64_t sums_stride(int width) {
  return width + width * (width + 1) + 1;
}

/// What a warp adds up over its lines: their number, log det C, sum of m, of m m^T, of C.
__host__ __device__ inline std::int64_t totals_stride(int width) {
  return 2 + width + width * (width + 1);
}

template <typename T>
struct SumTask {
  Side side;
  std::int64_t begin, end;  // lines
  int width, stride;        // of a record
  double mean;
  const T* other;
  const double* value;
  const T* weight;
  T* sums;
};
template <typename T>
void make_sums(const SumTask<T>& task);

template <typename T>
struct SolveTask {
  std::int64_t begin, end;
  int width, stride;
  double precision;
  const double* prior;
  const T* sums;
  T* own;
  double* totals;  // of each warp
  double* spread;  // of each line: sum of w Var(prediction); or none
};
/// Warps that solve at most so many lines at once, each with its totals.
template <typename T>
std::int64_t num_solvers(std::int64_t lines, int width);
template <typename T>
void solve_lines(const SolveTask<T>& task, std::int64_t solvers);

/// The normal equations of an element (r, c): G / sigma^2 + diag(1 / prior), absent parts
/// decoupled.
template <typename T>
__device__ inline double system_element(const SolveTask<T>& t, const T* sums, int e, int r, int c) {
  const int D = t.width, size = D * (D + 1) / 2;
  if (!(t.prior[r] > 0) || !(t.prior[c] > 0)) return r == c ? 1.0 : 0.0;
  double value = static_cast<double>(sums[D + e]);
  if (c > 0) value += static_cast<double>(sums[D + size + e]);
  return t.precision * value + (r == c ? 1 / t.prior[r] : 0.0);
}

template <typename T>
__device__ inline double right_element(const SolveTask<T>& t, const T* sums, int c) {
  const int D = t.width, size = D * (D + 1) / 2;
  if (!(t.prior[c] > 0)) return 0;
  const double spread = c > 0 ? static_cast<double>(sums[D + size + c * (c + 1) / 2]) : 0.0;
  return static_cast<double>(sums[c]) - spread;
}

/// An element's part of tr(C G) + (1, v)^T (sum S) (1, v).
template <typename T>
__device__ inline double spread_element(const T* sums, int D, int e, int r, int c, double C,
                                        double a, double b) {
  const double S = static_cast<double>(sums[D + D * (D + 1) / 2 + e]);
  const double G = static_cast<double>(sums[D + e]) + (c > 0 ? S : 0.0);
  return (r == c ? 1 : 2) * (C * G + (r == 0 ? 1.0 : a) * S * (c == 0 ? 1.0 : b));
}

template <typename T>
struct MeasureTask {
  Side side;
  int width, stride;
  double mean, limit;
  const T *own, *other;
  const double* value;
  const T* weight;
  const double* spread;  // of each line, or none
  double *lines, *weighted, *predicted;
};
template <typename T>
ResidualStatistics measure(const MeasureTask<T>& task);

}  // namespace udv::device
