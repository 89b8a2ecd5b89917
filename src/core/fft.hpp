// SPDX-License-Identifier: MIT
#pragma once

#include <fftw3.h>

#include <complex>

#include "udv/core/types.hpp"

namespace udv {

/// FFTW's names for one precision.
template <typename Real>
struct FftwApi;

template <>
struct FftwApi<double> {
  using Complex = fftw_complex;
  using Plan = fftw_plan;
  static constexpr auto plan_many = fftw_plan_many_dft;
  static constexpr auto execute = fftw_execute_dft;
  static constexpr auto destroy = fftw_destroy_plan;
};

template <>
struct FftwApi<float> {
  using Complex = fftwf_complex;
  using Plan = fftwf_plan;
  static constexpr auto plan_many = fftwf_plan_many_dft;
  static constexpr auto execute = fftwf_execute_dft;
  static constexpr auto destroy = fftwf_destroy_plan;
};

/// `count` transforms of `length` samples that are `stride` apart, `distance` from one transform to
/// the next, in place and unnormalised: sum_j x_j exp(sign 2 pi i j k / length).
/// Plans are estimated, not measured: the same bits on every run.
template <typename Real>
class FftLines {
 public:
  FftLines(Index length, Index count, Index stride, Index distance, int sign);
  ~FftLines();
  FftLines(const FftLines&) = delete;
  FftLines& operator=(const FftLines&) = delete;

  /// May be called from several threads at once, on different data.
  void run(std::complex<Real>* data) const;

 private:
  typename FftwApi<Real>::Plan plan_;
};

/// Two-dimensional transforms of rows x cols images of which only the rows first_row to last_row
/// are not zero (inverse) or wanted (forward): the passes along the other rows are left out.
template <typename Real>
class BandFft {
 public:
  BandFft(Index rows, Index cols, Index first_row, Index last_row);

  /// sum_jk x_jk exp(+ 2 pi i (...)), from the band to the whole image.
  void inverse(std::complex<Real>* image) const;
  /// sum_jk x_jk exp(- 2 pi i (...)), from the whole image to the band; other rows are left undone.
  void forward(std::complex<Real>* image) const;

 private:
  Index offset_;
  FftLines<Real> rows_inverse_, cols_inverse_, rows_forward_, cols_forward_;
};

}  // namespace udv
