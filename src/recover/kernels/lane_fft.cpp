// SPDX-License-Identifier: MIT
#include "recover/kernels/lane_fft.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "core/clones.hpp"
#include "recover/kernels/pack.hpp"

namespace udv {
namespace {

/// One complex number in each lane.
template <typename Real>
struct Complexes {
  Lanes<Real> re, im;

  UDV_INLINE friend Complexes operator+(const Complexes& a, const Complexes& b) {
    return {a.re + b.re, a.im + b.im};
  }
  UDV_INLINE friend Complexes operator-(const Complexes& a, const Complexes& b) {
    return {a.re - b.re, a.im - b.im};
  }
  UDV_INLINE friend Complexes operator*(Real s, const Complexes& a) { return {s * a.re, s * a.im}; }
};

// a + i b, and a - i b.
template <typename Real>
UDV_INLINE Complexes<Real> plus_i(const Complexes<Real>& a, const Complexes<Real>& b) {
  return {a.re - b.im, a.im + b.re};
}
template <typename Real>
UDV_INLINE Complexes<Real> minus_i(const Complexes<Real>& a, const Complexes<Real>& b) {
  return {a.re + b.im, a.im - b.re};
}

// The angle 2 pi k / n, within [-pi, pi].
constexpr long double angle(int k, int n) {
  k %= n;
  if (2 * k > n) k -= n;
  return 2 * std::numbers::pi_v<long double> * k / n;
}

// The series x^n / n! - x^(n + 2) / (n + 2)! + ... for the compiler, from its first term on.
constexpr double alternating_series(long double x, long double term, int n) {
  long double sum = 0;
  for (int i = n + 1; i < 40; i += 2) {
    sum += term;
    term *= -x * x / (i * (i + 1));
  }
  return static_cast<double>(sum);
}
// cos(2 pi k / n)
constexpr double cosine(int k, int n) {
  return alternating_series(angle(k, n), 1, 0);
}
// sin(2 pi k / n)
constexpr double sine(int k, int n) {
  return alternating_series(angle(k, n), angle(k, n), 1);
}

/// The transform of R numbers in registers, a_k <- sum_j a_j exp(-2 pi i j k / R).
/// For an odd prime: with sums s_j = a_j + a_{R-j} and differences t_j = a_j - a_{R-j},
///   a_k = a_0 + sum_j cos(2 pi j k / R) s_j  -  i sum_j sin(2 pi j k / R) t_j.
template <int R>
struct Butterfly {
  template <typename Real>
  UDV_INLINE static void run(std::array<Complexes<Real>, R>& a) {
    constexpr int kHalf = R / 2;
    std::array<Complexes<Real>, kHalf> sum, difference;
#pragma GCC unroll 16
    for (int j = 1; j <= kHalf; ++j) {
      sum[j - 1] = a[j] + a[R - j];
      difference[j - 1] = a[j] - a[R - j];
    }
    const Complexes<Real> first = a[0];
    each<Real>(a, first, sum, difference, std::make_integer_sequence<int, kHalf>());
#pragma GCC unroll 16
    for (int j = 0; j < kHalf; ++j) a[0] = a[0] + sum[j];
  }

