// SPDX-License-Identifier: MIT
#pragma once

#include "udv/net/trainer.hpp"

namespace udv::net {

inline constexpr Index kScorePiece = 512;  ///< rows of one piece of an evaluation

/// Loss, accuracy and the like, piece by piece; the workspace has room for one.
template <typename Real>
Score score_of(const Network<Real>& network, const Dataset<Real>& data,
               typename Network<Real>::Workspace& work);

}  // namespace udv::net
