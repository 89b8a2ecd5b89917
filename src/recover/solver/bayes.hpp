// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/archive.hpp"
#include "recover/solver/bayes_device.hpp"
#include "recover/solver/bayes_noise.hpp"
#include "recover/solver/bayes_side.hpp"
#include "recover/solver/live_lines.hpp"
#include "udv/core/export.hpp"
#include "udv/recover/centering.hpp"
#include "udv/recover/factors/stacked_factors.hpp"
#include "udv/recover/solver/recovery.hpp"

namespace udv {

/// When a run of sweeps ends.
struct BayesStop {
  double tolerance = 1e-5;  ///< gain of the bound per sweep and entry
  int max_sweeps = 300;
  double to_beat = -1e300;  ///< ends early where this bound is out of reach
  bool prune = true;
  std::function<bool(double)> go_on = nullptr;  ///< gets sigma; false ends the run
};

/// How far a run of sweeps has come.
struct BayesRun {
  double bound = -1e300;  ///< after the last sweep
  int sweeps = 0;
};

/// Variational Bayes for entries of a matrix:
///   r_ij = mu + b_i + c_j + u_i . v_j + N(0, sigma^2 / w_ij)
/// with Gaussian priors, one variance for each column of U and of V and one for each kind of bias,
/// all learned. The posterior of a row is a Gaussian (b_i, u_i), that of a column (c_j, v_j), with
/// full covariances. A sweep maximises the evidence lower bound over all rows, all columns, the
/// noise, the variances, and over all changes of U and V that leave U V^T + biases as it is:
/// rotations, and shifts between factors and biases. Columns that are not needed vanish.
/// Real is the type in which posteriors are stored; systems are solved in double precision.
template <typename Real>
class UDV_EXPORT BayesFit {
 public:
  /// b_t = sqrt(w_t) r_t. Both arguments have to stay.
  BayesFit(const EntriesOperator<double>& op, const Vector<double>& b);

  /// Biases alone, of the kinds that `center` has, before any entry is looked at.
  void start(Centering center);
  /// The same for columns to come that explain the mean, too.
  void start_without_mean(Centering center) { start(center), mean_ = 0; }
  /// Means of the biases that start() has, before the first sweep.
  void set_biases(const Biases& biases);
  /// Appends these columns to the factors: columns that explain what the present means leave.
  void append(const StackedFactors<double>& Z);
  /// The noise that the present means leave, of a fit with `freedom` parameters.
  void measure_noise(double freedom);
  /// Appends `count` columns along the leading singular vectors of the residual. For some sweeps
  /// all columns then have equal prior variances: else weak ones would vanish before they have
  /// found their direction.
  void grow(Index count, std::uint64_t seed) { grow(directions(count, seed)); }
  void grow(const Directions& directions);
  /// Each with the length that explains most.
  Directions directions(Index count, std::uint64_t seed) const;
  /// Leaves out the biases that `center` has not. They become columns of the factors where they are
  /// not negligible.
  void restrict_to(Centering center);

  /// One sweep; the bound after it. The rows are then those before the last rotation: finish().
  double sweep();
  /// Removes columns whose means are small against their spread; how many.
  Index prune();
  /// Sweeps until the bound settles; goes on from `run` and keeps it up to date.
  void run(const BayesStop& stop, BayesRun& run);
  void run(const BayesStop& stop) {
    BayesRun from_first;
    run(stop, from_first);
  }
  /// Brings the rows up to date; the bound does not fall.
  void finish();
  /// Frees the rows, which finish() and sweep() make again from the columns.
  void release_rows() { rows_.release(); }

  /// All that a fit needs to go on after a sweep, with the same bits: the next one makes the rows
  /// from the columns.
  void write(ArchiveWriter& archive) const;
  /// Takes the place of start(). Throws InvalidArgument where this is not a fit of such a matrix.
  void read(ArchiveReader& archive);

