// SPDX-License-Identifier: MIT
#include "fft.hpp"

#include <mutex>

#include "udv/core/error.hpp"

namespace udv {
namespace {

// FFTW's planner is not safe for threads; its executor is.
std::mutex planner;

// The last column up to `col` at which lines begin at aligned addresses.
template <typename Real>
Index aligned_col(Index col) {
  while (static_cast<std::size_t>(col) * sizeof(std::complex<Real>) % kFftAlignment != 0) --col;
  return col;
}

}  // namespace

template <typename Real>
FftLines<Real>::FftLines(Index length, Index count, FftLayout from, FftLayout to, int sign) {
  using Api = FftwApi<Real>;
  const std::lock_guard lock(planner);
  const int n = static_cast<int>(length);
  // The planner looks at the addresses alone, and not at the data, when it estimates.
  const auto extent = [&](FftLayout layout) {
    return (length - 1) * layout.stride + (count - 1) * layout.distance + 1;
  };
  Vector<std::complex<Real>> first(extent(from)), second(extent(to));
  auto* const in = reinterpret_cast<typename Api::Complex*>(first.data());
  auto* const out = reinterpret_cast<typename Api::Complex*>(second.data());
  plan_ = Api::plan_many(1, &n, static_cast<int>(count), in, nullptr, static_cast<int>(from.stride),
                         static_cast<int>(from.distance), out, nullptr, static_cast<int>(to.stride),
                         static_cast<int>(to.distance), sign, FFTW_ESTIMATE);
  require(plan_ != nullptr, "fft: no plan for ", count, " transforms of length ", length);
}

template <typename Real>
FftLines<Real>::~FftLines() {
  const std::lock_guard lock(planner);
  FftwApi<Real>::destroy(plan_);
}

template <typename Real>
void FftLines<Real>::run(const std::complex<Real>* from, std::complex<Real>* to) const {
  using Raw = typename FftwApi<Real>::Complex;
  // FFTW leaves the input of such plans as it is.
  FftwApi<Real>::execute(plan_, reinterpret_cast<Raw*>(const_cast<std::complex<Real>*>(from)),
                         reinterpret_cast<Raw*>(to));
}

template <typename Real>
BandFft<Real>::BandFft(Index rows, Index cols, Index first_col, Index last_col, int sign)
    : rows_(rows),
      cols_(cols),
      first_col_(aligned_col<Real>(first_col)),
      last_col_(last_col),
      along_cols_(rows, last_col_ - first_col_, {1, rows}, {1, rows}, sign),
      across_rows_(cols, rows, {rows, 1}, {1, cols}, sign),
      along_rows_(cols, rows, {1, cols}, {1, cols}, -sign),
      across_cols_(rows, last_col_ - first_col_, {cols, 1}, {1, rows}, -sign) {}

template <typename Real>
typename BandFft<Real>::Scratch BandFft<Real>::scratch() const {
  const Vector<Complex> zero = Vector<Complex>::Zero(rows_ * cols_);
  return {zero, zero, zero, zero};
}

template <typename Real>
void BandFft<Real>::to_image(Scratch& scratch, Complex* image) const {
  const Index band = first_col_ * rows_;
  along_cols_.run(scratch.input.data() + band, scratch.half.data() + band);
  across_rows_.run(scratch.half.data(), image);
}

template <typename Real>
void BandFft<Real>::from_image(const Complex* image, Scratch& scratch) const {
  along_rows_.run(image, scratch.lines.data());
  across_cols_.run(scratch.lines.data() + first_col_, scratch.output.data() + first_col_ * rows_);
}

template class FftLines<float>;
template class FftLines<double>;
template class BandFft<float>;
template class BandFft<double>;

}  // namespace udv
