// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "udv/core/export.hpp"
#include "udv/recover/phase.hpp"

namespace udv {

/// How message passing takes account of W.
enum class Messages {
  kScalar,  ///< one variance for all unknowns: right for independent rows, no work beforehand
  kVector,  ///< the eigenvalues of W^* W: right for any W with random directions
};

/// Vector messages need the eigenvectors of W^* W, unless it is diagonal: O(p^3) once.
template <typename Scalar>
bool has_vector_messages(const IntensityOperator<Scalar>& op);

struct MessageOptions {
  Messages kind = Messages::kScalar;
  PhasePrior prior;  ///< of scalar messages; else x_j ~ N(0, rho) of the measured size
  std::uint64_t seed = 0;
};

/// A start for phase retrieval by approximate message passing from a random x_0: the x with the
/// smallest residual |(|W x| - sqrt(b))|. kScalar is generalised AMP (Rangan, 2011), kVector its
/// form for W of any spectrum (Schniter, Rangan, Fletcher, 2016). With Gaussian rows they succeed
/// from m = 1.13 n real and 2.03 n complex measurements on, as n grows (Maillard, Loureiro,
/// Krzakala, Zdeborova, 2020).
template <typename Scalar>
Vector<Scalar> pass_messages(const IntensityOperator<Scalar>& op, const Reals<Scalar>& b,
                             const MessageOptions& options, const FitMonitor& monitor);

/// I_1(k) / I_0(k) for k >= 0, to 1e-6: the mean of cos t for a density ~ exp(k cos t).
double bessel_ratio(double k);

}  // namespace udv
