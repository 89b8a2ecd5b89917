// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "udv/core/error.hpp"
#include "udv/core/parallel.hpp"
#include "udv/core/random.hpp"
#include "udv/core/types.hpp"

/// What every test needs: seeded Gaussian arrays, machine precision, messages of errors.
namespace udv::testing {

inline constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Streams of the library start at 1: tests take numbers that it never sees.
inline constexpr std::uint64_t kTestStream = 1000;

inline RowMatrix<double> random_rows(Index rows, Index cols, std::uint64_t seed) {
  RowMatrix<double> values(rows, cols);
  Random random(seed, kTestStream);
  random.fill_normal(values);
  return values;
}

inline Vector<double> random_vector(Index size, std::uint64_t seed) {
  return random_rows(size, 1, seed);
}

/// Uniform in [0, 1).
inline Vector<double> random_weights(Index size, std::uint64_t seed) {
  Vector<double> values(size);
  Random random(seed, kTestStream);
  for (double& value : values) value = random.uniform();
  return values;
}

/// U diag(d) V^T, formed.
inline RowMatrix<double> dense(const RowMatrix<double>& U, const Vector<double>& d,
                               const RowMatrix<double>& V) {
  return U * d.asDiagonal() * V.transpose();
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
