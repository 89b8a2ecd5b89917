// SPDX-License-Identifier: MIT
#include "pupil_fit.hpp"

#include <cmath>

#include "recover/solver/amplitude_device.hpp"
#include "recover/solver/fit_loop.hpp"
#include "recover/solver/pupil_smoothness.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;

constexpr int kDegree = 4;
constexpr int kPupilSteps = 3;

// theta = B c on the whole window and `margin` samples about it: B the identity on the pupil's
// samples, or monomials there.
class PhaseBasis {
 public:
  PhaseBasis(const RowMatrix<std::complex<double>>& pupil, Index margin, bool polynomial,
             double strength)
      : size_((pupil.rows() + 2 * margin) * (pupil.cols() + 2 * margin)),
        smoothness_(pupil, polynomial ? 0 : strength) {
    for (Index i = 0; i < pupil.size(); ++i) {
      if (pupil.data()[i] == 0.0) continue;
      const Index row = i / pupil.cols() + margin, col = i % pupil.cols() + margin;
      of_pupil_.push_back(i);
      samples_.push_back(row * (pupil.cols() + 2 * margin) + col);
    }
    if (polynomial) fill_monomials(pupil.rows(), pupil.cols());
  }

  Index coefficients() const {
    return monomials_.size() > 0 ? monomials_.cols() : static_cast<Index>(samples_.size());
  }

  // B c at the samples of the pupil, 0 elsewhere.
  Vector<float> expand(const RowMatrix<float>& c) const {
    const Vector<float> values = values_of(c);
    Vector<float> theta = Vector<float>::Zero(size_);
    for (size_t s = 0; s < samples_.size(); ++s) theta(samples_[s]) = values(static_cast<Index>(s));
    return theta;
  }
  // P exp(i B c)
  void turn(const RowMatrix<float>& c, RowMatrix<std::complex<double>>& pupil) const {
    const Vector<float> values = values_of(c);
    for (size_t s = 0; s < of_pupil_.size(); ++s)
      pupil.data()[of_pupil_[s]] *=
          std::polar(1.0, static_cast<double>(values(static_cast<Index>(s))));
  }
  // B^T theta
  Vector<float> reduce(const Vector<float>& theta) const {
    const Vector<float> values = theta(samples_);
    return monomials_.size() > 0 ? Vector<float>(monomials_.transpose() * values) : values;
  }
  // Diagonal of B^T diag(w) B, and of what is known before.
  Vector<float> diagonal(const Vector<float>& w) const {
    const Vector<float> values = w(samples_);
    if (monomials_.size() > 0) return monomials_.cwiseAbs2().transpose() * values;
    return values + smoothness_.diagonal(values.size());
  }
  // What is known of theta before.
  const PupilSmoothness& smoothness() const { return smoothness_; }

 private:
  Vector<float> values_of(const RowMatrix<float>& c) const {
    return monomials_.size() > 0 ? Vector<float>(monomials_ * c.col(0)) : Vector<float>(c.col(0));
  }
  void fill_monomials(Index rows, Index cols) {
    const Index terms = (kDegree + 1) * (kDegree + 2) / 2 - 1;
    monomials_.resize(static_cast<Index>(samples_.size()), terms);
    for (size_t s = 0; s < samples_.size(); ++s) {
      const double f =
          2.0 * static_cast<double>(of_pupil_[s] / cols - rows / 2) / static_cast<double>(rows);
      const double g =
          2.0 * static_cast<double>(of_pupil_[s] % cols - cols / 2) / static_cast<double>(cols);
      Index t = 0;
      for (int degree = 1; degree <= kDegree; ++degree)
        for (int k = 0; k <= degree; ++k)
          monomials_(static_cast<Index>(s), t++) =
              static_cast<float>(std::pow(f, degree - k) * std::pow(g, k));
    }
  }

  Index size_;
  std::vector<Index> of_pupil_, samples_;  // places in the pupil, and with the margin
  Matrix<float> monomials_;
  PupilSmoothness smoothness_;
};

// q = exp(i theta)
RowMatrix<Complex> phases(const Vector<float>& theta) {
  RowMatrix<Complex> q(theta.size(), 1);
  for (Index i = 0; i < theta.size(); ++i) q(i, 0) = std::polar(1.0f, theta(i));
  return q;
}

// i q o theta
RowMatrix<Complex> moved_by(const Vector<float>& theta, const RowMatrix<Complex>& q) {
  RowMatrix<Complex> moved = q;
  for (Index i = 0; i < moved.size(); ++i) moved(i, 0) *= Complex(0, theta(i));
  return moved;
}

