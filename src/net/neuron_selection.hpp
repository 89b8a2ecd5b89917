// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/core/types.hpp"

namespace udv::net {

/// Hidden neurons in the order in which they explain the outputs, and least-squares fits of the
/// outputs by the first r of them for every r at once. H (n x m) holds hidden values less their
/// means where the network has a bias, T = H V^T (n x c) what the head makes of them.
struct NeuronSelection {
  std::vector<Index> order;  ///< m
  Vector<double> mean;       ///< m: what was taken off the columns of H, in the network's order
  RowMatrix<double> L;       ///< m x m, lower: H^T H in this order = L L^T, to a small ridge
  RowMatrix<double> C;       ///< m x c: coordinates of T in the orthonormal columns of H L^-T
};

/// Orthogonal matching pursuit on the outputs: K = H^T H + 1e-7 mean(diag K) I, B = K V^T; the next
/// neuron is argmax |B_j|^2 / K_jj of what the chosen ones leave of K and B. O(m^3) in all.
NeuronSelection select_neurons(RowMatrix<double> hidden, const RowMatrix<double>& V, bool centred);

/// Output weights (c x r) of the first r neurons, fitted to the outputs: V'^T = L_r^-T C_r.
RowMatrix<double> refitted_outputs(const NeuronSelection& selection, Index r);

}  // namespace udv::net
