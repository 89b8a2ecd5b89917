// SPDX-License-Identifier: MIT
#include "udv/net/layer.hpp"

namespace udv::net {
namespace {

template <typename Real>
class Diagonal final : public Layer<Real> {
 public:
  explicit Diagonal(Index width) : width_(width) {}

  Index inputs() const override { return width_; }
  Index outputs() const override { return width_; }
  Index num_parameters() const override { return width_; }

  void forward(const Real* parameters, const ConstRows<Real>& X, Rows<Real> Y) const override {
    const Weights w(parameters, width_);
    for (Index i = 0; i < X.rows(); ++i) Y.row(i).array() = X.row(i).array() * w;
  }

  // dw_j = sum_i dY_ij X_ij, dX = dY diag(w).
  void backward(const Real* parameters, const ConstRows<Real>& X, const ConstRows<Real>&,
                const ConstRows<Real>& dY, Real* gradient, Rows<Real> dX) const override {
    const Weights w(parameters, width_);
    Eigen::Map<Eigen::Array<Real, 1, Eigen::Dynamic>> dw(gradient, width_);
    dw.setZero();
    for (Index i = 0; i < X.rows(); ++i) {
      dw += dY.row(i).array() * X.row(i).array();
      if (dX.cols() > 0) dX.row(i).array() = dY.row(i).array() * w;
    }
  }

 private:
  using Weights = Eigen::Map<const Eigen::Array<Real, 1, Eigen::Dynamic>>;
  Index width_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Layer<Real>> make_diagonal(Index width) {
  return std::make_unique<Diagonal<Real>>(width);
}

template std::unique_ptr<Layer<float>> make_diagonal(Index);
template std::unique_ptr<Layer<double>> make_diagonal(Index);

}  // namespace udv::net
