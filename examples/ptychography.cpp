// SPDX-License-Identifier: MIT
// Fourier ptychography: 25 images of 32 x 32 pixels become one of 64 x 64.
#include <iostream>
#include <udv/udv.hpp>

int main() {
  using Complex = std::complex<float>;
  udv::Optics optics{532e-9, 0.1, 1.8e-6, 4, 90};  // wavelength, NA, pixel; LED pitch and distance
  const auto lights = udv::illuminations(optics, udv::spiral_order(25));
  const auto windows = udv::spectrum_windows(optics, 32, 32, lights);
  const udv::PtychographyOperator<Complex> camera(64, 64, windows, udv::pupil(optics, 32, 32));
  udv::Vector<Complex> sample(64 * 64);  // waves in two directions
  for (int i = 0; i < sample.size(); ++i) sample(i) = 2 + std::sin(i % 64 / 5.0 + i / 700.0);
  udv::RowMatrix<Complex> fields;
  camera.project(camera.from_image(sample), fields);
  udv::ImageStack images{25, 32, 32, udv::ImageKind::kAmplitude, {}};
  for (const Complex& field : fields.reshaped()) images.values.push_back(std::abs(field));

  udv::jobs::Session session;
  const auto data = udv::ptychography_data(images, optics, lights);
  const auto result = udv::jobs::ptychography(data, {}, session);
  const bool good = result.amplitude_residual < 0.01;
  std::cout << result.image.rows() << " x " << result.image.cols() << (good ? ", good\n" : "\n");
}
