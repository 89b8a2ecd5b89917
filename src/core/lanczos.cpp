// SPDX-License-Identifier: MIT
#include "udv/core/lanczos.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

namespace udv {
namespace {

// Removes from w its components along the first `count` columns of Q; twice is enough.
void orthogonalise(const Matrix<double>& Q, Index count, Vector<double>& w) {
  for (int pass = 0; pass < 2; ++pass)
    w.noalias() -= Q.leftCols(count) * (Q.leftCols(count).transpose() * w).eval();
}

}  // namespace

EigenPairs smallest_eigenpairs(Index n, const SymmetricProduct& product, Index count, Index steps,
                               Random& random) {
  steps = std::min(steps, n);
  Matrix<double> Q(n, steps);
  Vector<double> alpha(steps), beta(steps), w(n), q(n);
  random.fill_normal(q);
  q.normalize();
  double magnitude = 0;
  Index used = 0;
  while (used < steps) {
    Q.col(used) = q;
    product(q, w);
    alpha(used) = q.dot(w);
    orthogonalise(Q, used + 1, w);
    beta(used) = w.norm();
    magnitude = std::max({magnitude, std::abs(alpha(used)), beta(used)});
    ++used;
    // The Krylov space is invariant: nothing new would come.
    if (!(beta(used - 1) > 1e-14 * magnitude)) break;
    q = w / beta(used - 1);
  }
  Eigen::SelfAdjointEigenSolver<Matrix<double>> small;
  small.computeFromTridiagonal(alpha.head(used), beta.head(std::max<Index>(used - 1, 0)));
  const Index found = std::min(count, used);
  return {small.eigenvalues().head(found), Q.leftCols(used) * small.eigenvectors().leftCols(found)};
}

}  // namespace udv
