// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// Kernels of our own for what PyTorch's do slowly: products of matrices with diagonals, norms and
// divisions over arrays of half precision. Compiled by CUDA's compiler, which sees nothing of
// LibTorch; the numbers lie on the device, nothing waits for it.
namespace udv::deep::kernels {

enum class Type { kSingle, kBrain, kHalf };

/// Y = V diag(w), rows x cols, Y of another type than V where `to` says so; w is of V's type.
struct ScaleColumns {
  const void* V;
  const void* w;
  void* Y;
  std::int64_t rows, cols;
  Type from, to;
};
void run(const ScaleColumns& task, void* stream);

/// dV = G diag(w), dw_j = sum_i G_ij V_ij for the gradient G of Y, which is of type `to`; partial
/// holds num_partials(rows) x cols single precision numbers. The order of summation is fixed. There
/// are num_counters(cols) counters: 0 before and after, for one such task at a time.
struct ScaleColumnsBackward {
  const void* G;
  const void* V;
  const void* w;
  void* dV;
  void* dw;
  float* partial;
  unsigned* counters;
  std::int64_t rows, cols;
  Type from, to;
};
std::int64_t num_partials(std::int64_t rows);
std::int64_t num_counters(std::int64_t cols);
void run(const ScaleColumnsBackward& task, void* stream);

/// A piece of an array in common memory, and which pieces the whole array has.
struct Piece {
  std::int64_t begin, count;  ///< numbers; count is a multiple of kAligned
  std::int64_t first, pieces;
};
constexpr std::int64_t kAligned = 1024;
constexpr std::int64_t kPiece = 16 * kAligned;

/// W <- W / max(1, |W|) for every array in memory; squares holds one number per piece. And
/// w <- max(w, 0) for `num_nonnegative` other numbers.
struct ProjectBalls {
  void* memory;
  const Piece* pieces;
  float* squares;
  std::int64_t num_pieces;
  void* nonnegative;
  std::int64_t num_nonnegative;
  Type type;
};
void run(const ProjectBalls& task, void* stream);

}  // namespace udv::deep::kernels
