// SPDX-License-Identifier: MIT
#include "core/lanczos.hpp"

#include <algorithm>
#include <cmath>

#include "core/blas.hpp"
#include "core/instantiate.hpp"
#include "core/lapack.hpp"
#include "udv/core/parallel.hpp"

namespace udv {
namespace {

using blas::as_column;
using blas::Form;

// S Q = Q T + rest with orthonormal Q and tridiagonal T, grown one column at a time.
template <typename Scalar>
class KrylovSpace {
 public:
  KrylovSpace(Index n, Index max_steps, Random& random)
      : Qt_(std::min(max_steps, n), n), alpha_(Qt_.rows()), beta_(Qt_.rows()), q_(n), w_(n) {
    random.fill_normal(q_);
    q_.normalize();
  }

  bool full() const { return exhausted_ || used_ == Qt_.rows(); }
  Index size() const { return used_; }
  double magnitude() const { return magnitude_; }
  double rest() const { return exhausted_ ? 0 : beta_(used_ - 1); }

  void grow(const SymmetricProduct<Scalar>& product) {
    Qt_.row(used_) = q_.transpose();
    product(q_, w_);
    alpha_(used_) = std::real(q_.dot(w_));
    orthogonalise(used_ + 1);
    beta_(used_) = w_.norm();
    magnitude_ = std::max({magnitude_, std::abs(alpha_(used_)), beta_(used_)});
    // An invariant space: nothing new would come.
    exhausted_ = !(beta_(used_) > kExhausted * magnitude_);
    if (!exhausted_) q_ = w_ / static_cast<RealOf<Scalar>>(beta_(used_));
    ++used_;
  }

  lapack::TridiagonalEigen eigen() const {
    return lapack::tridiagonal_eigen(alpha_.head(used_), beta_.head(std::max<Index>(used_ - 1, 0)));
  }

  /// Q times the first `count` columns of a matrix.
  RowMatrix<Scalar> combine(const Matrix<double>& vectors, Index count) const {
    const RowMatrix<Scalar> weights = vectors.leftCols(count).template cast<Scalar>();
    RowMatrix<Scalar> combined(Qt_.cols(), count);
    blas::multiply<Scalar>(Form::kTransposed, Qt_.topRows(used_), Form::kPlain, weights, combined);
    return combined;
  }

 private:
  // Removes from w its components along the first `count` columns of Q; twice is enough.
  void orthogonalise(Index count) {
    constexpr Index kBlock = 1 << 15;
    const Index n = w_.size();
    Matrix<Scalar> parts(count, (n + kBlock - 1) / kBlock);  // sums over blocks, added in order
    for (int pass = 0; pass < 2; ++pass) {
      parallel_blocks(n, kBlock, [&](Index begin, Index end) {
        const Vector<Scalar> piece = w_.segment(begin, end - begin);
        Vector<Scalar> along(count);
        blas::multiply<Scalar>(Form::kConjugate, Qt_.block(0, begin, count, piece.size()),
                               Form::kPlain, as_column(piece), as_column(along));
        parts.col(begin / kBlock) = along;
      });
      for (Index b = 1; b < parts.cols(); ++b) parts.col(0) += parts.col(b);
      const Vector<Scalar> along = parts.col(0);
      parallel_blocks(n, kBlock, [&](Index begin, Index end) {
        Vector<Scalar> removed(end - begin);
        blas::multiply<Scalar>(Form::kTransposed, Qt_.block(0, begin, count, removed.size()),
                               Form::kPlain, as_column(along), as_column(removed));
        w_.segment(begin, removed.size()) -= removed;
      });
    }
  }

  static constexpr double kExhausted = 50 * kEpsilon<Scalar>;

  RowMatrix<Scalar> Qt_;  // the columns of Q as rows
  Vector<double> alpha_, beta_;
  Vector<Scalar> q_, w_;
  double magnitude_ = 0;
  Index used_ = 0;
  bool exhausted_ = false;
};

}  // namespace

template <typename Scalar>
EigenPairs<Scalar> smallest_eigenpairs(Index n, const SymmetricProduct<Scalar>& product,
                                       Index count, Index steps, Random& random) {
  KrylovSpace<Scalar> space(n, steps, random);
  while (!space.full()) space.grow(product);
  const auto small = space.eigen();
  const Index found = std::min(count, space.size());
  return {small.values.head(found), space.combine(small.vectors, found)};
}

template <typename Scalar>
double smallest_eigenvalue(Index n, const SymmetricProduct<Scalar>& product, double tolerance,
                           Index max_steps, Random& random) {
  constexpr Index kLookEvery = 8;
  KrylovSpace<Scalar> space(n, max_steps, random);
  double value = 0;
  bool settled = false;
  while (!space.full() && !settled) {
    space.grow(product);
    if (space.size() % kLookEvery != 0 && !space.full()) continue;
    const auto small = space.eigen();
    // An eigenvalue lies within |S x - value x| of the value.
    const double error = space.rest() * std::abs(small.vectors(space.size() - 1, 0));
    settled = error <= tolerance * space.magnitude();
    value = small.values(0) - error;
  }
  return value;
}

#define UDV_INSTANTIATE(Scalar)                                                                  \
  template EigenPairs<Scalar> smallest_eigenpairs(Index, const SymmetricProduct<Scalar>&, Index, \
                                                  Index, Random&);                               \
  template double smallest_eigenvalue(Index, const SymmetricProduct<Scalar>&, double, Index,     \
                                      Random&);
UDV_FOR_EACH_SCALAR(UDV_INSTANTIATE)

}  // namespace udv
