// SPDX-License-Identifier: MIT
#pragma once

#include <Eigen/Core>

namespace udv {

using Index = Eigen::Index;

template <typename Scalar>
using RealOf = typename Eigen::NumTraits<Scalar>::Real;

template <typename Scalar>
using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;

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
