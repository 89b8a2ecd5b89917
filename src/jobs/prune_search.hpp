// SPDX-License-Identifier: MIT
#pragma once

#include <functional>

#include "udv/net/prune_budget.hpp"

namespace udv::jobs {

/// A network that was made smaller and trained further.
struct TrainedSmaller {
  net::TrainStop stop = net::TrainStop::kDone;
  Index rank = 0;  ///< of the candidates; 0: none was within the limit
  net::Network<float> network;
};

/// The smallest of the candidates 1 .. most, networks of growing size, that is within the limit on
/// the validation part after training: relative loss of accuracy, or of the loss for values,
/// against `whole`. Looks at `most` and then by halving, from a quarter of it on, at four others.
TrainedSmaller search_smaller(const net::Network<float>& whole, Index most, double limit,
                              const std::function<net::Network<float>(Index)>& candidate,
                              const net::PruneParts<float>& parts,
                              const net::RetrainOptions& training,
                              const net::TrainHooks<float>& hooks);

}  // namespace udv::jobs
