// SPDX-License-Identifier: MIT
// Images of the stand-in, by plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <numbers>
#include <utility>
#include <vector>

#include "recover/device/module.hpp"

namespace udv::device {

struct Imaging {
  ImagingShape shape;
  std::vector<std::int32_t> windows;
  std::vector<std::complex<double>> transfer;  // one for each image
  std::vector<double> shifts;                  // of each image, down and right; may be empty
  bool between = false;                        // windows of the unknown are moved by them

  std::int64_t pixels() const { return shape.low_rows * shape.low_cols; }
  // Number of the sample that pixel i of image l stands on.
  std::int64_t sample(std::int64_t l, std::int64_t i) const {
    return (windows[2 * l] + i / shape.low_cols) * shape.cols + windows[2 * l + 1] +
           i % shape.low_cols;
  }
  // use(rows down, columns right, weight) of the neighbours that f(k - shift_l) is made of.
  template <typename Use>
  void for_corners(std::int64_t l, const Use& use) const {
    const double y = -shifts[2 * l], x = -shifts[2 * l + 1];
    const double v = y - std::floor(y), h = x - std::floor(x);
    for (int i = 0; i < 4; ++i)
      use(static_cast<std::int64_t>(std::floor(y)) + i / 2,
          static_cast<std::int64_t>(std::floor(x)) + i % 2,
          (i / 2 ? v : 1 - v) * (i % 2 ? h : 1 - h));
  }
  // use(sample, its share) for the samples that pixel i of image l has.
  template <typename Use>
  void for_samples(std::int64_t l, std::int64_t i, const Use& use) const {
    if (!between) return use(sample(l, i), 1.0);
    for_corners(l, [&](std::int64_t down, std::int64_t right, double weight) {
      use(sample(l, i) + down * shape.cols + right, weight);
    });
  }
  // |P| with the phase of P(k - shift_l) at pixel i.
  std::complex<double> moved(const std::vector<std::complex<double>>& P, std::int64_t l,
                             std::int64_t i) const {
    std::complex<double> sum = 0;
    for_corners(l, [&](std::int64_t down, std::int64_t right, double weight) {
      const std::int64_t r = i / shape.low_cols + down, c = i % shape.low_cols + right;
      if (r >= 0 && r < shape.low_rows && c >= 0 && c < shape.low_cols)
        sum += weight * P[r * shape.low_cols + c];
    });
    const double size = std::abs(sum);
    return size > 0 ? std::abs(P[i]) / size * sum : P[i];
  }
};

// The factors of out_k = sum_n in_n exp(sign 2 pi i k n / size) with size = a b, n = b n1 + n2 and
// k = k1 + a k2: exp(n1 k1 / a) exp(n2 k1 / size) exp(n2 k2 / b).
template <typename Complex>
struct FourierPlan {
  std::int64_t size, a = 1, b;
  std::vector<Complex> first, turn, second, between;  // k1 x n1, n2 x k1, k2 x n2, n2 x k1

  FourierPlan(std::int64_t length, int sign) : size(length) {
    for (std::int64_t f = 1; f * f <= size; ++f)
      if (size % f == 0) a = f;
    b = size / a;
    const auto fill = [&](std::vector<Complex>& out, std::int64_t rows, std::int64_t cols,
                          std::int64_t step) {
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < cols; ++c)
          out.push_back(Complex(std::polar(1.0, sign * 2 * std::numbers::pi *
                                                    static_cast<double>(r * c * step % size) /
                                                    static_cast<double>(size))));
    };
    fill(first, a, a, b);
    fill(turn, b, a, 1);
    fill(second, b, b, a);
    between.resize(static_cast<std::size_t>(size));
  }

  static Complex times(const Complex& x, const Complex& y) {  // without a look for NaN
    return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
  }

  // In place, numbers `stride` apart.
  void run(Complex* line, std::int64_t stride) {
    for (std::int64_t n2 = 0; n2 < b; ++n2)
      for (std::int64_t k1 = 0; k1 < a; ++k1) {
        Complex sum = 0;
        for (std::int64_t n1 = 0; n1 < a; ++n1)
          sum += times(line[(b * n1 + n2) * stride], first[k1 * a + n1]);
        between[n2 * a + k1] = times(sum, turn[n2 * a + k1]);
      }
    for (std::int64_t k2 = 0; k2 < b; ++k2)
      for (std::int64_t k1 = 0; k1 < a; ++k1) {
        Complex sum = 0;
        for (std::int64_t n2 = 0; n2 < b; ++n2)
          sum += times(between[n2 * a + k1], second[k2 * b + n2]);
        line[(k1 + a * k2) * stride] = sum;
      }
  }
};

template <typename Complex>
FourierPlan<Complex>& plan_of(std::int64_t size, int sign) {
  static std::map<std::pair<std::int64_t, int>, FourierPlan<Complex>> plans;
  return plans.try_emplace({size, sign}, size, sign).first->second;
}

