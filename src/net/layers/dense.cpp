// SPDX-License-Identifier: MIT
#include "net/products.hpp"
#include "udv/net/layer.hpp"

namespace udv::net {
namespace {

template <typename Real>
class Dense final : public Layer<Real> {
 public:
  Dense(Index inputs, Index outputs, bool bias) : inputs_(inputs), outputs_(outputs), bias_(bias) {}

  Index inputs() const override { return inputs_; }
  Index outputs() const override { return outputs_; }
  Index num_parameters() const override { return outputs_ * (inputs_ + (bias_ ? 1 : 0)); }

  void forward(const Real* parameters, const ConstRows<Real>& X, Rows<Real> Y) const override {
    multiply_transposed<Real>(X, weights(parameters), Y);  // Y = X W^T
    if (bias_) Y.rowwise() += bias(parameters);
  }

  // dW = dY^T X, db = dY^T 1, dX = dY W.
  void backward(const Real* parameters, const ConstRows<Real>& X, const ConstRows<Real>&,
                const ConstRows<Real>& dY, Real* gradient, Rows<Real> dX) const override {
    Eigen::Map<RowMatrix<Real>> dW(gradient, outputs_, inputs_);
    transposed_multiply<Real>(dY, X, dW);
    if (bias_) Eigen::Map<RowVector>(gradient + outputs_ * inputs_, outputs_) = dY.colwise().sum();
    if (dX.cols() > 0) multiply<Real>(dY, weights(parameters), dX);
  }

 private:
  using RowVector = Eigen::Matrix<Real, 1, Eigen::Dynamic>;

  Eigen::Map<const RowMatrix<Real>> weights(const Real* parameters) const {
    return {parameters, outputs_, inputs_};
  }
  Eigen::Map<const RowVector> bias(const Real* parameters) const {
    return {parameters + outputs_ * inputs_, outputs_};
  }

  Index inputs_, outputs_;
  bool bias_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Layer<Real>> make_dense(Index inputs, Index outputs, bool bias) {
  return std::make_unique<Dense<Real>>(inputs, outputs, bias);
}

template std::unique_ptr<Layer<float>> make_dense(Index, Index, bool);
template std::unique_ptr<Layer<double>> make_dense(Index, Index, bool);

}  // namespace udv::net
