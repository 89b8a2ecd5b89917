// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/spectrum.hpp"
#include "udv/core/types.hpp"

namespace udv::net {

/// The change of one weight of a model: W0 + B diag(d) A. There is no other scale: alpha / r is in
/// the factors. Rank 0 changes nothing.
struct UDV_EXPORT AdapterBlock {
  std::string name;    ///< path in the model, such as model.layers.0.self_attn.q_proj
  RowMatrix<float> A;  ///< r x in
  Vector<float> d;     ///< r, ones for LoRA
  RowMatrix<float> B;  ///< out x r

  Index rank() const { return d.size(); }
  Index parameters() const { return A.size() + B.size(); }  ///< of A and B
};

/// An adapter of a language model, LoRA or LoRA-UDV.
struct UDV_EXPORT Adapter {
  std::vector<AdapterBlock> blocks;
  std::string base_model;                       ///< name or path, may be empty
  std::string method = "lora";                  ///< or "lora-udv"
  std::map<std::string, std::string> metadata;  ///< of its file

  /// Of A and B, and of d for lora-udv.
  Index parameters() const;
};

/// Singular values of B diag(d) A, largest first, without forming it; in double precision.
UDV_EXPORT Vector<double> spectrum(const AdapterBlock& block);

/// The best approximation of this rank at most: P S Q^T becomes B = P sqrt(S), d = 1,
/// A = sqrt(S) Q^T, for LoRA-UDV too; error^2 = sum of the dropped s^2.
UDV_EXPORT AdapterBlock truncated(const AdapterBlock& block, Index rank);

/// The SVD of every block, computed once, so that many budgets can be looked at.
class UDV_EXPORT AdapterPruning {
 public:
  using Ranks = std::vector<Index>;  ///< one per block

  explicit AdapterPruning(const Adapter& adapter);

  std::size_t blocks() const { return svds_.size(); }
  const Vector<double>& spectrum(std::size_t block) const { return svds_[block].s; }

  /// Smallest ranks that keep this share of sum s^2 of each block; 0 for a block of zeros.
  Ranks ranks_of_energy(double share) const;
  /// This rank at most; 0 for a block of zeros.
  Ranks ranks_at_most(Index rank) const;
  /// The largest energy for all blocks with parameters after / before <= ratio. Throws
  /// InvalidArgument where even rank 1 is too much.
  double energy_for_ratio(double ratio) const;

  /// The ranks of that energy; where even rank 1 is too much, rank 1 for the blocks that carry most
  /// and 0 for the others. Throws InvalidArgument where no block at all fits.
  Ranks ranks_of_ratio(double ratio) const;

  Index parameters(const Ranks& ranks) const;
  double ratio(const Ranks& ranks) const;  ///< parameters after / before
  double energy_kept(std::size_t block, Index rank) const;

  Adapter keep(const Ranks& ranks) const;

 private:
  Index parameters_of(std::size_t block, Index rank) const;
  std::vector<double> breakpoints() const;

  Adapter shell_;  // all but the factors
  Index diagonal_ = 0, before_ = 0;
  std::vector<FactoredSvd<float>> svds_;  // B diag(d) A = U diag(s) V^T
};

/// The ranks of all blocks in a few numbers.
struct RankFigures {
  Index blocks = 0;  ///< of rank 1 at least
  Index least = 0, most = 0;
  double mean = 0;
};
UDV_EXPORT RankFigures figures_of(const AdapterPruning::Ranks& ranks);
UDV_EXPORT AdapterPruning::Ranks ranks_of(const Adapter& adapter);

UDV_EXPORT Adapter prune_to_energy(const Adapter& adapter, double energy);
UDV_EXPORT Adapter prune_to_rank(const Adapter& adapter, Index rank);
UDV_EXPORT Adapter prune_to_ratio(const Adapter& adapter, double ratio);

}  // namespace udv::net