// B^T Re(conj(i q) o back)
RowMatrix<float> turned(const PhaseBasis& basis, const RowMatrix<Complex>& q,
                        const RowMatrix<Complex>& back) {
  Vector<float> theta(q.rows());
  for (Index i = 0; i < theta.size(); ++i)
    theta(i) = std::real(std::conj(Complex(0, 1) * q(i, 0)) * back(i, 0));
  return basis.reduce(theta);
}

// J c = sqrt(w) Re(conj(e) W (i q o B c)), with e = psi / sqrt(|psi|^2 + b), psi = W q.
class PupilLinearization final : public Linearization<float> {
 public:
  PupilLinearization(const PupilOperator<Complex>& op, const PhaseBasis& basis,
                     const ImageTargets& targets, const RowMatrix<float>& c)
      : op_(op), basis_(basis), weights_(targets.weights), q_(phases(basis.expand(c))) {
    op.project(q_, directions_);
    to_directions(predicted_amplitudes(directions_, targets.backgrounds), directions_);
    diagonal_ = basis.diagonal(op.diagonal(weights_)) / 2;
  }

  void normal_product(const RowMatrix<float>& P, RowMatrix<float>& Y) override {
    op_.project(moved_by(basis_.expand(P), q_), fields_);
    Vector<float> measured(fields_.rows());
    for (Index i = 0; i < fields_.rows(); ++i) {
      const Complex e = directions_(i, 0), f = fields_(i, 0);
      measured(i) = weights_(i) * (e.real() * f.real() + e.imag() * f.imag());
    }
    Y = pulled_back(measured);
    basis_.smoothness().add_product(P, Y);
  }
  // B^T Re(conj(i q) o W^* (r o e))
  RowMatrix<float> pulled_back(const Vector<float>& r) {
    fields_ = directions_;
    scale_rows<Complex>(r, fields_);
    RowMatrix<Complex> back(op_.rows(), 1);
    op_.back_project(fields_, back);
    return turned(basis_, q_, back);
  }
  double mean_diagonal() const override { return diagonal_.cast<double>().mean(); }
  void factor_preconditioner(double damping) override {
    inverse_ = (diagonal_.array() + static_cast<float>(damping + 1e-7 * mean_diagonal())).inverse();
  }
  void precondition(const RowMatrix<float>& R, RowMatrix<float>& Y) const override {
    Y = R.col(0).cwiseProduct(inverse_);
  }

 private:
  const PupilOperator<Complex>& op_;
  const PhaseBasis& basis_;
  const Vector<float>& weights_;
  RowMatrix<Complex> q_, directions_, fields_;
  Vector<float> diagonal_, inverse_;
};

// r = sqrt(w) (sqrt(|W exp(i B c)|^2 + b) - a)
class PupilModel final : public ResidualModel<float> {
 public:
  PupilModel(const PupilOperator<Complex>& op, const PhaseBasis& basis, const ImageTargets& targets)
      : op_(op), basis_(basis), targets_(targets) {}

  void residual(const RowMatrix<float>& c, Vector<float>& r) const override {
    RowMatrix<Complex> fields;
    op_.project(phases(basis_.expand(c)), fields);
    const Vector<float> q = predicted_amplitudes(fields, targets_.backgrounds);
    const Vector<float> known = basis_.smoothness().residuals(c);
    r.resize(q.size() + known.size());
    r << targets_.weights.cwiseSqrt().cwiseProduct(q - targets_.amplitudes), known;
  }
  void gradient(const RowMatrix<float>& c, const Vector<float>& r,
                RowMatrix<float>& G) const override {
    G = PupilLinearization(op_, basis_, targets_, c)
            .pulled_back(
                targets_.weights.cwiseSqrt().cwiseProduct(r.head(targets_.weights.size())));
    basis_.smoothness().add_gradient(c, G);
  }
  std::unique_ptr<Linearization<float>> linearize(const RowMatrix<float>& c) const override {
    return std::make_unique<PupilLinearization>(op_, basis_, targets_, c);
  }
  double data_norm() const override { return targets_.amplitudes.norm(); }

 private:
  const PupilOperator<Complex>& op_;
  const PhaseBasis& basis_;
  const ImageTargets& targets_;
};

// The same for images on the device: phases are on the host, fields are there.
class PupilLinearizationOnDevice {
 public:
  using Fields = ImagesOnDevice::Fields;

  PupilLinearizationOnDevice(const ImagesOnDevice& images, const PhaseBasis& basis,
                             const Vector<float>& diagonal, const RowMatrix<float>& c)
      : images_(images),
        basis_(basis),
        diagonal_(diagonal),
        q_(phases(basis.expand(c))),
        still_(Vector<double>::Zero(images.map().images())) {
    images.map().project(device::uploaded(q_), directions_);
    images.to_directions(directions_, images.fixed_backgrounds(), inverse_q_);
  }

