// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "udv/net/dataset.hpp"
#include "udv/net/loss.hpp"
#include "udv/net/network.hpp"
#include "udv/net/optimizer.hpp"

namespace udv::net {

/// Steps measured by the size of what they change. An Adam step moves every entry by about the
/// learning rate; a matrix in a ball of radius 1 has entries of size 1 / sqrt(entries). With
///   U, V  lr / sqrt(entries of the ball): a full step has the Frobenius length lr
///   w     lr mean(w)
/// one learning rate serves every width. Bias vectors outside of balls move as matrices do.
template <typename Real>
std::vector<StepSegment> relative_segments(const Network<Real>& network);

/// Mean of the squared gradient over the hidden neurons, in the place of every entry: one second
/// moment for each input of U and each output of V, one for all of w. Strengthens the bias to low
/// rank. With `whole` one for each array: steps are along the gradient, whatever the coordinates.
template <typename Real>
void share_squares(const Network<Real>& network, const Vector<Real>& gradient, bool whole,
                   Vector<Real>& squares);

/// Starts a network for relative steps: Gaussian matrices on the spheres of their balls, all w_j
/// equal to w0 = L0 / ||G0||_2, doubled for a ReLU. L0 is the loss of the outputs 0 and G0 = dL/dW
/// its gradient in the product matrix; L0 <= ||G0||_2 ||W||_* for every W without loss, so w0 is a
/// lower bound of the nuclear norm needed. With balls for every neuron w_j = w0 / m. In deeper
/// networks each diagonal makes the mean norm of its hidden vectors 1, the last is then multiplied
/// by L0 / ||mean dL h^T||_2. At most the first 2,048 rows are used.
template <typename Real>
void initialise_relative(Network<Real>& network, const Dataset<Real>& training,
                         const LossSettings& loss, std::uint64_t seed);

}  // namespace udv::net
