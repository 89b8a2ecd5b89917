// SPDX-License-Identifier: MIT
#include "recover/solver/slow_phases.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace udv {
namespace {

using Complex = std::complex<float>;

// Rows m = -reach ... reach of F diag(exp(-i c / 2 r^2)) F^-1 for the centred unitary transform F
// of `size` samples, r from the middle.
Matrix<Complex> unbent_samples(Index size, Index reach, double curvature) {
  Matrix<Complex> rows = Matrix<Complex>::Zero(2 * reach + 1, size);
  if (curvature == 0) {
    for (Index m = -reach; m <= reach; ++m) rows(m + reach, size / 2 + m) = 1;
    return rows;
  }
  // The entry (m, k) depends on m - k alone.
  std::vector<std::complex<double>> wave(static_cast<size_t>(size)), spectrum(wave.size());
  const double middle = 0.5 * static_cast<double>(size - 1);
  for (Index r = 0; r < size; ++r) {
    const double from_middle = static_cast<double>(r) - middle;
    wave[static_cast<size_t>(r)] = std::polar(1.0, -0.5 * curvature * from_middle * from_middle);
  }
  for (Index k = 0; k < size; ++k) {
    std::complex<double> sum = 0;
    for (Index r = 0; r < size; ++r)
      sum += wave[static_cast<size_t>(r)] *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * r % size) /
                                 static_cast<double>(size));
    spectrum[static_cast<size_t>(k)] = sum / static_cast<double>(size);
  }
  for (Index m = -reach; m <= reach; ++m)
    for (Index k = 0; k < size; ++k) {
      const Index apart = m - (k - size / 2);
      rows(m + reach, k) = Complex(spectrum[static_cast<size_t>((apart % size + size) % size)]);
    }
  return rows;
}

}  // namespace

SlowPhases::SlowPhases(const ImagingOperator<Complex>& op, const Vector<Complex>& x,
                       double curvature, double highest, double strength) {
  const Index rows = op.image_rows(), cols = op.image_cols();
  const Index reach = std::min(static_cast<Index>(highest), (std::min(rows, cols) - 1) / 2);
  if (reach < 1 || !(strength > 0)) return;
  down_ = unbent_samples(rows, reach, curvature);
  right_ = unbent_samples(cols, reach, curvature);
  strength_.setZero(2 * reach + 1, 2 * reach + 1);
  const RowMatrix<Complex> slow = slow_part(x);
  const Complex mean = slow(reach, reach);
  // Of a sample that scatters all light nothing is known.
  const double share = static_cast<double>(std::norm(mean) / x.squaredNorm());
  for (Index r = -reach; r <= reach; ++r)
    for (Index c = -reach; c <= reach; ++c) {
      const double rest = 1 - static_cast<double>(r * r + c * c) / (highest * highest);
      if (rest > 0 && rest < 1)
        strength_(r + reach, c + reach) = static_cast<float>(share * strength * rest * rest);
    }
  if (std::abs(mean) > 0) turn_ = mean * mean / std::norm(mean);
  const RowMatrix<float> diagonal =
      0.5f * (down_.cwiseAbs2().transpose() * strength_ * right_.cwiseAbs2());
  diagonal_ = Eigen::Map<const Vector<float>>(diagonal.data(), diagonal.size());
}

RowMatrix<Complex> SlowPhases::slow_part(const Vector<Complex>& x) const {
  const Eigen::Map<const RowMatrix<Complex>> X(x.data(), down_.cols(), right_.cols());
  const RowMatrix<Complex> rows = down_ * X;
  return rows * right_.transpose();
}

RowMatrix<Complex> SlowPhases::phases(const Vector<Complex>& x) const {
  const RowMatrix<Complex> y = slow_part(x);
  return y - turn_ * y.reverse().conjugate();
}

double SlowPhases::energy(const Vector<Complex>& x) const {
  return static_cast<double>(phases(x).cwiseAbs2().cwiseProduct(strength_).sum()) / 4;
}

Vector<Complex> SlowPhases::product(const Vector<Complex>& x) const {
  const RowMatrix<Complex> slow = 0.5f * strength_.cast<Complex>().cwiseProduct(phases(x));
  const RowMatrix<Complex> rows = down_.adjoint() * slow;
  const RowMatrix<Complex> Z = rows * right_.conjugate();
  return Eigen::Map<const Vector<Complex>>(Z.data(), Z.size());
}

}  // namespace udv
