// SPDX-License-Identifier: MIT
#include "recover/solver/balance.hpp"

#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"
#include "udv/core/spectrum.hpp"

namespace udv {
namespace {

// The lines of Z that belong to a block, rows first.
template <typename Scalar>
std::vector<Index> lines_of(const StackedFactors<Scalar>& Z, const std::vector<Index>& rows,
                            const std::vector<Index>& cols) {
  std::vector<Index> lines = rows;
  if (!Z.symmetric)
    for (const Index col : cols) lines.push_back(Z.rows + col);
  return lines;
}

}  // namespace

template <typename Scalar>
StackedFactors<Scalar> balanced(const StackedFactors<Scalar>& Z) {
  const Reals<Scalar> ones = Reals<Scalar>::Ones(Z.rank());
  const auto svd =
      Z.symmetric ? factored_eigen<Scalar>(Z.U(), ones) : factored_svd<Scalar>(Z.U(), ones, Z.V());
  const Vector<Scalar> root = svd.s.cwiseMax(0).cwiseSqrt().template cast<Scalar>();
  StackedFactors<Scalar> result = Z;
  result.Z.resize(Z.Z.rows(), root.size());
  result.U() = svd.U * root.asDiagonal();
  if (!Z.symmetric) result.V() = svd.V * root.asDiagonal();
  return result;
}

template <typename Scalar>
StackedFactors<Scalar> leading_columns(const StackedFactors<Scalar>& Z, Index count) {
  StackedFactors<Scalar> result = Z;
  result.Z = Z.Z.leftCols(std::min(count, Z.rank()));
  return result;
}

template <typename Scalar>
StackedFactors<Scalar> balanced_by_blocks(
    const StackedFactors<Scalar>& Z,
    const std::vector<std::pair<std::vector<Index>, std::vector<Index>>>& blocks, double share) {
  std::vector<char> in_rest(static_cast<size_t>(Z.Z.rows()), 1);
  std::vector<std::vector<Index>> parts;
  std::vector<Index> rows_of_part;
  for (const auto& [rows, cols] : blocks) {
    parts.push_back(lines_of(Z, rows, cols));
    rows_of_part.push_back(static_cast<Index>(rows.size()));
    for (const Index line : parts.back()) in_rest[static_cast<size_t>(line)] = 0;
  }
  std::vector<Index> rest;
  for (Index line = 0; line < Z.Z.rows(); ++line)
    if (in_rest[static_cast<size_t>(line)]) rest.push_back(line);
  rows_of_part.push_back(
      std::count_if(rest.begin(), rest.end(), [&](Index line) { return line < Z.rows; }));
  parts.push_back(std::move(rest));

  StackedFactors<Scalar> result = Z;
  result.Z.setZero();
  Index widest = 0;
  for (size_t part = 0; part < parts.size(); ++part) {
    StackedFactors<Scalar> block = Z;
    block.rows = rows_of_part[part];
    block.Z = Z.Z(parts[part], Eigen::all);
    const StackedFactors<Scalar> own = balanced(block);
    const Index kept = significant_columns(own, share);
    result.Z(parts[part], Eigen::seqN(0, kept)) = own.Z.leftCols(kept);
    widest = std::max(widest, kept);
  }
  result.Z.conservativeResize(Eigen::NoChange, widest);
  return result;
}

template <typename Scalar>
Index significant_columns(const StackedFactors<Scalar>& balanced, double share) {
  if (balanced.rank() == 0) return 0;
  const Vector<double> squares =
      balanced.U().colwise().squaredNorm().transpose().template cast<double>();
  return (squares.array() > share * squares.maxCoeff()).count();
}

#define UDV_INSTANTIATE(Scalar)                                                          \
  template StackedFactors<Scalar> balanced(const StackedFactors<Scalar>&);               \
  template StackedFactors<Scalar> leading_columns(const StackedFactors<Scalar>&, Index); \
  template StackedFactors<Scalar> balanced_by_blocks(                                    \
      const StackedFactors<Scalar>&,                                                     \
      const std::vector<std::pair<std::vector<Index>, std::vector<Index>>>&, double);    \
  template Index significant_columns(const StackedFactors<Scalar>&, double);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
