// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "udv/core/export.hpp"
#include "udv/net/network.hpp"

namespace udv::net {

/// How a pruned head is written.
enum class PruneForm {
  kPaper,     ///< orthonormal rows of U, D = the singular values kept
  kBalanced,  ///< the same function inside the variant's constraint sets, to go on training
};

/// The neurons of a head in the order of what they carry, so that any number of them can be kept.
/// A linear middle by the SVD of UD = P S Q^T: keeping r gives U' = Q_r^T, D' = S_r, V' = V P_r,
/// and error^2 = sum of the dropped s^2 in UD. With ReLU, or where asked for, whole neurons go: by
/// what they add to the outputs for given rows, the others being fitted anew to the outputs by
/// least squares; without rows by |w_j| |u_j| |v_j|.
template <typename Real>
class UDV_EXPORT Pruning {
 public:
  /// Throws InvalidArgument where the head has no hidden neurons.
  explicit Pruning(const Network<Real>& network, bool whole_neurons = false);
  /// Whole neurons by what they add to the outputs for the rows of X (n x d), by orthogonal
  /// matching pursuit; at most 20,000 rows, spread evenly, are looked at.
  Pruning(const Network<Real>& network, const ConstRows<Real>& X);
  ~Pruning();
  Pruning(Pruning&&) noexcept;

  bool by_svd() const;
  bool by_outputs() const;  ///< the weights of keep(r) are fitted to the outputs
  /// Singular values of UD or sizes of neurons, largest first; or what each neuron adds to the
  /// outputs beside those before it (root of the sum of squares), in the order of choice.
  const Vector<double>& sizes() const;
  Index neurons() const { return sizes().size(); }

  /// Keeps the first r, 1 <= r <= neurons(). UFV becomes UDV-unconstrained, others stay what they
  /// are.
  Network<Real> keep(Index r, PruneForm form = PruneForm::kPaper) const;
  /// Parameters of keep(r).
  Index parameters(Index r) const;
  /// The whole head as one dense layer, where its middle is linear.
  std::optional<Network<Real>> collapse() const;
  /// keep(r), or collapse() where one dense layer is no larger: r (d + c) >= d c.
  Network<Real> smallest(Index r) const;

  /// look(r, outputs) for r = 0 .. neurons(): what keep(r) makes of X. All of them together cost
  /// little more than the last one.
  void for_each_rank(const ConstRows<Real>& X,
                     const std::function<void(Index, const RowMatrix<double>&)>& look) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace udv::net
