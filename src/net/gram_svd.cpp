// SPDX-License-Identifier: MIT
#include "net/gram_svd.hpp"

#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/lapack.hpp"
#include "core/require.hpp"
#include "net/products.hpp"

namespace udv::net {
namespace {

// Eigenvalues, smallest first; with vectors, eigenvector k becomes row k of the matrix: columns of
// LAPACK's order are rows of ours, and the matrix is symmetric.
Vector<double> eigen_in_place(RowMatrix<double>& gram, bool vectors) {
  return lapack::eigen_in_place<double>(
      Eigen::Map<Matrix<double>>(gram.data(), gram.rows(), gram.cols()), vectors);
}

// OpenBLAS has this many threads of its own for one scope, and one afterwards.
class LapackThreads {
 public:
  explicit LapackThreads(int count) { openblas_set_num_threads(count); }
  ~LapackThreads() { openblas_set_num_threads(1); }
  LapackThreads(const LapackThreads&) = delete;
  LapackThreads& operator=(const LapackThreads&) = delete;
};

// M M^T or M^T M, whichever is smaller.
RowMatrix<double> gram_of(const RowMatrix<double>& M, bool by_rows) {
  require(M.allFinite(), "singular values: a number is not finite");
  const Index k = std::min(M.rows(), M.cols());
  RowMatrix<double> gram(k, k);
  if (by_rows)
    multiply_transposed<double>(M, M, gram);
  else
    transposed_multiply<double>(M, M, gram);
  return gram;
}

}  // namespace

Vector<double> gram_singular_values(const RowMatrix<double>& M) {
  RowMatrix<double> gram = gram_of(M, M.rows() <= M.cols());
  return eigen_in_place(gram, false).reverse().cwiseMax(0).cwiseSqrt();
}

GramSvd gram_svd(const RowMatrix<double>& M, int lapack_threads) {
  const bool by_rows = M.rows() <= M.cols();
  RowMatrix<double> vectors = gram_of(M, by_rows);
  GramSvd svd;
  std::optional<LapackThreads> threads;
  if (lapack_threads > 1) threads.emplace(lapack_threads);
  svd.s = eigen_in_place(vectors, true).reverse().cwiseMax(0).cwiseSqrt();
  threads.reset();
  RowMatrix<double> ordered = vectors.colwise().reverse();  // row k: eigenvector k
  const Index k = svd.s.size();
  if (by_rows) {
    svd.Pt = std::move(ordered);
    svd.B.resize(k, M.cols());
    multiply<double>(svd.Pt, M, svd.B);  // P^T M
  } else {
    // ordered = Q^T; P^T = Q^T M^T / s, and zero rows where s is zero
    svd.Pt.resize(k, M.rows());
    multiply_transposed<double>(ordered, M, svd.Pt);
    for (Index j = 0; j < k; ++j) svd.Pt.row(j) *= svd.s(j) > 0 ? 1 / svd.s(j) : 0;
    svd.B = svd.s.asDiagonal() * ordered;
  }
  return svd;
}

}  // namespace udv::net
