// SPDX-License-Identifier: MIT
#include "udv/recover/optics.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/require.hpp"

namespace udv {
namespace {

using Pupil = RowMatrix<std::complex<double>>;

void require_positive(const char* name, double value) {
  require(std::isfinite(value) && value > 0, name, " is ", value, ", a positive number expected");
}

void require_finite(const char* name, double value) {
  require(std::isfinite(value), name, " is ", value, ", a finite number expected");
}

void require_image(Index rows, Index cols) {
  require(rows > 0 && cols > 0, "images of ", rows, " x ", cols,
          " pixels found, one pixel or more in each direction expected");
}

double squared(double value) {
  return value * value;
}

/// Radius of the pupil in samples of a spectrum of `size` samples.
double pupil_radius(const Optics& optics, Index size) {
  return optics.numerical_aperture * static_cast<double>(size) * optics.pixel_m /
         optics.wavelength_m;
}

/// The disc must fit, and hold more than frequency 0: else a unit is wrong.
void require_pupil_fits(const Optics& optics, Index low_rows, Index low_cols) {
  const Index smaller = std::min(low_rows, low_cols);
  const double radius = pupil_radius(optics, smaller);
  require(2 * radius < static_cast<double>(smaller) && radius >= 1, "NA ",
          optics.numerical_aperture, ", wavelength ", optics.wavelength_m, " m and pixels of ",
          optics.pixel_m, " m give a pupil of radius ", radius, " in images of ", smaller,
          " pixels, 1 to less than ", static_cast<double>(smaller) / 2, " expected");
}

void require_usable(const Optics& optics, Index low_rows, Index low_cols) {
  optics.validate();
  require_image(low_rows, low_cols);
  require_pupil_fits(optics, low_rows, low_cols);
}

/// Solves H s / sqrt(1 - s^2) + t s / sqrt(n^2 - s^2) = R by Newton's method. The left side grows
/// and is convex, and without the slide s is too large: the iterates fall to the solution.
double illumination_na(const Optics& optics, double radius_mm) {
  const double H = optics.led_distance_mm, t = optics.slide_thickness_mm;
  const double n2 = squared(optics.slide_index);
  double s = radius_mm / std::hypot(radius_mm, H);
  for (int step = 0; step < 100; ++step) {
    const double air = 1 - s * s, glass = n2 - s * s;
    const double excess = H * s / std::sqrt(air) + t * s / std::sqrt(glass) - radius_mm;
    const double slope = H / (air * std::sqrt(air)) + t * n2 / (glass * std::sqrt(glass));
    const double next = s - excess / slope;
    if (!(next < s)) break;
    s = next;
  }
  return s;
}

Illumination illumination(const Optics& optics, const GridPoint& led) {
  double across = optics.mirrored ? -led.x : led.x, down = led.y;
  if (optics.swapped) std::swap(across, down);
  const double x0 = optics.x_offset_mm + across * optics.led_pitch_mm;
  const double y0 = optics.y_offset_mm + down * optics.led_pitch_mm;
  const double angle = optics.rotation_degrees * std::numbers::pi / 180;
  const double x = x0 * std::cos(angle) - y0 * std::sin(angle);
  const double y = x0 * std::sin(angle) + y0 * std::cos(angle);
  const double radius = std::hypot(x, y);
  if (radius == 0) return {0, 0, 0, led};
  const double na = illumination_na(optics, radius);
  return {-na * x / radius, -na * y / radius, na, led};
}

/// Samples from frequency 0 to the middle of the window along one direction.
double exact_shift(const Optics& optics, Index low_size, double cosine) {
  return -cosine * static_cast<double>(low_size) * optics.pixel_m / optics.wavelength_m;
}

Index window_shift(const Optics& optics, Index low_size, double cosine) {
  return static_cast<Index>(std::round(exact_shift(optics, low_size, cosine)));
}

double rounded_off(const Optics& optics, Index low_size, double cosine) {
  return exact_shift(optics, low_size, cosine) -
         static_cast<double>(window_shift(optics, low_size, cosine));
}

Index window_begin(Index low_size, int upsampling, Index shift) {
  return low_size * upsampling / 2 - low_size / 2 + shift;
}

bool fits(Index low_size, int upsampling, Index shift) {
  const Index begin = window_begin(low_size, upsampling, shift);
  return begin >= 0 && begin + low_size <= low_size * upsampling;
}

int smallest_upsampling(Index low_size, Index shift) {
  int upsampling = 1;
  while (!fits(low_size, upsampling, shift)) ++upsampling;
  return upsampling;
}

bool inside(const Pupil& pupil, Index row, Index col) {
  return row >= 0 && row < pupil.rows() && col >= 0 && col < pupil.cols() && pupil(row, col) != 0.0;
}

}  // namespace

void Optics::validate() const {
  require_positive("wavelength_m", wavelength_m);
  require(numerical_aperture > 0 && numerical_aperture < 1, "numerical_aperture is ",
          numerical_aperture, ", a number between 0 and 1 expected");
  require_positive("pixel_m", pixel_m);
  require_positive("led_pitch_mm", led_pitch_mm);
  require_positive("led_distance_mm", led_distance_mm);
  require(std::isfinite(slide_thickness_mm) && slide_thickness_mm >= 0, "slide_thickness_mm is ",
          slide_thickness_mm, ", 0 or more expected");
  require(std::isfinite(slide_index) && slide_index >= 1, "slide_index is ", slide_index,
          ", 1 or more expected");
  require_finite("rotation_degrees", rotation_degrees);
  require_finite("x_offset_mm", x_offset_mm);
  require_finite("y_offset_mm", y_offset_mm);
  require_finite("defocus_m", defocus_m);
  require(upsampling >= 1, "upsampling is ", upsampling, ", 1 or more expected");
}

std::vector<GridPoint> spiral_order(Index count) {
  require(count >= 0, "a spiral of ", count, " LEDs asked for, 0 or more expected");
  std::vector<GridPoint> points;
  GridPoint at, step{1, 0};
  Index left = 1;  // steps before the next turn; every second turn makes them one more
  for (Index turns = 0; static_cast<Index>(points.size()) < count; at.x += step.x, at.y += step.y) {
    points.push_back(at);
    if (left-- > 0) continue;
    step = {-step.y, step.x};
    left = ++turns / 2;
  }
  return points;
}

std::vector<GridPoint> raster_order(Index rows, Index cols) {
  require(rows >= 0 && cols >= 0, "a grid of ", rows, " x ", cols,
          " LEDs asked for, 0 or more in each direction expected");
  std::vector<GridPoint> points;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col)
      points.push_back({static_cast<double>(col - cols / 2), static_cast<double>(row - rows / 2)});
  return points;
}

