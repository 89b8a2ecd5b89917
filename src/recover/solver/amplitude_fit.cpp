// SPDX-License-Identifier: MIT
#include "recover/solver/amplitude_fit.hpp"

#include <algorithm>
#include <cmath>

#include "recover/solver/amplitude_device.hpp"
#include "recover/solver/image_light.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;

// Calls body(image, first pixel, last pixel) for every image, on all threads.
template <typename Body>
void for_images(Index images, Index pixels, const Body& body) {
  parallel_blocks(images, 1, [&](Index begin, Index end) {
    for (Index l = begin; l < end; ++l) body(l, l * pixels, (l + 1) * pixels);
  });
}

Vector<float> best_backgrounds(const RowMatrix<Complex>& psi, const ImageTargets& targets) {
  Vector<float> backgrounds = targets.backgrounds;
  const Index images = backgrounds.size(), pixels = psi.rows() / images;
  for_images(images, pixels, [&](Index l, Index first, Index) {
    if (!targets.free[static_cast<size_t>(l)]) return;
    const Vector<float> squares = psi.col(0).segment(first, pixels).cwiseAbs2();
    backgrounds(l) = static_cast<float>(best_background(
        {squares.data(), targets.amplitudes.data() + first, targets.weights.data() + first, pixels},
        1, targets.least.size() > 0 ? static_cast<double>(targets.least(l)) : 0));
  });
  return backgrounds;
}

// J^T J at x, with J = (I - u u^T / |u|^2) J_0 image by image, u = sqrt(w) / q: the change of the
// residuals with b_l, where that is free and not 0.
class AmplitudeLinearization final : public Linearization<Complex> {
 public:
  AmplitudeLinearization(const ImagingOperator<Complex>& op, const ImageTargets& targets,
                         const RowMatrix<Complex>& x)
      : op_(op), targets_(targets) {
    op.project(x, directions_);
    const Vector<float> backgrounds = best_backgrounds(directions_, targets);
    const Vector<float> q = predicted_amplitudes(directions_, backgrounds);
    to_directions(q, directions_);
    moving_.resize(static_cast<size_t>(backgrounds.size()));
    for (Index l = 0; l < backgrounds.size(); ++l)
      moving_[static_cast<size_t>(l)] =
          targets.free[static_cast<size_t>(l)] &&
          backgrounds(l) > (targets.least.size() > 0 ? targets.least(l) : 0);
    inverse_q_ = (q.array() > 0).select(q.cwiseInverse(), 0);
    diagonal_ = op.diagonal(targets.weights) / 2;
    if (targets.shrinkage.size() > 0) diagonal_ += targets.shrinkage;
    if (!targets.slow.empty()) diagonal_ += targets.slow.diagonal();
  }

  void normal_product(const RowMatrix<Complex>& P, RowMatrix<Complex>& Y) override {
    op_.project(P, fields_);
    for_images(op_.images(), op_.pixels(), [&](Index l, Index first, Index last) {
      const double shift = moving_[static_cast<size_t>(l)] ? undone_by_background(first, last) : 0;
      keep_changes(first, last, static_cast<float>(shift));
    });
    Y.resize(P.rows(), 1);
    op_.back_project(fields_, Y);
    if (targets_.shrinkage.size() > 0) Y.col(0) += targets_.shrinkage.cwiseProduct(P.col(0));
    if (!targets_.slow.empty()) Y.col(0) += targets_.slow.product(P.col(0));
  }
  double mean_diagonal() const override { return diagonal_.cast<double>().mean(); }
  void factor_preconditioner(double damping) override {
    const double floor = kEpsilon<Complex> * mean_diagonal() + 1e-30;
    inverse_ = (diagonal_.array() + static_cast<float>(damping + floor)).inverse();
  }
  void precondition(const RowMatrix<Complex>& R, RowMatrix<Complex>& Y) const override {
    Y = R.col(0).cwiseProduct(inverse_);
  }

 private:
  // Re(conj(e) f)
  float change_at(Index i) const {
    const Complex e = directions_(i, 0), f = fields_(i, 0);
    return e.real() * f.real() + e.imag() * f.imag();
  }

  // <u, J_0 p> / |u|^2
  double undone_by_background(Index first, Index last) const {
    double product = 0, square = 0;
    for (Index i = first; i < last; ++i) {
      const double weighted = static_cast<double>(targets_.weights(i)) * inverse_q_(i);
      product += weighted * static_cast<double>(change_at(i));
      square += weighted * static_cast<double>(inverse_q_(i));
    }
    return square > 0 ? product / square : 0;
  }

