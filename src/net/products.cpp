// SPDX-License-Identifier: MIT
#include "net/products.hpp"

#include <cblas.h>

#include <algorithm>

#include "core/blas.hpp"
#include "udv/core/parallel.hpp"

namespace udv::net {
namespace {

constexpr Index kWorthThreads = 1 << 20;  // multiply-adds
constexpr Index kBlocks = 8, kUnit = 64;  // at most so many blocks, of a multiple of so many

// One operand: its first entry, from one row to the next, and whether it counts as transposed.
template <typename Real>
struct Operand {
  const Real* data;
  Index stride;
  bool transposed;

  const Real* row(Index i) const { return data + (transposed ? i : i * stride); }
  const Real* col(Index j) const { return data + (transposed ? j * stride : j); }
};

CBLAS_TRANSPOSE flag(bool transposed) {
  return transposed ? CblasTrans : CblasNoTrans;
}

// C = A B of rows x cols, with `depth` terms in each sum.
void gemm(Operand<float> A, Operand<float> B, Index rows, Index cols, Index depth, float* C,
          Index stride) {
  cblas_sgemm(CblasRowMajor, flag(A.transposed), flag(B.transposed), static_cast<int>(rows),
              static_cast<int>(cols), static_cast<int>(depth), 1, A.data,
              static_cast<int>(A.stride), B.data, static_cast<int>(B.stride), 0, C,
              static_cast<int>(stride));
}
void gemm(Operand<double> A, Operand<double> B, Index rows, Index cols, Index depth, double* C,
          Index stride) {
  cblas_dgemm(CblasRowMajor, flag(A.transposed), flag(B.transposed), static_cast<int>(rows),
              static_cast<int>(cols), static_cast<int>(depth), 1, A.data,
              static_cast<int>(A.stride), B.data, static_cast<int>(B.stride), 0, C,
              static_cast<int>(stride));
}

// The longer side of the result is cut into blocks.
template <typename Real>
void run_product(Operand<Real> A, Operand<Real> B, Index depth, Rows<Real> C) {
  blas::use_one_thread();
  const Index rows = C.rows(), cols = C.cols(), side = std::max(rows, cols);
  const bool by_rows = rows >= cols;
  const auto run = [&](Index begin, Index end) {
    if (by_rows)
      gemm({A.row(begin), A.stride, A.transposed}, B, end - begin, cols, depth,
           C.data() + begin * C.outerStride(), C.outerStride());
    else
      gemm(A, {B.col(begin), B.stride, B.transposed}, rows, end - begin, depth, C.data() + begin,
           C.outerStride());
  };
  if (rows * cols * depth < kWorthThreads) {
    run(0, side);
  } else {
    const Index units = (side + kUnit - 1) / kUnit;
    parallel_blocks(side, (units + kBlocks - 1) / kBlocks * kUnit, run);
  }
}

template <typename Real>
Operand<Real> plain(const ConstRows<Real>& matrix) {
  return {matrix.data(), matrix.outerStride(), false};
}
template <typename Real>
Operand<Real> transposed(const ConstRows<Real>& matrix) {
  return {matrix.data(), matrix.outerStride(), true};
}

}  // namespace

template <typename Real>
void multiply_transposed(const ConstRows<Real>& X, const ConstRows<Real>& W, Rows<Real> Y) {
  run_product<Real>(plain<Real>(X), transposed<Real>(W), X.cols(), Y);
}

template <typename Real>
void multiply(const ConstRows<Real>& dY, const ConstRows<Real>& W, Rows<Real> dX) {
  run_product<Real>(plain<Real>(dY), plain<Real>(W), dY.cols(), dX);
}

template <typename Real>
void transposed_multiply(const ConstRows<Real>& dY, const ConstRows<Real>& X, Rows<Real> dW) {
  run_product<Real>(transposed<Real>(dY), plain<Real>(X), dY.rows(), dW);
}

#define UDV_INSTANTIATE(Real)                                                               \
  template void multiply_transposed<Real>(const ConstRows<Real>&, const ConstRows<Real>&,   \
                                          Rows<Real>);                                      \
  template void multiply<Real>(const ConstRows<Real>&, const ConstRows<Real>&, Rows<Real>); \
  template void transposed_multiply<Real>(const ConstRows<Real>&, const ConstRows<Real>&,   \
                                          Rows<Real>);
UDV_INSTANTIATE(float)
UDV_INSTANTIATE(double)
#undef UDV_INSTANTIATE

}  // namespace udv::net
