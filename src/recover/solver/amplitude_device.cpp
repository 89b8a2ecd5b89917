// SPDX-License-Identifier: MIT
#include "recover/solver/amplitude_device.hpp"

#include "recover/solver/fit_loop.hpp"
#include "recover/solver/image_light.hpp"

namespace udv {
namespace {

using Complex = std::complex<float>;
using ThinMatrix = device::DeviceMatrix<float>;
using Fields = device::Array<float>;

const device::Kernels<float>& loops() {
  return device::kernels<float>();
}

// out (+)= weights o x, line by line.
void weigh(const Fields& weights, const ThinMatrix& x, bool add, ThinMatrix& out) {
  out.resize(x.rows(), x.cols());
  loops().weigh_lines(weights.data(), x.data(), x.rows(), x.cols(), add, out.data());
}

// out += what holds slow phases. A few samples tell it: the host does that.
void add_slow(const SlowPhases& slow, const ThinMatrix& x, ThinMatrix& out) {
  if (slow.empty()) return;
  RowMatrix<Complex> host;
  device::download(x, host);
  const RowMatrix<Complex> product = slow.product(host.col(0));
  const Vector<float> ones = Vector<float>::Ones(host.rows());
  weigh(Fields(ones.data(), ones.size()), device::uploaded(product), true, out);
}

// The formulas are those of AmplitudeLinearization.
class AmplitudeModelOnDevice {
 public:
  AmplitudeModelOnDevice(const ImagesOnDevice& images, const Fields& shrinkage,
                         const Fields& diagonal, double mean_diagonal, const ThinMatrix& x)
      : images_(images),
        shrinkage_(shrinkage),
        diagonal_(diagonal),
        mean_diagonal_(mean_diagonal),
        inverse_q_(images.map().measured()),
        inverse_(diagonal.size()) {
    images.map().project(x, directions_);
    const Vector<double> backgrounds = images.best_backgrounds(directions_);
    images.to_directions(directions_, backgrounds, inverse_q_);
    moving_.setZero(backgrounds.size());
    for (Index l = 0; l < backgrounds.size(); ++l)
      if (images.targets().free[static_cast<size_t>(l)] && backgrounds(l) > images.least(l))
        moving_(l) = 1;
  }

  void normal_product(const ThinMatrix& P, ThinMatrix& Y) {
    images_.map().project(P, fields_);
    images_.keep_changes(directions_, inverse_q_, moving_, fields_);
    images_.map().back_project(fields_, Y);
    if (shrinkage_.size() > 0) weigh(shrinkage_, P, true, Y);
    add_slow(images_.targets().slow, P, Y);
  }
  double mean_diagonal() const { return mean_diagonal_; }
  void factor_preconditioner(double damping) {
    const double floor = kEpsilon<Complex> * mean_diagonal_ + 1e-30;
    loops().shifted_inverse(diagonal_.data(), static_cast<float>(damping + floor), inverse_.data(),
                            inverse_.size());
  }
  void precondition(const ThinMatrix& R, ThinMatrix& Y) const { weigh(inverse_, R, false, Y); }

 private:
  const ImagesOnDevice& images_;
  const Fields &shrinkage_, &diagonal_;
  double mean_diagonal_;
  Fields directions_, inverse_q_, fields_, inverse_;
  Vector<double> moving_;
};

// AmplitudeModel for unknowns on the device.
class AmplitudesOnDevice {
 public:
  using ThinMatrix = device::DeviceMatrix<float>;
  using Residual = device::ResidualNorm;

  AmplitudesOnDevice(const device::ImagingOnDevice<float>& map, const ImageTargets& targets)
      : images_(map, targets) {
    images_.half_diagonal(diagonal_);
    Vector<float> diagonal(diagonal_.size());
    diagonal_.download(diagonal.data());
    if (targets.shrinkage.size() > 0) {
      shrinkage_ = Fields(targets.shrinkage.data(), targets.shrinkage.size());
      diagonal += targets.shrinkage;
    }
    if (!targets.slow.empty()) diagonal += targets.slow.diagonal();
    diagonal_.upload(diagonal.data());
    mean_diagonal_ = diagonal.cast<double>().mean();
  }

