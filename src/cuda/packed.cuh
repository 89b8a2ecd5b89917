// SPDX-License-Identifier: MIT
#pragma once

#include "common.cuh"

namespace udv::device {

/// Row and column of element e of a packed lower triangle.
__host__ __device__ inline void packed_place(int e, int& row, int& col) {
  row = static_cast<int>((sqrtf(8.0f * static_cast<float>(e) + 1.0f) - 1.0f) / 2.0f);
  while ((row + 1) * (row + 2) / 2 <= e) ++row;
  while (row * (row + 1) / 2 > e) --row;
  col = e - row * (row + 1) / 2;
}

__host__ __device__ inline int packed_at(int row, int col) {
  return row >= col ? row * (row + 1) / 2 + col : col * (col + 1) / 2 + row;
}

/// A lane's share of the elements of a packed triangle: `base` + lane, + 32, + 64, ...
template <int kPieces>
struct PackedShare {
  int row[kPieces], col[kPieces];

  __device__ PackedShare(int base, int lane, int size) {
#pragma unroll
    for (int n = 0; n < kPieces; ++n) {
      const int e = base + lane + n * kWarp;
      packed_place(e < size ? e : 0, row[n], col[n]);
    }
  }
};

/// body(std::integral_constant<int, pieces>) with enough pieces for `size` elements, 8 at most.
template <typename Body>
void with_pieces(std::int64_t size, const Body& body) {
  if (size <= kWarp)
    body(std::integral_constant<int, 1>());
  else if (size <= 2 * kWarp)
    body(std::integral_constant<int, 2>());
  else if (size <= 3 * kWarp)
    body(std::integral_constant<int, 3>());
  else if (size <= 5 * kWarp)
    body(std::integral_constant<int, 5>());
  else
    body(std::integral_constant<int, 8>());
}

}  // namespace udv::device
