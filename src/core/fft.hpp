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
/// Never in place; the input stays as it is. Plans are estimated, not measured: the same bits on
/// every run. Data begin at multiples of kFftAlignment bytes: vector instructions need that.
template <typename Real>
class FftLines {
 public:
  FftLines(Index length, Index count, FftLayout from, FftLayout to, int sign);
  ~FftLines();
  FftLines(const FftLines&) = delete;
  FftLines& operator=(const FftLines&) = delete;

  /// May be called from several threads at once, on different data.
  void run(const std::complex<Real>* from, std::complex<Real>* to) const;

 private:
  typename FftwApi<Real>::Plan plan_;
};

/// Two-dimensional transforms between images of rows x cols and their spectra, which lie transposed
/// (cols x rows): so each transform is one pass along contiguous lines and one that transposes.
/// Only the columns first_col to last_col of a spectrum are not zero (to_image) or wanted
/// (from_image); the passes along the others are left out. All passes go from one array to another
/// one: in place, FFTW copies every line.
template <typename Real>
class BandFft {
 public:
  using Complex = std::complex<Real>;

  /// Arrays of one thread, cols x rows (spectra) or rows x cols (lines).
  struct Scratch {
    Vector<Complex> input;   ///< a spectrum for to_image; what is never written stays zero
    Vector<Complex> output;  ///< the spectrum that from_image made
    Vector<Complex> half;    ///< after the first pass of to_image, zero outside of the band
    Vector<Complex> lines;   ///< after the first pass of from_image
  };

  /// The sign is that of to_image; from_image has the other one.
  BandFft(Index rows, Index cols, Index first_col, Index last_col, int sign);

  Scratch scratch() const;

  /// The image of scratch.input, whose columns outside of the band are zero.
  void to_image(Scratch& scratch, Complex* image) const;
  /// The columns of the band of the image's spectrum, in scratch.output.
  void from_image(const Complex* image, Scratch& scratch) const;

 private:
  Index rows_, cols_, first_col_, last_col_;
  FftLines<Real> along_cols_, across_rows_, along_rows_, across_cols_;
};

}  // namespace udv
