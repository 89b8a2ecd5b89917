// SPDX-License-Identifier: MIT
#include "recover/kernels/band_fft.hpp"

#include <algorithm>

namespace udv {
namespace {

// From one line to the next: whole blocks, and no multiple of 1024 bytes, where the lines would
// compete for few sets of the cache.
template <typename Real>
Index line_stride(Index length) {
  const Index stride = blocks_size<Real>(length);
  const bool competing = static_cast<std::size_t>(stride) * sizeof(Real) % 1024 == 0;
  return competing ? stride + kBlock<Real> : stride;
}

template <typename Real>
Index whole_lanes(Index count) {
  return blocks_size<Real>(count) / 2;
}

Fourier opposite(Fourier direction) {
  return direction == Fourier::kForward ? Fourier::kInverse : Fourier::kForward;
}

}  // namespace

template <typename Real>
BandFft<Real>::BandFft(Index rows, Index cols, Band row_band, Fourier direction)
    : rows_(rows),
      cols_(cols),
      row_band_(row_band),
      spectrum_stride_(line_stride<Real>(row_band.size())),
      half_stride_(line_stride<Real>(cols)),
      spectrum_to_lanes_(cols, direction, spectrum_stride_, kBlock<Real>),
      half_to_strip_(rows, direction, half_stride_, kBlock<Real>),
      strip_to_lanes_(rows, opposite(direction), kBlock<Real>, kBlock<Real>),
      lines_to_spectrum_(cols, opposite(direction), spectrum_stride_, spectrum_stride_) {}

template <typename Real>
typename BandFft<Real>::Scratch BandFft<Real>::scratch() const {
  const Index cols = whole_lanes<Real>(cols_);
  const Index rows = std::max(rows_, row_band_.first + whole_lanes<Real>(row_band_.size()));
  const auto zero = [](Index size) { return Vector<Real>(Vector<Real>::Zero(size)); };
  return {zero(cols_ * spectrum_stride_),
          zero(cols_ * spectrum_stride_),
          zero(rows * half_stride_),
          zero(cols * spectrum_stride_),
          zero(std::max(rows, cols) * kBlock<Real>),
          zero(std::max(half_to_strip_.scratch_size(), lines_to_spectrum_.scratch_size()))};
}

template <typename Real>
void BandFft<Real>::read_spectrum(Scratch& scratch) const {
  for (Index r = 0; r < row_band_.size(); r += kLanes<Real>) {
    spectrum_to_lanes_.run(scratch.spectrum.data() + 2 * r, scratch.lanes.data(),
                           scratch.passes.data());
    lanes_to_lines(scratch.lanes.data(), whole_lanes<Real>(cols_),
                   scratch.half.data() + (row_band_.first + r) * half_stride_, half_stride_);
  }
}

template <typename Real>
void BandFft<Real>::write_strip(Scratch& scratch, Index c, Real* strip) const {
  half_to_strip_.run(scratch.half.data() + 2 * c, strip, scratch.passes.data());
}

template <typename Real>
void BandFft<Real>::read_strip(const Real* strip, Index c, Scratch& scratch) const {
  strip_to_lanes_.run(strip, scratch.lanes.data(), scratch.passes.data());
  lanes_to_lines(scratch.lanes.data() + row_band_.first * kBlock<Real>,
                 whole_lanes<Real>(row_band_.size()), scratch.lines.data() + c * spectrum_stride_,
                 spectrum_stride_);
}

template <typename Real>
void BandFft<Real>::write_spectrum(Scratch& scratch) const {
  for (Index r = 0; r < row_band_.size(); r += kLanes<Real>)
    lines_to_spectrum_.run(scratch.lines.data() + 2 * r, scratch.back.data() + 2 * r,
                           scratch.passes.data());
}

template class BandFft<float>;
template class BandFft<double>;

}  // namespace udv
