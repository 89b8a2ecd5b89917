// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// The one source of randomness. std::mt19937_64 is fixed by the standard; its distributions are
/// not, so the transforms are ours: a seed gives the same numbers with every standard library.
/// Streams of one seed are independent.
class UDV_EXPORT Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0);

  double uniform();          ///< in [0, 1)
  double normal();           ///< mean 0, variance 1 (polar method)
  Index below(Index limit);  ///< uniform in 0 .. limit - 1
  std::uint64_t bits() { return engine_(); }
  std::vector<Index> permutation(Index size);  ///< of 0 .. size - 1

  template <typename Dense>
  void fill_normal(Eigen::MatrixBase<Dense>& values) {
    for (Index i = 0; i < values.rows(); ++i)
      for (Index j = 0; j < values.cols(); ++j) draw_normal(values(i, j));
  }

 private:
  template <typename Real>
  void draw_normal(Real& value) {
    value = static_cast<Real>(normal());
  }
  /// E|z|^2 = 1, real part first.
  template <typename Real>
  void draw_normal(std::complex<Real>& value) {
    const double re = normal() * std::sqrt(0.5), im = normal() * std::sqrt(0.5);
    value = {static_cast<Real>(re), static_cast<Real>(im)};
  }

  std::mt19937_64 engine_;
  double spare_ = 0;
  bool has_spare_ = false;
};

/// Names of the streams. The stream of row 0 of kStreamLines is that of kStreamDeterminacy, which
/// is harmless: the two draw for different purposes, and other numbers would change results.
enum RandomStream : std::uint64_t {
  kStreamInitialFactors = 1,
  kStreamLanczos = 2,
  kStreamHoldout = 3,
  kStreamProblem = 4,
  kStreamProbe = 5,
  kStreamRestarts = 6,
  kStreamSplit = 7,
  kStreamWeights = 8,
  kStreamBatches = 9,       ///< plus 16 times the epoch
  kStreamDeterminacy = 10,  ///< also the stream of line 0, see above
  kStreamLines = 10,        ///< plus 16 times the row or column
};

}  // namespace udv
