// SPDX-License-Identifier: MIT
// What biases leave of the entries, by lines.
#include "common.cuh"

namespace udv::device {
namespace {

template <typename T>
struct LeftTask {
  Side side;
  const T *value, *weight;
  double mean;
  const double *own, *other;
  double *sums, *partial;  // of each line; a warp's squares
};

// One warp a line.
template <typename T>
__global__ void __launch_bounds__(kThreads) left_kernel(LeftTask<T> t) {
  const int lane = threadIdx.x % kWarp;
  const std::int64_t warp = thread_index() / kWarp, warps = num_threads() / kWarp;
  double squares = 0;
  for (std::int64_t line = warp; line < t.side.lines; line += warps) {
    const double bias = t.mean + (t.own ? t.own[line] : 0.0);
    double sum = 0;
    for (std::int64_t s = t.side.first[line] + lane; s < t.side.first[line + 1]; s += kWarp) {
      const double w = t.weight ? static_cast<double>(t.weight[s]) : 1.0;
      const double r =
          static_cast<double>(t.value[s]) - bias - (t.other ? t.other[t.side.other[s]] : 0.0);
      sum += w * r;
      squares += w * r * r;
    }
    sum = group_sum<kWarp>(sum);
    if (lane == 0) t.sums[line] = sum;
  }
  squares = group_sum<kWarp>(squares);
  if (lane == 0) t.partial[warp] = squares;
}

template <typename T>
void line_sums(const Pattern* pattern, int side, const T* value, const T* weight, double mean,
               const double* own, const double* other, double* sums, double* squares) {
  const Side lines = side_of(pattern, side), others = side_of(pattern, 1 - side);
  const int grid = warp_blocks(lines.lines);
  const std::int64_t warps = grid * (kThreads / kWarp);
  const auto bytes = static_cast<std::size_t>(lines.lines) * sizeof(double);
  auto* const partial =
      static_cast<double*>(scratch(1, static_cast<std::size_t>(warps) * sizeof(double)));
  auto* const by_line = static_cast<double*>(scratch(3, bytes));
  left_kernel<T><<<grid, kThreads>>>(
      {lines, value, weight, mean, own ? on_device(own, lines.lines, 6) : nullptr,
       other ? on_device(other, others.lines, 7) : nullptr, by_line, partial});
  launched("line sums");
  double all = 0;
  add_parts(partial, warps, 1, &all);
  if (squares) *squares = all;
  fetch(sums, by_line, bytes);
}

}  // namespace

template <typename T>
void add_line_kernels(Kernels<T>& kernels) {
  kernels.line_sums = line_sums<T>;
}

template void add_line_kernels(Kernels<float>&);
template void add_line_kernels(Kernels<double>&);

}  // namespace udv::device
