// SPDX-License-Identifier: MIT
#pragma once

#include "core/sums.hpp"
#include "recover/device/device.hpp"
#include "udv/core/types.hpp"

/// What solvers do with thin arrays beside sums: the same few words for those of the host and those
/// of a device, so that a solver is written once. Factors are rounded to the numbers of the array.
namespace udv {

/// body(first, count) for parts of an array, on all threads where there are several.
template <typename Body>
void for_parts(Index size, const Body& body) {
  constexpr Index kBlock = 1 << 15;
  parallel_blocks(size, kBlock, [&](Index begin, Index end) { body(begin, end - begin); });
}
template <typename Scalar>
auto part_of(RowMatrix<Scalar>& x, Index first, Index count) {
  return Eigen::Map<Vector<Scalar>>(x.data() + first, count);
}
template <typename Scalar>
auto part_of(const RowMatrix<Scalar>& x, Index first, Index count) {
  return Eigen::Map<const Vector<Scalar>>(x.data() + first, count);
}

template <typename Scalar>
void set_zero_like(const RowMatrix<Scalar>& shape, RowMatrix<Scalar>& out) {
  out.setZero(shape.rows(), shape.cols());
}
template <typename Scalar>
void set_negative(const RowMatrix<Scalar>& x, RowMatrix<Scalar>& out) {
  out = -x;
}
/// y += factor x
template <typename Scalar>
void add_multiple(double factor, const RowMatrix<Scalar>& x, RowMatrix<Scalar>& y) {
  for_parts(x.size(), [&](Index first, Index count) {
    part_of(y, first, count) += static_cast<RealOf<Scalar>>(factor) * part_of(x, first, count);
  });
}
/// out = x + factor y; out may be y.
template <typename Scalar>
void set_sum(const RowMatrix<Scalar>& x, double factor, const RowMatrix<Scalar>& y,
             RowMatrix<Scalar>& out) {
  out.resize(x.rows(), x.cols());
  for_parts(x.size(), [&](Index first, Index count) {
    part_of(out, first, count) =
        part_of(x, first, count) + static_cast<RealOf<Scalar>>(factor) * part_of(y, first, count);
  });
}
template <typename Scalar>
void set_sum(const RowMatrix<Scalar>& x, const RowMatrix<Scalar>& y, RowMatrix<Scalar>& out) {
  out = x + y;
}

namespace device {

template <typename T>
void set_zero_like(const DeviceMatrix<T>& shape, DeviceMatrix<T>& out) {
  out.resize(shape.rows(), shape.cols());
  out.set_zero();
}
template <typename T>
void set_negative(const DeviceMatrix<T>& x, DeviceMatrix<T>& out) {
  combine(-1, x, 0, x, out);
}
template <typename T>
void add_multiple(double factor, const DeviceMatrix<T>& x, DeviceMatrix<T>& y) {
  combine(factor, x, 1, y, y);
}
template <typename T>
void set_sum(const DeviceMatrix<T>& x, double factor, const DeviceMatrix<T>& y,
             DeviceMatrix<T>& out) {
  combine(1, x, factor, y, out);
}
template <typename T>
void set_sum(const DeviceMatrix<T>& x, const DeviceMatrix<T>& y, DeviceMatrix<T>& out) {
  combine(1, x, 1, y, out);
}

}  // namespace device
}  // namespace udv
