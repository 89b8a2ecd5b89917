// SPDX-License-Identifier: MIT
#pragma once

#include "recover/kernels/lane_fft.hpp"

namespace udv {

/// Indices from `first` up to, but without, `last`.
struct Band {
  Index first = 0, last = 0;

  Index size() const { return last - first; }
};

/// Two-dimensional transforms, unnormalised, between images of rows x cols and their spectra, of
/// which only a part is not zero (to an image) or wanted (from an image): the rows of `row_band`.
/// Spectra are lines in blocks, see LaneFft: line c is column c, with the rows of the band alone.
/// Images are strips of kLanes columns: one after the other, a block for each row. They come and go
/// strip by strip, so that a caller can look at one while it is near.
template <typename Real>
class BandFft {
 public:
  /// Arrays of one thread.
  struct Scratch {
    Vector<Real> spectrum;  ///< what is never written stays zero
    Vector<Real> back;      ///< the spectrum of an image
    Vector<Real> half;      ///< rows x cols, zero outside of the band
    Vector<Real> lines;     ///< cols x rows of the band
    Vector<Real> lanes, passes;
  };

  /// The direction is that from spectra to images.
  BandFft(Index rows, Index cols, Band row_band, Fourier direction);

  const Band& row_band() const { return row_band_; }
  /// Reals from a column of a spectrum to the next one, in a strip and in an image.
  Index spectrum_stride() const { return spectrum_stride_; }
  Index strip_size() const { return rows_ * kBlock<Real>; }
  Index image_size() const { return (cols_ + kLanes<Real> - 1) / kLanes<Real> * strip_size(); }

  Scratch scratch() const;

  /// The image of scratch.spectrum: first this, then the strip of every column c = 0, kLanes, ...
  void read_spectrum(Scratch& scratch) const;
  void write_strip(Scratch& scratch, Index c, Real* strip) const;

  /// The spectrum of an image in scratch.back: first every strip, then this.
  void read_strip(const Real* strip, Index c, Scratch& scratch) const;
  void write_spectrum(Scratch& scratch) const;

  /// The strip of an image that holds column c.
  template <typename Number>
  Number* strip(Number* image, Index c) const {
    return image + c / kLanes<Real> * strip_size();
  }
  std::complex<Real> pixel(const Real* image, Index r, Index c) const {
    return get_number(strip(image, c) + r * kBlock<Real>, c % kLanes<Real>);
  }
  void set_pixel(Real* image, Index r, Index c, std::complex<Real> value) const {
    set_number(strip(image, c) + r * kBlock<Real>, c % kLanes<Real>, value);
  }

 private:
  Index rows_, cols_;
  Band row_band_;
  Index spectrum_stride_, half_stride_;
  LaneFft<Real> spectrum_to_lanes_, half_to_strip_, strip_to_lanes_, lines_to_spectrum_;
};

}  // namespace udv
