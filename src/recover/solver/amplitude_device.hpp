// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "recover/device/imaging_device.hpp"
#include "recover/solver/amplitude_fit.hpp"

namespace udv {

/// Amplitudes and weights of images on the device, and the backgrounds of fields there.
class ImagesOnDevice {
 public:
  using Fields = device::Array<float>;

  /// Refers to both while it lives.
  ImagesOnDevice(const device::ImagingOnDevice<float>& map, const ImageTargets& targets);

  const device::ImagingOnDevice<float>& map() const { return map_; }
  const ImageTargets& targets() const { return targets_; }
  const device::ImageData<float>& data() const { return data_; }

  /// b_l as the targets have them, and with free ones at their best.
  Vector<double> fixed_backgrounds() const { return targets_.backgrounds.cast<double>(); }
  Vector<double> best_backgrounds(const Fields& psi) const;
  double least(Index l) const {
    return targets_.least.size() > 0 ? static_cast<double>(targets_.least(l)) : 0;
  }

  /// sum w (q - a)^2; psi = w (q - a) psi / q; psi = psi / q with 1 / q.
  double squared_residual(Fields& psi, const Vector<double>& backgrounds) const;
  void pull(Fields& psi, const Vector<double>& backgrounds) const;
  void to_directions(Fields& psi, const Vector<double>& backgrounds, Fields& inverse_q) const;
  /// fields = w e (Re(conj(e) fields) - shift / q), as AmplitudeModel has it.
  void keep_changes(const Fields& directions, const Fields& inverse_q, const Vector<double>& moving,
                    Fields& fields) const;
  /// Half of the diagonal of W^* diag(w) W.
  void half_diagonal(device::Array<float>& diagonal) const;

 private:
  const device::ImagingOnDevice<float>& map_;
  const ImageTargets& targets_;
  Fields amplitudes_, weights_;
  device::ImageData<float> data_;
  Vector<double> brightest_;  // largest_intensity() of every image
};

/// fit_amplitudes() on the device: the unknowns stay there, sums of pixels alone come back.
FitSummary fit_on_device(const device::ImagingOnDevice<float>& map, ImageTargets& targets,
                         Vector<std::complex<float>>& x, const FitOptions& options,
                         const FitMonitor& monitor);

}  // namespace udv
