// SPDX-License-Identifier: MIT
#pragma once

#include <fftw3.h>

#include <complex>
#include <cstddef>

#include "udv/core/types.hpp"

namespace udv {

inline constexpr std::size_t kFftAlignment = 16;

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

/// Where the samples of several transforms lie: `stride` from sample to sample, `distance` from one
/// transform to the next.
struct FftLayout {
  Index stride = 1, distance = 0;
};

/// `count` transforms of `length` samples, unnormalised: sum_j x_j exp(sign 2 pi i j k / length).
/// In place where both layouts and addresses are the same. Plans are estimated, not measured: the
/// same bits on every run. Data begin at multiples of kFftAlignment bytes: vector instructions need
/// that.
template <typename Real>
class FftLines {
 public:
  FftLines(Index length, Index count, FftLayout from, FftLayout to, bool in_place, int sign);
  ~FftLines();
  FftLines(const FftLines&) = delete;
  FftLines& operator=(const FftLines&) = delete;

  /// May be called from several threads at once, on different data.
  void run(std::complex<Real>* from, std::complex<Real>* to) const;

 private:
  typename FftwApi<Real>::Plan plan_;
};

/// Two-dimensional transforms between images of rows x cols and their spectra, which lie transposed
/// (cols x rows): so each transform is one pass along contiguous lines and one that transposes.
/// Only the columns first_col to last_col of a spectrum are not zero (to_image) or wanted
/// (from_image); the passes along the others are left out.
template <typename Real>
class BandFft {
 public:
  /// The sign is that of to_image; from_image has the other one.
  BandFft(Index rows, Index cols, Index first_col, Index last_col, int sign);

  /// Columns of the band, widened so that it begins at an aligned address.
  Index first_col() const { return first_col_; }
  Index last_col() const { return last_col_; }

  /// The image of a spectrum whose columns outside of the band are zero; the spectrum is used up.
  void to_image(std::complex<Real>* spectrum, std::complex<Real>* image) const;
  /// The columns of the band of the image's spectrum; the image is used up.
  void from_image(std::complex<Real>* image, std::complex<Real>* spectrum) const;

 private:
  Index rows_, first_col_, last_col_;
  FftLines<Real> along_cols_, across_rows_, along_rows_, across_cols_;
};

}  // namespace udv
