// SPDX-License-Identifier: MIT
#include "core/lapack.hpp"

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "core/blas.hpp"
#include "core/instantiate.hpp"
#include "core/lapack_names.hpp"
#include "core/require.hpp"
#include "udv/core/parallel.hpp"

namespace udv::lapack {
namespace {

using blas::use_one_thread;
using Complex = std::complex<double>;

int size_of(Index n) {
  require(n <= std::numeric_limits<int>::max(), "LAPACK: ", n, " rows or columns are too many");
  return static_cast<int>(n);
}

// Calls routine(work, size, info) twice; size -1 asks how much memory it wants.
template <typename W, typename Routine>
void with_work(const char* name, const Routine& routine) {
  int info = 0;
  W wanted{};
  routine(&wanted, -1, &info);
  const int size = std::max(1, static_cast<int>(std::real(wanted)));
  std::vector<W> work(static_cast<size_t>(size));
  routine(work.data(), size, &info);
  require(info == 0, "LAPACK: ", name, " failed with code ", info);
}

void geqrf(int rows, int cols, double* A, double* scales) {
  with_work<double>("dgeqrf", [&](double* work, int size, int* info) {
    dgeqrf_(&rows, &cols, A, &rows, scales, work, &size, info);
  });
}
void geqrf(int rows, int cols, Complex* A, Complex* scales) {
  with_work<Complex>("zgeqrf", [&](Complex* work, int size, int* info) {
    zgeqrf_(&rows, &cols, A, &rows, scales, work, &size, info);
  });
}

// C = Q C
void ormqr(int rows, int cols, int count, const double* A, const double* scales, double* C) {
  with_work<double>("dormqr", [&](double* work, int size, int* info) {
    dormqr_("L", "N", &rows, &cols, &count, A, &rows, scales, C, &rows, work, &size, info);
  });
}
void ormqr(int rows, int cols, int count, const Complex* A, const Complex* scales, Complex* C) {
  with_work<Complex>("zunmqr", [&](Complex* work, int size, int* info) {
    zunmqr_("L", "N", &rows, &cols, &count, A, &rows, scales, C, &rows, work, &size, info);
  });
}

// A becomes U. Returns LAPACK's code: 0, or a positive one where it has not converged.
int gesvj(int rows, int cols, double* A, double* values, double* V) {
  std::vector<double> work(static_cast<size_t>(std::max(6, rows + cols)));
  const int size = static_cast<int>(work.size()), none = 0;
  int info = 0;
  dgesvj_("G", "U", "V", &rows, &cols, A, &rows, values, &none, V, &cols, work.data(), &size,
          &info);
  for (int j = 0; j < cols; ++j) values[j] *= work[0];
  return info;
}
int gesvj(int rows, int cols, Complex* A, double* values, Complex* V) {
  std::vector<Complex> work(static_cast<size_t>(rows + cols));
  std::vector<double> real_work(static_cast<size_t>(std::max(6, cols)));
  const int size = rows + cols, real_size = static_cast<int>(real_work.size()), none = 0;
  int info = 0;
  zgesvj_("G", "U", "V", &rows, &cols, A, &rows, values, &none, V, &cols, work.data(), &size,
          real_work.data(), &real_size, &info);
  for (int j = 0; j < cols; ++j) values[j] *= real_work[0];
  return info;
}

void gesdd(const char* job, int rows, int cols, double* A, double* values, double* U, double* Vt) {
  const int k = std::min(rows, cols);
  std::vector<int> whole(static_cast<size_t>(8 * k));
  with_work<double>("dgesdd", [&](double* work, int size, int* info) {
    dgesdd_(job, &rows, &cols, A, &rows, values, U, &rows, Vt, &k, work, &size, whole.data(), info);
  });
}
void gesdd(const char* job, int rows, int cols, Complex* A, double* values, Complex* U,
           Complex* Vt) {
  const int k = std::min(rows, cols), longer = std::max(rows, cols);
  std::vector<int> whole(static_cast<size_t>(8 * k));
  std::vector<double> real_work(static_cast<size_t>(k) *
                                static_cast<size_t>(std::max(5 * k + 7, 2 * longer + 2 * k + 1)));
  with_work<Complex>("zgesdd", [&](Complex* work, int size, int* info) {
    zgesdd_(job, &rows, &cols, A, &rows, values, U, &rows, Vt, &k, work, &size, real_work.data(),
            whole.data(), info);
  });
}

void syevd(const char* job, int n, double* A, double* values) {
  int whole_size = -1, info = 0;
  double wanted = 0;
  int whole_wanted = 0;
  dsyevd_(job, "L", &n, A, &n, values, &wanted, &whole_size, &whole_wanted, &whole_size, &info);
  const int size = static_cast<int>(wanted);
  whole_size = whole_wanted;
  std::vector<double> work(static_cast<size_t>(size));
  std::vector<int> whole(static_cast<size_t>(whole_size));
  dsyevd_(job, "L", &n, A, &n, values, work.data(), &size, whole.data(), &whole_size, &info);
  require(info == 0, "the eigenvalues of a matrix of size ", n, " did not converge");
}
void syevd(const char* job, int n, Complex* A, double* values) {
  const int query = -1;
  Complex wanted = 0;
  double real_wanted = 0;
  int whole_wanted = 0, info = 0;
  zheevd_(job, "L", &n, A, &n, values, &wanted, &query, &real_wanted, &query, &whole_wanted, &query,
          &info);
  const int size = static_cast<int>(wanted.real()), real_size = static_cast<int>(real_wanted);
  std::vector<Complex> work(static_cast<size_t>(size));
  std::vector<double> real_work(static_cast<size_t>(real_size));
  std::vector<int> whole(static_cast<size_t>(whole_wanted));
  zheevd_(job, "L", &n, A, &n, values, work.data(), &size, real_work.data(), &real_size,
          whole.data(), &whole_wanted, &info);
  require(info == 0, "the eigenvalues of a matrix of size ", n, " did not converge");
}

int potrf(int n, float* A) {
  int info = 0;
  spotrf_("L", &n, A, &n, &info);
  return info;
}
int potrf(int n, double* A) {
  int info = 0;
  dpotrf_("L", &n, A, &n, &info);
  return info;
}
int potrf(int n, std::complex<float>* A) {
  int info = 0;
  cpotrf_("L", &n, A, &n, &info);
  return info;
}
int potrf(int n, Complex* A) {
  int info = 0;
  zpotrf_("L", &n, A, &n, &info);
  return info;
}

// X = X op(L)^-1 for X of n rows in rows. L has columns, so what BLAS sees in rows is its
// transpose: an upper triangle.
void trsm(CBLAS_TRANSPOSE form, int n, int k, const float* L, float* X, int stride) {
  cblas_strsm(CblasRowMajor, CblasRight, CblasUpper, form, CblasNonUnit, n, k, 1, L, k, X, stride);
}
void trsm(CBLAS_TRANSPOSE form, int n, int k, const double* L, double* X, int stride) {
  cblas_dtrsm(CblasRowMajor, CblasRight, CblasUpper, form, CblasNonUnit, n, k, 1, L, k, X, stride);
}
void trsm(CBLAS_TRANSPOSE form, int n, int k, const std::complex<float>* L, std::complex<float>* X,
          int stride) {
  const std::complex<float> one = 1;
  cblas_ctrsm(CblasRowMajor, CblasRight, CblasUpper, form, CblasNonUnit, n, k, &one, L, k, X,
              stride);
}
void trsm(CBLAS_TRANSPOSE form, int n, int k, const Complex* L, Complex* X, int stride) {
  const Complex one = 1;
  cblas_ztrsm(CblasRowMajor, CblasRight, CblasUpper, form, CblasNonUnit, n, k, &one, L, k, X,
              stride);
}

template <typename W>
ThinSvd<W> not_a_number(Index rows, Index cols) {
  const Index k = std::min(rows, cols);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return {Matrix<W>::Constant(rows, k, W(kNan)), Vector<double>::Constant(k, kNan),
          Matrix<W>::Constant(cols, k, W(kNan))};
}

// Orthonormal columns from `rank` on, orthogonal to those before.
template <typename W>
void complete_basis(Matrix<W>& U, Index rank) {
  Matrix<W> rest = Matrix<W>::Zero(U.rows(), U.cols() - rank);
  for (Index j = 0; j < rest.cols(); ++j) rest(rank + j, j) = 1;
  U.rightCols(rest.cols()) = ThinQr<W>(U.leftCols(rank)).Q_times(rest);
}

// At least as many rows as columns. False where the rotations did not converge.
template <typename W>
bool jacobi_svd(const Matrix<W>& A, ThinSvd<W>& svd) {
  svd.U = A;
  svd.s.resize(A.cols());
  svd.V.resize(A.cols(), A.cols());
  if (gesvj(size_of(A.rows()), size_of(A.cols()), svd.U.data(), svd.s.data(), svd.V.data()) != 0)
    return false;
  // Columns of U without a singular value come back empty.
  const Index rank = (svd.s.array() > 0).count();
  if (rank < svd.s.size()) complete_basis(svd.U, rank);
  return true;
}

}  // namespace

template <typename W>
ThinQr<W>::ThinQr(Matrix<W> A) {
  constexpr Index kRows = 16384, kWidest = 256;  // of a block, which fits into a cache
  use_one_thread();
  if (A.rows() >= 4 * kRows && A.cols() > 0 && A.cols() <= kWidest)
    factor_blocks(A, A.rows() / kRows);
  else
    reflections_ = std::move(A);
  scales_.resize(std::min(reflections_.rows(), reflections_.cols()));
  if (scales_.size() > 0)
    geqrf(size_of(reflections_.rows()), size_of(reflections_.cols()), reflections_.data(),
          scales_.data());
}

// The cut depends on the sizes alone: the same bits for any number of threads.
template <typename W>
void ThinQr<W>::factor_blocks(const Matrix<W>& A, Index blocks) {
  std::vector<std::unique_ptr<ThinQr>> found(static_cast<size_t>(blocks));
  parallel_blocks(blocks, 1, [&](Index b, Index) {
    const Index first = b * A.rows() / blocks, last = (b + 1) * A.rows() / blocks;
    found[static_cast<size_t>(b)] =
        std::make_unique<ThinQr>(Matrix<W>(A.middleRows(first, last - first)));
  });
  reflections_.resize(blocks * A.cols(), A.cols());
  for (Index b = 0; b < blocks; ++b) {
    reflections_.middleRows(b * A.cols(), A.cols()) = found[static_cast<size_t>(b)]->R();
    blocks_.push_back(std::move(*found[static_cast<size_t>(b)]));
  }
}

template <typename W>
RowMatrix<W> ThinQr<W>::R() const {
  RowMatrix<W> upper = reflections_.topRows(scales_.size());
  for (Index i = 1; i < upper.rows(); ++i)
    for (Index j = 0; j < std::min(i, upper.cols()); ++j) upper(i, j) = 0;
  return upper;
}

template <typename W>
Matrix<W> ThinQr<W>::Q_times(const Matrix<W>& X) const {
  Matrix<W> product = Matrix<W>::Zero(reflections_.rows(), X.cols());
  product.topRows(X.rows()) = X;
  if (product.size() > 0 && scales_.size() > 0)
    ormqr(size_of(product.rows()), size_of(product.cols()), size_of(scales_.size()),
          reflections_.data(), scales_.data(), product.data());
  if (blocks_.empty()) return product;
  std::vector<Index> first{0};
  for (const ThinQr& block : blocks_) first.push_back(first.back() + block.reflections_.rows());
  Matrix<W> whole(first.back(), X.cols());
  const Index k = reflections_.cols();
  parallel_blocks(static_cast<Index>(blocks_.size()), 1, [&](Index b, Index) {
    const ThinQr& block = blocks_[static_cast<size_t>(b)];
    whole.middleRows(first[static_cast<size_t>(b)], block.reflections_.rows()) =
        block.Q_times(product.middleRows(b * k, k));
  });
  return whole;
}

template <typename W>
ThinSvd<W> thin_svd(const Matrix<W>& A) {
  constexpr Index kLargestJacobi = 128;  // up to here rotations are as fast, and more accurate
  use_one_thread();
  const Index k = std::min(A.rows(), A.cols());
  if (!A.allFinite()) return not_a_number<W>(A.rows(), A.cols());
  if (A.rows() < A.cols()) {
    ThinSvd<W> turned = thin_svd<W>(A.adjoint());
    turned.U.swap(turned.V);
    return turned;
  }
  ThinSvd<W> svd;
  if (k <= kLargestJacobi && jacobi_svd(A, svd)) return svd;
  Matrix<W> work = A, Vt(k, k);
  svd.U.resize(A.rows(), k);
  svd.s.resize(k);
  gesdd("S", size_of(A.rows()), size_of(k), work.data(), svd.s.data(), svd.U.data(), Vt.data());
  svd.V = Vt.adjoint();
  return svd;
}

Vector<double> singular_values(Matrix<double> A) {
  use_one_thread();
  Vector<double> values(std::min(A.rows(), A.cols()));
  if (values.size() > 0)
    gesdd("N", size_of(A.rows()), size_of(A.cols()), A.data(), values.data(), nullptr, nullptr);
  return values;
}

template <typename W>
Vector<double> eigen_in_place(Eigen::Ref<Matrix<W>> A, bool vectors) {
  use_one_thread();
  Vector<double> values(A.rows());
  if (A.size() > 0) syevd(vectors ? "V" : "N", size_of(A.rows()), A.data(), values.data());
  return values;
}

TridiagonalEigen tridiagonal_eigen(Vector<double> diagonal, Vector<double> beside) {
  use_one_thread();
  const int n = size_of(diagonal.size());
  TridiagonalEigen eigen{std::move(diagonal), Matrix<double>(n, n)};
  Vector<double> work(std::max(1, 2 * n - 2));
  int info = 0;
  dstev_("V", &n, eigen.values.data(), beside.data(), eigen.vectors.data(), &n, work.data(), &info);
  require(info == 0, "the eigenvalues of a tridiagonal matrix of size ", n, " did not converge");
  return eigen;
}

Vector<double> square_solve(Matrix<double> A, Vector<double> b) {
  use_one_thread();
  if (b.size() == 0) return b;
  const int n = size_of(b.size()), one = 1;
  std::vector<int> exchanges(static_cast<size_t>(n));
  int info = 0;
  dgesv_(&n, &one, A.data(), &n, exchanges.data(), b.data(), &n, &info);
  if (info != 0) b.setConstant(std::numeric_limits<double>::quiet_NaN());
  return b;
}

template <typename Scalar>
bool cholesky_in_place(Matrix<Scalar>& A) {
  use_one_thread();
  return A.size() == 0 || potrf(size_of(A.rows()), A.data()) == 0;
}

template <typename Scalar>
void solve_from_right(const Matrix<Scalar>& L, const ConstRows<Scalar>& B, Rows<Scalar> X) {
  constexpr Index kBlock = 1 << 15;  // rows
  parallel_blocks(X.cols() > 0 ? X.rows() : 0, kBlock, [&](Index begin, Index end) {
    auto part = X.middleRows(begin, end - begin);
    part = B.middleRows(begin, end - begin);
    const int n = size_of(part.rows()), k = size_of(X.cols()), stride = size_of(X.outerStride());
    // B L^-* L^-1. The upper triangle that BLAS sees is L^T.
    trsm(CblasConjNoTrans, n, k, L.data(), part.data(), stride);
    trsm(CblasTrans, n, k, L.data(), part.data(), stride);
  });
}

template class ThinQr<double>;
template class ThinQr<Complex>;
template ThinSvd<double> thin_svd(const Matrix<double>&);
template ThinSvd<Complex> thin_svd(const Matrix<Complex>&);
template Vector<double> eigen_in_place<double>(Eigen::Ref<Matrix<double>>, bool);
template Vector<double> eigen_in_place<Complex>(Eigen::Ref<Matrix<Complex>>, bool);

#define UDV_INSTANTIATE(Scalar)                     \
  template bool cholesky_in_place(Matrix<Scalar>&); \
  template void solve_from_right(const Matrix<Scalar>&, const ConstRows<Scalar>&, Rows<Scalar>);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv::lapack