  void normal_product(const RowMatrix<float>& P, RowMatrix<float>& Y) {
    const RowMatrix<Complex> moved = moved_by(basis_.expand(P), q_);
    images_.map().project(device::uploaded(moved), fields_);
    images_.keep_changes(directions_, inverse_q_, still_, fields_);
    images_.map().back_project(fields_, sums_);
    RowMatrix<Complex> back;
    device::download(sums_, back);
    Y = turned(basis_, q_, back);
    basis_.smoothness().add_product(P, Y);
  }
  double mean_diagonal() const { return diagonal_.cast<double>().mean(); }
  void factor_preconditioner(double damping) {
    inverse_ = (diagonal_.array() + static_cast<float>(damping + 1e-7 * mean_diagonal())).inverse();
  }
  void precondition(const RowMatrix<float>& R, RowMatrix<float>& Y) const {
    Y = R.col(0).cwiseProduct(inverse_);
  }

 private:
  const ImagesOnDevice& images_;
  const PhaseBasis& basis_;
  const Vector<float>& diagonal_;
  RowMatrix<Complex> q_;
  Vector<double> still_;  // backgrounds are as they are
  Vector<float> inverse_;
  Fields directions_, inverse_q_, fields_;
  device::DeviceMatrix<float> sums_;
};

class PupilModelOnDevice {
 public:
  using ThinMatrix = RowMatrix<float>;
  using Residual = device::ResidualNorm;

  PupilModelOnDevice(const device::ImagingOnDevice<float>& map, const PhaseBasis& basis,
                     const ImageTargets& targets)
      : images_(map, targets), basis_(basis) {
    device::Array<float> diagonal;
    images_.half_diagonal(diagonal);
    Vector<float> light(diagonal.size());
    diagonal.download(light.data());
    diagonal_ = basis.diagonal(light);
  }

  void residual(const RowMatrix<float>& c, Residual& r) const {
    project(phases_of(c));
    r.squares = images_.squared_residual(psi_, images_.fixed_backgrounds()) +
                basis_.smoothness().residuals(c).cast<double>().squaredNorm();
  }
  void gradient(const RowMatrix<float>& c, const Residual&, RowMatrix<float>& G) const {
    const RowMatrix<Complex> q = phases_of(c);
    project(q);
    images_.pull(psi_, images_.fixed_backgrounds());
    device::DeviceMatrix<float> sums;
    images_.map().back_project(psi_, sums);
    RowMatrix<Complex> back;
    device::download(sums, back);
    G = turned(basis_, q, back);
    basis_.smoothness().add_gradient(c, G);
  }
  std::unique_ptr<PupilLinearizationOnDevice> linearize(const RowMatrix<float>& c) const {
    return std::make_unique<PupilLinearizationOnDevice>(images_, basis_, diagonal_, c);
  }
  double data_norm() const { return images_.targets().amplitudes.norm(); }

 private:
  RowMatrix<Complex> phases_of(const RowMatrix<float>& c) const { return phases(basis_.expand(c)); }
  void project(const RowMatrix<Complex>& q) const {
    images_.map().project(device::uploaded(q), psi_);
  }

  ImagesOnDevice images_;
  const PhaseBasis& basis_;
  Vector<float> diagonal_;
  mutable ImagesOnDevice::Fields psi_;
};

// c of the best phases.
void fit_phases(const PtychographyOperator<Complex>& op, const Vector<Complex>& x,
                const PhaseBasis& basis, const ImageTargets& targets, const FitOptions& options,
                RowMatrix<float>& c) {
  if (op.device()) {
    const RowMatrix<Complex> spectrum = x;
    const auto images = op.device()->seen(device::uploaded(spectrum));
    run_fit<float>(PupilModelOnDevice(*images, basis, targets), c, options, nullptr);
  } else {
    const PupilOperator<Complex> images(op, x);
    minimise<float>(PupilModel(images, basis, targets), c, options);
  }
}

}  // namespace

RowMatrix<std::complex<double>> refined_pupil(const PtychographyOperator<Complex>& op,
                                              const Vector<Complex>& x, const ImageTargets& targets,
                                              bool polynomial, double variance) {
  const PhaseBasis basis(op.pupil(), PupilOperator<Complex>::margin_of(op), polynomial,
                         smoothness_strength(op.pupil(), variance));
  FitOptions options;
  options.max_outer = kPupilSteps;
  options.max_cg = 30;
  options.min_cg_tolerance = 1e-3;
  RowMatrix<float> c = RowMatrix<float>::Zero(basis.coefficients(), 1);
  fit_phases(op, x, basis, targets, options, c);
  RowMatrix<std::complex<double>> pupil = op.pupil();
  basis.turn(c, pupil);
  return pupil;
}

}  // namespace udv
