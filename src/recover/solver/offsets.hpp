// SPDX-License-Identifier: MIT
#pragma once

#include "recover/solver/bias_fit.hpp"
#include "udv/core/export.hpp"

namespace udv {

/// A model of entries b = A(U V^T + biases).
struct OffsetModel {
  Centering center = Centering::kNone;
  Biases biases;
  StackedFactors<double> Z;  ///< (U; V)
};

/// Offsets that are so large against what they leave (30 times) that they are better subtracted
/// before anything else: the simplest kind that `allowed` includes, nothing where there is none.
UDV_EXPORT OffsetModel dominant_offsets(const MeasurementOperator<double>& op,
                                        const Vector<double>& b, Centering allowed);

/// The model with the fewest parameters that has the entries of `start`, an exact fit; of the kind
/// `wanted` unless that is kAuto. Whether biases lower the rank is a matter of algebra: row biases
/// do where 1 lies in the row space of U V^T, a global one where it lies in both spaces. The
/// factors are fitted again; |A(..) - b| <= zero is required. `start` itself where nothing is
/// better, or where nothing would be left to recover.
UDV_EXPORT OffsetModel exact_offsets(const MeasurementOperator<double>& op, const Vector<double>& b,
                                     const OffsetModel& start, Centering wanted, double zero);

/// The kinds of offsets that a or b has.
UDV_EXPORT Centering joined(Centering a, Centering b);
UDV_EXPORT Biases sum_of(const Biases& a, Biases b);
/// a - b.
UDV_EXPORT Biases difference(const Biases& a, Biases b);

}  // namespace udv
