// SPDX-License-Identifier: MIT
#include "udv/net/layer.hpp"

namespace udv::net {
namespace {

template <typename Real>
class Relu final : public Layer<Real> {
 public:
  explicit Relu(Index width) : width_(width) {}

  Index inputs() const override { return width_; }
  Index outputs() const override { return width_; }

  void forward(const Real*, const ConstRows<Real>& X, Rows<Real> Y) const override {
    Y = X.cwiseMax(Real(0));
  }

  // The slope at 0 is taken for 0.
  void backward(const Real*, const ConstRows<Real>&, const ConstRows<Real>& Y,
                const ConstRows<Real>& dY, Real*, Rows<Real> dX) const override {
    if (dX.cols() > 0) dX = (Y.array() > Real(0)).select(dY, Real(0));
  }

 private:
  Index width_;
};

}  // namespace

template <typename Real>
std::unique_ptr<Layer<Real>> make_relu(Index width) {
  return std::make_unique<Relu<Real>>(width);
}

template std::unique_ptr<Layer<float>> make_relu(Index);
template std::unique_ptr<Layer<double>> make_relu(Index);

}  // namespace udv::net
