// SPDX-License-Identifier: MIT
#include "net/rotation.hpp"

#include <cmath>

#include "net/gram_svd.hpp"
#include "net/products.hpp"

namespace udv::net {
namespace {

constexpr double kSmallest = 1e-6;  // singular values below this share of the largest are rounding

}  // namespace

template <typename Real>
Rotation<Real>::Rotation(const RowMatrix<Real>& X) {
  const GramSvd svd = gram_svd(X.template cast<double>());
  Index k = 0;
  while (k < svd.s.size() && svd.s(k) > kSmallest * svd.s(0)) ++k;
  k = std::max<Index>(k, 1);
  rows_ = X.rows();
  s_ = svd.s.head(k);
  const double b = static_cast<double>(X.rows()) / static_cast<double>(X.cols());
  const double edge = (((0.56 * b - 0.95) * b + 1.82) * b + 1.43) * s_(k / 2);
  while (signals_ < k && s_(signals_) > edge) ++signals_;
  Q_.resize(X.cols(), k);
  for (Index j = 0; j < k; ++j)
    Q_.col(j) = (svd.B.row(j) / std::max(svd.s(j), 1e-300)).transpose().template cast<Real>();
}

template <typename Real>
Rotation<Real> Rotation<Real>::first(Index count) const {
  Rotation part = *this;
  part.s_ = s_.head(count);
  const double rms = part.s_.norm() / std::sqrt(static_cast<double>(rows_ * count));
  // Never longer: U Q^T has to stay in the ball of U.
  part.Q_ = Q_.leftCols(count) * static_cast<Real>(1 / std::max(rms, 1.0));
  return part;
}

template <typename Real>
Dataset<Real> Rotation<Real>::turned(const Dataset<Real>& data) const {
  Dataset<Real> result;
  result.task = data.task;
  result.classes = data.classes;
  result.Y = data.Y;
  result.labels = data.labels;
  result.X.resize(data.X.rows(), Q_.cols());
  if (data.X.rows() > 0) multiply<Real>(data.X, Q_, result.X);
  return result;
}

template <typename Real>
Network<Real> Rotation<Real>::turned_back(const Network<Real>& network) const {
  Sizes sizes = network.sizes();
  sizes.inputs = Q_.rows();
  Network<Real> result(network.variant(), sizes, network.biases());
  for (const ParameterBlock& block : network.blocks()) {
    const ParameterBlock& own = *result.find(block.name);
    const bool first = block.offset == 0;
    if (first) {
      RowMatrix<Real> U(own.rows, own.cols);
      multiply_transposed<Real>(network.at(block), Q_, U);
      result.at(own) = U;
    } else {
      result.at(own) = network.at(block);
    }
  }
  return result;
}

template class Rotation<float>;
template class Rotation<double>;

}  // namespace udv::net
