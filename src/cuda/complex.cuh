// SPDX-License-Identifier: MIT
#pragma once

namespace udv::device {

/// A complex number that is read and written at once.
template <typename T>
struct alignas(2 * sizeof(T)) Complex {
  T re, im;
};

template <typename T>
__device__ inline Complex<T> operator*(Complex<T> a, Complex<T> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
/// conj(a) b
template <typename T>
__device__ inline Complex<T> conj_times(Complex<T> a, Complex<T> b) {
  return {a.re * b.re + a.im * b.im, a.re * b.im - a.im * b.re};
}
template <typename T>
__device__ inline Complex<T> operator*(T a, Complex<T> b) {
  return {a * b.re, a * b.im};
}
/// Re(conj(a) b)
template <typename T>
__device__ inline T overlap(Complex<T> a, Complex<T> b) {
  return a.re * b.re + a.im * b.im;
}

template <typename T>
Complex<T>* complex(T* numbers) {
  return reinterpret_cast<Complex<T>*>(numbers);
}
template <typename T>
const Complex<T>* complex(const T* numbers) {
  return reinterpret_cast<const Complex<T>*>(numbers);
}

}  // namespace udv::device
