// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <complex>

#include "core/clones.hpp"
#include "recover/kernels/band_fft.hpp"
#include "recover/kernels/pack.hpp"

/// Strips of images as BandFft has them, beside arrays of numbers by rows.
namespace udv {

// A strip of an image and the same columns of an array of real numbers.
template <typename Real>
struct Strip {
  Real *image, *values;
  Index values_stride;
  Index rows, width;  // columns up to the end of the image

  // body.operator()<N>(numbers of the image, values): N of each, for every row.
  template <typename Body>
  UDV_INLINE void over_rows(const Body& body) const {
    Real *psi = image, *y = values;
    if (width >= kLanes<Real>) {
      for (Index r = 0; r < rows; ++r, psi += kBlock<Real>, y += values_stride)
        body.template operator()<kLanes<Real>>(psi, y);
    } else {
      for (Index r = 0; r < rows; ++r, psi += kBlock<Real>, y += values_stride)
        for (Index i = 0; i < width; ++i) body.template operator()<1>(psi + i, y + i);
    }
  }
};

// y += weight |psi|^2. Not inlined: the loops are short of registers where they would go.
template <typename Real>
[[gnu::noinline]] UDV_CLONED void add_intensity(Real weight, const Strip<Real>& strip) {
  strip.over_rows([=]<int N>(const Real* psi, Real* y) UDV_INLINE_BODY {
    const auto re = load_pack<Real, N>(psi), im = load_pack<Real, N>(psi + kLanes<Real>);
    store_pack<Real, N>(load_pack<Real, N>(y) + weight * (re * re + im * im), y);
  });
}

// psi = z o psi
template <typename Real>
[[gnu::noinline]] UDV_CLONED void scale(const Strip<Real>& strip) {
  strip.over_rows([]<int N>(Real* psi, const Real* z) UDV_INLINE_BODY {
    const auto factor = load_pack<Real, N>(z);
    store_pack<Real, N>(factor * load_pack<Real, N>(psi), psi);
    store_pack<Real, N>(factor * load_pack<Real, N>(psi + kLanes<Real>), psi + kLanes<Real>);
  });
}

// One row of a strip and the same numbers of a field, `stride` from one to the next.
template <typename Real>
UDV_INLINE void row_to_field(const Real* row, Index width, std::complex<Real>* field,
                             Index stride) {
  if (stride == 1 && width >= kLanes<Real>)
    store_interleaved<Real>(load_lanes(row), load_lanes(row + kLanes<Real>), reals_of(field));
  else
    for (Index i = 0; i < std::min<Index>(width, kLanes<Real>); ++i)
      field[i * stride] = get_number(row, i);
}
template <typename Real>
UDV_INLINE void row_from_field(const std::complex<Real>* field, Index stride, Index width,
                               Real* row) {
  if (stride == 1 && width >= kLanes<Real>) {
    const auto [re, im] = load_interleaved<Real>(reals_of(field));
    store_lanes<Real>(re, row);
    store_lanes<Real>(im, row + kLanes<Real>);
  } else {
    for (Index i = 0; i < std::min<Index>(width, kLanes<Real>); ++i)
      set_number(row, i, field[i * stride]);
  }
}

}  // namespace udv
