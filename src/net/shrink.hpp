// SPDX-License-Identifier: MIT
#pragma once

#include "udv/net/network.hpp"
#include "udv/net/optimizer.hpp"

namespace udv::net {

/// Takes out hidden neurons that are exactly inert: two of weights in, diagonal entry and weights
/// out are zero, and so is the optimizer's memory of them; no step can ever wake them. True where
/// some left. The network computes the same, to rounding. Several hidden layers are left alone.
template <typename Real>
bool remove_inert(Network<Real>& network, OptimizerState<Real>& state);

/// Re-factors a head with a linear middle (U diag(w) V or U V) to the smallest width whose singular
/// values of UD carry all but `tail` of the energy, in the same constraint sets:
///   diag(w) U = P S Q^T,  U' = diag(a) Q_r^T,  V' = V P_r diag(b / n),  w' = s n / (a b),
/// n_j = |V p_j|. The norms of U and V stay as they were and all w'_j are equal, as they start:
/// with a_j, b_j ~ sqrt(s_j n_j) every direction goes on growing at the same rate under adaptive
/// rules. The optimizer's moments go through the same linear maps as the gradients (squares of them
/// for second moments). True where it became smaller by at least a sixteenth. Heads with ReLU or a
/// full middle layer stay as they are.
template <typename Real>
bool shrink_head(Network<Real>& network, OptimizerState<Real>& state, double tail);

}  // namespace udv::net
