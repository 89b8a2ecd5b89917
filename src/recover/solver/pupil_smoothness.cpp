// SPDX-License-Identifier: MIT
#include "recover/solver/pupil_smoothness.hpp"

#include <cmath>
#include <numbers>

namespace udv {
namespace {

using Pupil = RowMatrix<std::complex<double>>;

// Third derivatives of the phase in units of the radius. A radian of spherical aberration has 24 at
// the rim: pupils may be much rougher than that, and are still smooth beside noise. Stronger
// smoothing (400) finds slow phases of the pupil late, and they go into the sample.
constexpr double kPupilBend = 5000;

struct GridOffset {
  Index row, col;
};

struct Stencil {
  std::array<GridOffset, 6> offsets;
  std::array<double, 6> weights;
  double count;  // of this derivative among all third ones
};

// d^3/dx^3, d^3/dy^3, d^3/dx^2 dy and d^3/dx dy^2.
const std::array<Stencil, 4> kStencils{
    {{{{{0, -1}, {0, 0}, {0, 1}, {0, 2}, {0, 0}, {0, 0}}}, {-1, 3, -3, 1, 0, 0}, 1},
     {{{{-1, 0}, {0, 0}, {1, 0}, {2, 0}, {0, 0}, {0, 0}}}, {-1, 3, -3, 1, 0, 0}, 1},
     {{{{0, -1}, {0, 0}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}}, {-1, 2, -1, 1, -2, 1}, 3},
     {{{{-1, 0}, {0, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1}}}, {-1, 2, -1, 1, -2, 1}, 3}}};

}  // namespace

PupilSmoothness::PupilSmoothness(const Pupil& pupil, double strength) {
  if (!(strength > 0)) return;
  RowMatrix<Index> number = RowMatrix<Index>::Constant(pupil.rows(), pupil.cols(), -1);
  Index samples = 0;
  for (Index i = 0; i < pupil.size(); ++i)
    if (pupil.data()[i] != 0.0) number.data()[i] = samples++;
  const auto known = [&](Index r, Index c) {
    return r >= 0 && c >= 0 && r < pupil.rows() && c < pupil.cols() && number(r, c) >= 0;
  };
  for (Index r = 0; r < pupil.rows(); ++r)
    for (Index c = 0; c < pupil.cols(); ++c)
      for (const Stencil& stencil : kStencils) {
        const double size = std::sqrt(stencil.count * strength);
        Bend bend{};
        double given = 0;
        bool whole = true;
        for (size_t i = 0; i < bend.at.size() && whole; ++i) {
          const Index row = r + stencil.offsets[i].row, col = c + stencil.offsets[i].col;
          whole = known(row, col);
          if (!whole) break;
          bend.at[i] = number(row, col);
          bend.weight[i] = static_cast<float>(size * stencil.weights[i]);
          given += stencil.weights[i] * std::arg(pupil(row, col));
        }
        if (!whole) continue;
        bend.given = static_cast<float>(size * std::remainder(given, 2 * std::numbers::pi));
        bends_.push_back(bend);
      }
}

Vector<float> PupilSmoothness::residuals(const RowMatrix<float>& c) const {
  Vector<float> values(size());
  for (Index i = 0; i < size(); ++i) {
    const Bend& bend = bends_[static_cast<size_t>(i)];
    values(i) = bend.given + bend.of(c);
  }
  return values;
}

void PupilSmoothness::add_gradient(const RowMatrix<float>& c, RowMatrix<float>& G) const {
  for (const Bend& bend : bends_) bend.add_to(G, bend.given + bend.of(c));
}

void PupilSmoothness::add_product(const RowMatrix<float>& P, RowMatrix<float>& Y) const {
  for (const Bend& bend : bends_) bend.add_to(Y, bend.of(P));
}

Vector<float> PupilSmoothness::diagonal(Index coefficients) const {
  RowMatrix<float> sums = RowMatrix<float>::Zero(coefficients, 1);
  for (const Bend& bend : bends_)
    for (size_t i = 0; i < bend.at.size(); ++i)
      sums(bend.at[i], 0) += bend.weight[i] * bend.weight[i];
  return sums.col(0);
}

double smoothness_strength(const Pupil& pupil, double variance) {
  const auto samples = static_cast<double>((pupil.array() != 0.0).count());
  const double typical = kPupilBend * std::pow(std::numbers::pi / samples, 1.5);
  return variance / (typical * typical);
}

}  // namespace udv