std::vector<Illumination> illuminations(const Optics& optics, const std::vector<GridPoint>& leds) {
  optics.validate();
  std::vector<Illumination> lights;
  for (const GridPoint& led : leds) lights.push_back(illumination(optics, led));
  return lights;
}

int enough_upsampling(const Optics& optics, Index low_rows, Index low_cols,
                      const std::vector<Illumination>& lights) {
  int enough = 1;
  for (const Illumination& light : lights) {
    const Index down = window_shift(optics, low_rows, light.ky);
    const Index right = window_shift(optics, low_cols, light.kx);
    enough = std::max(
        {enough, smallest_upsampling(low_rows, down), smallest_upsampling(low_cols, right)});
  }
  return enough;
}

std::vector<Window> spectrum_windows(const Optics& optics, Index low_rows, Index low_cols,
                                     const std::vector<Illumination>& lights) {
  require_usable(optics, low_rows, low_cols);
  std::vector<Window> windows;
  for (const Illumination& light : lights) {
    const Index down = window_shift(optics, low_rows, light.ky);
    const Index right = window_shift(optics, low_cols, light.kx);
    require(fits(low_rows, optics.upsampling, down) && fits(low_cols, optics.upsampling, right),
            "LED ", windows.size() + 1, " at (", light.led.x, ", ", light.led.y, "), NA ", light.na,
            ", shows frequencies beyond the image with upsampling ", optics.upsampling,
            "; upsampling ", enough_upsampling(optics, low_rows, low_cols, lights),
            ", or LEDs of smaller NA, expected");
    windows.push_back({window_begin(low_rows, optics.upsampling, down),
                       window_begin(low_cols, optics.upsampling, right)});
  }
  return windows;
}

namespace {

/// In units of the rim, squared: 1 is the objective's NA. The disc's middle is `down` and `right`
/// samples from frequency 0; its radius is `wider` samples more.
double rim_distance2(const Optics& optics, Index rows, Index cols, Index row, Index col,
                     double down = 0, double right = 0, double wider = 0) {
  const double y = static_cast<double>(row - rows / 2) - down;
  const double x = static_cast<double>(col - cols / 2) - right;
  return squared(y / (pupil_radius(optics, rows) + wider)) +
         squared(x / (pupil_radius(optics, cols) + wider));
}

Pupil wider_pupil(const Optics& optics, Index low_rows, Index low_cols, double wider) {
  const double k0 = 2 * std::numbers::pi / optics.wavelength_m;
  Pupil values = Pupil::Zero(low_rows, low_cols);
  for (Index row = 0; row < low_rows; ++row) {
    for (Index col = 0; col < low_cols; ++col) {
      if (rim_distance2(optics, low_rows, low_cols, row, col, 0, 0, wider) > 1) continue;
      const double rho2 = rim_distance2(optics, low_rows, low_cols, row, col);
      const double kz =
          k0 * std::sqrt(std::max(0.0, 1 - rho2 * squared(optics.numerical_aperture)));
      values(row, col) = std::polar(1.0, optics.defocus_m * kz);
    }
  }
  return values;
}

}  // namespace

