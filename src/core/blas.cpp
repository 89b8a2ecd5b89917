// SPDX-License-Identifier: MIT
#include "core/blas.hpp"

#include <cblas.h>

#include "core/instantiate.hpp"
#include "core/require.hpp"

namespace udv::blas {
namespace {

int size_of(Index n) {
  require(n <= std::numeric_limits<int>::max(), "BLAS: ", n, " rows or columns are too many");
  return static_cast<int>(n);
}

// One operand as BLAS takes it.
template <typename Scalar>
struct Operand {
  CBLAS_TRANSPOSE form;
  int rows, cols;  // as stored
  const Scalar* data;
  int stride;

  bool turned() const { return form == CblasTrans || form == CblasConjTrans; }
  int result_rows() const { return turned() ? cols : rows; }
  int result_cols() const { return turned() ? rows : cols; }
};

CBLAS_TRANSPOSE flag(Form form, bool is_complex) {
  switch (form) {
    case Form::kTransposed:
      return CblasTrans;
    case Form::kAdjoint:
      return is_complex ? CblasConjTrans : CblasTrans;
    case Form::kConjugate:
      return is_complex ? CblasConjNoTrans : CblasNoTrans;
    default:
      return CblasNoTrans;
  }
}

template <typename Scalar>
Operand<Scalar> operand(Form form, const ConstRows<Scalar>& A) {
  return {flag(form, kIsComplex<Scalar>), size_of(A.rows()), size_of(A.cols()), A.data(),
          size_of(A.outerStride())};
}

void gemm(const Operand<float>& A, const Operand<float>& B, float* C, int stride) {
  cblas_sgemm(CblasRowMajor, A.form, B.form, A.result_rows(), B.result_cols(), A.result_cols(), 1,
              A.data, A.stride, B.data, B.stride, 0, C, stride);
}
void gemm(const Operand<double>& A, const Operand<double>& B, double* C, int stride) {
  cblas_dgemm(CblasRowMajor, A.form, B.form, A.result_rows(), B.result_cols(), A.result_cols(), 1,
              A.data, A.stride, B.data, B.stride, 0, C, stride);
}
void gemm(const Operand<std::complex<float>>& A, const Operand<std::complex<float>>& B,
          std::complex<float>* C, int stride) {
  const std::complex<float> one = 1, zero = 0;
  cblas_cgemm(CblasRowMajor, A.form, B.form, A.result_rows(), B.result_cols(), A.result_cols(),
              &one, A.data, A.stride, B.data, B.stride, &zero, C, stride);
}
void gemm(const Operand<std::complex<double>>& A, const Operand<std::complex<double>>& B,
          std::complex<double>* C, int stride) {
  const std::complex<double> one = 1, zero = 0;
  cblas_zgemm(CblasRowMajor, A.form, B.form, A.result_rows(), B.result_cols(), A.result_cols(),
              &one, A.data, A.stride, B.data, B.stride, &zero, C, stride);
}

// One column: the faster kernel.
void gemv(const Operand<float>& A, const float* x, int step, float* y, int y_step) {
  cblas_sgemv(CblasRowMajor, A.form, A.rows, A.cols, 1, A.data, A.stride, x, step, 0, y, y_step);
}
void gemv(const Operand<double>& A, const double* x, int step, double* y, int y_step) {
  cblas_dgemv(CblasRowMajor, A.form, A.rows, A.cols, 1, A.data, A.stride, x, step, 0, y, y_step);
}
void gemv(const Operand<std::complex<float>>& A, const std::complex<float>* x, int step,
          std::complex<float>* y, int y_step) {
  const std::complex<float> one = 1, zero = 0;
  cblas_cgemv(CblasRowMajor, A.form, A.rows, A.cols, &one, A.data, A.stride, x, step, &zero, y,
              y_step);
}
void gemv(const Operand<std::complex<double>>& A, const std::complex<double>* x, int step,
          std::complex<double>* y, int y_step) {
  const std::complex<double> one = 1, zero = 0;
  cblas_zgemv(CblasRowMajor, A.form, A.rows, A.cols, &one, A.data, A.stride, x, step, &zero, y,
              y_step);
}

}  // namespace

void use_one_thread() {
  static const bool once = [] {
    openblas_set_num_threads(1);
    return true;
  }();
  static_cast<void>(once);
}

template <typename Scalar>
void multiply(Form form_a, const ConstRows<Scalar>& A, Form form_b, const ConstRows<Scalar>& B,
              Rows<Scalar> C) {
  use_one_thread();
  const Operand<Scalar> a = operand<Scalar>(form_a, A), b = operand<Scalar>(form_b, B);
  require(a.result_cols() == b.result_rows() && a.result_rows() == C.rows() &&
              b.result_cols() == C.cols(),
          "BLAS: shapes of a product do not fit");
  if (C.size() == 0) return;
  const int stride = size_of(C.outerStride());
  if (a.result_cols() == 0)
    C.setZero();
  else if (b.cols == 1 && b.form == CblasNoTrans)
    gemv(a, b.data, b.stride, C.data(), stride);
  else
    gemm(a, b, C.data(), stride);
}

#define UDV_INSTANTIATE(Scalar)                                                                  \
  template void multiply<Scalar>(Form, const ConstRows<Scalar>&, Form, const ConstRows<Scalar>&, \
                                 Rows<Scalar>);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv::blas