template <typename Complex>
void fourier_of_image(Complex* image, std::int64_t rows, std::int64_t cols, int sign) {
  FourierPlan<Complex>&along = plan_of<Complex>(cols, sign), &down = plan_of<Complex>(rows, sign);
  for (std::int64_t r = 0; r < rows; ++r) along.run(image + r * cols, 1);
  for (std::int64_t c = 0; c < cols; ++c) down.run(image + c, cols);
}

inline void release_imaging(Imaging* imaging) {
  delete imaging;
}

template <typename T>
struct ImagingLoops {
  using Complex = std::complex<T>;

  static Complex* complex(T* x) { return reinterpret_cast<Complex*>(x); }
  static const Complex* complex(const T* x) { return reinterpret_cast<const Complex*>(x); }
  // use(pixel of all images, image)
  template <typename Use>
  static void for_pixels(const ImageData<T>* data, const Use& use) {
    for (std::int64_t i = 0; i < data->images * data->pixels; ++i) use(i, i / data->pixels);
  }

  static Imaging* make_imaging(const ImagingShape* shape, const T* transfer,
                               const float* supports) {
    auto* const made = new Imaging{*shape, {}, {}, {}};
    made->windows.assign(shape->windows, shape->windows + 2 * shape->images);
    if (shape->shifts) made->shifts.assign(shape->shifts, shape->shifts + 2 * shape->images);
    made->shape.windows = nullptr;
    made->shape.shifts = nullptr;
    const Complex* const numbers = complex(transfer);
    const std::vector<std::complex<double>> P(numbers, numbers + shape->transfers * made->pixels());
    for (std::int64_t l = 0; l < shape->images; ++l)
      for (std::int64_t i = 0; i < made->pixels(); ++i) {
        const auto own = made->shifts.empty()
                             ? P[(shape->transfers == 1 ? 0 : l) * made->pixels() + i]
                             : made->moved(P, l, i);
        made->transfer.push_back(own * (supports ? supports[l * made->pixels() + i] : 1.0));
      }
    return made;
  }
  static Imaging* seen_imaging(const Imaging* from, const T* u) {
    auto* const made = new Imaging(*from);
    made->between = !from->shifts.empty();
    const int margin = made->between ? 1 : 0;
    made->shape.rows = from->shape.low_rows + 2 * margin;
    made->shape.cols = from->shape.low_cols + 2 * margin;
    std::fill(made->windows.begin(), made->windows.end(), margin);
    for (std::int64_t l = 0; l < from->shape.images; ++l)
      for (std::int64_t i = 0; i < from->pixels(); ++i) {
        const T* const at = u + from->sample(l, i) * line_stride<T>(2);
        made->transfer[l * from->pixels() + i] *= std::complex<double>(at[0], at[1]);
      }
    return made;
  }
  static void project(const Imaging* m, const T* u, std::int64_t columns, T* fields) {
    const std::int64_t pixels = m->pixels(), images = m->shape.images;
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t l = 0; l < images; ++l) {
        Complex* const psi = complex(fields) + (c * images + l) * pixels;
        for (std::int64_t i = 0; i < pixels; ++i) {
          Complex value = 0;
          m->for_samples(l, i, [&](std::int64_t sample, double weight) {
            const T* const at = u + sample * line_stride<T>(2 * columns) + 2 * c;
            value += static_cast<T>(weight) * Complex(at[0], at[1]);
          });
          psi[i] = Complex(m->transfer[l * pixels + i]) * value;
        }
        fourier_of_image(psi, m->shape.low_rows, m->shape.low_cols, m->shape.forward ? -1 : 1);
      }
  }
  static void back_project(const Imaging* m, T* fields, std::int64_t columns, T* out) {
    const std::int64_t pixels = m->pixels(), images = m->shape.images;
    const std::int64_t stride = line_stride<T>(2 * columns);
    std::fill_n(out, m->shape.rows * m->shape.cols * stride, T(0));
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t l = 0; l < images; ++l) {
        Complex* const psi = complex(fields) + (c * images + l) * pixels;
        fourier_of_image(psi, m->shape.low_rows, m->shape.low_cols, m->shape.forward ? 1 : -1);
        for (std::int64_t i = 0; i < pixels; ++i) {
          const Complex value = std::conj(Complex(m->transfer[l * pixels + i])) * psi[i];
          m->for_samples(l, i, [&](std::int64_t sample, double weight) {
            T* const at = out + sample * stride + 2 * c;
            at[0] += static_cast<T>(weight) * value.real();
            at[1] += static_cast<T>(weight) * value.imag();
          });
        }
      }
  }
  static void coverage(const Imaging* m, const double* weights, T* out) {
    std::vector<double> sums(static_cast<std::size_t>(m->shape.rows * m->shape.cols));
    for (std::int64_t l = 0; l < m->shape.images; ++l)
      for (std::int64_t i = 0; i < m->pixels(); ++i)
        m->for_samples(l, i, [&](std::int64_t sample, double weight) {
          sums[sample] +=
              weight * weight * weights[l] * std::norm(m->transfer[l * m->pixels() + i]);
        });
    for (std::size_t k = 0; k < sums.size(); ++k) out[k] = static_cast<T>(sums[k]);
  }
  static void scale_fields(const T* z, std::int64_t size, std::int64_t columns, T* fields) {
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t i = 0; i < size; ++i) complex(fields)[c * size + i] *= z[i];
  }
  static void intensity(T* fields, std::int64_t size, std::int64_t columns, const double* d,
                        const T* b, bool scale, T* z, double* squares) {
    double total = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      double sum = b ? -static_cast<double>(b[i]) : 0;
      for (std::int64_t c = 0; c < columns; ++c)
        sum += d[c] * std::norm(std::complex<double>(complex(fields)[c * size + i]));
      z[i] = static_cast<T>(sum);
      total += static_cast<double>(z[i]) * static_cast<double>(z[i]);
    }
    if (squares) *squares = total;
    if (scale) scale_fields(z, size, columns, fields);
  }
  static void overlaps(const T* at, T* fields, std::int64_t size, std::int64_t columns,
                       const double* d, bool replace, T* y) {
    for (std::int64_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::int64_t c = 0; c < columns; ++c) {
        const Complex a = complex(at)[c * size + i], f = complex(fields)[c * size + i];
        sum += d[c] * static_cast<double>(a.real() * f.real() + a.imag() * f.imag());
      }
      y[i] = static_cast<T>(sum);
      if (replace)
        for (std::int64_t c = 0; c < columns; ++c)
          complex(fields)[c * size + i] = y[i] * complex(at)[c * size + i];
    }
  }

  static double predicted(Complex psi, double background) {
    return std::sqrt(static_cast<double>(std::norm(psi)) + background);
  }
  static void slopes(const T* psi, const ImageData<T>* data, const double* backgrounds,
                     double* out) {
    std::fill_n(out, 2 * data->images, 0.0);
    for_pixels(data, [&](std::int64_t i, std::int64_t l) {
      const double q = predicted(complex(psi)[i], backgrounds[l]);
      const double share = static_cast<double>(data->amplitudes[i]) / q;
      const auto weight = static_cast<double>(data->weights[i]);
      out[2 * l] += weight * (1 - share);
      out[2 * l + 1] += weight * share / (2 * q * q);
    });
  }
  static void amplitude_residual(T* psi, const ImageData<T>* data, const double* backgrounds,
                                 bool pull, double* squares) {
    double sum = 0;
    for_pixels(data, [&](std::int64_t i, std::int64_t l) {
      const auto q = static_cast<T>(predicted(complex(psi)[i], backgrounds[l]));
      const T left = q - data->amplitudes[i], weight = data->weights[i];
      sum += static_cast<double>(weight) * static_cast<double>(left) * static_cast<double>(left);
      if (pull) complex(psi)[i] = weight * left * (q > 0 ? complex(psi)[i] / q : Complex(1));
    });
    if (squares) *squares = sum;
  }
  static void directions(T* psi, const ImageData<T>* data, const double* backgrounds, T* inverse) {
    for_pixels(data, [&](std::int64_t i, std::int64_t l) {
      const auto q = static_cast<T>(predicted(complex(psi)[i], backgrounds[l]));
      inverse[i] = q > 0 ? 1 / q : T(0);
      complex(psi)[i] = q > 0 ? complex(psi)[i] / q : Complex(1);
    });
  }
  static void keep_changes(const T* e, const T* inverse, const ImageData<T>* data,
                           const double* moving, T* psi) {
    const auto change = [&](std::int64_t i) {
      const Complex a = complex(e)[i], f = complex(psi)[i];
      return a.real() * f.real() + a.imag() * f.imag();
    };
    std::vector<double> product(static_cast<std::size_t>(data->images)), square(product.size());
    for_pixels(data, [&](std::int64_t i, std::int64_t l) {
      const double weighted = static_cast<double>(data->weights[i]) * inverse[i];
      product[l] += weighted * static_cast<double>(change(i));
      square[l] += weighted * static_cast<double>(inverse[i]);
    });
    for_pixels(data, [&](std::int64_t i, std::int64_t l) {
      const bool moves = moving[l] != 0 && square[l] > 0;
      const T shift = moves ? static_cast<T>(product[l] / square[l]) : T(0);
      complex(psi)[i] = data->weights[i] * (change(i) - shift * inverse[i]) * complex(e)[i];
    });
  }
  static void weigh_lines(const T* weights, const T* x, std::int64_t lines, std::int64_t width,
                          bool add, T* out) {
    const std::int64_t stride = line_stride<T>(width);
    for (std::int64_t i = 0; i < lines * stride; ++i)
      out[i] = (add ? out[i] : T(0)) + weights[i / stride] * x[i];
  }
  static void shifted_inverse(const T* x, T shift, T* out, std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i) out[i] = 1 / (x[i] + shift);
  }
};

}  // namespace udv::device
