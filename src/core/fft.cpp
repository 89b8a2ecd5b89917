// SPDX-License-Identifier: MIT
#include "fft.hpp"

#include <mutex>

#include "udv/core/error.hpp"

namespace udv {
namespace {

// FFTW's planner is not safe for threads; its executor is.
std::mutex planner;

}  // namespace

template <typename Real>
FftLines<Real>::FftLines(Index length, Index count, Index stride, Index distance, int sign) {
  using Api = FftwApi<Real>;
  const std::lock_guard lock(planner);
  const int n = static_cast<int>(length);
  // The planner looks at the address alone, and not at the data, when it estimates.
  Vector<std::complex<Real>> scratch((length - 1) * stride + (count - 1) * distance + 1);
  auto* const data = reinterpret_cast<typename Api::Complex*>(scratch.data());
  plan_ = Api::plan_many(1, &n, static_cast<int>(count), data, nullptr, static_cast<int>(stride),
                         static_cast<int>(distance), data, nullptr, static_cast<int>(stride),
                         static_cast<int>(distance), sign, FFTW_ESTIMATE | FFTW_UNALIGNED);
  require(plan_ != nullptr, "fft: no plan for ", count, " transforms of length ", length);
}

template <typename Real>
FftLines<Real>::~FftLines() {
  const std::lock_guard lock(planner);
  FftwApi<Real>::destroy(plan_);
}

template <typename Real>
void FftLines<Real>::run(std::complex<Real>* data) const {
  auto* const raw = reinterpret_cast<typename FftwApi<Real>::Complex*>(data);
  FftwApi<Real>::execute(plan_, raw, raw);
}

template <typename Real>
BandFft<Real>::BandFft(Index rows, Index cols, Index first_row, Index last_row)
    : offset_(first_row * cols),
      rows_inverse_(cols, last_row - first_row, 1, cols, FFTW_BACKWARD),
      cols_inverse_(rows, cols, cols, 1, FFTW_BACKWARD),
      rows_forward_(cols, last_row - first_row, 1, cols, FFTW_FORWARD),
      cols_forward_(rows, cols, cols, 1, FFTW_FORWARD) {}

template <typename Real>
void BandFft<Real>::inverse(std::complex<Real>* image) const {
  rows_inverse_.run(image + offset_);
  cols_inverse_.run(image);
}

template <typename Real>
void BandFft<Real>::forward(std::complex<Real>* image) const {
  cols_forward_.run(image);
  rows_forward_.run(image + offset_);
}

template class FftLines<float>;
template class FftLines<double>;
template class BandFft<float>;
template class BandFft<double>;

}  // namespace udv