  double bound() const { return bound_; }
  Index rank() const { return rows_.width - 1; }
  Index sweeps() const { return sweeps_; }
  Index pruned() const { return pruned_; }
  Centering center() const { return center_; }
  double mean() const { return mean_; }
  double variance() const { return variance_; }
  void fix_variance(double variance);
  const BayesSide<Real>& rows() const { return rows_; }
  const BayesSide<Real>& cols() const { return cols_; }
  /// At the very end, on the host.
  BayesSide<Real> take_rows() { return rows_.bring_to_host(), std::move(rows_); }
  BayesSide<Real> take_cols() { return cols_.bring_to_host(), std::move(cols_); }
  StackedFactors<double> factors() const;
  Biases biases() const;
  /// Expected prediction of each entry.
  Vector<double> fitted() const;
  /// Of all entries, in standard deviations of their noise.
  double largest_residual() const;
  /// Share of the entries whose residuals are no smaller than this many standard deviations.
  double share_beyond(double deviations) const;

  /// Noise of another kind from now on: by rows, by columns, by both, or by the signal, which
  /// stands for counts. Their variance is sigma^2 max(prediction, smallest_count()).
  void set_noise(NoiseKind kind);
  NoiseKind noise() const { return noise_; }
  /// What a level for each row (or column) would add to the bound with all else as it is.
  double gain_of_line_noise(bool by_rows);
  const LineNoise& row_noise() const { return row_noise_; }
  const LineNoise& col_noise() const { return col_noise_; }
  double smallest_count() const { return smallest_count_; }

 private:
  /// use(row, entry, expected prediction) for all entries; rows may be in several threads.
  template <typename Use>
  void for_each_fitted(const Use& use) const;
  double weight_of(Index entry) const {
    return weight_ ? static_cast<double>((*weight_)[static_cast<size_t>(entry)]) : 1;
  }
  void gather_rows(Vector<double>& of_rows) const;
  std::pair<double, double> sums_of_values();
  double squared_residuals() const;
  device::ResidualStatistics residuals_on_device(double limit = 0) const;
  BayesEntries<Real> row_entries() const;
  BayesEntries<Real> col_entries() const;
  Directions leading_directions(Index count, std::uint64_t seed) const;
  Directions balanced_directions(const Vector<double>& z, Index count, std::uint64_t seed) const;
  Vector<double> weighted_residual() const;
  void weigh();
  void weigh_on_device();
  void update_rows();
  void update_cols();
  void learn_noise();
  void tie_priors();
  void learn_priors();
  void reparametrise();
  double evidence() const;
  bool settled(double gain, const BayesStop& stop) const;
  template <typename Archive>
  void figures(Archive& archive);
  void restore_noise(ArchiveReader& archive);

  const EntriesOperator<double>* op_;
  const double* value_ = nullptr;
  std::shared_ptr<const Vector<double>> own_values_;  // r, where b has weights
  std::shared_ptr<std::vector<Real>> weight_;
  // The same by entries of own columns, where processes share the entries.
  std::shared_ptr<const std::vector<double>> col_values_;
  std::shared_ptr<const std::vector<Real>> col_weight_;
  std::optional<BayesOnDevice<Real>> device_;  // instead of value_ and weight_ in all loops
  // Noise by the signal: what the weights are made of.
  struct Signal {
    LineMeans rows, cols;
    double mean = 0;
  };
  std::shared_ptr<const Signal> signal_;
  NoiseKind noise_ = NoiseKind::kEqual;
  LineNoise row_noise_, col_noise_;
  double smallest_count_ = 0;
  Index in_dead_lines_ = 0;  // entries that say nothing of the noise
  LiveLines live_;           // where there are such entries
  double num_entries_ = 0, total_weight_ = 0, half_log_weight_ = 0;

  Vector<double> counts(bool by_rows) const;
  LineNoise equal_noise(bool by_rows) const;

  Centering center_ = Centering::kNone;
  BayesSide<Real> rows_, cols_;
  BayesSums row_sums_, col_sums_;
  double mean_ = 0, variance_ = 1, bound_ = -1e300;
  bool fixed_variance_ = false;
  Index sweeps_ = 0, pruned_ = 0, since_growth_ = 0, tied_sweeps_ = 0;
};

}  // namespace udv
