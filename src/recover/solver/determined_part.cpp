// SPDX-License-Identifier: MIT
#include "recover/solver/determined_part.hpp"

#include "core/instantiate.hpp"

namespace udv {
namespace {

void remove(std::vector<char>& kept, const std::vector<Index>& lines) {
  for (const Index line : lines) kept[static_cast<size_t>(line)] = 0;
}

std::vector<Index> listed(const std::vector<char>& kept) {
  std::vector<Index> lines;
  for (size_t i = 0; i < kept.size(); ++i)
    if (kept[i]) lines.push_back(static_cast<Index>(i));
  return lines;
}

}  // namespace

template <typename Scalar>
DeterminedLines determined_lines(const MeasurementOperator<Scalar>& op, Index rank) {
  const Undetermined open = op.undetermined(rank);
  std::vector<char> rows(static_cast<size_t>(op.rows()), 1);
  std::vector<char> cols(static_cast<size_t>(op.cols()), 1);
  remove(rows, open.empty_rows);
  remove(rows, open.rows);
  remove(cols, open.empty_cols);
  remove(cols, open.cols);
  for (const auto& [block_rows, block_cols] : open.blocks) {
    remove(rows, block_rows);
    remove(cols, block_cols);
  }
  return {listed(rows), listed(op.symmetric() ? rows : cols)};
}

template <typename Scalar>
FactoredSvd<Scalar> svd_of_part(const StackedFactors<Scalar>& Z, const DeterminedLines& lines) {
  const Reals<Scalar> ones = Reals<Scalar>::Ones(Z.rank());
  const RowMatrix<Scalar> U = Z.U()(lines.rows, Eigen::all);
  if (Z.symmetric) return factored_eigen<Scalar>(U, ones);
  return factored_svd<Scalar>(U, ones, Z.V()(lines.cols, Eigen::all));
}

template <typename Scalar>
StackedFactors<Scalar> stack_of_part(const FactoredSvd<Scalar>& svd, Index rank,
                                     const StackedFactors<Scalar>& like,
                                     const DeterminedLines& lines) {
  const Index q = like.symmetric ? like.rows : like.Z.rows() - like.rows;
  StackedFactors<Scalar> Z(like.rows, q, like.symmetric, rank);
  const Vector<Scalar> root = svd.s.head(rank).cwiseMax(0).cwiseSqrt().template cast<Scalar>();
  Z.U()(lines.rows, Eigen::all) = svd.U.leftCols(rank) * root.asDiagonal();
  if (!like.symmetric) Z.V()(lines.cols, Eigen::all) = svd.V.leftCols(rank) * root.asDiagonal();
  return Z;
}

#define UDV_INSTANTIATE(Scalar)                                                                    \
  template DeterminedLines determined_lines(const MeasurementOperator<Scalar>&, Index);            \
  template FactoredSvd<Scalar> svd_of_part(const StackedFactors<Scalar>&, const DeterminedLines&); \
  template StackedFactors<Scalar> stack_of_part(                                                   \
      const FactoredSvd<Scalar>&, Index, const StackedFactors<Scalar>&, const DeterminedLines&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