 private:
  template <typename Real, typename Half, int... K>
  UDV_INLINE static void each(std::array<Complexes<Real>, R>& a, const Complexes<Real>& first,
                              const Half& sum, const Half& difference,
                              std::integer_sequence<int, K...> indices) {
    (pair<Real, K + 1>(a, first, sum, difference, indices), ...);
  }
  template <typename Real, int K, typename Half, int... J>
  UDV_INLINE static void pair(std::array<Complexes<Real>, R>& a, const Complexes<Real>& first,
                              const Half& sum, const Half& difference,
                              std::integer_sequence<int, J...>) {
    Complexes<Real> even = first;
    ((even = even + static_cast<Real>(cosine((J + 1) * K, R)) * sum[J]), ...);
    Complexes<Real> odd = static_cast<Real>(sine(K, R)) * difference[0];
    ((J > 0 ? void(odd = odd + static_cast<Real>(sine((J + 1) * K, R)) * difference[J]) : void()),
     ...);
    a[K] = minus_i(even, odd);
    a[R - K] = plus_i(even, odd);
  }
};

template <>
struct Butterfly<2> {
  template <typename Real>
  UDV_INLINE static void run(std::array<Complexes<Real>, 2>& a) {
    a = {a[0] + a[1], a[0] - a[1]};
  }
};

template <>
struct Butterfly<4> {
  template <typename Real>
  UDV_INLINE static void run(std::array<Complexes<Real>, 4>& a) {
    const Complexes<Real> s0 = a[0] + a[2], t0 = a[0] - a[2], s1 = a[1] + a[3], t1 = a[1] - a[3];
    a = {s0 + s1, minus_i(t0, t1), s0 - s1, plus_i(t0, t1)};
  }
};

// Even and odd samples, a_k = e_k + exp(-2 pi i k / 8) o_k.
template <>
struct Butterfly<8> {
  template <typename Real>
  UDV_INLINE static void run(std::array<Complexes<Real>, 8>& a) {
    std::array<Complexes<Real>, 4> e = {a[0], a[2], a[4], a[6]}, o = {a[1], a[3], a[5], a[7]};
    Butterfly<4>::run(e);
    Butterfly<4>::run(o);
    constexpr Real kRoot = std::numbers::sqrt2_v<Real> / 2;
    const Complexes<Real> o1 = minus_i(o[1], o[1]), o3 = plus_i(o[3], o[3]);  // times sqrt(2)
    a = {e[0] + o[0], e[1] + kRoot * o1, minus_i(e[2], o[2]), e[3] - kRoot * o3,
         e[0] - o[0], e[1] - kRoot * o1, plus_i(e[2], o[2]),  e[3] + kRoot * o3};
  }
};

/// R = 2 Q with Q odd needs no factors between the two (Good and Thomas): sample (Q i + 2 j) mod R
/// is sample j of row i, and value k is value k mod 2 of column k mod Q.
template <int Q>
struct TwiceOdd {
  template <typename Real>
  UDV_INLINE static void run(std::array<Complexes<Real>, 2 * Q>& a) {
    std::array<Complexes<Real>, Q> rows[2];
#pragma GCC unroll 16
    for (int i = 0; i < 2; ++i) {
#pragma GCC unroll 16
      for (int j = 0; j < Q; ++j) rows[i][j] = a[(Q * i + 2 * j) % (2 * Q)];
      Butterfly<Q>::run(rows[i]);
    }
#pragma GCC unroll 16
    for (int k = 0; k < 2 * Q; ++k)
      a[k] = k % 2 == 0 ? rows[0][k % Q] + rows[1][k % Q] : rows[0][k % Q] - rows[1][k % Q];
  }
};
template <>
struct Butterfly<6> : TwiceOdd<3> {};
template <>
struct Butterfly<10> : TwiceOdd<5> {};

// Steps from sample to sample of a butterfly's input and output.
struct Steps {
  Index from, to;
};

// One butterfly, its results times the twiddles where there are any. An inverse transform is a
// forward one with real and imaginary parts exchanged.
template <int R, Fourier D, bool Twiddled, typename Real>
UDV_INLINE void butterfly(const Real* from, Real* to, Steps steps, const Real* w) {
  constexpr int kRe = D == Fourier::kForward ? 0 : kLanes<Real>, kIm = kLanes<Real> - kRe;
  std::array<Complexes<Real>, R> a;
#pragma GCC unroll 16
  for (int k = 0; k < R; ++k, from += steps.from)
    a[k] = {load_lanes(from + kRe), load_lanes(from + kIm)};
  Butterfly<R>::run(a);
#pragma GCC unroll 16
  for (int k = 0; k < R; ++k, to += steps.to) {
    if (Twiddled && k > 0) {
      const Real c = w[2 * k - 2], s = w[2 * k - 1];
      a[k] = {c * a[k].re - s * a[k].im, s * a[k].re + c * a[k].im};
    }
    store_lanes<Real>(a[k].re, to + kRe);
    store_lanes<Real>(a[k].im, to + kIm);
  }
}

// One factor of a transform after Stockham: sample q + s (p + m k) becomes q + s (R p + k), with
// m groups p and stride s; no reordering is left at the end.
template <int R, Fourier D, typename Real>
UDV_CLONED void pass(Index m, Index s, const Real* w, const Real* from, Index from_stride, Real* to,
                     Index to_stride) {
  const Steps steps = {s * m * from_stride, s * to_stride};
  for (Index q = 0; q < s; ++q)
    butterfly<R, D, false>(from + q * from_stride, to + q * to_stride, steps, w);
  for (Index p = 1; p < m; ++p, w += 2 * (R - 1))
    for (Index q = 0; q < s; ++q)
      butterfly<R, D, true>(from + (q + s * p) * from_stride, to + (q + s * R * p) * to_stride,
                            steps, w);
}

// The first of several factors, s = 1, to memory without gaps: steps that the compiler knows.
template <int R, Fourier D, typename Real>
UDV_CLONED void first_pass(Index m, const Real* w, const Real* from, Index from_stride, Real* to) {
  const Steps steps = {m * from_stride, kBlock<Real>};
  butterfly<R, D, false>(from, to, steps, w);
  for (Index p = 1; p < m; ++p, w += 2 * (R - 1))
    butterfly<R, D, true>(from + p * from_stride, to + R * p * kBlock<Real>, steps, w);
}

// Few and large factors first: every factor is a pass over the samples.
constexpr std::array kRadices = {10, 8, 7, 6, 5, 4, 3, 2, 11, 13};

// Calls body(std::integral_constant<int, R>) with R = radix.
template <typename Body>
void with_radix(int radix, const Body& body) {
  const auto dispatch = [&]<size_t... I>(std::index_sequence<I...>) {
    ((radix == kRadices[I] ? body(std::integral_constant<int, kRadices[I]>()) : void()), ...);
  };
  dispatch(std::make_index_sequence<kRadices.size()>());
}

// The radices of a length, none where a factor has no butterfly.
std::vector<int> radices_of(Index length) {
  std::vector<int> radices;
  for (const int radix : kRadices)
    while (length % radix == 0) {
      radices.push_back(radix);
      length /= radix;
    }
  if (length != 1) radices.clear();
  return radices;
}

// exp(-2 pi i p k / (radix groups)) for p = 1 to groups - 1 and k = 1 to radix - 1, as pairs.
template <typename Real>
std::vector<Real> twiddles_of(int radix, Index groups) {
  std::vector<Real> twiddles;
  for (Index p = 1; p < groups; ++p)
    for (int k = 1; k < radix; ++k) {
      const double angle =
          -2 * std::numbers::pi * static_cast<double>(p * k) / static_cast<double>(radix * groups);
      twiddles.push_back(static_cast<Real>(std::cos(angle)));
      twiddles.push_back(static_cast<Real>(std::sin(angle)));
    }
  return twiddles;
}

// to_j = factor_j from_j, the same factor in every lane. Real parts begin at from_re and to_re of a
// block.
template <typename Real>
UDV_CLONED void times(Index count, const std::complex<Real>* factors, const Real* from,
                      Index from_stride, Index from_re, Real* to, Index to_stride, Index to_re) {
  const Index from_im = kLanes<Real> - from_re, to_im = kLanes<Real> - to_re;
  for (Index j = 0; j < count; ++j, from += from_stride, to += to_stride) {
    const Lanes<Real> re = load_lanes(from + from_re), im = load_lanes(from + from_im);
    const Real c = factors[j].real(), s = factors[j].imag();
    store_lanes<Real>(c * re - s * im, to + to_re);
    store_lanes<Real>(s * re + c * im, to + to_im);
  }
}

// The shortest length of at least `least` that has butterflies, above 1.
Index smooth_length(Index least) {
  Index length = std::max<Index>(least, 2);
  while (radices_of(length).empty()) ++length;
  return length;
}

}  // namespace

/// Transforms of any length after Bluestein. With w_j = exp(-pi i j^2 / n), j k = (j^2 + k^2 - (k -
/// j)^2) / 2 makes the transform a convolution with conj(w),
///   X_k = w_k sum_j (w_j x_j) conj(w_{k-j}),
/// which is cyclic over m >= 2 n - 1 samples: two transforms of length m.
template <typename Real>
class LaneFft<Real>::Chirp {
 public:
  Chirp(Index length, Fourier direction, Index from_stride, Index to_stride)
      : m_(smooth_length(2 * length - 1)),
        re_(direction == Fourier::kForward ? 0 : kLanes<Real>),
        from_stride_(from_stride),
        to_stride_(to_stride),
        forward_(m_, Fourier::kForward, kBlock<Real>, kBlock<Real>),
        inverse_(m_, Fourier::kInverse, kBlock<Real>, kBlock<Real>) {
    std::vector<std::complex<double>> chirp;
    for (Index j = 0; j < length; ++j)
      chirp.push_back(
          std::polar(1.0, -std::numbers::pi * static_cast<double>(j * j % (2 * length)) /
                              static_cast<double>(length)));
    chirp_.assign(chirp.begin(), chirp.end());
    set_spectrum(chirp);
  }

