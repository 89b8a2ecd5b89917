// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "udv/core/types.hpp"

namespace udv::io::detail {

/// The product of the sizes; none where it exceeds 64 bits.
inline std::optional<std::size_t> element_count(const std::vector<Index>& shape) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::size_t count = 1;
  for (const Index size : shape) {
    if (__builtin_mul_overflow(count, static_cast<std::size_t>(size), &count)) return {};
  }
  return count;
}

/// Values in Fortran order, where the first index runs fastest, put into C order: index
/// (i_1, ..., i_n) stands there at sum_k i_k stride_k with stride_k = size_{k+1} ... size_n.
template <typename Value>
std::vector<Value> rows_from_columns(const std::vector<Index>& shape,
                                     const std::vector<Value>& values) {
  std::vector<std::size_t> strides(shape.size(), 1);
  for (std::size_t k = shape.size(); k-- > 1;) {
    strides[k - 1] = strides[k] * static_cast<std::size_t>(shape[k]);
  }
  std::vector<Value> result(values.size());
  std::vector<Index> index(shape.size(), 0);
  std::size_t at = 0;
  for (const Value& value : values) {
    result[at] = value;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      at += strides[k];
      if (++index[k] < shape[k]) break;
      at -= strides[k] * static_cast<std::size_t>(shape[k]);
      index[k] = 0;
    }
  }
  return result;
}

}  // namespace udv::io::detail