  void residual(const ThinMatrix& x, Residual& r) const {
    images_.map().project(x, psi_);
    r.squares = images_.squared_residual(psi_, images_.best_backgrounds(psi_));
    if (!images_.targets().slow.empty()) {
      RowMatrix<Complex> host;
      device::download(x, host);
      r.squares += images_.targets().slow.energy(host.col(0));
    }
    if (shrinkage_.size() == 0) return;
    weigh(shrinkage_, x, false, shrunk_);
    r.squares += dot(shrunk_, x);
  }
  void gradient(const ThinMatrix& x, const Residual&, ThinMatrix& G) const {
    images_.map().project(x, psi_);
    images_.pull(psi_, images_.best_backgrounds(psi_));
    images_.map().back_project(psi_, G);
    if (shrinkage_.size() > 0) weigh(shrinkage_, x, true, G);
    add_slow(images_.targets().slow, x, G);
  }
  std::unique_ptr<AmplitudeModelOnDevice> linearize(const ThinMatrix& x) const {
    return std::make_unique<AmplitudeModelOnDevice>(images_, shrinkage_, diagonal_, mean_diagonal_,
                                                    x);
  }
  double data_norm() const { return udv::data_norm(images_.targets()); }
  Vector<float> backgrounds(const ThinMatrix& x) const {
    images_.map().project(x, psi_);
    return images_.best_backgrounds(psi_).cast<float>();
  }

 private:
  ImagesOnDevice images_;
  Fields diagonal_, shrinkage_;
  double mean_diagonal_ = 0;
  mutable Fields psi_;
  mutable ThinMatrix shrunk_;
};

}  // namespace

ImagesOnDevice::ImagesOnDevice(const device::ImagingOnDevice<float>& map,
                               const ImageTargets& targets)
    : map_(map),
      targets_(targets),
      amplitudes_(targets.amplitudes.data(), targets.amplitudes.size()),
      weights_(targets.weights.data(), targets.weights.size()),
      data_{amplitudes_.data(), weights_.data(), map.images(), map.pixels()},
      brightest_(map.images()) {
  for (Index l = 0; l < map.images(); ++l) {
    const Index first = l * map.pixels();
    brightest_(l) = largest_intensity(
        {nullptr, targets.amplitudes.data() + first, targets.weights.data() + first, map.pixels()});
  }
}

// All searches take their steps together.
Vector<double> ImagesOnDevice::best_backgrounds(const Fields& psi) const {
  const Index images = map_.images();
  Vector<double> at = fixed_backgrounds();
  std::vector<BackgroundSearch> searches;
  std::vector<Index> open;
  for (Index l = 0; l < images; ++l) {
    searches.emplace_back(brightest_(l), least(l));
    if (targets_.free[static_cast<size_t>(l)]) open.push_back(l);
  }
  std::vector<BackgroundSlope> slopes(static_cast<size_t>(images));
  while (!open.empty()) {
    std::vector<Index> still;
    for (const Index l : open) {
      const BackgroundSearch& search = searches[static_cast<size_t>(l)];
      at(l) = search.at();
      if (!search.done()) still.push_back(l);
    }
    open = std::move(still);
    if (open.empty()) break;
    loops().slopes(psi.data(), &data_, at.data(), &slopes[0].value);
    for (const Index l : open)
      searches[static_cast<size_t>(l)].take(slopes[static_cast<size_t>(l)]);
  }
  // The host rounds them, too.
  return at.cast<float>().cast<double>();
}

double ImagesOnDevice::squared_residual(Fields& psi, const Vector<double>& backgrounds) const {
  double squares = 0;
  loops().amplitude_residual(psi.data(), &data_, backgrounds.data(), false, &squares);
  device::check();
  return squares;
}

void ImagesOnDevice::pull(Fields& psi, const Vector<double>& backgrounds) const {
  loops().amplitude_residual(psi.data(), &data_, backgrounds.data(), true, nullptr);
}

void ImagesOnDevice::to_directions(Fields& psi, const Vector<double>& backgrounds,
                                   Fields& inverse_q) const {
  inverse_q.resize(map_.measured());
  loops().directions(psi.data(), &data_, backgrounds.data(), inverse_q.data());
}

void ImagesOnDevice::keep_changes(const Fields& directions, const Fields& inverse_q,
                                  const Vector<double>& moving, Fields& fields) const {
  loops().keep_changes(directions.data(), inverse_q.data(), &data_, moving.data(), fields.data());
}

void ImagesOnDevice::half_diagonal(device::Array<float>& diagonal) const {
  Vector<double> means(map_.images());
  for (Index l = 0; l < means.size(); ++l)
    means(l) = targets_.weights.segment(l * map_.pixels(), map_.pixels()).mean() / 2;
  map_.coverage(means, diagonal);
}

FitSummary fit_on_device(const device::ImagingOnDevice<float>& map, ImageTargets& targets,
                         Vector<Complex>& x, const FitOptions& options, const FitMonitor& monitor) {
  const AmplitudesOnDevice model(map, targets);
  RowMatrix<Complex> Z = x;
  ThinMatrix away = device::uploaded(Z);
  FitMonitor of_complex;
  if (monitor)
    of_complex = [&](FitStep step) {
      step.rank = 1;
      return monitor(step);
    };
  const FitSummary summary = run_fit<float>(model, away, options, of_complex);
  device::download(away, Z);
  x = Z.col(0);
  targets.backgrounds = model.backgrounds(away);
  return summary;
}

}  // namespace udv
