// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <vector>

#include "core/sums.hpp"
#include "udv/recover/operators/measurement_operator.hpp"

namespace udv {

/// part(begin, end) of each block of measurements, by index of those that this process holds. Few
/// measurements are one block; many entries are cut into 64 blocks of rows. Processes that share
/// the measurements compute their own blocks and know all of them afterwards, so that what is made
/// of the blocks in their order has the same bits for any number of threads and processes.
template <typename Scalar>
std::vector<double> parts_over(const MeasurementOperator<Scalar>& op,
                               const std::function<double(Index, Index)>& part);

template <typename Scalar>
double sum_over(const MeasurementOperator<Scalar>& op,
                const std::function<double(Index, Index)>& part) {
  double total = 0;
  for (const double value : parts_over(op, part)) total += value;
  return total;
}

/// <a, b> of two vectors of measurements.
template <typename Scalar>
double measured_dot(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a,
                    const Reals<Scalar>& b) {
  return sum_over(op, [&](Index begin, Index end) {
    return dot(a.data() + begin, b.data() + begin, end - begin);
  });
}
template <typename Scalar>
double measured_square(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a) {
  return measured_dot(op, a, a);
}
/// |a|, and the same without overflow.
template <typename Scalar>
double measured_norm(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a);
template <typename Scalar>
double measured_stable_norm(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a);
/// max_t |a_t|
template <typename Scalar>
double largest_measured(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a);
/// holds(t) for all measurements.
template <typename Scalar, typename Holds>
bool all_measured(const MeasurementOperator<Scalar>& op, const Holds& holds) {
  return sum_over(op, [&](Index begin, Index end) {
           for (Index t = begin; t < end; ++t)
             if (!holds(t)) return 1.0;
           return 0.0;
         }) == 0;
}

}  // namespace udv
