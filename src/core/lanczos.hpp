// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/core/export.hpp"
#include "udv/core/random.hpp"
#include "udv/core/types.hpp"

namespace udv {

/// y = S x for a symmetric (Hermitian) S that is known by its product alone.
template <typename Scalar>
using SymmetricProduct = std::function<void(const Vector<Scalar>& x, Vector<Scalar>& y)>;

template <typename Scalar>
struct EigenPairs {
  Vector<double> values;   ///< smallest first
  Matrix<Scalar> vectors;  ///< one unit column per value
};

/// The `count` smallest eigenpairs of an n x n symmetric S by `steps` Lanczos steps with full
/// reorthogonalisation (fewer pairs where the Krylov space is exhausted). Memory n * steps.
template <typename Scalar>
UDV_EXPORT EigenPairs<Scalar> smallest_eigenpairs(Index n, const SymmetricProduct<Scalar>& product,
                                                  Index count, Index steps, Random& random);

/// The smallest eigenvalue alone, from above: stops when further steps move it by less than
/// `tolerance` of the largest magnitude seen.
template <typename Scalar>
UDV_EXPORT double smallest_eigenvalue(Index n, const SymmetricProduct<Scalar>& product,
                                      double tolerance, Index max_steps, Random& random);

}  // namespace udv
