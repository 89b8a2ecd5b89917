// SPDX-License-Identifier: MIT
#include "udv/core/lanczos.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "core/instantiate.hpp"

namespace udv {
namespace {

using SmallEigen = Eigen::SelfAdjointEigenSolver<Matrix<double>>;

// S Q = Q T + rest with orthonormal Q and tridiagonal T, grown one column at a time.
template <typename Scalar>
class KrylovSpace {
 public:
  KrylovSpace(Index n, Index max_steps, Random& random)
      : Q_(n, std::min(max_steps, n)), alpha_(Q_.cols()), beta_(Q_.cols()), q_(n), w_(n) {
    random.fill_normal(q_);
    q_.normalize();
  }

  bool full() const { return exhausted_ || used_ == Q_.cols(); }
  Index size() const { return used_; }
  double magnitude() const { return magnitude_; }
  double unit() const { return magnitude_ > 0 ? magnitude_ : 1; }
  double rest() const { return exhausted_ ? 0 : beta_(used_ - 1); }

  void grow(const SymmetricProduct<Scalar>& product) {
    Q_.col(used_) = q_;
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

  SmallEigen eigen(bool vectors) const {
    SmallEigen small;
    // Eigen deflates off-diagonals against numbers near 1.
    small.computeFromTridiagonal(alpha_.head(used_) / unit(),
                                 beta_.head(std::max<Index>(used_ - 1, 0)) / unit(),
                                 vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    return small;
  }

  auto basis() const { return Q_.leftCols(used_); }

 private:
  // Removes from w its components along the first `count` columns of Q; twice is enough.
  void orthogonalise(Index count) {
    for (int pass = 0; pass < 2; ++pass)
      w_.noalias() -= Q_.leftCols(count) * (Q_.leftCols(count).adjoint() * w_).eval();
  }

  static constexpr double kExhausted = 50 * kEpsilon<Scalar>;

  Matrix<Scalar> Q_;
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
  const SmallEigen small = space.eigen(true);
  const Index found = std::min(count, space.size());
  return {space.unit() * small.eigenvalues().head(found),
          space.basis() * small.eigenvectors().leftCols(found).template cast<Scalar>()};
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
    const SmallEigen small = space.eigen(true);
    // An eigenvalue lies within |S x - value x| of the value.
    const double error = space.rest() * std::abs(small.eigenvectors()(space.size() - 1, 0));
    settled = error <= tolerance * space.magnitude();
    value = space.unit() * small.eigenvalues()(0) - error;
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
