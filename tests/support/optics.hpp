// SPDX-License-Identifier: MIT
#pragma once

#include "udv/recover/optics.hpp"

namespace udv::testing {

/// Green light, an objective of low aperture and LEDs 4 mm apart.
inline Optics low_power_optics(double pixel_m = 1.845e-6, double led_distance_mm = 90) {
  Optics optics;
  optics.wavelength_m = 532e-9;
  optics.numerical_aperture = 0.1;
  optics.pixel_m = pixel_m;
  optics.led_pitch_mm = 4;
  optics.led_distance_mm = led_distance_mm;
  return optics;
}

}  // namespace udv::testing
