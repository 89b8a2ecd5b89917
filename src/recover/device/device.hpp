// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "recover/device/module.hpp"
#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

/// Arrays in the memory of the device, with the operations that solvers need.
namespace udv::device {

/// The module of this process, loaded at the first call. Throws OptionError naming the option
/// `device` where there is none, or no device that it can use.
UDV_EXPORT const Module& module();
/// Throws std::runtime_error where the device has reported an error, and OptionError where that is
/// a lack of memory.
void check();
/// Throws OptionError: an array of so many bytes was refused.
[[noreturn]] void refuse_array(std::size_t bytes);
/// Throws OptionError where the device has less free memory than this.
void require_memory(double bytes, const char* what);

template <typename T>
const Kernels<T>& kernels() {
  if constexpr (sizeof(T) == sizeof(float))
    return module().singles;
  else
    return module().doubles;
}

/// Numbers on the device. Copies are copies of the numbers; new ones are not set.
template <typename T>
class Array {
 public:
  Array() = default;
  explicit Array(Index size) { resize(size); }
  Array(const T* host, Index size) : Array(size) { upload(host); }
  Array(const Array& other) { *this = other; }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(const Array& other) {
    if (this == &other) return *this;
    resize(other.size_);
    if (size_ > 0) module().copy(data_, other.data_, bytes());
    return *this;
  }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Array() { clear(); }

  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  void clear() {
    if (data_) module().release(data_);
    data_ = nullptr;
    size_ = 0;
  }
  void resize(Index size) {
    if (size == size_) return;
    clear();
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(T);
    data_ = static_cast<T*>(module().allocate(bytes));
    if (!data_ && bytes > 0) refuse_array(bytes);
    check();
    size_ = size;
  }
  void set_zero() {
    if (size_ > 0) module().zero(data_, bytes());
  }
  void upload(const T* host) {
    if (size_ > 0) module().upload(data_, host, bytes());
  }
  void download(T* host) const {
    if (size_ > 0) module().download(host, data_, bytes());
    check();
  }
  T* data() { return data_; }
  const T* data() const { return data_; }
  Index size() const { return size_; }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

  T* data_ = nullptr;
  Index size_ = 0;
};

/// A thin factor on the device: its rows are lines of the module.
template <typename T>
class DeviceMatrix {
 public:
  DeviceMatrix() = default;
  DeviceMatrix(Index lines, Index width)
      : lines_(lines), width_(width), values_(lines * line_stride<T>(width)) {}
  explicit DeviceMatrix(const RowMatrix<T>& host) { upload(host); }

  Index rows() const { return lines_; }
  Index cols() const { return width_; }
  Index stride() const { return line_stride<T>(width_); }
  Index size() const { return values_.size(); }  ///< with the zeros between lines
  T* data() { return values_.data(); }
  const T* data() const { return values_.data(); }
  T* line(Index i) { return values_.data() + i * stride(); }
  const T* line(Index i) const { return values_.data() + i * stride(); }

  void resize(Index lines, Index width) {
    lines_ = lines;
    width_ = width;
    values_.resize(lines * line_stride<T>(width));
  }
  void set_zero() { values_.set_zero(); }
  /// A copy of some lines.
  DeviceMatrix part(Index first, Index count) const {
    DeviceMatrix result(count, width_);
    if (result.size() > 0)
      module().copy(result.data(), line(first),
                    static_cast<std::size_t>(result.size()) * sizeof(T));
    return result;
  }
  void swap(DeviceMatrix& other) noexcept {
    std::swap(lines_, other.lines_);
    std::swap(width_, other.width_);
    values_.swap(other.values_);
  }

  void upload(const ConstRows<T>& host) {
    resize(host.rows(), host.cols());
    if (size() == 0) return;
    Array<T> plain(host.data(), host.size());
    kernels<T>().restride(plain.data(), width_, data(), stride(), lines_, width_);
  }
  void download(Rows<T> host) const {
    if (size() == 0) return;
    Array<T> plain(lines_ * width_);
    kernels<T>().restride(data(), stride(), plain.data(), width_, lines_, width_);
    plain.download(host.data());
  }
  RowMatrix<T> host() const {
    RowMatrix<T> result(lines_, width_);
    download(result);
    return result;
  }
  double norm() const { return norm_of(0, lines_); }
  /// |.|_F of some lines, and their column norms.
  double norm_of(Index first, Index count) const {
    const double sum =
        size() > 0 ? kernels<T>().dot(line(first), line(first), count * stride()) : 0;
    check();
    return std::sqrt(sum);
  }
  Vector<T> column_norms(Index first, Index count) const {
    Vector<double> sums(width_);
    kernels<T>().column_products(line(first), line(first), count, width_, sums.data());
    check();
    return sums.cwiseSqrt().template cast<T>();
  }

 private:
  Index lines_ = 0, width_ = 0;
  Array<T> values_;
};

/// A thin factor as its real numbers, kParts of them for each.
template <typename Scalar>
DeviceMatrix<RealOf<Scalar>> uploaded(const RowMatrix<Scalar>& host) {
  DeviceMatrix<RealOf<Scalar>> lines;
  lines.upload(Eigen::Map<const RowMatrix<RealOf<Scalar>>>(reals_of(host.data()), host.rows(),
                                                           kParts<Scalar> * host.cols()));
  return lines;
}
template <typename Scalar>
void download(const DeviceMatrix<RealOf<Scalar>>& lines, RowMatrix<Scalar>& host) {
  host.resize(lines.rows(), lines.cols() / kParts<Scalar>);
  lines.download(
      Eigen::Map<RowMatrix<RealOf<Scalar>>>(reals_of(host.data()), lines.rows(), lines.cols()));
}

/// |r|^2 of a residual that is nowhere stored.
struct ResidualNorm {
  double squares = 0;
  void swap(ResidualNorm& other) { std::swap(squares, other.squares); }
};
inline double squared_norm(const ResidualNorm& r) {
  return r.squares;
}

template <typename T>
double dot(const DeviceMatrix<T>& a, const DeviceMatrix<T>& b) {
  const double sum = a.size() > 0 ? kernels<T>().dot(a.data(), b.data(), a.size()) : 0;
  check();
  return sum;
}
template <typename T>
double squared_norm(const DeviceMatrix<T>& a) {
  return dot(a, a);
}
/// x_ic *= weights_c
template <typename T>
void scale_columns(DeviceMatrix<T>& x, const Vector<double>& weights) {
  if (x.size() > 0) kernels<T>().scale_columns(x.data(), weights.data(), x.rows(), x.cols());
}
/// out = a x + b y, all of one shape.
template <typename T>
void combine(double a, const DeviceMatrix<T>& x, double b, const DeviceMatrix<T>& y,
             DeviceMatrix<T>& out) {
  out.resize(x.rows(), x.cols());
  if (x.size() > 0)
    kernels<T>().combine(static_cast<T>(a), x.data(), static_cast<T>(b), y.data(), out.data(),
                         x.size());
}

}  // namespace udv::device
