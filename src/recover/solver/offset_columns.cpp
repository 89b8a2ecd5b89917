// SPDX-License-Identifier: MIT
#include "recover/solver/offset_columns.hpp"

#include "core/instantiate.hpp"

namespace udv {
namespace {

template <typename Scalar>
Vector<Scalar> line_values(const Vector<double>& biases, Index size) {
  return biases.size() == size ? Vector<Scalar>(biases.template cast<Scalar>())
                               : Vector<Scalar>(Vector<Scalar>::Zero(size));
}

// Appends (left; right).
template <typename Scalar>
void append(StackedFactors<Scalar>& Z, const Vector<Scalar>& left, const Vector<Scalar>& right) {
  const Index k = Z.rank();
  Z.Z.conservativeResize(Eigen::NoChange, k + 1);
  Z.Z.col(k).head(Z.rows) = left;
  Z.Z.col(k).tail(Z.Z.rows() - Z.rows) = right;
}

}  // namespace

template <typename Scalar>
StackWithOffsets<Scalar> with_offsets(const StackedFactors<Scalar>& Z, Centering center,
                                      const Biases& biases) {
  StackWithOffsets<Scalar> result;
  result.Z = Z;
  if (center == Centering::kNone || center == Centering::kAuto || Z.symmetric) return result;
  const Index p = Z.rows, q = Z.Z.rows() - p, k = Z.rank();
  const bool rows = center == Centering::kRows || center == Centering::kBoth;
  const bool cols = center == Centering::kCols || center == Centering::kBoth;
  const bool global = center == Centering::kGlobal;
  const Vector<Scalar> constant =
      Vector<Scalar>::Constant(p, static_cast<RealOf<Scalar>>(biases.global));
  const Vector<Scalar> row_ones = Vector<Scalar>::Ones(p), col_ones = Vector<Scalar>::Ones(q);
  if (rows || global)
    append<Scalar>(result.Z, global ? constant : line_values<Scalar>(biases.row, p), col_ones);
  if (cols) append<Scalar>(result.Z, row_ones, line_values<Scalar>(biases.col, q));

  AllowedDirections<Scalar>& allowed = result.allowed;
  allowed.columns = result.Z.rank() - k;
  allowed.fixed =
      kParts<Scalar> * ((rows || global ? q : 0) + (cols ? p : 0) + (global ? p - 1 : 0));
  // V + 1 c^T and a - U c leave the sum alone, so do U + 1 c^T and b - V c, and a + t, b - t.
  allowed.more_gauge = kParts<Scalar> * ((rows ? k : 0) + (cols ? k : 0) + (rows && cols ? 1 : 0));
  allowed.apply = [=](RowMatrix<Scalar>& P) {
    if (rows || global) P.col(k).tail(q).setZero();
    if (global) P.col(k).head(p).setConstant(P.col(k).head(p).mean());
    if (cols) P.col(P.cols() - 1).head(p).setZero();
  };
  return result;
}

#define UDV_INSTANTIATE(Scalar)                                                            \
  template StackWithOffsets<Scalar> with_offsets(const StackedFactors<Scalar>&, Centering, \
                                                 const Biases&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
