// SPDX-License-Identifier: MIT
#pragma once

#include "udv/core/export.hpp"
#include "udv/net/network.hpp"

namespace udv::net {

/// What the output layer sees, as a matrix: diag(w) U of m x d, one row per hidden neuron (the
/// paper's UD, transposed). F U for UFV, U where nothing stands in the middle, W for a single
/// layer. Biases and ReLU are left aside.
template <typename Real>
UDV_EXPORT RowMatrix<double> representation(const Network<Real>& network);

/// Its singular values, largest first. Above kGramWidth neurons by the eigenvalues of its Gram
/// matrix: values below 1e-8 of the largest are rounding there.
inline constexpr Index kGramWidth = 768;
template <typename Real>
UDV_EXPORT Vector<double> spectrum(const Network<Real>& network);

/// The same by the Gram matrix, whatever the width: for histories. O(d m^2 + m^3), but fast.
template <typename Real>
UDV_EXPORT Vector<double> quick_spectrum(const Network<Real>& network);

/// Singular values of any matrix, largest first, in the same two ways.
UDV_EXPORT Vector<double> singular_values(const RowMatrix<double>& M);

/// |M|_F^2 / sigma_1^2; 0 for M = 0.
UDV_EXPORT double stable_rank(const Vector<double>& spectrum);
/// Smallest number of singular values that carry this share of the energy sum sigma^2.
UDV_EXPORT Index energy_rank(const Vector<double>& spectrum, double share);
/// exp of the entropy of sigma / sum sigma: as many equal singular values look the same.
UDV_EXPORT double effective_rank(const Vector<double>& spectrum);

/// Neurons of the first hidden layer that something goes into and comes out of; outputs of a single
/// layer.
template <typename Real>
UDV_EXPORT Index live_width(const Network<Real>& network);

}  // namespace udv::net
