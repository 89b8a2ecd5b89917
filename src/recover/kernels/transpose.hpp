// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include "recover/kernels/pack.hpp"

namespace udv {

// Registers of 64 bytes are no faster where tried (AMD Zen 4) and leave more lanes empty.
#if defined(__AVX__) || defined(UDV_CLONE_KERNELS)
inline constexpr std::size_t kLaneBytes = 32;
#else
inline constexpr std::size_t kLaneBytes = 16;
#endif

/// How many numbers lie in one register.
template <typename Real>
inline constexpr int kLanes = static_cast<int>(kLaneBytes / sizeof(Real));

template <typename Real>
using Lanes = Pack<Real, kLanes<Real>>;

template <typename Real>
UDV_INLINE Lanes<Real> load_lanes(const Real* from) {
  return load_pack<Real, kLanes<Real>>(from);
}
template <typename Real>
UDV_INLINE void store_lanes(Lanes<Real> values, Real* to) {
  store_pack<Real, kLanes<Real>>(values, to);
}

namespace detail {

// Entries first, first + 1, ... of a and b by turns.
template <int First, typename Real, int... I>
UDV_INLINE Lanes<Real> by_turns(Lanes<Real> a, Lanes<Real> b, std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (First + I / 2 + (I % 2) * kLanes<Real>)...);
}
// Every second entry of a followed by b.
template <int First, typename Real, int... I>
UDV_INLINE Lanes<Real> every_second(Lanes<Real> a, Lanes<Real> b,
                                    std::integer_sequence<int, I...>) {
  return __builtin_shufflevector(a, b, (First + 2 * I)...);
}

}  // namespace detail

/// Real and imaginary parts to kLanes complex numbers in memory, and back.
template <typename Real>
UDV_INLINE void store_interleaved(Lanes<Real> re, Lanes<Real> im, Real* to) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes<Real>>();
  store_lanes<Real>(detail::by_turns<0, Real>(re, im, kAll), to);
  store_lanes<Real>(detail::by_turns<kLanes<Real> / 2, Real>(re, im, kAll), to + kLanes<Real>);
}
template <typename Real>
UDV_INLINE std::pair<Lanes<Real>, Lanes<Real>> load_interleaved(const Real* from) {
  constexpr auto kAll = std::make_integer_sequence<int, kLanes<Real>>();
  const Lanes<Real> a = load_lanes(from), b = load_lanes(from + kLanes<Real>);
  return {detail::every_second<0, Real>(a, b, kAll), detail::every_second<1, Real>(a, b, kAll)};
}

/// kLanes x kLanes numbers, a row in each register.
template <typename Real>
using Square = std::array<Lanes<Real>, static_cast<std::size_t>(kLanes<Real>)>;

namespace detail {

// Rows i and i + H: numbers whose row and column differ in this bit change places.
template <int H, typename Real, int... I>
UDV_INLINE void exchange(Lanes<Real>& a, Lanes<Real>& b, std::integer_sequence<int, I...>) {
  constexpr int kWidth = sizeof...(I);
  const Lanes<Real> first = a, second = b;
  a = __builtin_shufflevector(first, second, ((I & H) != 0 ? I - H + kWidth : I)...);
  b = __builtin_shufflevector(first, second, ((I & H) != 0 ? I + kWidth : I + H)...);
}

template <int H, typename Real>
UDV_INLINE void exchange_bits(Square<Real>& rows) {
  constexpr int kWidth = kLanes<Real>;
#pragma GCC unroll 16
  for (int i = 0; i < kWidth; ++i)
    if ((i & H) == 0)
      exchange<H, Real>(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(i + H)],
                        std::make_integer_sequence<int, kWidth>());
  if constexpr (H > 1) exchange_bits<H / 2, Real>(rows);
}

}  // namespace detail

/// The square transposed, in registers.
template <typename Real>
UDV_INLINE void transpose(Square<Real>& rows) {
  detail::exchange_bits<kLanes<Real> / 2, Real>(rows);
}

}  // namespace udv
