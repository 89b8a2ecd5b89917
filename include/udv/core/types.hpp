// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>
#include <complex>
#include <limits>

namespace udv {

using Index = Eigen::Index;

/// The library works over float, double and the complex numbers made of them. Factors are of type
/// Scalar; measurements, residuals and the weights d are real numbers whatever X is.
template <typename Scalar>
using RealOf = typename Eigen::NumTraits<Scalar>::Real;

template <typename Scalar>
inline constexpr bool kIsComplex = Eigen::NumTraits<Scalar>::IsComplex;

/// Real numbers that make one Scalar.
template <typename Scalar>
inline constexpr Eigen::Index kParts = kIsComplex<Scalar> ? 2 : 1;

/// Scalars seen as real numbers, kParts as many.
template <typename Scalar>
RealOf<Scalar>* reals_of(Scalar* values) {
  return reinterpret_cast<RealOf<Scalar>*>(values);
}
template <typename Scalar>
const RealOf<Scalar>* reals_of(const Scalar* values) {
  return reinterpret_cast<const RealOf<Scalar>*>(values);
}

/// As NumPy and run.json call it: float32, float64, complex64, complex128.
template <typename Scalar>
constexpr const char* scalar_name() {
  constexpr bool kSingle = sizeof(RealOf<Scalar>) == 4;
  return kIsComplex<Scalar> ? (kSingle ? "complex64" : "complex128")
                            : (kSingle ? "float32" : "float64");
}

/// Rounding unit of a scalar type's real numbers.
template <typename Scalar>
inline constexpr double kEpsilon = std::numeric_limits<RealOf<Scalar>>::epsilon();

template <typename Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

/// Measurements, residuals and weights of a problem over Scalar.
template <typename Scalar>
using Reals = Vector<RealOf<Scalar>>;

/// Small dense matrices: cores of factorizations, normal equations.
template <typename Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

/// Tall thin factors, one contiguous row per row of X: measurements touch rows.
template <typename Scalar>
using RowMatrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Read and write views of a whole factor or of a block of its rows; never a copy.
template <typename Scalar>
using ConstRows = Eigen::Ref<const RowMatrix<Scalar>>;
template <typename Scalar>
using Rows = Eigen::Ref<RowMatrix<Scalar>>;

}  // namespace udv
