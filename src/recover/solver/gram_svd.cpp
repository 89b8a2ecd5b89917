// SPDX-License-Identifier: MIT
#include "recover/solver/gram_svd.hpp"

#include "core/lapack.hpp"
#include "core/small_solves.hpp"
#include "recover/operators/team_columns.hpp"

namespace udv {
namespace {

constexpr Index kManyLines = 1 << 16, kWidest = 256;
constexpr double kIndependent = 1e-3;  // diagonal of a Cholesky factor: U R^-1 keeps 10 digits

// U = Q R with R, and R^-1.
struct Triangle {
  Matrix<double> R, inverse;
};

// U = Q_1 L_1^T and Q_1 = Q L_2^T with Cholesky factors of Gram matrices: the second one corrects
// what the first one's rounding errors have left.
std::optional<Triangle> triangle_of(const ConstRows<double>& U) {
  const LineShares owners = even_shares(U.rows());
  const auto independent = [](const Cholesky& found) {
    return found.positive &&
           found.L.diagonal().minCoeff() > kIndependent * found.L.diagonal().maxCoeff();
  };
  const Cholesky first = cholesky(gram(U, owners));
  if (!independent(first)) return std::nullopt;
  const Matrix<double> inverse = lower_inverse(first.L).transpose();
  const Cholesky second = cholesky(gram_of_product(U, inverse, owners));
  if (!independent(second)) return std::nullopt;
  return Triangle{small_product(second.L.transpose(), first.L.transpose()),
                  small_product(inverse, lower_inverse(second.L).transpose())};
}

}  // namespace

std::optional<GramSvd> gram_svd(const ConstRows<double>& U, const Vector<double>& d,
                                const ConstRows<double>& V) {
  if (d.size() == 0 || d.size() > kWidest || U.rows() < kManyLines || V.rows() < kManyLines)
    return std::nullopt;
  const auto left = triangle_of(U);
  const auto right = left ? triangle_of(V) : std::nullopt;
  if (!right) return std::nullopt;
  const auto core =
      lapack::thin_svd<double>(small_product(left->R * d.asDiagonal(), right->R.transpose()));
  return GramSvd{small_product(left->inverse, core.U), small_product(right->inverse, core.V),
                 core.s};
}

void multiply_shared(Rows<double> X, const Matrix<double>& M) {
  const LineShares owners = even_shares(X.rows());
  multiply_own(X, M, owners);
  owners.gather(X.data(), X.cols() * static_cast<Index>(sizeof(double)));
}

}  // namespace udv