Pupil pupil(const Optics& optics, Index low_rows, Index low_cols) {
  require_usable(optics, low_rows, low_cols);
  return wider_pupil(optics, low_rows, low_cols, 0);
}

Pupil resampled_pupil(const Pupil& given, Index low_rows, Index low_cols) {
  if (given.rows() == low_rows && given.cols() == low_cols) return given;
  const auto at = [&](Index row, Index col) {
    const bool there = row >= 0 && col >= 0 && row < given.rows() && col < given.cols();
    return there ? given(row, col) : std::complex<double>(0);
  };
  Pupil values(low_rows, low_cols);
  for (Index row = 0; row < low_rows; ++row)
    for (Index col = 0; col < low_cols; ++col) {
      const double y = static_cast<double>(row - low_rows / 2) * static_cast<double>(given.rows()) /
                           static_cast<double>(low_rows) +
                       static_cast<double>(given.rows() / 2);
      const double x = static_cast<double>(col - low_cols / 2) * static_cast<double>(given.cols()) /
                           static_cast<double>(low_cols) +
                       static_cast<double>(given.cols() / 2);
      const auto top = static_cast<Index>(std::floor(y)), left = static_cast<Index>(std::floor(x));
      const double v = y - std::floor(y), h = x - std::floor(x);
      values(row, col) = (1 - v) * ((1 - h) * at(top, left) + h * at(top, left + 1)) +
                         v * ((1 - h) * at(top + 1, left) + h * at(top + 1, left + 1));
    }
  return values;
}

Pupil cut_at_na(Pupil known, const Optics& optics, double wider) {
  const Index rows = known.rows(), cols = known.cols();
  const Pupil given = known;
  for (Index row = 0; row < rows; ++row)
    for (Index col = 0; col < cols; ++col) {
      if (rim_distance2(optics, rows, cols, row, col, 0, 0, wider) > 1) {
        known(row, col) = 0;
        continue;
      }
      // From here to frequency 0 in steps of one part in `rows`.
      const double y = static_cast<double>(row - rows / 2), x = static_cast<double>(col - cols / 2);
      for (double share = 1; share > 0 && known(row, col) == 0.0;
           share -= 1 / static_cast<double>(rows))
        known(row, col) = given(rows / 2 + static_cast<Index>(std::lround(share * y)),
                                cols / 2 + static_cast<Index>(std::lround(share * x)));
    }
  return known;
}

ImagePupils ImagePupils::of(const std::vector<Index>& images) const {
  ImagePupils some;
  for (const Index l : images) {
    if (!supports.empty()) some.supports.push_back(supports.at(static_cast<size_t>(l)));
    if (!shifts.empty()) some.shifts.push_back(shifts.at(static_cast<size_t>(l)));
  }
  return some;
}

ExactPupils exact_pupils(const Optics& optics, Index low_rows, Index low_cols,
                         const std::vector<Illumination>& lights) {
  require_usable(optics, low_rows, low_cols);
  ExactPupils exact{wider_pupil(optics, low_rows, low_cols, kExactMargin), {}};
  for (const Illumination& light : lights) {
    const double down = rounded_off(optics, low_rows, light.ky);
    const double right = rounded_off(optics, low_cols, light.kx);
    RowMatrix<float> support(low_rows, low_cols);
    for (Index row = 0; row < low_rows; ++row)
      for (Index col = 0; col < low_cols; ++col)
        support(row, col) =
            rim_distance2(optics, low_rows, low_cols, row, col, down, right) <= 1 ? 1 : 0;
    exact.own.supports.push_back(std::move(support));
    exact.own.shifts.push_back({down, right});
  }
  return exact;
}

double coverage(const Pupil& pupil, const std::vector<Window>& windows, Index led,
                const std::vector<Index>& others) {
  const Window& own = windows.at(static_cast<size_t>(led));
  Index samples = 0, covered = 0;
  for (Index row = 0; row < pupil.rows(); ++row) {
    for (Index col = 0; col < pupil.cols(); ++col) {
      if (!inside(pupil, row, col)) continue;
      ++samples;
      covered += std::any_of(others.begin(), others.end(), [&](Index other) {
        const Window& window = windows.at(static_cast<size_t>(other));
        return inside(pupil, row + own.row - window.row, col + own.col - window.col);
      });
    }
  }
  return samples == 0 ? 0 : static_cast<double>(covered) / static_cast<double>(samples);
}

}  // namespace udv
