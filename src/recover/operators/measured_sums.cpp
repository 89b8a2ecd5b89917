// SPDX-License-Identifier: MIT
#include "recover/operators/measured_sums.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "recover/operators/entry_shares.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

// Entries in the order of their rows, so many that they are cut into blocks.
template <typename Scalar>
const EntriesOperator<Scalar>* in_blocks(const MeasurementOperator<Scalar>& op) {
  if (kIsComplex<Scalar> || op.num_measurements() < many_entries()) return nullptr;
  const auto* const entries = dynamic_cast<const EntriesOperator<Scalar>*>(&op);
  return entries && entries->in_order_of_rows() ? entries : nullptr;
}

}  // namespace

template <typename Scalar>
std::vector<double> parts_over(const MeasurementOperator<Scalar>& op,
                               const std::function<double(Index, Index)>& part) {
  const auto* const entries = in_blocks(op);
  if (!entries) return {part(0, op.num_measurements())};
  const SparseLines rows = entries->by_row();
  const Index per_block = lines_per_block(op.rows());
  std::vector<double> parts(static_cast<size_t>((op.rows() + per_block - 1) / per_block));
  parallel_blocks(rows.count - rows.begin, per_block, [&](Index begin, Index end) {
    parts[static_cast<size_t>((rows.begin + begin) / per_block)] =
        part(rows.first[rows.begin + begin], rows.first[rows.begin + end]);
  });
  if (entries->is_spread()) {
    LineShares blocks = entries->shares().spread->rows;
    for (Index& bound : blocks.bounds) bound = (bound + per_block - 1) / per_block;
    blocks.gather(parts.data(), sizeof(double));
  }
  return parts;
}

template <typename Scalar>
double measured_norm(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a) {
  return in_blocks(op) ? std::sqrt(measured_square(op, a)) : static_cast<double>(a.norm());
}

template <typename Scalar>
double measured_stable_norm(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a) {
  if (!in_blocks(op)) return static_cast<double>(a.stableNorm());
  const double largest = largest_measured(op, a);
  if (!(largest > 0) || !std::isfinite(largest)) return largest;
  return largest * std::sqrt(sum_over(op, [&](Index begin, Index end) {
           double sum = 0;
           for (Index t = begin; t < end; ++t) sum += std::pow(a(t) / largest, 2);
           return sum;
         }));
}

template <typename Scalar>
double largest_measured(const MeasurementOperator<Scalar>& op, const Reals<Scalar>& a) {
  const auto parts = parts_over(op, [&](Index begin, Index end) {
    return begin < end ? static_cast<double>(a.segment(begin, end - begin).cwiseAbs().maxCoeff())
                       : 0.0;
  });
  return *std::max_element(parts.begin(), parts.end());
}

#define UDV_INSTANTIATE(Scalar)                                                                   \
  template std::vector<double> parts_over(const MeasurementOperator<Scalar>&,                     \
                                          const std::function<double(Index, Index)>&);            \
  template double measured_norm(const MeasurementOperator<Scalar>&, const Reals<Scalar>&);        \
  template double measured_stable_norm(const MeasurementOperator<Scalar>&, const Reals<Scalar>&); \
  template double largest_measured(const MeasurementOperator<Scalar>&, const Reals<Scalar>&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