  // fields = w e (Re(conj(e) fields) - shift / q): the part of a change of psi that counts.
  void keep_changes(Index first, Index last, float shift) {
    const float* const w = targets_.weights.data();
    const float* const inverse = inverse_q_.data();
    const float* const e = reals_of(directions_.data());
    float* const f = reals_of(fields_.data());
#pragma omp simd
    for (Index i = first; i < last; ++i) {
      const float change =
          w[i] * (e[2 * i] * f[2 * i] + e[2 * i + 1] * f[2 * i + 1] - shift * inverse[i]);
      f[2 * i] = change * e[2 * i];
      f[2 * i + 1] = change * e[2 * i + 1];
    }
  }

  const ImagingOperator<Complex>& op_;
  const ImageTargets& targets_;
  RowMatrix<Complex> directions_, fields_;
  std::vector<char> moving_;
  Vector<float> inverse_q_, diagonal_, inverse_;
};

}  // namespace

Vector<float> predicted_amplitudes(const RowMatrix<Complex>& psi,
                                   const Vector<float>& backgrounds) {
  Vector<float> q(psi.rows());
  const Index pixels = psi.rows() / backgrounds.size();
  for_images(backgrounds.size(), pixels, [&](Index l, Index first, Index last) {
    const float b = backgrounds(l);
    for (Index i = first; i < last; ++i) q(i) = std::sqrt(std::norm(psi(i, 0)) + b);
  });
  return q;
}

void to_directions(const Vector<float>& q, RowMatrix<Complex>& psi) {
  for (Index i = 0; i < psi.size(); ++i)
    psi.data()[i] = q(i) > 0 ? Complex(psi.data()[i] / q(i)) : Complex(1);
}

AmplitudeModel::AmplitudeModel(const ImagingOperator<Complex>& op, const ImageTargets& targets)
    : op_(op), targets_(targets) {}

Vector<float> AmplitudeModel::backgrounds(const RowMatrix<Complex>& x) const {
  RowMatrix<Complex> psi;
  op_.project(x, psi);
  return best_backgrounds(psi, targets_);
}

void AmplitudeModel::residual(const RowMatrix<Complex>& x, Vector<float>& r) const {
  RowMatrix<Complex> psi;
  op_.project(x, psi);
  const Vector<float> q = predicted_amplitudes(psi, best_backgrounds(psi, targets_));
  r = targets_.weights.cwiseSqrt().cwiseProduct(q - targets_.amplitudes);
  if (!targets_.slow.empty()) {
    r.conservativeResize(r.size() + 1);
    r(r.size() - 1) = static_cast<float>(std::sqrt(targets_.slow.energy(x.col(0))));
  }
  if (targets_.shrinkage.size() == 0) return;
  const Index measured = r.size(), unknowns = x.rows();
  r.conservativeResize(measured + 2 * unknowns);
  const Vector<float> root = targets_.shrinkage.cwiseSqrt();
  r.segment(measured, unknowns) = root.cwiseProduct(x.col(0).real());
  r.tail(unknowns) = root.cwiseProduct(x.col(0).imag());
}

void AmplitudeModel::gradient(const RowMatrix<Complex>& x, const Vector<float>& r,
                              RowMatrix<Complex>& G) const {
  RowMatrix<Complex> psi;
  op_.project(x, psi);
  to_directions(predicted_amplitudes(psi, best_backgrounds(psi, targets_)), psi);
  scale_rows<Complex>(targets_.weights.cwiseSqrt().cwiseProduct(r.head(psi.rows())), psi);
  G.resize(x.rows(), 1);
  op_.back_project(psi, G);
  if (targets_.shrinkage.size() > 0) G.col(0) += targets_.shrinkage.cwiseProduct(x.col(0));
  if (!targets_.slow.empty()) G.col(0) += targets_.slow.product(x.col(0));
}

std::unique_ptr<Linearization<Complex>> AmplitudeModel::linearize(
    const RowMatrix<Complex>& x) const {
  return std::make_unique<AmplitudeLinearization>(op_, targets_, x);
}

double data_norm(const ImageTargets& targets) {
  return targets.weights.cwiseSqrt().cwiseProduct(targets.amplitudes).norm();
}

FitSummary fit_amplitudes(const ImagingOperator<Complex>& op, ImageTargets& targets,
                          Vector<Complex>& x, const FitOptions& options,
                          const FitMonitor& monitor) {
  if (op.device()) return fit_on_device(*op.device(), targets, x, options, monitor);
  const AmplitudeModel model(op, targets);
  RowMatrix<Complex> Z = x;
  const FitSummary summary = minimise<Complex>(model, Z, options, monitor);
  x = Z.col(0);
  targets.backgrounds = model.backgrounds(Z);
  return summary;
}

}  // namespace udv