  Index scratch_size() const { return 2 * m_ * kBlock<Real> + forward_.scratch_size(); }

  void run(const Real* from, Real* to, Real* scratch) const {
    const auto n = static_cast<Index>(chirp_.size());
    Real *const samples = scratch, *const spectrum = scratch + m_ * kBlock<Real>,
                *const rest = spectrum + m_ * kBlock<Real>;
    times(n, chirp_.data(), from, from_stride_, re_, samples, kBlock<Real>, 0);
    std::fill(samples + n * kBlock<Real>, spectrum, Real(0));
    forward_.run(samples, spectrum, rest);
    times(m_, spectrum_.data(), spectrum, kBlock<Real>, 0, spectrum, kBlock<Real>, 0);
    inverse_.run(spectrum, samples, rest);
    times(n, chirp_.data(), samples, kBlock<Real>, 0, to, to_stride_, re_);
  }

 private:
  // The transform of conj(w_j), j = -n + 1 to n - 1, over m, in double precision.
  void set_spectrum(const std::vector<std::complex<double>>& chirp) {
    Vector<double> samples = Vector<double>::Zero(m_ * kBlock<double>), spectrum(samples.size());
    for (size_t j = 0; j < chirp.size(); ++j)
      for (const Index at : {static_cast<Index>(j), (m_ - static_cast<Index>(j)) % m_})
        set_number<double>(samples.data() + at * kBlock<double>, 0, std::conj(chirp[j]));
    const LaneFft<double> fft(m_, Fourier::kForward, kBlock<double>, kBlock<double>);
    Vector<double> scratch(fft.scratch_size());
    fft.run(samples.data(), spectrum.data(), scratch.data());
    for (Index k = 0; k < m_; ++k)
      spectrum_.emplace_back(get_number(spectrum.data() + k * kBlock<double>, 0) /
                             static_cast<double>(m_));
  }

