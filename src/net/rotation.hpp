// SPDX-License-Identifier: MIT
#pragma once

#include "udv/net/dataset.hpp"
#include "udv/net/network.hpp"

namespace udv::net {

/// Coordinates for data with more features than rows, X of n x d with n < d: Q of d x k has the
/// right singular vectors of X, k <= n. An Adam step depends on the coordinates: among thousands of
/// features it follows noise, among principal directions it follows the strong ones first. A head
/// on x Q is a head on x with U Q^T, which has the same norm: the network itself does not change
/// its form.
template <typename Real>
class Rotation {
 public:
  /// Is it worth it for so many rows and features?
  static bool wanted(Index rows, Index inputs) { return inputs > rows && rows > 1; }

  explicit Rotation(const RowMatrix<Real>& X);

  /// Directions whose singular values stand out from noise: above omega(n / d) times the median,
  /// omega(b) = 0.56 b^3 - 0.95 b^2 + 1.82 b + 1.43 (Gavish and Donoho, 2014).
  Index num_signals() const { return signals_; }
  Index size() const { return Q_.cols(); }
  /// The first directions alone, divided by the root of the mean square of their coordinates.
  Rotation first(Index count) const;

  /// The same rows with x Q for x.
  Dataset<Real> turned(const Dataset<Real>& data) const;
  /// A network on x from one on x Q.
  Network<Real> turned_back(const Network<Real>& network) const;

 private:
  RowMatrix<Real> Q_;  // d x k
  Vector<double> s_;   // k
  Index rows_ = 0, signals_ = 0;
};

}  // namespace udv::net
