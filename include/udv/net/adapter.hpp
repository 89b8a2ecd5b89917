// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <vector>

#include "udv/core/export.hpp"
#include "udv/core/spectrum.hpp"
#include "udv/core/types.hpp"
#include "udv/net/calibration.hpp"
#include "udv/net/rank_budget.hpp"

namespace udv::net {

/// The change of one weight of a model: W0 + B diag(d) A. There is no other scale: alpha / r is in
/// the factors. Rank 0 changes nothing.
struct UDV_EXPORT AdapterBlock {
  std::string name;    ///< path in the model, such as model.layers.0.self_attn.q_proj
  RowMatrix<float> A;  ///< r x in
  Vector<float> d;     ///< r, ones for LoRA, >= 0 for LoRA-UDV
  RowMatrix<float> B;  ///< out x r

  Index rank() const { return d.size(); }
  Index parameters() const { return A.size() + B.size(); }  ///< of A and B
};

/// An adapter of a language model: LoRA, LoRA-UDV or AdaLoRA.
struct UDV_EXPORT Adapter {
  std::vector<AdapterBlock> blocks;
  std::string base_model;                       ///< name or path, may be empty
  std::string method = "lora";                  ///< or "lora-udv", "adalora"
  std::map<std::string, std::string> metadata;  ///< of its file
  std::string number_type = "F32";              ///< of its file: F32, F16, BF16 or F64

  /// Of A and B, and of d where that learns.
  Index parameters() const;
};

/// Singular values of B diag(d) A, largest first, without forming it; in double precision.
UDV_EXPORT Vector<double> spectrum(const AdapterBlock& block);

/// The best approximation of this rank at most: P S Q^T becomes B = P sqrt(S), d = 1,
/// A = sqrt(S) Q^T, for LoRA-UDV too; error^2 = sum of the dropped s^2.
UDV_EXPORT AdapterBlock truncated(const AdapterBlock& block, Index rank);

/// The SVD of every block, computed once, so that many budgets can be looked at. With a calibration
/// it is that of Cy^1/2 B diag(d) A Cx^1/2: what is dropped first is what changes the loss least.
/// Where its slope G is known, a direction s u v^T counts with the size sqrt(s^2 - 2 s u^T G v), at
/// least s / 10.
class UDV_EXPORT AdapterPruning {
 public:
  using Ranks = RankBudget::Ranks;  ///< one per block

  /// Throws InvalidArgument where the calibration is that of other layers, or has no moments of a
  /// block.
  explicit AdapterPruning(const Adapter& adapter, const Calibration& calibration = {});

  std::size_t blocks() const { return svds_.size(); }
  const Vector<double>& spectrum(std::size_t block) const { return budget_.matrix(block).s; }
  bool is_calibrated() const { return calibrated_; }
  /// 1/2 sum of the dropped sizes^2 is about the increase of the loss.
  bool measures_loss() const { return measures_loss_; }
  const RankBudget& budget() const { return budget_; }

  Ranks ranks_of_energy(double share) const { return budget_.of_energy(share); }
  Ranks ranks_at_most(Index rank) const { return budget_.at_most(rank); }
  double energy_for_ratio(double ratio) const { return budget_.energy_for_ratio(ratio); }
  /// By one energy for all blocks; with a calibration by what each direction is worth.
  Ranks ranks_of_ratio(double ratio) const {
    return calibrated_ ? budget_.by_value(ratio) : budget_.of_ratio(ratio);
  }

  Index parameters(const Ranks& ranks) const { return budget_.numbers(ranks); }
  double ratio(const Ranks& ranks) const { return budget_.ratio(ranks); }
  double energy_kept(std::size_t block, Index rank) const {
    return budget_.energy_kept(block, rank);
  }

  Adapter keep(const Ranks& ranks) const;

 private:
  Adapter shell_;  // all but the factors
  bool calibrated_ = false, measures_loss_ = false;
  std::vector<FactoredSvd<float>> svds_;  // B diag(d) A = U diag(s) V^T; U, V orthonormal in the
                                          // metric
  RankBudget budget_;
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
