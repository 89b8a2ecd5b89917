// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/net/network.hpp"

namespace udv::net {

/// Whole neurons of a network with several hidden ReLU layers, the first layer first. In each layer
/// they are chosen by what they add to the values of the next linear map for given rows (orthogonal
/// matching pursuit), and that map is fitted anew by least squares to what it made before.
template <typename Real>
class UDV_EXPORT LayerPruning {
 public:
  /// At most 20,000 rows of X (n x d), spread evenly, are looked at. Throws InvalidArgument where
  /// the network has no ReLU or X has another width.
  LayerPruning(const Network<Real>& network, const ConstRows<Real>& X);
  ~LayerPruning();
  LayerPruning(LayerPruning&&) noexcept;

  /// Every layer keeps as few neurons, at least one, as lose at most this share, 0 to 1, of the
  /// energy (sum of squares over the rows) of what the next map makes of them. The matrices have
  /// norm 1, their sizes are in the diagonals, where the variant has them.
  Network<Real> keep_energy(double lost) const;
  /// Every layer keeps the first neurons of its order, at most so many.
  Network<Real> keep_most(Index neurons) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

/// Networks of growing size, the last one the whole: lost shares of 1 to 1e-7, four to a decade.
/// Those no larger than the one before are left out.
template <typename Real>
UDV_EXPORT std::vector<Network<Real>> pruning_ladder(const Network<Real>& network,
                                                     const LayerPruning<Real>& pruning);

/// Neurons of all hidden layers.
UDV_EXPORT Index hidden_neurons(const Sizes& sizes);

}  // namespace udv::net
