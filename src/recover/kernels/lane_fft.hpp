// SPDX-License-Identifier: MIT
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "recover/kernels/transpose.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// Complex numbers lie in blocks: kLanes real parts, then their kLanes imaginary parts. Registers
/// hold parts of one kind, and both parts of a number share a line of the cache.
template <typename Real>
inline constexpr Index kBlock = 2 * kLanes<Real>;

/// Reals that `count` numbers take, in whole blocks.
template <typename Real>
constexpr Index blocks_size(Index count) {
  return (count + kLanes<Real> - 1) / kLanes<Real> * kBlock<Real>;
}
/// Where the real part of number i lies; the imaginary one is kLanes further.
template <typename Real>
constexpr Index block_place(Index i) {
  return i / kLanes<Real> * kBlock<Real> + i % kLanes<Real>;
}
template <typename Real>
std::complex<Real> get_number(const Real* line, Index i) {
  const Real* const at = line + block_place<Real>(i);
  return {at[0], at[kLanes<Real>]};
}
template <typename Real>
void set_number(Real* line, Index i, std::complex<Real> value) {
  Real* const at = line + block_place<Real>(i);
  at[0] = value.real();
  at[kLanes<Real>] = value.imag();
}

enum class Fourier { kForward, kInverse };

/// kLanes transforms of one short length at once, each in a lane of the registers, unnormalised:
/// X_k = sum_j x_j exp(-2 pi i j k / length), or with the other sign. Sample j of all of them is
/// the block at j * stride: nothing is ever shuffled, which makes it twice as fast as the best
/// plans of FFTW that do not change from run to run. Lengths with a prime factor above 13 take
/// two transforms of twice the length.
template <typename Real>
class LaneFft {
 public:
  LaneFft(Index length, Fourier direction, Index from_stride, Index to_stride);
  ~LaneFft();
  LaneFft(const LaneFft&) = delete;
  LaneFft& operator=(const LaneFft&) = delete;

  /// Reals of memory that run() works in.
  Index scratch_size() const;
  /// May be called from several threads at once, on different data. Never in place.
  void run(const Real* from, Real* to, Real* scratch) const;

 private:
  struct Factor {
    int radix;
    Index groups, stride;  // length = radix * groups * stride
    std::vector<Real> twiddles;
  };
  class Chirp;

  template <Fourier D>
  void run_passes(const Real* from, Real* to, Real* scratch) const;

  Index length_;
  Fourier direction_;
  Index from_stride_, to_stride_;
  std::vector<Factor> factors_;
  std::unique_ptr<Chirp> chirp_;  // where the length does not factor
};

/// `count` samples of kLanes lines, one block each, as kLanes lines of samples in blocks; `count`
/// is a multiple of kLanes.
template <typename Real>
void lanes_to_lines(const Real* lanes, Index count, Real* lines, Index line_stride);

}  // namespace udv