  Index m_, re_, from_stride_, to_stride_;
  LaneFft forward_, inverse_;
  std::vector<std::complex<Real>> chirp_, spectrum_;
};

template <typename Real>
LaneFft<Real>::LaneFft(Index length, Fourier direction, Index from_stride, Index to_stride)
    : length_(length), direction_(direction), from_stride_(from_stride), to_stride_(to_stride) {
  Index stride = 1;
  for (const int radix : radices_of(length)) {
    const Index groups = length / (stride * radix);
    factors_.push_back({radix, groups, stride, twiddles_of<Real>(radix, groups)});
    stride *= radix;
  }
  if (factors_.empty()) chirp_ = std::make_unique<Chirp>(length, direction, from_stride, to_stride);
}

template <typename Real>
LaneFft<Real>::~LaneFft() = default;

template <typename Real>
Index LaneFft<Real>::scratch_size() const {
  return chirp_ ? chirp_->scratch_size() : 2 * length_ * kBlock<Real>;
}

template <typename Real>
void LaneFft<Real>::run(const Real* from, Real* to, Real* scratch) const {
  if (chirp_)
    chirp_->run(from, to, scratch);
  else if (direction_ == Fourier::kForward)
    run_passes<Fourier::kForward>(from, to, scratch);
  else
    run_passes<Fourier::kInverse>(from, to, scratch);
}

// From one half of the scratch memory to the other, and to the result at last.
template <typename Real>
template <Fourier D>
void LaneFft<Real>::run_passes(const Real* from, Real* to, Real* scratch) const {
  Index from_stride = from_stride_;
  for (size_t f = 0; f < factors_.size(); ++f) {
    const auto& [radix, groups, stride, twiddles] = factors_[f];
    const Real* const w = twiddles.data();
    const bool last = f + 1 == factors_.size();
    Real* const half = scratch + static_cast<Index>(f % 2) * length_ * kBlock<Real>;
    with_radix(radix, [&, m = groups, s = stride]<int R>(std::integral_constant<int, R>) {
      if (last)
        pass<R, D>(m, s, w, from, from_stride, to, to_stride_);
      else if (f == 0)
        first_pass<R, D>(m, w, from, from_stride, half);
      else
        pass<R, D>(m, s, w, from, from_stride, half, kBlock<Real>);
    });
    from = half;
    from_stride = kBlock<Real>;
  }
}

template <typename Real>
UDV_CLONED void lanes_to_lines(const Real* lanes, Index count, Real* lines, Index line_stride) {
  Square<Real> square;
  for (Index c = 0; c < count; c += kLanes<Real>)
    for (const int part : {0, kLanes<Real>}) {
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<Real>; ++i)
        square[i] = load_lanes(lanes + (c + i) * kBlock<Real> + part);
      transpose<Real>(square);
#pragma GCC unroll 16
      for (int i = 0; i < kLanes<Real>; ++i)
        store_lanes<Real>(square[i], lines + i * line_stride + 2 * c + part);
    }
}

template class LaneFft<float>;
template class LaneFft<double>;
template void lanes_to_lines(const float*, Index, float*, Index);
template void lanes_to_lines(const double*, Index, double*, Index);

}  // namespace udv
