// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>

#include "recover/device/entries_device.hpp"
#include "recover/operators/team_columns.hpp"
#include "recover/solver/bayes_side.hpp"

namespace udv {

/// Leading singular vectors of a weighted residual, singular values d, and for each pair of vectors
/// the sum of (u_i v_j)^2 over the entries. The vectors are on the host or on the device.
struct Directions {
  TeamColumns U, V;
  device::DeviceMatrix<double> away_U, away_V;
  Vector<double> d, overlap;
};

/// Entries with their values and weights on the device, as variational Bayes needs them. Fits share
/// the values; each has its own weights.
template <typename Real>
class BayesOnDevice {
 public:
  /// `value` by number of the entry. The operator is on the device and has to stay.
  BayesOnDevice(const EntriesOperator<double>& op, const double* value);

  /// As update_side().
  BayesSums update(int side, const BayesSide<Real>& other, const BayesUpdate& update,
                   BayesSide<Real>& own, Vector<double>* line_squares) const;
  /// Of what the means of both sides leave, with mean mu.
  device::ResidualStatistics residuals(const BayesSide<Real>& rows, const BayesSide<Real>& cols,
                                       double mean, double limit = 0) const;
  /// Expected prediction of each entry, by number.
  Vector<double> fitted(const BayesSide<Real>& rows, const BayesSide<Real>& cols,
                        double mean) const;

  struct NoiseLevels {
    const Vector<double>*rows = nullptr, *cols = nullptr;  ///< of each line, where not all are 1
    double smallest_count = 0;                             ///< > 0: by the signal
  };
  struct WeightSums {
    double entries = 0, total = 0, half_log = 0;
  };
  /// New weights: those of the entries times what the noise model adds.
  WeightSums weigh(const NoiseLevels& noise, const BayesSide<Real>& rows,
                   const BayesSide<Real>& cols, double mean);

  Directions directions(const BayesSide<Real>& rows, const BayesSide<Real>& cols, double mean,
                        Index count, int rounds, std::uint64_t seed) const;

 private:
  struct Shared {
    device::Array<double> value[2];
    device::Array<Real> known[2];  // weights of the entries; nothing where all are 1
  };
  const Real* weight(int side) const;
  const Real* known(int side) const;
  void visit(int side, const BayesSide<Real>& own, const BayesSide<Real>& other, double mean,
             double limit, device::ResidualStatistics* statistics, double* weighted,
             double* predicted) const;

  const device::EntriesOnDevice<double>* entries_;
  std::shared_ptr<const Shared> shared_;
  std::shared_ptr<const std::array<device::Array<Real>, 2>> weight_;
};

}  // namespace udv
