// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "support/reference.hpp"
#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/core/types.hpp"

/// What every test needs: seeded Gaussian arrays, machine precision, messages of errors.
namespace udv::testing {

inline constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Streams of the library start at 1: tests take numbers that it never sees.
inline constexpr std::uint64_t kTestStream = 1000;

template <typename Scalar = double>
RowMatrix<Scalar> random_rows(Index rows, Index cols, std::uint64_t seed) {
  RowMatrix<Scalar> values(rows, cols);
  Random random(seed, kTestStream);
  random.fill_normal(values);
  return values;
}

template <typename Scalar = double>
Vector<Scalar> random_vector(Index size, std::uint64_t seed) {
  return random_rows<Scalar>(size, 1, seed);
}

/// Uniform in [0, 1).
template <typename Real = double>
Vector<Real> random_weights(Index size, std::uint64_t seed) {
  Vector<Real> values(size);
  Random random(seed, kTestStream);
  for (Real& value : values) value = static_cast<Real>(random.uniform());
  return values;
}

/// Re <a, b>
template <typename Left, typename Right>
double inner(const Eigen::MatrixBase<Left>& a, const Eigen::MatrixBase<Right>& b) {
  return std::real(a.conjugate().cwiseProduct(b).sum());
}

/// The message of the InvalidArgument that `action` throws.
template <typename Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

/// Sets the number of threads for one scope.
class ThreadCount {
 public:
  explicit ThreadCount(int count) { set_num_threads(count); }
  ~ThreadCount() { set_num_threads(0); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;
};

}  // namespace udv::testing
