// SPDX-License-Identifier: MIT
#include "core/blas.hpp"

#include <cblas.h>

#include "core/instantiate.hpp"
#include "core/require.hpp"

namespace udv::blas {
namespace {

// OpenBLAS is for decompositions and for large layers. For the thin factors of this library its
// products take up to five times as long as Eigen's (OpenBLAS 0.3.21, complex<float>).

bool is_turned(Form form) {
  return form == Form::kTransposed || form == Form::kAdjoint;
}
bool is_conjugate(Form form) {
  return form == Form::kConjugate || form == Form::kAdjoint;
}

// y = A x or A^T x, for numbers one after the other.
template <typename Scalar>
void multiply_vector(const ConstRows<Scalar>& A, bool turned, const Scalar* x, Scalar* y) {
  const Eigen::Map<const Vector<Scalar>> in(x, turned ? A.rows() : A.cols());
  Eigen::Map<Vector<Scalar>> out(y, turned ? A.cols() : A.rows());
  if (turned)
    out.noalias() = A.transpose() * in;
  else
    out.noalias() = A * in;
}

// Up to so many columns are faster one by one than all at once.
constexpr Index kFewColumns = 3;

// C = A B or A^T B, column by column.
template <typename Scalar>
void multiply_columns(const ConstRows<Scalar>& A, bool turned, const ConstRows<Scalar>& B,
                      Rows<Scalar> C) {
  if (B.cols() == 1 && B.outerStride() == 1 && C.outerStride() == 1) {
    multiply_vector<Scalar>(A, turned, B.data(), C.data());
    return;
  }
  Vector<Scalar> in, out(C.rows());
  for (Index j = 0; j < B.cols(); ++j) {
    in = B.col(j);
    multiply_vector<Scalar>(A, turned, in.data(), out.data());
    C.col(j) = out;
  }
}

// C = A B with either matrix transposed or not.
template <typename Scalar>
void multiply_plain(const ConstRows<Scalar>& A, bool turn_a, const ConstRows<Scalar>& B,
                    bool turn_b, Rows<Scalar> C) {
  if (!turn_b && B.cols() <= kFewColumns)
    multiply_columns<Scalar>(A, turn_a, B, C);
  else if (turn_a && turn_b)
    C.noalias() = A.transpose() * B.transpose();
  else if (turn_a)
    C.noalias() = A.transpose() * B;
  else if (turn_b)
    C.noalias() = A * B.transpose();
  else
    C.noalias() = A * B;
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
  const bool turn_a = is_turned(form_a), turn_b = is_turned(form_b);
  const Index depth = turn_a ? A.rows() : A.cols();
  require(depth == (turn_b ? B.cols() : B.rows()) && C.rows() == (turn_a ? A.cols() : A.rows()) &&
              C.cols() == (turn_b ? B.rows() : B.cols()),
          "shapes of a product do not fit");
  if (C.size() == 0) return;
  if (depth == 0) {
    C.setZero();
    return;
  }
  // conj(A) B = conj(A conj(B)): the kernels for plain numbers do for all forms, and B is thin.
  const bool conj_a = kIsComplex<Scalar> && is_conjugate(form_a);
  const bool conj_b = kIsComplex<Scalar> && is_conjugate(form_b);
  if (conj_a != conj_b)
    multiply_plain<Scalar>(A, turn_a, RowMatrix<Scalar>(B.conjugate()), turn_b, C);
  else
    multiply_plain<Scalar>(A, turn_a, B, turn_b, C);
  if (conj_a) C = C.conjugate().eval();
}

#define UDV_INSTANTIATE(Scalar)                                                                  \
  template void multiply<Scalar>(Form, const ConstRows<Scalar>&, Form, const ConstRows<Scalar>&, \
                                 Rows<Scalar>);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv::blas
